import { test } from "vitest";
import { compareWithOracle, fromEnvironment } from "../cron/differential.ts";

const CASES = fromEnvironment("ORACLE_CASES", 20_000);
const SEED = fromEnvironment("ORACLE_SEED", Math.floor(Math.random() * 2 ** 31));

test(`the engine agrees with its slow twin in ${CASES} random cases`, { timeout: 3_600_000 }, () => {
  console.log(`cron oracle: ORACLE_CASES=${CASES} ORACLE_SEED=${SEED}`);
  compareWithOracle(CASES, SEED);
});
