import { backfillJobId } from "../../records/backfill.ts";
import type { JobRecord } from "../../records/job.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../records/policies.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore, StatsCount, StatsFilter } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import { childOf } from "./chain-makers.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { DAY_MS, dueSchedule, end, fireAt, jobIdAt, ledgerCase, runningJob, taken } from "./ledger-makers.ts";
import { cancel, commit, finish, leasedJob, makeJob, release, T0 } from "./makers.ts";
import { twice } from "./repeat.ts";

const HOUR_MS = 3_600_000;
/** T0 is 8 hours later, at a whole hour. */
const DAY_0 = T0 - 8 * HOUR_MS;

/** The steps of four milliseconds, and of about two seconds. */
const STEP_OF_4 = 10;
const STEP_OF_2001 = 45;
const RUN_OF_4 = STEP_OF_4 * 256;

function cellOf(outcome: JobOutcome): number {
  return (JOB_OUTCOMES.indexOf(outcome) + 1) * 65_536;
}

/** What is counted, in order: by default of the two hours, or of the two days, from that of T0 on. */
async function read(ledger: Ledger, of: StatsFilter["of"], fields: Partial<StatsFilter> = {}): Promise<StatsCount[]> {
  const [from, bucketMs] = of === "schedules" ? [DAY_0, DAY_MS] : [T0, HOUR_MS];
  const range = { from, until: from + 2 * bucketMs, bucketMs };
  const { counts, isCut } = await ledger.getStats({ of, ...range, limit: 10, ...fields });
  equal(isCut, false, "whether counts were left out");
  return [...counts].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.bucket - b.bucket || a.cell - b.cell));
}

/** The same of all three, as pairs of cells and counts, of one task and one schedule in one bucket. */
async function cells(ledger: Ledger): Promise<Record<StatsFilter["of"], [cell: number, count: number][]>> {
  const pairs = async (of: StatsFilter["of"]) =>
    (await read(ledger, of)).map(({ cell, count }): [number, number] => [cell, count]);
  return { all: await pairs("all"), tasks: await pairs("tasks"), schedules: await pairs("schedules") };
}

/** Ends a job by hand, in a while of 4 ms. */
async function endAt(store: DataStore, job: JobRecord, finishedAt: number): Promise<void> {
  await end(store, job, { startedAt: finishedAt - 4, finishedAt });
}

async function addedJob(store: DataStore, fields: Partial<JobRecord>, now = T0): Promise<JobRecord> {
  await store.addJobs([makeJob(fields)]);
  return taken(store, fields.id ?? "job", now);
}

export const statsCases: readonly DataStoreCase[] = [
  ledgerCase(
    ["H27", "H28"],
    "stats: a job that ends counts for all jobs, its task and its schedule, whatever its outcome",
    async (store, ledger) => {
      const ended: Record<"each" | "schedule", [number, number][]> = { each: [[STEP_OF_2001, 0]], schedule: [] };
      for (const [place, outcome] of JOB_OUTCOMES.entries()) {
        const job = await runningJob(store, { id: outcome });
        // Whether its result is kept makes no difference.
        await end(store, job, { outcome, ...(place % 2 === 0 ? { expiresAt: T0 } : {}) });
        ended.each.push([cellOf(outcome) + RUN_OF_4, 1]);
        ended.schedule.push([cellOf(outcome) + RUN_OF_4 + STEP_OF_2001, 1]);
        ended.each[0] = [STEP_OF_2001, place + 1];
        equal((await read(ledger, "schedules", { ids: [outcome] })).length, 1, `the counts of ${outcome}`);
      }
      const found = await cells(ledger);
      equal(found.all, ended.each, "of all jobs");
      equal(found.tasks, ended.each, "of the task");
      equal(found.schedules.sort(byCell), ended.schedule, "of the schedules");
    },
  ),
  ledgerCase(
    ["H27", "H28"],
    "stats: a job that the store ends by itself counts with its outcome alone",
    async (store, ledger) => {
      const schedule = await dueSchedule(store);
      await fireAt(store, schedule, [T0, T0 + 1], { startDeadline: T0 + 10 });
      await cancel(store, jobIdAt(T0), T0 + 2);
      await commit(store, { now: T0 + 11, queues: [], endsMissed: true });
      await leasedJob(store, { id: "lost", maxRecoveries: 0 }, { now: T0 + 12, until: T0 + 13 });
      await release(store, [], { now: T0 + 14 });
      await leasedJob(store, { id: "asked" }, { now: T0 + 15, until: T0 + 16 });
      await cancel(store, "asked", T0 + 16);
      await release(store, [], { now: T0 + 17 });
      await store.addJobs([makeJob({ id: "parent", runAt: T0 + DAY_MS }), childOf(["parent"])]);
      await cancel(store, "parent", T0 + 18);
      const found = await cells(ledger);
      const each = [
        [cellOf("missedStartDeadline"), 1],
        [cellOf("cancelled"), 4],
        [cellOf("abandoned"), 1],
      ];
      equal(found.all, each, "of all jobs");
      equal(found.tasks, each, "of the task");
      const ofSchedule = [
        [cellOf("missedStartDeadline"), 1],
        [cellOf("cancelled"), 1],
      ];
      equal(found.schedules, ofSchedule, "of the schedule");
    },
  ),
  ledgerCase(
    ["H27"],
    "stats: a release that does not count is counted no more than a retry, and a repeated one counts once",
    async (store, ledger) => {
      const job = await runningJob(store);
      await release(store, [finish({ ...job, fence: job.fence + 1 })]);
      await release(store, [finish(job)], { by: "scheduler-b" });
      await release(store, [{ jobId: job.id, fence: job.fence, kind: "retry", runAt: T0 + 2500, failedAttempts: 1 }]);
      equal(await cells(ledger), { all: [], tasks: [], schedules: [] }, "before the end");
      const last = await taken(store, job.id, T0 + 3000);
      const result = { attempts: 2, startedAt: T0 + 3001, finishedAt: T0 + 3005 };
      await twice(store, { now: T0 + 3005, jobs: null, releases: [finish(last, result)] });
      await end(store, last, result);
      const one = [[cellOf("success") + RUN_OF_4, 1]];
      equal(await cells(ledger), { all: one, tasks: one, schedules: one }, "after the end");
      const lone = await addedJob(store, { id: "lone" }, T0 + 4000);
      await Promise.all([end(store, lone), end(store, lone)]);
      equal(
        (await read(ledger, "tasks")).map(({ count }) => count),
        [2],
        "after two releases at once",
      );
    },
  ),
  ledgerCase(
    ["H28"],
    "stats: a job is as late as its first start, unless it repeats another one or is of a backfill",
    async (store, ledger) => {
      const [fireTime, backfill] = [T0, "01800000-0000-7000-8000-00000000000a"];
      const own = { scheduleId: "schedule", fireTime, scheduledFireTime: fireTime };
      const times = { startedAt: T0 + 3001, finishedAt: T0 + 3005 };
      const error = { name: "Error", message: "failed" };
      const attemptHistory = [{ number: 1, startedAt: T0 + 2001, finishedAt: T0 + 2005, error }];
      const { id: jobId, fence } = await addedJob(store, { id: "retried", ...own });
      const retry = { kind: "retry", runAt: T0 + 2500, failedAttempts: 1, attemptHistory } as const;
      await release(store, [{ jobId, fence, ...retry }]);
      await end(store, await taken(store, jobId, T0 + 3000), { attempts: 2, ...times });
      await store.addJobs([makeJob({ id: "first", retryOf: "retried", ...own })]);
      await end(store, await taken(store, "first"), times);
      await end(store, await addedJob(store, { id: backfillJobId(backfill, fireTime), ...own }), times);
      await end(store, await addedJob(store, { id: "early", ...own, fireTime: T0 + 9 }), {
        ...times,
        scheduledFireTime: T0 + 4000,
      });
      await end(store, await addedJob(store, { id: "by hand" }), times);
      const late = (await read(ledger, "all")).filter(({ cell }) => cell < 65_536);
      equal(
        late.map(({ cell, count }) => [cell, count]),
        [
          [1, 1],
          [STEP_OF_2001, 1],
        ],
        "the latenesses",
      );
    },
  ),
  ledgerCase(
    ["H29"],
    "stats: counts are read by hour or day, of all, of some, or of those with the most jobs",
    async (store, ledger) => {
      for (const [index, [taskId, scheduleId, hour]] of (
        [
          ["task", "a", 0],
          ["task", "a", 1],
          ["task", "b", 30],
          ["other", "b", 0],
          ["other", null, 0],
          ["other", null, 1],
        ] as const
      ).entries()) {
        const id = `job ${index}`;
        await store.addJobs([makeJob({ id, taskId, scheduleId })]);
        const queues = [{ executor: "inline", taskId }];
        const { acquired } = await commit(store, { queues, until: T0 + 2 * DAY_MS });
        for (const job of acquired) await endAt(store, job, T0 + hour * HOUR_MS + 50);
      }
      const cell = cellOf("success") + RUN_OF_4;
      const count = (id: string, bucket: number, ended: number) => ({ id, bucket, cell, count: ended });
      equal(await read(ledger, "all"), [count("", 0, 3), count("", 1, 2)], "of all jobs");
      const long = { until: T0 + 40 * HOUR_MS, bucketMs: 20 * HOUR_MS };
      const byTask = [count("other", 0, 3), count("task", 0, 2), count("task", 1, 1)];
      equal(await read(ledger, "tasks", long), byTask, "by tasks");
      equal(await read(ledger, "tasks", { ...long, ids: ["task", "none"] }), byTask.slice(1), "of one task");
      equal(await read(ledger, "tasks", { limit: 1 }), [count("other", 0, 2), count("other", 1, 1)], "of the most");
      const bySchedule = [count("a", 0, 2), count("b", 0, 1), count("b", 1, 1)];
      equal(await read(ledger, "schedules"), bySchedule, "by schedules");
      equal(await read(ledger, "schedules", { ids: ["b"] }), bySchedule.slice(1), "of one schedule");
      equal(await read(ledger, "schedules", { taskId: "other" }), [count("b", 0, 1)], "of the schedules of a task");
      equal(await read(ledger, "schedules", { limit: 1 }), [count("a", 0, 2)], "of the first of two that are equal");
      equal(await read(ledger, "schedules", { from: DAY_0 + DAY_MS }), [count("b", 0, 1)], "of the second day");
    },
  ),
  ledgerCase(["H30"], "stats: the clean-up removes counts after 30 days, a part each time", async (store, ledger) => {
    const keptMs = Math.min(30 * DAY_MS, ledger.limits.ageMsMax);
    const job = await runningJob(store);
    await endAt(store, job, T0 + 2050);
    await endAt(store, await addedJob(store, { id: "later" }), T0 + HOUR_MS + 50);
    await store.cleanup({ now: T0 + keptMs + HOUR_MS - 1, limit: 1000 });
    equal((await read(ledger, "all")).length, 3, "how many counts there are within the time");
    await store.cleanup({ now: T0 + keptMs + HOUR_MS, limit: 1000 });
    const left = (await read(ledger, "all")).map(({ bucket }) => bucket);
    equal(left, [1], "the hour that is left");
    equal(await read(ledger, "schedules"), [], "what is left of the schedule");
  }),
];

function byCell([a]: readonly [number, number], [b]: readonly [number, number]): number {
  return a - b;
}
