import { describe, expect, test } from "vitest";
import { sourceFiles } from "../architecture/sources.ts";
import { DOOR_NAMES } from "../doors/names.ts";

const publicTypes = new Set(Object.values(DOOR_NAMES).flatMap(({ types }) => types));

const IS_OPTIONS = /(Options|Settings|Update|Auth|Grant|Caller|Fault)$/;

/** The parameters by which callers say what they want. */
const ASKS = /\b(?:options|settings|connection|filter|changes)\??: ([^=;{]+?)[,)=;\n]/g;

const INLINE = /\b(?:options|settings|filter|changes)\??: (\{(?:[^{}]|\{[^{}]*\})*\})/g;

/** What programs implement or are given, though an option has it: no checks of options look at it. */
const GIVEN =
  /^(?:DataStore|EventBroker|JobExecutor|JobContext|PageSource|SchedulerClient|(?:Mqtt|Redis|Libsql)Client)$/;
const GIVEN_IN =
  /\/(?:records|dashboard|cli)\/|\/stores\/(?:contract\/|data-store)|\/brokers\/\w+\/client|\/(?:wire|insight-source|abort-signal)\.ts/;

/** Selections of what is written or removed, of which a check refuses undefined, because a variable that is not set
 *  would select everything. And what Fastify's own type has `prefix` of. */
const EXACT: readonly string[] = [
  "BulkScheduleOptions",
  "BulkResultOptions",
  "RetryJobsOptions",
  "BulkJobOptions",
  "SchedulerPluginOptions",
];

describe("with exactOptionalPropertyTypes", () => {
  test("each option that callers pass may be undefined, and so may those of what it is made of", () => {
    const texts = sourceFiles
      .filter(([path]) => !GIVEN_IN.test(path))
      .map(([path, text]) => [path, withoutComments(text)] as const);
    const declared = texts.flatMap(([path, text]) =>
      [...declarationsOf(text)].map(([name, body]) => ({ path, name, body })),
    );
    const asked = texts.flatMap(([, text]) => [...text.matchAll(ASKS)].flatMap(([, type = ""]) => namesIn(type)));
    const waiting = [...publicTypes].filter((name) => IS_OPTIONS.test(name) || asked.includes(name));
    const seen = new Set<string>();
    const exact: string[] = [];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (seen.has(name) || GIVEN.test(name) || EXACT.includes(name)) continue;
      seen.add(name);
      for (const { path, body } of declared.filter((one) => one.name === name)) {
        waiting.push(...namesIn(body));
        exact.push(...exactOf(body).map((option) => `${path}: ${name}.${option}`));
      }
    }
    expect(seen.size).toBeGreaterThan(150);
    expect(exact).toEqual([]);
  });

  test("each option of an argument that has no type of its own may be undefined", () => {
    const texts = sourceFiles.filter(([path]) => !GIVEN_IN.test(path));
    const found = texts.flatMap(([path, text]) =>
      [...withoutComments(text).matchAll(INLINE)].map(([, body = ""]) => [path, body] as const),
    );
    expect(found.length).toBeGreaterThan(30);
    const exact = found.flatMap(([path, body]) => exactOf(body).map((option) => `${path}: ${option}`));
    // The key that is paused or goes on: without one it is the whole task, so its check refuses undefined too.
    expect([...new Set(exact)]).toEqual(["src/scheduler/scheduler-client.ts: key"]);
  });

  test.each([
    ["{ a?: string; }", ["a"]],
    ["{ readonly a?: string | undefined; b: number; }", []],
    ["{ a?: { b?: number; } | undefined; }", ["b"]],
    ["{ a?: { b?: number | undefined; }; }", ["a"]],
    ["{ a?: (one?: string) => string | undefined; }", ["a"]],
    ["{ a?: ((one?: string) => string) | undefined; }", []],
    ["{ /** Not `b?: string;` */ a: string; c(one?: string): void; }", []],
  ])("of %s the options %j may not", (body, options) => {
    expect(exactOf(body)).toEqual(options);
  });
});

describe("what a handler gets, and what a call returns, may be taken apart", () => {
  test.each([
    "JobContext",
    "StepContext",
    "Steps",
    "Subscription",
    "PreparedJob",
    "JobExecutorCase",
    "EventBrokerCase",
    "DataStoreCase",
  ])("%s has functions as properties, and no methods", (name) => {
    const bodies = sourceFiles.flatMap(([, text]) => [...interfacesOf(text)].filter(([one]) => one === name));
    expect(bodies).not.toEqual([]);
    const methods = bodies.flatMap(([, body]) => [...withoutComments(body).matchAll(/^ {2}(\w+)\??[(<]/gm)]);
    expect(methods.map(([, method]) => method)).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
}

function namesIn(type: string): string[] {
  return type.match(/\b[A-Z]\w+/g) ?? [];
}

/** The exported interfaces and aliases of a file, each with what it is. */
function* declarationsOf(text: string): Generator<readonly [name: string, body: string]> {
  for (const match of text.matchAll(/^export interface (\w+)([\s\S]*?^\})/gm)) yield [match[1] ?? "", match[2] ?? ""];
  for (const match of text.matchAll(/^export type (\w+)/gm)) {
    const start = match.index + match[0].length;
    yield [match[1] ?? "", text.slice(start, text.indexOf(";\n\n", start))];
  }
}

/** The exported interfaces of a file, and their bodies. */
function* interfacesOf(text: string): Generator<readonly [name: string, body: string]> {
  for (const match of text.matchAll(/^export interface (\w+)[^{]*\{[\s\S]*?^\}/gm)) {
    yield [match[1] ?? "", match[0].slice(match[0].indexOf("{"))];
  }
}

/** The options within the body of an interface whose type does not end in `| undefined`. */
function exactOf(body: string): string[] {
  const text = withoutComments(body);
  const found: string[] = [];
  for (const match of text.matchAll(/(\w+)\?: /g)) {
    const before = text.slice(0, match.index);
    // A parameter of a function is no option.
    if (before.split("(").length > before.split(")").length) continue;
    const start = match.index + match[0].length;
    const type = text.slice(start, endOf(text, start)).trim();
    if (!/\| undefined$|^unknown$/.test(type) || /^\((?!\()[^)]*\) =>/.test(type)) found.push(match[1] ?? "");
  }
  return found;
}

/** Where the type ends that begins here. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at] ?? "";
    if (depth === 0 && ";,})".includes(char)) return at;
    if ("{([<".includes(char)) depth++;
    else if ("})]".includes(char) || (char === ">" && text[at - 1] !== "=")) depth--;
  }
  return text.length;
}
