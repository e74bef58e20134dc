import { equal, isTrue } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  finish,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  QUEUE,
  release,
  T0,
  take,
} from "./makers.ts";

const OTHER_QUEUE = { executor: "inline", taskId: "other" };

export const lookCases: readonly DataStoreCase[] = [
  {
    name: "looking: an empty store has nothing",
    rules: ["V9"],
    async run({ open }) {
      const store = await open();
      equal(
        await look(store, { schedules: {}, tasks: [] }),
        {
          due: [],
          nextFireAt: null,
          nextRunAt: null,
          nextMissAt: null,
          leaseEndsAt: null,
          hasReady: false,
          staleTaskIds: [],
          hasExpired: false,
        },
        "the answer",
      );
    },
  },
  {
    name: "looking: tells what the clock of the store's own machine says only if it has one, and is asked",
    rules: ["V14"],
    async run({ open }) {
      const store = await open();
      const nothing = { now: T0, schedulerId: "scheduler-a", jobs: null, schedules: null, tasks: null };
      const { storeNow } = await store.look({ ...nothing, asksForNow: true });
      isTrue(storeNow === undefined || Number.isSafeInteger(storeNow), "storeNow is left out, or whole milliseconds");
      equal((await store.look(nothing)).storeNow, undefined, "without the question");
    },
  },
  {
    name: "looking: tells of ready jobs of the queues alone, and takes none",
    rules: ["V8", "V1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "foreign", taskId: "other" })]);
      equal((await look(store)).hasReady, false, "a job of another queue");
      equal((await look(store, { queues: [QUEUE, OTHER_QUEUE] })).hasReady, true, "with that queue");
      equal((await look(store, { queues: [] })).hasReady, false, "without queues");
      await store.addJobs([makeJob({ id: "ours" })]);
      equal((await look(store)).hasReady, true, "a job of ours");
      equal((await look(store)).hasReady, true, "when somebody has looked");
      equal(await store.getJob("ours"), makeJob({ id: "ours" }), "the job");
      await take(store);
      equal((await look(store)).hasReady, false, "when somebody has it");
    },
  },
  {
    name: "looking: a delayed job is ready from its runAt on, to the millisecond, though no commit has been there",
    rules: ["V8", "K1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ runAt: T0 + 1000 }), makeJob({ id: "later", runAt: T0 + 2000 })]);
      const early = await look(store, { now: T0 + 999 });
      equal([early.hasReady, early.nextRunAt], [false, T0 + 1000], "just before");
      const onTime = await look(store, { now: T0 + 1000 });
      equal([onTime.hasReady, onTime.nextRunAt], [true, T0 + 2000], "at its time");
      const late = await look(store, { now: T0 + 5000 });
      equal([late.hasReady, late.nextRunAt], [true, null], "when both are due");
    },
  },
  {
    name: "looking: a job that was put back is ready when it is due",
    rules: ["V8"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const retry = { jobId: "job", fence: job.fence, kind: "retry", runAt: T0 + 500, failedAttempts: 1 } as const;
      await release(store, [retry]);
      const early = await look(store, { now: T0 + 499 });
      equal([early.hasReady, early.nextRunAt, early.leaseEndsAt], [false, T0 + 500, null], "just before");
      const onTime = await look(store, { now: T0 + 500 });
      equal([onTime.hasReady, onTime.nextRunAt], [true, null], "at its time");
    },
  },
  {
    name: "looking: jobs whose task has no room are not ready, on any executor",
    rules: ["V8", "Q6"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      await store.addJobs([...makeJobs(2), makeJob({ id: "thread", executor: "threads" })]);
      const queues = [QUEUE, { executor: "threads", taskId: "task" }];
      equal((await look(store, { queues })).hasReady, true, "while it has room");
      const { acquired } = await take(store, { queues });
      equal((await look(store, { queues })).hasReady, false, "when it is full");
      await release(
        store,
        acquired.map((job) => finish(job)),
      );
      equal((await look(store, { queues })).hasReady, true, "when it has room again");
      await store.putTasks([makeTask({ maxRunningJobs: 0 })]);
      equal((await look(store, { queues })).hasReady, false, "when it may run none");
    },
  },
  {
    name: "looking: shows the earliest lease end of anybody, in the past too, and recovers nothing",
    rules: ["V7", "V1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await take(store, { by: "a", limit: 1, until: T0 + 20 });
      await take(store, { by: "b", limit: 1, until: T0 + 10 });
      equal((await look(store)).leaseEndsAt, T0 + 10, "the earlier one");
      const late = await look(store, { now: T0 + LEASE_MS, queues: [OTHER_QUEUE] });
      equal([late.leaseEndsAt, late.hasReady], [T0 + 10, false], "when it has ended, for another queue");
      equal((await store.getJob("job-00001"))?.acquiredBy, "b", "the holder");
    },
  },
  {
    name: "looking: without jobs in the view nothing of them is told",
    rules: ["V9"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "leased" });
      await store.addJobs([makeJob({ id: "ready" }), makeJob({ id: "delayed", runAt: T0 + 9 })]);
      const { nextRunAt, leaseEndsAt, hasReady } = await look(store, { jobs: null, schedules: {} });
      equal([nextRunAt, leaseEndsAt, hasReady], [null, null, false], "a look");
      const report = await release(store, []);
      equal([report.nextRunAt, report.leaseEndsAt, report.hasReady], [null, null, false], "a commit");
    },
  },
  {
    name: "looking: writes nothing, whatever its clock says",
    rules: ["V1"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      const leased = await leasedJob(store, { id: "leased", maxRecoveries: 0 });
      const delayed = makeJob({ id: "delayed", runAt: T0 + 1000 });
      await store.addJobs([delayed]);
      await store.addSchedules(add(makeSchedule()));
      const other = makeTask({ maxRunningJobs: 4 });
      await look(store, { now: T0 + 2 * LEASE_MS, schedules: {}, tasks: [other, makeTask({ id: "new" })] });
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [delayed, leased], "the jobs");
      equal(await store.getSchedule("schedule"), makeSchedule(), "the schedule");
      equal(await store.getTasks(), [makeTask()], "the tasks");
      equal((await store.getJobResults({ limit: 10, cursor: null }, T0)).items, [], "the results");
    },
  },
  {
    name: "looking: names the tasks whose record is missing or differs in anything, in order",
    rules: ["V10"],
    async run({ open }) {
      const store = await open();
      const stored = makeTask({ metadata: { a: { b: [1, null] } }, maxRunningJobs: 2 });
      await store.putTasks([stored, makeTask({ id: "same" }), makeTask({ id: "unasked" })]);
      const stale = async (...tasks: ReturnType<typeof makeTask>[]): Promise<readonly string[]> =>
        (await look(store, { tasks })).staleTaskIds;
      equal(await stale(makeTask({ id: "new" }), stored, makeTask({ id: "same" })), ["new"], "a missing one");
      equal(await stale(), [], "none asked about");
      equal((await look(store)).staleTaskIds, [], "nothing asked");
      const variants = [
        { executor: "threads" },
        { maxRunningJobs: null },
        { maxRunningJobs: 3 },
        { misfireGraceMs: 0 },
        { maxRecoveries: 4 },
        { timeoutMs: 1 },
        { resultExpirationMs: 0 },
        { retry: { ...stored.retry, maxAttempts: 2 } },
        { metadata: { a: { b: [1] } } },
        { metadata: {} },
      ];
      for (const fields of variants) {
        equal(
          await stale(makeTask({ id: "same" }), { ...stored, ...fields }),
          ["task"],
          `one with ${JSON.stringify(fields)}`,
        );
      }
      await store.putTasks([{ ...stored, maxRunningJobs: 3 }]);
      equal(await stale(stored), ["task"], "when somebody has changed it");
      equal(await stale({ ...stored, maxRunningJobs: 3 }), [], "as it is now");
    },
  },
  {
    name: "looking: tells whether results have expired, when it is asked, and removes none",
    rules: ["V11"],
    async run({ open }) {
      const store = await open();
      const hasExpired = async (now: number, asksForExpired = true): Promise<boolean> =>
        (await look(store, { now, asksForExpired })).hasExpired;
      equal(await hasExpired(T0), false, "an empty store");
      const job = await leasedJob(store);
      await release(store, [finish(job, { expiresAt: T0 + 100 })]);
      equal(await hasExpired(T0 + 99), false, "before it expires");
      equal(await hasExpired(T0 + 100, false), false, "nothing asked");
      equal(await hasExpired(T0 + 100), true, "when it has expired");
      const forLong = { asksForExpired: true, expiredForMs: 50 };
      equal((await look(store, { now: T0 + 149, ...forLong })).hasExpired, false, "when it has not been so for long");
      equal((await look(store, { now: T0 + 150, ...forLong })).hasExpired, true, "when it has been so for long");
      equal(
        (await store.look({ now: T0 + 100, schedulerId: "a", jobs: null, schedules: null, tasks: null })).hasExpired,
        false,
        "a look at nothing",
      );
      const alone = { jobs: null, schedules: null, tasks: null, asksForExpired: true };
      equal((await store.look({ now: T0 + 100, schedulerId: "a", ...alone })).hasExpired, true, "asked alone");
      equal((await store.getJobResult("job", T0 + 99))?.outcome, "success", "the result");
      await store.cleanup({ now: T0 + 100, limit: 10 });
      equal(await hasExpired(T0 + 100), false, "after the clean-up");
    },
  },
];
