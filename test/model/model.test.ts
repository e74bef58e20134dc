import { describe, expect, test } from "vitest";
import { casesOf, check } from "./check.ts";
import { MUTANTS, SPARE_GUARDS } from "./mutants.ts";

/** The states are the same everywhere, so that the other runtimes are asked for a sample. */
const isNode = !(
  "Deno" in globalThis ||
  "Bun" in globalThis ||
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
);
const STATES_MAX = 100_000;

const cases = casesOf(false).filter((_, index) => isNode || index % 4 === 1);

describe("the stores' protocol keeps its promises in every state of", () => {
  test.each(cases)("$name", ({ settings }) => {
    const { flaw, trace } = check(settings, STATES_MAX);
    expect(flaw, trace).toBeNull();
  });
});

describe("a promise is broken as soon as", () => {
  test.each(MUTANTS)("$name", ({ settings, flaw }) => {
    const verdict = check(settings, STATES_MAX);
    expect(verdict.flaw, verdict.trace).toBe(flaw);
  });
});

describe("a plan need not be compared by", () => {
  test.each(SPARE_GUARDS)("$name", ({ settings }) => {
    const { flaw, trace } = check(settings, STATES_MAX);
    expect(flaw, trace).toBeNull();
  });
});
