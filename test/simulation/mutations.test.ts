import { describe, expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import { simulate } from "./simulate.ts";

/** A simulation that finds nothing shows nothing, unless it finds what is known to be there. The rarest of the faults,
 *  one of ticks that are stopped while their jobs run, shows in one of some hundred seeds. */
const SEEDS_MAX = 450;

describe("the simulation finds a fault of our own:", () => {
  for (const { name, options, patch } of MUTANTS) {
    test(`${name}`, async () => {
      const unpatch = patch?.();
      try {
        let seed = 0;
        let found: readonly string[] = [];
        for (; seed < SEEDS_MAX && found.length === 0; seed++)
          found = (await simulate({ ...options, seed })).violations;
        expect(found, `nothing was found in ${SEEDS_MAX} seeds`).not.toEqual([]);
      } finally {
        unpatch?.();
      }
    });
  }
});
