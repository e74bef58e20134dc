import { T0 } from "../../../src/testing/data-store-contract/makers.ts";
import { KeptLibsqlStore } from "../../support/kept-libsql.ts";
import type { SimulationOptions, SimulationReport } from "../simulate.ts";
import { OPERATORS, STEPS } from "./operations.ts";
import { simulateOperators, type World } from "./operators.ts";

/** Of so many seeds one runs on SQLite, which takes twenty times as long as the memory store. */
const SQL_EVERY = 100;

/** What operators do. */
export function simulateOperations(options: SimulationOptions): Promise<SimulationReport> {
  return simulateSomeOnSqlite(options, OPERATORS);
}

/** Jobs with steps alone. */
export function simulateSteps(options: SimulationOptions): Promise<SimulationReport> {
  return simulateSomeOnSqlite(options, STEPS);
}

async function simulateSomeOnSqlite(options: SimulationOptions, world: World): Promise<SimulationReport> {
  const { makeStore, seed } = options;
  if (makeStore !== undefined || seed % SQL_EVERY !== 0) return simulateOperators(options, world);
  const store = new KeptLibsqlStore(":memory:");
  await store.open(T0);
  try {
    return await simulateOperators({ ...options, makeStore: () => store }, world);
  } finally {
    await store.close();
  }
}
