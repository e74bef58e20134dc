import { describe, expect, test } from "vitest";
import { catchingSeed, SEEDS_MAX } from "./catching-seed.ts";
import { CAUGHT_BY } from "./caught-by.ts";
import { MUTANTS } from "./mutants.ts";

describe("the simulation finds a fault of our own:", () => {
  for (const mutant of MUTANTS) {
    const { name } = mutant;
    test(`${name}`, async ({ annotate }) => {
      const knownSeed = CAUGHT_BY[name] ?? null;
      const seed = await catchingSeed(mutant, knownSeed);
      expect(seed, `nothing was found in ${SEEDS_MAX} seeds`).not.toBeNull();
      if (seed === knownSeed) return;
      await annotate(`seed ${seed} finds a fault, and not ${knownSeed}: run scripts/mutant-seeds.mjs (${name})`);
    });
  }
});
