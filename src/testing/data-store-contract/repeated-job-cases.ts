import type { JobRecord } from "../../records/job.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { dueSchedule, end, entriesOf, ledgerCase, makeSkip, NOTE, runOf, skipOf } from "./ledger-makers.ts";
import { commit, commitPlans, endedJob, jobIds, makeJob, planOf, T0 } from "./makers.ts";

const REPEATED = { id: "first~1", retryOf: "first", idempotencyKey: "first" } as const;

async function forgetResults(store: DataStore): Promise<void> {
  await store.removeJobResults({}, 100);
}

/** Repeats the jobs of fire times in a skip, and looks at what becomes of the skip. */
async function repeatWithin(store: DataStore, ledger: Ledger, ...fireTimes: number[]): Promise<void> {
  const until = T0 + 4000;
  const jobs = fireTimes.map((fireTime, index) => {
    const id = `${index}`;
    return makeJob({ id, scheduleId: "schedule", fireTime, scheduledFireTime: fireTime, idempotencyKey: id });
  });
  // They end while there is no schedule, and so leave no entries.
  for (const job of jobs) await endedJob(store, job);
  const schedule = await dueSchedule(store, {}, NOTE);
  const skip = makeSkip(T0, { until, verdict: "tooOld", count: 5 });
  await commitPlans(store, [planOf(schedule, { fires: [], skips: [skip], nextFireTime: T0 + 90_000 })]);
  await store.addJobs(jobs.map((job) => ({ ...job, id: `${job.id}~1`, retryOf: job.id })));
  equal(await entriesOf(ledger), [{ kind: "skip", ...skip }], "the entries before the jobs run");
  const { acquired } = await commit(store, { now: T0 + 2000 });
  for (const job of acquired) await end(store, job);
  const runs = new Map(acquired.map((job) => [job.fireTime, runOf(job)]));
  equal(runs.size, fireTimes.length, "how many run");
  const starts = [T0, ...fireTimes.flatMap((fireTime) => [fireTime, fireTime + 1])];
  const expected = starts.flatMap((from, index) => {
    const last = (starts[index + 1] ?? until + 1) - 1;
    if (from > last) return [];
    return runs.get(from) ?? skipOf(from, { until: last, verdict: "tooOld", count: null });
  });
  equal(await entriesOf(ledger), expected, "the entries after the jobs ran");
}

export const repeatedJobCases: readonly DataStoreCase[] = [
  {
    name: "repeated jobs: one is added as long as the store has the result of the other",
    rules: ["A6"],
    async run({ open }) {
      const store = await open();
      await endedJob(store);
      const job = makeJob(REPEATED);
      const other = makeJob({ id: "other" });
      equal(await store.addJobs([job, other]), [added(job), added(other)], "the answer");
      equal(await jobIds(store), ["first~1", "other"], "the jobs");
      await forgetResults(store);
      equal(await store.addJobs([job]), [added(job)], "the answer to a repetition of the addition");
      equal(await jobIds(store), ["first~1", "other"], "the jobs after that");
    },
  },
  {
    name: "repeated jobs: none is added when the result is gone, and those beside it are",
    rules: ["A6"],
    async run({ open }) {
      const store = await open();
      await endedJob(store);
      await forgetResults(store);
      const job = makeJob(REPEATED);
      const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => makeJob({ id })) as [
        JobRecord,
        JobRecord,
        JobRecord,
        JobRecord,
      ];
      const once = { ...d, once: { kind: "throttle" as const, key: "key", until: T0 + 1 } };
      const outdated = { job, isNew: false, isOutdated: true };
      equal(await store.addJobs([job]), [outdated], "the answer");
      equal(await store.addJobs([a, job]), [added(a), outdated], "the answer beside another");
      const { additions } = await commit(store, { jobs: null, additions: [job, b] });
      equal(additions, [outdated, added(b)], "the answer of a commit");
      const answer = await store.addJobs([c, once, job]);
      equal(answer, [added(c), added(d), outdated], "the answer beside one that is added once in a time");
      equal(await jobIds(store), ["a", "b", "c", "d"], "the jobs");
    },
  },
  ledgerCase(["H3"], "repeated jobs: one whose fire time begins a skip leaves the rest of it", (store, ledger) =>
    repeatWithin(store, ledger, T0),
  ),
  ledgerCase(["H3"], "repeated jobs: one whose fire time is within a skip leaves the rest of it", (store, ledger) =>
    repeatWithin(store, ledger, T0 + 2000),
  ),
  ledgerCase(["H3"], "repeated jobs: one whose fire time ends a skip leaves the rest of it", (store, ledger) =>
    repeatWithin(store, ledger, T0 + 4000),
  ),
  ledgerCase(["H3"], "repeated jobs: several whose fire times are in one skip leave the rest of it", (store, ledger) =>
    repeatWithin(store, ledger, T0 + 1000, T0 + 1001, T0 + 3000),
  ),
];

function added(job: JobRecord): { job: JobRecord; isNew: true } {
  return { job, isNew: true };
}
