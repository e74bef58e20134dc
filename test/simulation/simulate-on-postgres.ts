import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { PGliteStores } from "../support/pglite-stores.ts";
import { drawLedger } from "./ledger-workload.ts";
import { OPERATORS } from "./operators/operations.ts";
import { simulateOperators } from "./operators/operators.ts";
import { type SimulationOptions, type SimulationReport, simulate } from "./simulate.ts";

let pglite: PGliteStores | null = null;

/** One run over PostgreSQL; every fifth seed is the large simulation, the others are that of what operators do. */
export async function simulateOnPostgres(options: SimulationOptions): Promise<SimulationReport> {
  const { seed } = options;
  pglite ??= new PGliteStores();
  const isLarge = seed % 5 === 0;
  const store = await pglite.make(isLarge ? { ledger: drawLedger(seed)?.limits ?? true } : {});
  try {
    const given = { ...options, areClocksRight: true, makeStore: () => store };
    if (isLarge) return await simulate(given);
    await store.open(T0);
    return await simulateOperators(given, OPERATORS);
  } finally {
    await store.close();
  }
}
