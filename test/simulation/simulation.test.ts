import { describe, expect, test } from "vitest";
import { simulate } from "./simulate.ts";

/** The runs are the same everywhere, so that the other runtimes are asked for a sample, and `npm test` for the first
 *  quarter: `npm run test:matrix` takes all, and `npm run simulate` any number. */
const isNode = !(
  "Deno" in globalThis ||
  "Bun" in globalThis ||
  globalThis.navigator?.userAgent === "Cloudflare-Workers"
);
const isWhole = globalThis.process?.env.ESCAPEMENT_ALL_TESTS !== undefined;
const SEEDS = !isNode ? 100 : isWhole ? 500 : 125;
const SEEDS_PER_TEST = 25;

describe("whatever goes wrong, every promise is kept once it is over", () => {
  for (let first = 0; first < SEEDS; first += SEEDS_PER_TEST) {
    test(`seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed++) {
        const { violations } = await simulate({ seed });
        expect(violations, `node scripts/simulate.mjs --seed ${seed} --trace`).toEqual([]);
      }
    });
  }
});

test("a seed always gives the same run", async () => {
  const traceOf = async (): Promise<string[]> => {
    const lines: string[] = [];
    await simulate({ seed: 7, trace: (line) => lines.push(line) });
    return lines;
  };
  const first = await traceOf();
  expect(first.length).toBeGreaterThan(20);
  expect(await traceOf()).toEqual(first);
});
