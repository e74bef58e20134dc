import { type Token, tokenize } from "./tokens.ts";

/** A line of a test that fails on a busy machine, though nothing is wrong. */
export interface TestViolation {
  readonly rule: "clock" | "limit";
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

type Report = (rule: TestViolation["rule"], line: number, message: string) => void;

/** Some tokens of a file, the last one excluded. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Where a name holds what the clock said, or what was computed from that. */
interface Time extends Range {
  readonly name: string;
}

const TEST_CALLS = new Set(["test", "it", "describe", "beforeAll", "beforeEach", "afterAll", "afterEach"]);
/** What reads the host's clock: `Date.now`, and so on. */
const CLOCKS: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  performance: ["now", "timeOrigin"],
  process: ["hrtime", "uptime", "cpuUsage"],
  systemClock: ["now"],
  Temporal: ["Now"],
  Bun: ["nanoseconds"],
};
const OPENING = new Set(["(", "[", "{"]);
const CLOSING = new Set([")", "]", "}"]);

/**
 * Holds a file of tests to two rules. Nothing that was computed from the host's clock is expected to be anything: a busy
 * machine takes any time. No test has a time limit of its own (see `support/hang.ts`). A clock may bound a wait
 * for another process. Pure.
 */
export function checkTestFile(path: string, text: string): TestViolation[] {
  const violations: TestViolation[] = [];
  const report: Report = (rule, line, message) => violations.push({ rule, path, line, message });
  const tokens = tokenize(text);
  checkClocks(tokens, report);
  checkLimits(tokens, report);
  return violations;
}

function checkClocks(tokens: readonly Token[], report: Report): void {
  const times = namedTimes(tokens);
  for (const [index, token] of tokens.entries()) {
    if (token.value !== "expect" || token.kind !== "word" || isMember(tokens, index)) continue;
    const read = readOfClock(tokens, { from: index, to: endOfStatement(tokens, index) }, times);
    if (read === null) continue;
    report(
      "clock",
      token.line,
      `expects something of ${read}, which the machine's load decides; count the work instead`,
    );
  }
}

/** A declared name counts in its block, one that is assigned to in the whole file. */
function namedTimes(tokens: readonly Token[]): Time[] {
  const times: Time[] = [];
  // Once more for what is computed from a name that is assigned to further below.
  for (let count = -1; count !== times.length; ) {
    count = times.length;
    for (const [index, { kind, value }] of tokens.entries()) {
      const name = tokens[index - 1];
      if (kind !== "punctuator" || value !== "=" || name?.kind !== "word" || isMember(tokens, index - 1)) continue;
      const [before, after] = [tokens[index - 2]?.value ?? "", tokens[index + 1]?.value];
      // Not a comparison, and not a function, whose body is statements.
      if (after === "=" || !["const", "let", ";", "}", "{"].includes(before) || isFunction(tokens, index + 1)) continue;
      const isDeclared = before === "const" || before === "let";
      const to = isDeclared ? endOfBlock(tokens, index) : tokens.length;
      const time = { name: name.value, from: isDeclared ? index : 0, to };
      if (times.some((known) => known.name === time.name && known.from === time.from)) continue;
      if (readOfClock(tokens, { from: index, to: endOfStatement(tokens, index) }, times) !== null) times.push(time);
    }
  }
  return times;
}

/** The first clock, or name that holds a time, in a range. */
function readOfClock(tokens: readonly Token[], { from, to }: Range, times: readonly Time[]): string | null {
  for (let index = from; index < to; index++) {
    const { kind, value } = tokens[index] ?? { kind: "string", value: "" };
    if (kind !== "word" || isMember(tokens, index)) continue;
    const [after, member = ""] = [tokens[index + 1]?.value, tokens[index + 2]?.value];
    if (after === "." && CLOCKS[value]?.includes(member)) return `${value}.${member}`;
    if (value === "Date" && tokens[index - 1]?.value === "new" && (after !== "(" || member === ")"))
      return "new Date()";
    const isTime = times.some((time) => time.name === value && time.from < index && index < time.to);
    if (isTime && after !== ":") return value;
  }
  return null;
}

function checkLimits(tokens: readonly Token[], report: Report): void {
  for (const [index, { kind, value, line }] of tokens.entries()) {
    if (kind !== "word" || !TEST_CALLS.has(value) || isMember(tokens, index)) continue;
    const given = argumentsOf(tokens, index);
    if (given.length > 1 && given.some((argument) => isLimit(tokens, argument))) {
      report("limit", line, `${value} has a time limit of its own; bound its work, and leave hangs to the runner`);
    }
  }
}

/** Where the arguments of `test(...)`, `test.each(...)(...)` and the like begin and end. */
function argumentsOf(tokens: readonly Token[], index: number): Range[] {
  let found: Range[] = [];
  for (let at = index + 1; at < tokens.length; ) {
    const { value } = tokens[at] ?? { value: "" };
    if (value === ".") at += 2;
    else if (value === "(") {
      const end = endOfGroup(tokens, at);
      found = split(tokens, at + 1, end);
      at = end + 1;
    } else break;
  }
  return found;
}

/** A number, a constant, or options with a `timeout`. */
function isLimit(tokens: readonly Token[], { from, to }: Range): boolean {
  const first = tokens[from];
  if (first === undefined) return false;
  if (first.value === "{")
    return split(tokens, from + 1, to - 1).some((entry) => tokens[entry.from]?.value === "timeout");
  // The tokens do not tell a number from an empty text. Products of numbers count too.
  return first.kind === "string"
    ? first.value === "" && to > from
    : to - from === 1 && /^[A-Z][A-Z0-9_]*$/.test(first.value);
}

/** The ranges between the commas of a group. */
function split(tokens: readonly Token[], from: number, to: number): Range[] {
  const parts: Range[] = [];
  let start = from;
  for (let at = from; at <= to; at++) {
    const { value = "", kind } = tokens[at] ?? {};
    if (at < to && kind === "punctuator" && OPENING.has(value)) at = endOfGroup(tokens, at);
    else if (at === to || value === ",") {
      if (at > start) parts.push({ from: start, to: at });
      start = at + 1;
    }
  }
  return parts;
}

function endOfGroup(tokens: readonly Token[], opening: number): number {
  let depth = 0;
  for (let at = opening; at < tokens.length; at++) {
    const { kind, value = "" } = tokens[at] ?? {};
    if (kind !== "punctuator") continue;
    if (OPENING.has(value)) depth++;
    else if (CLOSING.has(value) && --depth === 0) return at;
  }
  return tokens.length;
}

/** The semicolon, or the bracket that closes what is around. The formatter leaves no statement without either. */
function endOfStatement(tokens: readonly Token[], from: number): number {
  const end = endOfBlock(tokens, from);
  for (let at = from; at < end; at++) {
    const { kind, value = "" } = tokens[at] ?? {};
    if (kind !== "punctuator") continue;
    if (OPENING.has(value)) at = endOfGroup(tokens, at);
    else if (value === ";") return at;
  }
  return end;
}

/** The bracket that closes the block around. */
function endOfBlock(tokens: readonly Token[], from: number): number {
  for (let at = from; at < tokens.length; at++) {
    const { kind, value = "" } = tokens[at] ?? {};
    if (kind !== "punctuator") continue;
    if (OPENING.has(value)) at = endOfGroup(tokens, at);
    else if (CLOSING.has(value)) return at;
  }
  return tokens.length;
}

function isFunction(tokens: readonly Token[], from: number): boolean {
  const first = tokens[from]?.value === "async" ? from + 1 : from;
  if (tokens[first]?.value === "function") return true;
  const end = tokens[first]?.value === "(" ? endOfGroup(tokens, first) : first;
  return tokens.slice(end, end + 8).some(({ value }) => value === "=>");
}

function isMember(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.value;
  return before === "." || before === "?.";
}
