import type { AttemptRecord, JobProgress } from "../../records/attempt.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobRelease } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  cancel,
  endedJob,
  extend,
  finish,
  keptFacts,
  LEASE_MS,
  leasedJob,
  makeJob,
  makeResult,
  release,
  T0,
  take,
} from "./makers.ts";
import { twice } from "./repeat.ts";

/** Text that careless stores break. */
const TEXT = 'no "way"\n\u2028 {x} \\ \u00fc';

function attempts(count: number): AttemptRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    startedAt: index === 1 ? null : T0 + index,
    finishedAt: T0 + index + 1,
    error: { name: "TypeError", message: TEXT, stack: "at x", code: "E" },
  }));
}

const HALF: JobProgress = { fraction: 0.5, note: TEXT };

/** The fields of a job that people may want to see again. */
const RICH: Partial<JobRecord> = {
  ...{
    payload: '{"text":"\\"quoted\\" \\u0000"}',
    metadata: { a: [1, null], text: TEXT },
    priority: -2,
    maxRecoveries: 1,
    retry: { maxAttempts: 3, backoff: { initialMs: 10, factor: 1.5, maxMs: 1000, jitter: "none" } },
  },
  ...{ scheduleId: "s", fireTime: T0, scheduledFireTime: T0 + 3, idempotencyKey: "key", retryOf: "first" },
};

/** The same with a concurrency key, which holds the job wherever it goes back to the queue. */
const KEYED = { ...RICH, concurrencyKey: TEXT };

export const historyCases: readonly DataStoreCase[] = [
  {
    name: "history: attempts that failed stay with the job, in the commit that puts the job back",
    rules: ["R9"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await endedJob(store);
      const job = await leasedJob(store, RICH);
      const retry = { jobId: "job", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 } as const;
      const { releases } = await release(store, [{ ...retry, attemptHistory: attempts(1) }]);
      equal(releases, ["released"], "the answer");
      const unleased = { acquiredBy: null, acquiredUntil: null };
      const waiting = { ...job, ...unleased, failedAttempts: 1, attemptHistory: attempts(1) };
      equal(await other.getJob("job"), waiting, "the job that waits");
      const [again] = (await take(other)).acquired;
      equal(present(again, "the job").attemptHistory, attempts(1), "what the next worker gets");
      await release(store, [{ ...retry, fence: 2, failedAttempts: 2, attemptHistory: attempts(2) }]);
      equal((await other.getJob("job"))?.attemptHistory, attempts(2), "after the second attempt");
      await take(other);
      await release(store, [{ ...retry, fence: 3, failedAttempts: 2 }]);
      equal((await other.getJob("job"))?.attemptHistory, attempts(2), "a retry that says nothing");
    },
  },
  {
    name: "history: of a release that does not count changes nothing, and a repeated release counts once",
    rules: ["R9"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const retry: JobRelease = {
        ...{ jobId: "job", fence: 1, kind: "retry", runAt: T0 + 500, failedAttempts: 1 },
        attemptHistory: attempts(1),
      };
      await release(store, [{ ...retry, fence: 7 }]);
      equal(await store.getJob("job"), job, "after a release that is fenced");
      await twice(store, { jobs: null, releases: [retry] });
      const fields = { runAt: T0 + 500, failedAttempts: 1, fence: 1, attemptHistory: attempts(1) };
      equal(await store.getJob("job"), makeJob(fields), "after the release came twice");
    },
  },
  {
    name: "history: an attempt that was lost stays with the job that is taken back, and with the one that ends",
    rules: ["R9"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const job = await leasedJob(store, { maxRecoveries: 1 });
      const giveUp = { jobId: "job", fence: 1, kind: "giveUp", hasStarted: true } as const;
      await twice(store, { jobs: null, releases: [{ ...giveUp, attemptHistory: attempts(1) }] });
      const unleased = { acquiredBy: null, acquiredUntil: null };
      const waiting = { ...job, ...unleased, recoveries: 1, startedFence: 1, attemptHistory: attempts(1) };
      equal(await other.getJob("job"), waiting, "the job that was taken back");
      await take(other);
      const { ended } = await release(other, [{ ...giveUp, fence: 2, attemptHistory: attempts(2) }]);
      equal(
        ended.map(({ outcome }) => outcome),
        ["abandoned"],
        "how the job ends",
      );
      const { outcome, attempts: count, error, attemptHistory } = present(await store.getJobResult("job", T0), "it");
      equal([outcome, count, error, attemptHistory], ["abandoned", 2, null, attempts(2)], "its result");
    },
  },
  {
    name: "history: progress is kept with the extension of the lease, and stays until there is other",
    rules: ["L5"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await leasedJob(store);
      equal((await other.getJob("job"))?.progress, undefined, "before");
      await extend(store, [{ jobId: "job", fence: 1, progress: HALF }]);
      equal((await other.getJob("job"))?.progress, HALF, "once it was told");
      await extend(store, [{ jobId: "job", fence: 1 }]);
      equal((await other.getJob("job"))?.progress, HALF, "when there is nothing new");
      await extend(store, [{ jobId: "job", fence: 1, progress: { fraction: 0.75, note: null } }]);
      equal((await other.getJob("job"))?.progress, { fraction: 0.75, note: null }, "when it goes on");
      await extend(store, [{ jobId: "job", fence: 9, progress: HALF }]);
      equal((await other.getJob("job"))?.progress, { fraction: 0.75, note: null }, "from somebody without the lease");
    },
  },
  {
    name: "history: a result keeps what its job was",
    rules: ["R13"],
    async run({ open }) {
      const store = await open();
      await endedJob(store);
      const job = await leasedJob(store, KEYED);
      const result = { ...makeResult(job), attemptHistory: attempts(3), progress: HALF };
      equal(result.job?.payload, RICH.payload, "the payload that is to be kept");
      await release(store, [finish(job, result)]);
      equal(await store.getJobResult("job", T0), result, "the result");
      const { items } = await store.getJobResults({ limit: 1, cursor: null }, T0);
      equal(items, [result], "the list");
    },
  },
  {
    name: "history: a job that the store ends by itself leaves as much, and the answer tells less",
    rules: ["R13"],
    async run({ open }) {
      const store = await open();
      await endedJob(store);
      await leasedJob(store, KEYED);
      await extend(store, [{ jobId: "job", fence: 1, progress: HALF }]);
      const retry = { jobId: "job", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 } as const;
      await release(store, [{ ...retry, attemptHistory: attempts(1) }]);
      const waiting = present(await store.getJob("job"), "the job");
      const facts = { ...keptFacts(makeJob(KEYED)), attemptHistory: attempts(1), progress: HALF };
      equal(keptFacts(waiting), facts, "what the waiting job has");
      const cancelled = await cancel(store, "job", T0);
      const answer = present(cancelled.status === "cancelled" ? cancelled.result : null, "the answer");
      equal("job" in answer || "attemptHistory" in answer || "progress" in answer, false, "what the answer leaves out");
      equal(await store.getJobResult("job", T0), { ...answer, ...facts }, "the result of a cancelled job");

      const lost = await leasedJob(store, { ...KEYED, id: "lost", maxRecoveries: 0 });
      const late = { now: T0 + LEASE_MS };
      const [ended] = (await take(store, late)).ended;
      const expected = { ...present(ended, "the lost job"), ...keptFacts(lost, true) };
      equal(await store.getJobResult("lost", late.now), expected, "the result of a lost job");
    },
  },
];
