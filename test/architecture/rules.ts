import { DOORS, HOST_ROOMS, IO_TIMEOUT_ROOM, LEVELS, PACKAGE_ROOMS, TIME_ROOM } from "./levels.ts";
import { type Token, tokenize } from "./tokens.ts";

export type RuleName = "folder" | "upward" | "sideways" | "package" | "host" | "time";

/** One breach of architecture.md's rules, with where it is and why it matters. */
export interface Violation {
  readonly rule: RuleName;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

type Report = (rule: RuleName, line: number, message: string) => void;

const HOST_GLOBALS = new Set(["process", "Deno", "Bun", "Buffer", "require", "__dirname", "__filename", "global"]);
// Only a host has these; `process` and the others are ordinary names of members too.
const HOST_MEMBERS = new Set(["Deno", "Bun", "Buffer"]);
const NODE_BUILTINS =
  /^(node|bun|cloudflare):|^(fs|path|os|crypto|child_process|worker_threads|events|util|url|http|net)(\/|$)/;
const TIMERS = new Set(["setTimeout", "setInterval", "setImmediate"]);
const TIME_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  Math: ["random"],
  Temporal: ["Now"],
  performance: ["now"],
  crypto: ["randomUUID", "getRandomValues"],
  AbortSignal: ["timeout"],
};

/** Holds one source file (`src/...`) to the rules of levels, packages, host globals and time. Pure. */
export function checkFile(path: string, text: string): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, line, message) => violations.push({ rule, path, line, message });
  const tokens = tokenize(text);
  checkImports(path, tokens, report);
  if (!HOST_ROOMS.some((room) => room.test(path))) checkHostGlobals(tokens, report);
  if (!TIME_ROOM.test(path)) checkTime(path, tokens, report);
  return violations;
}

function checkImports(path: string, tokens: readonly Token[], report: Report): void {
  const level = levelOf(path);
  if (level === null) report("folder", 1, `${path} is in no folder that has a level`);
  for (const { value: specifier, line } of importedSpecifiers(tokens)) {
    if (specifier.startsWith(".")) checkRelative(path, level, resolve(path, specifier), line, report);
    else checkPackage(path, specifier, line, report);
  }
}

function checkRelative(path: string, level: number | null, target: string, line: number, report: Report): void {
  const targetLevel = levelOf(target);
  if (!target.startsWith("src/")) report("folder", line, `${target} is outside src`);
  else if (target in DOORS) report("upward", line, `${target} holds public names only; import the file itself`);
  else if (targetLevel === null) report("folder", line, `${target} is in no folder that has a level`);
  else if (level === null || folderOf(path) === folderOf(target)) return;
  else if (targetLevel > level)
    report("upward", line, `level ${level} must not import ${target}, level ${targetLevel}`);
  else if (targetLevel === level && !(path in DOORS)) {
    report("sideways", line, `${folderOf(path)} and ${folderOf(target)} share level ${level}; meet in a lower one`);
  }
}

function checkPackage(path: string, specifier: string, line: number, report: Report): void {
  if (NODE_BUILTINS.test(specifier)) {
    if (HOST_ROOMS.some((room) => room.test(path))) return;
    report("host", line, `"${specifier}" exists on some runtimes only`);
    return;
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const room = PACKAGE_ROOMS[name];
  if (room === undefined) report("package", line, `"${name}" has no entry in PACKAGE_ROOMS`);
  else if (!room.test(path)) report("package", line, `"${name}" must not be imported here, only in ${room.source}`);
}

function checkHostGlobals(tokens: readonly Token[], report: Report): void {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "word") continue;
    if (token.value === "globalThis") {
      for (const name of hostNamesReachedFrom(tokens, index)) report("host", token.line, `globalThis reaches ${name}`);
    } else if (HOST_GLOBALS.has(token.value) && isHostUse(tokens, index)) {
      report("host", token.line, `${token.value} exists on some runtimes only`);
    }
  }
}

function isHostUse(tokens: readonly Token[], index: number): boolean {
  const name = tokens[index]?.value ?? "";
  const before = tokens[index - 1]?.value ?? "";
  const after = tokens[index + 1]?.value ?? "";
  if (before === "." || before === "?.") return HOST_MEMBERS.has(name);
  const isKey = ["{", ",", ";", "readonly"].includes(before) && (after === ":" || after === "?");
  // `process(schedule) { ... }` is a method; nobody calls the host object. `require(...)` is called.
  const isMethod = after === "(" && name !== "require" && name !== "Buffer";
  return !isKey && !isMethod;
}

/** `globalThis.process`, `globalThis["Bun"]`, `(globalThis as { Deno?: ... }).Deno`, `"Deno" in globalThis`. */
function hostNamesReachedFrom(tokens: readonly Token[], index: number): string[] {
  const names: string[] = [];
  const isHostName = (token: Token | undefined): token is Token => token !== undefined && HOST_GLOBALS.has(token.value);
  const twoBefore = tokens[index - 2];
  if (tokens[index - 1]?.value === "in" && isHostName(twoBefore)) names.push(twoBefore.value);
  for (const token of tokens.slice(index + 1, index + 25)) {
    if (token.value === ";") break;
    if (isHostName(token)) return [...names, token.value];
  }
  return names;
}

function checkTime(path: string, tokens: readonly Token[], report: Report): void {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "word") continue;
    const before = tokens[index - 1]?.value ?? "";
    const after = tokens[index + 1]?.value ?? "";
    const member = tokens[index + 2]?.value ?? "";
    const isMember = before === "." && tokens[index - 2]?.value !== "globalThis";
    if (isMember || (token.value === "AbortSignal" && IO_TIMEOUT_ROOM.test(path))) continue;
    if (TIMERS.has(token.value) && after !== ":") report("time", token.line, `${token.value} belongs to core`);
    else if (after === "." && TIME_MEMBERS[token.value]?.includes(member)) {
      report("time", token.line, `${token.value}.${member} belongs to core; take a Clock or a RandomSource`);
    } else if (token.value === "Date" && ((after === "(" && member === ")") || (before === "new" && after !== "("))) {
      report("time", token.line, "new Date() reads the clock; take a Clock");
    }
  }
}

function importedSpecifiers(tokens: readonly Token[]): Token[] {
  return tokens.filter((token, index) => {
    if (token.kind !== "string" || token.value === "") return false;
    const before = tokens[index - 1]?.value;
    const twoBefore = tokens[index - 2]?.value;
    if (before === "from") return twoBefore !== ".";
    return before === "import" || (before === "(" && twoBefore === "import");
  });
}

function levelOf(path: string): number | null {
  return DOORS[path] ?? LEVELS[folderOf(path)] ?? null;
}

function folderOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "src" && parts.length > 2 ? (parts[1] ?? "") : "";
}

function resolve(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}
