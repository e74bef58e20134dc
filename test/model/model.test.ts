import { describe, expect, test } from "vitest";
import { casesOf, check } from "./check.ts";
import { MUTANTS, SPARE_GUARDS } from "./mutants.ts";

const STATES_MAX = 200_000;
// The work is bounded; a machine may be slow.
const TIMEOUT_MS = 120_000;

describe("the stores' protocol keeps its promises in every state of", () => {
  test.each(casesOf(false))(
    "$name",
    ({ settings }) => {
      const { flaw, trace } = check(settings, STATES_MAX);
      expect(flaw, trace).toBeNull();
    },
    TIMEOUT_MS,
  );
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
