import { describe, expect, test } from "vitest";
import { catchingSeed, SEEDS_MAX } from "../catching-seed.ts";
import type { SimulationOptions, SimulationReport } from "../simulate.ts";
import { JOB_STEP_MUTANTS } from "./job-step-mutants.ts";
import { STEPS } from "./operations.ts";
import { OPERATOR_MUTANTS } from "./operator-mutants.ts";
import { simulateOperators } from "./operators.ts";

/** The runs are the same everywhere, so that the other runtimes are asked for a sample, and `npm test` for the first
 *  third: `npm run test:matrix` takes all, and `npm run simulate` any number. */
const isNode = !(
  "Deno" in globalThis ||
  "Bun" in globalThis ||
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
);
const isWhole = globalThis.process?.env.ESCAPEMENT_ALL_TESTS !== undefined;
const SEEDS = !isNode ? 50 : isWhole ? 300 : 100;
const SEEDS_PER_TEST = 25;

const simulateSteps = (options: SimulationOptions): Promise<SimulationReport> => simulateOperators(options, STEPS);

describe.each([
  { name: "operators act", only: "operators", seeds: SEEDS, run: simulateOperators },
  { name: "jobs take steps", only: "steps", seeds: SEEDS / 2, run: simulateSteps },
])("whatever goes wrong while $name, every promise is kept", ({ only, seeds, run }) => {
  for (let first = 0; first < seeds; first += SEEDS_PER_TEST) {
    test(`seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed++) {
        const { violations } = await run({ seed });
        expect(violations, `node scripts/simulate.mjs --only ${only} --seed ${seed} --trace`).toEqual([]);
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

describe.each([
  { name: "operators", mutants: OPERATOR_MUTANTS, run: simulateOperators },
  { name: "jobs with steps", mutants: JOB_STEP_MUTANTS, run: simulateSteps },
])("the simulation of $name finds a fault of our own:", ({ mutants, run }) => {
  for (const { mutant, caughtBy } of mutants) {
    test(`${mutant.name}`, async ({ annotate }) => {
      const seed = await catchingSeed(mutant, caughtBy, run);
      expect(seed, `nothing was found in ${SEEDS_MAX} seeds`).not.toBeNull();
      if (seed !== caughtBy) await annotate(`seed ${seed} finds it, and not ${caughtBy}: change its caughtBy`);
    });
  }
});
