import type { JobRecord } from "../../records/job.ts";
import { FAILURE_KEPT_MS } from "../../records/limits.ts";
import { isFailure, JOB_OUTCOMES } from "../../records/policies.ts";
import type { ScheduleFailure } from "../../records/schedule-failure.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  commit,
  finish,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeSchedule,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";

const LATE = T0 + LEASE_MS;

/** How long results of a job are kept, and then how long those of its failures are, by its settings. */
const KEPT: readonly (readonly [settings: Partial<JobRecord>, resultMs: number, failureMs: number])[] = [
  [{ resultExpirationMs: 1000 }, 1000, FAILURE_KEPT_MS],
  [{ resultExpirationMs: 2 * FAILURE_KEPT_MS }, 2 * FAILURE_KEPT_MS, 2 * FAILURE_KEPT_MS],
  [{ resultExpirationMs: 0 }, 0, 0],
  [{ resultExpirationMs: 0, failureExpirationMs: 5000 }, 0, 5000],
  [{ resultExpirationMs: 5000, failureExpirationMs: 0 }, 5000, 0],
];

/** What a schedule keeps of a job that failed so. */
async function lastFailureOf(store: DataStore, id = "schedule"): Promise<ScheduleFailure | null> {
  return (await store.getSchedule(id))?.lastFailure ?? null;
}

/** What becomes of the failures of jobs. */
export const failureCases: readonly DataStoreCase[] = [
  ...KEPT.map(
    ([settings, resultMs, failureMs]): DataStoreCase => ({
      name: `failures: a store keeps what it ends by itself as the job says (${JSON.stringify(settings)})`,
      rules: ["R21"],
      async run({ open }) {
        const store = await open();
        const keptFor = async (jobId: string, now: number): Promise<number> =>
          ((await store.getJobResult(jobId, now))?.expiresAt ?? now) - now;
        await leasedJob(store, { id: "lost", maxRecoveries: 0, ...settings });
        const { ended } = await take(store, { now: LATE });
        equal(
          ended.map(({ outcome, expiresAt }) => [outcome, expiresAt - LATE]),
          [["abandoned", failureMs]],
          "what the commit ended",
        );
        await store.addJobs([
          makeJob({ id: "cancelled", ...settings }),
          makeJob({ id: "late", runAt: T0 + 1000, startDeadline: T0 + 2000, ...settings }),
        ]);
        await cancel(store, "cancelled", T0);
        await commit(store, { now: T0 + 2001, queues: [], endsMissed: true });
        equal(
          [await keptFor("lost", LATE), await keptFor("cancelled", T0), await keptFor("late", T0 + 2001)],
          [failureMs, resultMs, failureMs],
          "for how long",
        );
      },
    }),
  ),
  ...JOB_OUTCOMES.map(
    (outcome): DataStoreCase => ({
      name: `failures: a job of a schedule that ends as ${outcome} ${isFailure(outcome) ? "is" : "is no"} last failure`,
      rules: ["R23"],
      async run({ open }) {
        const store = await open();
        await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "error" }]);
        const job = await leasedJob(store, { scheduleId: "schedule", fireTime: T0, scheduledFireTime: T0 + 3 });
        const error = { name: "E".repeat(2000), message: "no", code: "E_NO", stack: "at home", properties: { a: 1 } };
        const ended = { outcome, error, startedAt: T0, finishedAt: T0, attempts: 2, expiresAt: T0 };
        const before = await store.getSchedule("schedule");
        await release(store, [finish(job, ended)]);
        const failure = {
          ...{ jobId: "job", outcome, scheduledFireTime: T0 + 3, finishedAt: T0, attempts: 2 },
          error: { name: `${"E".repeat(997)}...`, message: "no", code: "E_NO" },
        };
        equal(await lastFailureOf(store), isFailure(outcome) ? failure : null, "what the schedule keeps");
        const { lastFailure: _, ...after } = (await store.getSchedule("schedule")) ?? {};
        equal(after, before, "the rest of the schedule");
      },
    }),
  ),
  {
    name: "failures: a release that does not count leaves none, and of several the one that ended last stays",
    rules: ["R23"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "error" }]);
      const job = await leasedJob(store, { scheduleId: "schedule" });
      const failed = { outcome: "error", error: { name: "Error", message: "no" } } as const;
      await release(store, [{ ...finish(job, failed), fence: job.fence + 1 }]);
      equal(await lastFailureOf(store), null, "after a release with another fence");
      const others = [
        await leasedJob(store, { id: "later", scheduleId: "schedule" }),
        await leasedJob(store, { id: "other", scheduleId: "gone" }),
        await leasedJob(store, { id: "alone" }),
      ];
      const ends = [T0 + 2, T0 + 5, T0 + 3, T0 + 4];
      const releases = [job, ...others].map((one, index) => finish(one, { ...failed, finishedAt: ends[index] ?? T0 }));
      await release(store, releases, { now: T0 + 9 });
      equal((await lastFailureOf(store))?.jobId, "later", "the last one");
      const again = await leasedJob(store, { id: "fine", scheduleId: "schedule" });
      await release(store, [finish(again)], { now: T0 + 20 });
      equal((await lastFailureOf(store))?.jobId, "later", "after a success");
    },
  },
  {
    name: "failures: what a store ends by itself is a last failure, unless somebody cancelled it",
    rules: ["R23"],
    async run({ open }) {
      const store = await open();
      const ids = ["lost", "late", "cancelled"];
      await store.addSchedules(ids.map((id) => ({ schedule: makeSchedule({ id }), conflictPolicy: "error" as const })));
      await leasedJob(store, { id: "lost", scheduleId: "lost", maxRecoveries: 0 });
      await take(store, { now: LATE });
      await store.addJobs([
        makeJob({ id: "late", scheduleId: "late", runAt: T0 + 1000, startDeadline: T0 + 2000 }),
        makeJob({ id: "cancelled", scheduleId: "cancelled" }),
      ]);
      await cancel(store, "cancelled", T0);
      await commit(store, { now: T0 + 2001, queues: [], endsMissed: true });
      const common = { scheduledFireTime: null, error: null };
      equal(
        [
          await lastFailureOf(store, "lost"),
          await lastFailureOf(store, "late"),
          await lastFailureOf(store, "cancelled"),
        ],
        [
          { jobId: "lost", outcome: "abandoned", finishedAt: LATE, attempts: 1, ...common },
          { jobId: "late", outcome: "missedStartDeadline", finishedAt: T0 + 2001, attempts: 0, ...common },
          null,
        ],
        "what the schedules keep",
      );
    },
  },
  {
    name: "failures: the last one stays when its schedule is changed or replaced, and goes with it",
    rules: ["R23"],
    async run({ open }) {
      const store = await open();
      const schedule = makeSchedule({ failureExpirationMs: 5 });
      await store.addSchedules([{ schedule, conflictPolicy: "error" }]);
      const job = await leasedJob(store, { scheduleId: "schedule" });
      await release(store, [finish(job, { outcome: "error", error: { name: "Error", message: "no" } })]);
      await updateSchedule(store, "schedule", { priority: 5 });
      await store.addSchedules([{ schedule: makeSchedule({ priority: 7 }), conflictPolicy: "replace" }]);
      const found = await store.getSchedule("schedule");
      equal([found?.priority, found?.failureExpirationMs], [7, undefined], "what was replaced");
      equal(found?.lastFailure?.error, { name: "Error", message: "no", code: null }, "what stays");
      await removeSchedule(store, "schedule");
      await store.addSchedules([{ schedule, conflictPolicy: "error" }]);
      equal(await lastFailureOf(store), null, "of a new schedule of that id");
    },
  },
  {
    name: "failures: the jobs of a schedule and of an addition keep failureExpirationMs, and have none without it",
    rules: ["R21"],
    async run({ open }) {
      const store = await open();
      const schedules = [makeSchedule({ id: "with", failureExpirationMs: 7000 }), makeSchedule({ id: "without" })];
      for (const schedule of schedules) {
        const [due] = await lookedAt(store, schedule);
        const { acquired } = await commit(store, due === undefined ? {} : { plans: [planOf(due)] });
        equal(
          acquired.map(({ failureExpirationMs }) => failureExpirationMs),
          [schedule.failureExpirationMs],
          `the job of ${schedule.id}`,
        );
        equal((await store.getSchedule(schedule.id))?.failureExpirationMs, schedule.failureExpirationMs, schedule.id);
      }
      await store.addJobs([makeJob({ id: "own", failureExpirationMs: 3 }), makeJob({ id: "other" })]);
      const [own, other] = [await store.getJob("own"), await store.getJob("other")];
      equal([own?.failureExpirationMs, other?.failureExpirationMs], [3, undefined], "the jobs");
    },
  },
];
