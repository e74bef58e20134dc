import { describe, expect, test } from "vitest";
import { catchingSeed, SEEDS_MAX } from "../catching-seed.ts";
import { CLOCK_MUTANTS } from "./clock-mutants.ts";
import { simulateClocks } from "./clocks.ts";

/** The runs are the same everywhere, so that the other runtimes are asked for a sample, and `npm test` for the first
 *  third: `npm run test:matrix` takes all, and `npm run simulate -- --only clocks` any number. */
const isNode = !(
  "Deno" in globalThis ||
  "Bun" in globalThis ||
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
);
const isWhole = globalThis.process?.env.ESCAPEMENT_ALL_TESTS !== undefined;
const SEEDS = !isNode ? 25 : isWhole ? 150 : 50;
const SEEDS_PER_TEST = 25;

describe("however wrong clocks are for a while, every promise is kept", () => {
  for (let first = 0; first < SEEDS; first += SEEDS_PER_TEST) {
    test(`seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed++) {
        const { violations } = await simulateClocks({ seed });
        expect(violations, `node scripts/simulate.mjs --only clocks --seed ${seed} --trace`).toEqual([]);
      }
    });
  }
});

describe("the simulation of wrong clocks finds a fault of our own:", () => {
  for (const { mutant, caughtBy } of CLOCK_MUTANTS) {
    test(`${mutant.name}`, async ({ annotate }) => {
      const seed = await catchingSeed(mutant, caughtBy, simulateClocks);
      expect(seed, `nothing was found in ${SEEDS_MAX} seeds`).not.toBeNull();
      if (seed !== caughtBy) await annotate(`seed ${seed} finds it, and not ${caughtBy}: change its caughtBy`);
    });
  }
});
