import { describe, expect, test } from "vitest";
import { sourceFiles } from "../architecture/sources.ts";
import { DOOR_NAMES } from "../doors/names.ts";

const publicTypes = new Set(Object.values(DOOR_NAMES).flatMap(({ types }) => types));

const IS_OPTIONS = /(Options|Settings|Update|Auth|Grant|Caller|Fault)$/;

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
  test("each option of a public type may be undefined", () => {
    const found = sourceFiles.flatMap(([path, text]) =>
      [...interfacesOf(text)]
        .filter(([name]) => publicTypes.has(name) && IS_OPTIONS.test(name) && !EXACT.includes(name))
        .map((one) => [path, ...one] as const),
    );
    expect(found.length).toBeGreaterThan(40);
    expect(found.flatMap(([path, name, body]) => exactOf(body).map((option) => `${path}: ${name}.${option}`))).toEqual(
      [],
    );
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
    if (!/\| undefined$/.test(type) || /^\((?!\()[^)]*\) =>/.test(type)) found.push(match[1] ?? "");
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
