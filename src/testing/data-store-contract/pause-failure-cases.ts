import type { JobRecord } from "../../records/job.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { DataStore, PausedSchedule, ScheduleFilter } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { CHANGES, ledgerCase } from "./ledger-makers.ts";
import {
  add,
  commit,
  commitPlans,
  finish,
  fireOf,
  idsOf,
  jobOf,
  makeJob,
  makeSchedule,
  makeTask,
  planOf,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";

const STRICT = { pauseAfterFailures: 2 };

/** Adds a job of a fire of a schedule. */
async function addRun(store: DataStore, index: number, fields: Partial<JobRecord> = {}): Promise<void> {
  const schedule = makeSchedule(STRICT);
  await store.addJobs([
    jobOf(schedule, fireOf("schedule", T0 + index), { ...STRICT, id: `job-${index}`, runAt: T0, ...fields }),
  ]);
}

/** Runs jobs that end so, one commit each, and tells which schedules each commit paused. */
async function runs(
  store: DataStore,
  outcomes: readonly JobOutcome[],
  { first = 0 }: { readonly first?: number } = {},
): Promise<(readonly PausedSchedule[] | undefined)[]> {
  const paused: (readonly PausedSchedule[] | undefined)[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    await addRun(store, first + index);
    const { acquired } = await take(store);
    const releases = acquired.map((job) => ({ ...finish(job, { outcome }), countsFor: "schedule" }));
    paused.push((await commit(store, { releases, jobs: null })).pausedSchedules);
  }
  return paused;
}

/** The ids of the schedules that fail, in the order of ids, or of their fire times. */
async function failing(store: DataStore, fields: Partial<ScheduleFilter> = {}): Promise<string[]> {
  const { items } = await store.getSchedules({ state: "failing", limit: 10, cursor: null, ...fields });
  return idsOf(items);
}

const PAUSED: PausedSchedule = {
  id: "schedule",
  taskId: "task",
  nextFireTime: T0,
  pauseReason: "2 failures in a row",
};

async function isPaused(store: DataStore): Promise<boolean | undefined> {
  return (await store.getSchedule("schedule"))?.paused;
}

export const pauseFailureCases: readonly DataStoreCase[] = [
  {
    name: "pauses by failures: the failure that reaches the schedule's number pauses it, once",
    rules: ["S18", "S19"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule(STRICT)));
      const { fence = 0, revision = 0 } = (await store.getSchedule("schedule")) ?? {};
      equal(
        await runs(store, ["error", "abandoned", "error"]),
        [undefined, [PAUSED], undefined],
        "what commits paused",
      );
      const said = { paused: true, pauseReason: "2 failures in a row", pausedBy: "scheduler-a" };
      const raised = { fence: fence + 1, revision: revision + 1 };
      const { lastFailure: _, failures, ...stored } = (await store.getSchedule("schedule")) ?? {};
      equal(failures, 3, "how many failed");
      equal(stored, { ...makeSchedule(STRICT), ...said, ...raised }, "the schedule");
      await store.putTasks([makeTask(STRICT)]);
      equal(
        (await store.getTasks()).map(({ pauseAfterFailures }) => pauseAfterFailures),
        [2],
        "what a task keeps",
      );
    },
  },
  {
    name: "pauses by failures: a success and the end of a pause begin the count anew, skips and cancellations leave it",
    rules: ["S18", "S19"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule(STRICT)));
      const mixed = await runs(store, ["error", "success", "error", "skipped", "cancelled"]);
      equal(mixed, [undefined, undefined, undefined, undefined, undefined], "failures with a success between them");
      equal(await runs(store, ["error"], { first: 10 }), [[PAUSED]], "one more failure");
      await updateSchedule(store, "schedule", { paused: false });
      equal(await runs(store, ["error"], { first: 20 }), [undefined], "the first failure after an unpausing");
      equal(await runs(store, ["error"], { first: 30 }), [[PAUSED]], "the second");
      await updateSchedule(store, "schedule", { paused: true, pausedUntil: T0 + 10 });
      await commit(store, { now: T0 + 10, endsPauses: true, jobs: null });
      equal(await runs(store, ["error"], { first: 40 }), [undefined], "the first failure after a pause that ended");
    },
  },
  {
    name: "pauses by failures: those whose last run failed are listed, paused or not",
    rules: ["I3"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule(STRICT), makeSchedule({ id: "z" })));
      equal(await failing(store), [], "before the first failure");
      await runs(store, ["error"]);
      equal(await failing(store), ["schedule"], "after the first failure");
      equal(await failing(store, { sort: "nextFireTime" }), ["schedule"], "by fire time");
      equal(await failing(store, { paused: true }), [], "those that are paused, before the second failure");
      await runs(store, ["error"], { first: 10 });
      equal(await failing(store, { paused: true, taskId: "task" }), ["schedule"], "those of a task that are paused");
      equal(await failing(store, { cursor: "schedule" }), [], "those behind it");
      await updateSchedule(store, "schedule", { paused: false });
      equal(await failing(store), [], "after the end of the pause");
    },
  },
  {
    name: "pauses by failures: a schedule that is added with failures, as an import does, counts on",
    rules: ["S18", "S19"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ ...STRICT, failures: 1 }), makeSchedule({ id: "z", failures: 7 })));
      equal((await store.getSchedule("z"))?.failures, 7, "what is read");
      equal(await failing(store), ["schedule", "z"], "those whose last run failed");
      equal(await runs(store, ["error"]), [[PAUSED]], "the second failure");
    },
  },
  {
    name: "pauses by failures: ends of one commit count in their order, and over two connections",
    rules: ["S18", "S19"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await store.addSchedules(add(makeSchedule(STRICT)));
      for (let index = 0; index < 4; index++) await addRun(store, index);
      const { acquired } = await take(store);
      const outcomes: readonly JobOutcome[] = ["error", "error", "success", "error"];
      const releases = outcomes.flatMap((outcome, index) => {
        const job = acquired.find(({ id }) => id === `job-${index}`);
        return job === undefined ? [] : [{ ...finish(job, { outcome }), countsFor: "schedule" }];
      });
      equal(
        (await commit(store, { releases, jobs: null })).pausedSchedules,
        undefined,
        "a success before the last one",
      );
      equal(await runs(other, ["error"], { first: 10 }), [[PAUSED]], "a failure that another connection saw");
    },
  },
  {
    name: "pauses by failures: releases that do not count, and schedules that name no number",
    rules: ["S18", "S19"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule(STRICT)));
      await store.addJobs([makeJob({ id: "a", scheduleId: "schedule" }), makeJob({ id: "b", scheduleId: "schedule" })]);
      const { acquired: asked } = await take(store);
      const plain = asked.map((job) => finish(job, { outcome: "error" }));
      const { pausedSchedules } = await commit(store, { releases: plain, jobs: null });
      equal([plain.length, pausedSchedules], [2, undefined], "two jobs that count for no schedule");
      await addRun(store, 10);
      const { acquired } = await take(store);
      const stale = acquired.map((job) => ({ ...finish(job, { outcome: "error" }), countsFor: "schedule" }));
      const other = stale.map((one) => ({ ...one, fence: one.fence + 1 }));
      await commit(store, { releases: other, jobs: null });
      await commit(store, { releases: stale, jobs: null });
      equal(await isPaused(store), false, "after one end that did not count, and one that did");
      await updateSchedule(store, "schedule", { pauseAfterFailures: null });
      const many: readonly JobOutcome[] = ["error", "error", "error"];
      equal(await runs(store, many, { first: 20 }), [undefined, undefined, undefined], "without a number");
    },
  },
  {
    name: "pauses by failures: jobs that are lost or miss their start have failed, repetitions do not count",
    rules: ["S18", "S19"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule(STRICT)));
      await addRun(store, 0, { startDeadline: T0 + 1 });
      const missed = await commit(store, { now: T0 + 2, endsMissed: true, jobs: null });
      equal([missed.ended.length, missed.pausedSchedules], [1, undefined], "a missed start");
      await addRun(store, 1, { startDeadline: T0 + 1, retryOf: "job-0" });
      const again = await commit(store, { now: T0 + 2, endsMissed: true, jobs: null });
      equal([again.ended.length, again.pausedSchedules], [1, undefined], "that of a repetition");
      await addRun(store, 2, { maxRecoveries: 0 });
      const { acquired } = await take(store, { now: T0 + 3 });
      const { acquiredUntil = null } = acquired[0] ?? {};
      const lost = await commit(store, { now: (acquiredUntil ?? 0) + 1, recover: true, jobs: null });
      equal([lost.ended.length, lost.pausedSchedules], [1, [PAUSED]], "a job that was lost for good");
    },
  },
  {
    name: "pauses by failures: a plan of that very commit does not count",
    rules: ["S19"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule(STRICT)));
      await runs(store, ["error"]);
      await addRun(store, 1);
      const { acquired } = await take(store);
      const releases = acquired.map((job) => ({ ...finish(job, { outcome: "error" }), countsFor: "schedule" }));
      const stored = await store.getSchedule("schedule");
      const plan = planOf(stored ?? makeSchedule(STRICT));
      const { plans, pausedSchedules } = await commitPlans(store, [plan], { releases, jobs: null });
      equal([plans[0]?.committed, pausedSchedules], [false, [PAUSED]], "the plan, and what was paused");
    },
  },
  ledgerCase(
    ["S19", "O5"],
    "pauses by failures: the ledger keeps the change, by the scheduler of the commit",
    async (store, ledger) => {
      await store.addSchedules(add(makeSchedule(STRICT)));
      await runs(store, ["error", "error"]);
      const { items } = await ledger.getScheduleChanges(CHANGES);
      const last = items.map(({ kind, by }) => [kind, by]);
      equal(last, [["paused", "scheduler-a"]], "the changes");
    },
  ),
];
