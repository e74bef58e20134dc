import { describe, test } from "vitest";
import { compareWithOracle, fromEnvironment } from "../cron/differential.ts";

const CASES = fromEnvironment("ORACLE_CASES", 20_000);
const SEED = fromEnvironment("ORACLE_SEED", Math.floor(Math.random() * 2 ** 31));
/** Bounds the work of one test, however many cases are asked for. */
const CASES_PER_TEST = 2000;

describe("the engine agrees with its slow twin", () => {
  console.log(`cron oracle: ORACLE_CASES=${CASES} ORACLE_SEED=${SEED}`);
  for (let first = 0; first < CASES; first += CASES_PER_TEST) {
    const count = Math.min(CASES_PER_TEST, CASES - first);
    test(`in the random cases ${first} to ${first + count - 1}`, () => {
      compareWithOracle(count, SEED + first);
    });
  }
});
