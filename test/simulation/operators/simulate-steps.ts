import type { DataStore } from "../../../src/stores/data-store.ts";
import { KeptLibsqlStore } from "../../support/kept-libsql.ts";
import type { SimulationOptions, SimulationReport } from "../simulate.ts";
import { STEPS } from "./operations.ts";
import { simulateOperators } from "./operators.ts";

/** Of so many seeds one runs on SQLite, which takes twenty times as long as the memory store. */
const SQL_EVERY = 100;

/** Jobs with steps alone. */
export async function simulateSteps(options: SimulationOptions): Promise<SimulationReport> {
  const { makeStore, seed } = options;
  if (makeStore !== undefined || seed % SQL_EVERY !== 0) return simulateOperators(options, STEPS);
  const store: DataStore = new KeptLibsqlStore(":memory:");
  try {
    return await simulateOperators({ ...options, makeStore: () => store }, STEPS);
  } finally {
    await store.close();
  }
}
