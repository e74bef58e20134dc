import { describe, expect, test } from "vitest";
import { catchingSeed, SEEDS_MAX } from "../catching-seed.ts";
import { OPERATOR_MUTANTS } from "./operator-mutants.ts";
import { simulateOperators } from "./operators.ts";

/** The runs are the same everywhere, so that the other runtimes are asked for a sample. */
const isNode = !(
  "Deno" in globalThis ||
  "Bun" in globalThis ||
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
);
const SEEDS = isNode ? 300 : 50;
const SEEDS_PER_TEST = 50;

describe("whatever goes wrong while operators act, every promise is kept", () => {
  for (let first = 0; first < SEEDS; first += SEEDS_PER_TEST) {
    test(`seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed++) {
        const { violations } = await simulateOperators({ seed });
        expect(violations, `node scripts/simulate.mjs --only operators --seed ${seed} --trace`).toEqual([]);
      }
    });
  }
});

test("a seed always gives the same run", async () => {
  const traceOf = async (): Promise<string[]> => {
    const lines: string[] = [];
    await simulateOperators({ seed: 7, trace: (line) => lines.push(line) });
    return lines;
  };
  const first = await traceOf();
  expect(first.length).toBeGreaterThan(20);
  expect(await traceOf()).toEqual(first);
});

describe("the simulation of operators finds a fault of our own:", () => {
  for (const { mutant, caughtBy } of OPERATOR_MUTANTS) {
    test(`${mutant.name}`, async ({ annotate }) => {
      const seed = await catchingSeed(mutant, caughtBy, simulateOperators);
      expect(seed, `nothing was found in ${SEEDS_MAX} seeds`).not.toBeNull();
      if (seed !== caughtBy) await annotate(`seed ${seed} finds it, and not ${caughtBy}: change operator-mutants.ts`);
    });
  }
});
