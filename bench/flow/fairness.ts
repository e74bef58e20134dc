import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { CONCURRENT_JOBS_MAX } from "./escapement.ts";

/** What the other tenants waited for, as counts of jobs, which no busy machine changes. */
export interface Fairness {
  /** How many jobs of the big tenant started after the others came and before the last of theirs. */
  readonly startedBefore: number;
  readonly seconds: number;
}

export const BACKLOG = 100_000;
export const TENANTS = 100;
export const JOBS_OF_OTHERS = 10;
const BULK = 1000;

/** One tenant has a backlog; then 99 others come with a few jobs each. */
export async function measureFairness(folder: string, fair: boolean): Promise<Fairness> {
  const dataStore = new LibsqlDataStore({ url: `file:${folder}/fair${fair}.db` }, { durability: "normal" });
  const scheduler = new Scheduler({ dataStore, maxConcurrentJobs: CONCURRENT_JOBS_MAX, logLevel: "error" });
  let left = (TENANTS - 1) * JOBS_OF_OTHERS;
  let startedBefore = 0;
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const settings = { maxRunningJobs: null, resultExpirationTime: { seconds: 0 }, fair };
  const task = scheduler.task<{ tenant: number }>(
    "tenants",
    { ...settings, concurrencyKey: ({ tenant }) => `tenant${tenant}` },
    async ({ tenant }) => {
      if (tenant === 0) {
        if (left > 0) startedBefore++;
        return;
      }
      left--;
      if (left === 0) finish();
    },
  );
  await scheduler.getTasks();
  const add = (tenants: readonly number[]): Promise<unknown> =>
    scheduler.addJobs(tenants.map((tenant) => ({ task, payload: { tenant } })));
  for (let added = 0; added < BACKLOG; added += BULK) await add(Array.from({ length: BULK }, () => 0));
  await add(Array.from({ length: (TENANTS - 1) * JOBS_OF_OTHERS }, (_, index) => 1 + (index % (TENANTS - 1))));
  const start = performance.now();
  await scheduler.start();
  await done;
  const seconds = (performance.now() - start) / 1000;
  await scheduler.stop({ drainTimeout: { seconds: 0 } });
  return { startedBefore, seconds };
}
