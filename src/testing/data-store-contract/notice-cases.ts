import { NOTICE_STARTS_WITHIN_MS, NOTICE_TASK_PREFIX, type NoticeTaskFacts } from "../../records/notice.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { DataStore, JobRelease } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { dueSchedule, ledgerCase, NOTE, seenAgain } from "./ledger-makers.ts";
import {
  add,
  cancel,
  commit,
  finish,
  fireOf,
  LEASE_MS,
  makeJob,
  makeSchedule,
  makeTask,
  planOf,
  release,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";

// Notices: jobs that a change of state adds.

const CHANNEL = `${NOTICE_TASK_PREFIX}channel`;
const ALL: NoticeTaskFacts = { on: ["failed", "recovered", "overdue", "paused"] };

/** Has a store send notices. */
async function notify(store: DataStore, facts: NoticeTaskFacts = ALL, fields: Partial<TaskRecord> = {}): Promise<void> {
  await store.putTasks([makeTask(), makeTask({ id: CHANNEL, metadata: { ...facts }, ...fields })]);
}

/** What the notices say that wait or run, in the order of the changes. */
async function notices(store: DataStore, taskId = CHANNEL): Promise<unknown[]> {
  const { items } = await store.getJobs({ taskId, sort: "runAt", limit: 100, cursor: null });
  return items.map(({ metadata }) => metadata);
}

/** The types of these notices, with the fire times of their runs. */
async function turns(store: DataStore): Promise<unknown[]> {
  const all = (await notices(store)) as { type: string; fireTime: number }[];
  return all.map(({ type, fireTime }) => `${type} ${fireTime - T0}`);
}

/** Ends runs of the schedule, of the fire times T0, T0 + 1, ... in one commit, with these outcomes. */
async function end(store: DataStore, first: number, ...outcomes: readonly JobOutcome[]): Promise<void> {
  const endsAt = T0 + 10 * LEASE_MS + first;
  const fires = outcomes.map((_, index) => ({ id: `run ${first + index}`, at: T0 + first + index }));
  await store.addJobs(
    fires.map(({ id, at }) => makeJob({ id, scheduleId: "schedule", fireTime: at, scheduledFireTime: at })),
  );
  const queues = [{ executor: "inline", taskId: "task" }];
  const { acquired } = await take(store, { now: endsAt, queues });
  const releases = acquired.map((job, index): JobRelease => {
    const finishedAt = endsAt + index;
    return finish(job, { outcome: outcomes[index] ?? "success", finishedAt });
  });
  equal((await release(store, releases, { now: endsAt + 100 })).releases.length, outcomes.length, "all have ended");
}

export const noticeCases: readonly DataStoreCase[] = [
  ledgerCase(
    ["N1", "N2", "N3"],
    "notices: a first failure adds one, in its commit, which the commit can acquire",
    async (store) => {
      await notify(store, ALL, { executor: "other", resultExpirationMs: 5, maxRecoveries: 7 });
      await store.addSchedules(add(makeSchedule()), NOTE);
      await store.addJobs([makeJob({ scheduleId: "schedule", fireTime: T0 - 5, scheduledFireTime: T0 - 3 })]);
      const { acquired } = await take(store);
      const job = present(acquired[0], "the job of the fire time");
      const failed = finish(job, { outcome: "error", finishedAt: T0 + 7 });
      const queues = [{ executor: "other", taskId: CHANNEL }];
      const report = await commit(store, { releases: [failed], now: T0 + 9, queues });
      const notice = present(report.acquired[0], "the notice is acquired in the commit");
      equal(
        { ...notice, id: "" },
        {
          ...makeJob({ id: "", taskId: CHANNEL, executor: "other", runAt: T0 + 7, createdAt: T0 + 7 }),
          ...{ startDeadline: T0 + 7 + NOTICE_STARTS_WITHIN_MS, resultExpirationMs: 5, maxRecoveries: 7 },
          ...{ acquiredBy: notice.acquiredBy, acquiredUntil: notice.acquiredUntil, fence: 1 },
          metadata: {
            ...{ type: "failed", at: T0 + 7, scheduleId: "schedule", taskId: "task" },
            ...{ fireTime: T0 - 5, jobId: "job", outcome: "error" },
          },
        },
        "the notice",
      );
      isTrue(notice.id.length > 0 && notice.id.length <= 64, "it has an id");
    },
  ),

  ledgerCase(["N3"], "notices: only what turns a schedule adds one, in the order of the ends", async (store) => {
    await notify(store);
    await store.addSchedules(add(makeSchedule()), NOTE);
    await end(store, 0, "success");
    await end(store, 1, "error");
    await end(store, 2, "abandoned", "deserializationFailed");
    await end(store, 4, "cancelled");
    await end(store, 5, "missedStartDeadline");
    await end(store, 6, "success", "success");
    await end(store, 8, "cancelled");
    await end(store, 9, "success");
    await end(store, 10, "error", "success", "error", "error", "success");
    equal(
      await turns(store),
      ["failed 1", "recovered 6", "failed 10", "recovered 11", "failed 12", "recovered 14"],
      "the turns",
    );
  }),

  ledgerCase(
    ["N3"],
    "notices: runs that the store ends itself count, and jobs without a fire time do not",
    async (store) => {
      await notify(store);
      await store.addSchedules(add(makeSchedule()), NOTE);
      await store.addJobs([makeJob({ id: "direct", scheduleId: "schedule" }), makeJob({ id: "other" })]);
      const { acquired } = await take(store);
      await release(
        store,
        acquired.map((job) => finish(job, { outcome: "error" })),
      );
      const fired = { scheduleId: "schedule", fireTime: T0, scheduledFireTime: T0 };
      await store.addJobs([makeJob({ id: "cancelled", ...fired })]);
      await cancel(store, "cancelled", T0);
      equal(await turns(store), [], "no run has failed");
      await store.addJobs([makeJob({ id: "lost", ...fired, maxRecoveries: 0 })]);
      await take(store, { now: T0 + 1 });
      await release(store, [], { now: T0 + 1 + LEASE_MS });
      equal(await turns(store), ["failed 0"], "the lost one");
      await end(store, 1, "success");
      await store.addJobs([makeJob({ id: "late", ...fired, fireTime: T0 + 2, startDeadline: T0 + 3 })]);
      await commit(store, { now: T0 + 20 * LEASE_MS, limit: 0, endsMissed: true });
      equal(await turns(store), ["failed 0", "recovered 1", "failed 2"], "the one that missed its start");
    },
  ),

  ledgerCase(["N3"], "notices: each schedule turns by itself, and a job that repeats a run counts", async (store) => {
    await notify(store);
    await store.addSchedules(add(makeSchedule(), makeSchedule({ id: "other" })), NOTE);
    await end(store, 0, "error");
    const fired = { fireTime: T0, scheduledFireTime: T0 };
    await store.addJobs([makeJob({ id: "of other", scheduleId: "other", ...fired })]);
    const { acquired } = await take(store, { queues: [{ executor: "inline", taskId: "task" }] });
    await release(
      store,
      acquired.map((job) => finish(job, { outcome: "error" })),
    );
    await store.addJobs([makeJob({ id: "again", scheduleId: "schedule", retryOf: "run 0", ...fired })]);
    const again = await take(store, { queues: [{ executor: "inline", taskId: "task" }] });
    await release(
      store,
      again.acquired.map((job) => finish(job)),
    );
    const found = (await notices(store)) as { type: string; scheduleId: string; jobId: string }[];
    equal(
      found.map(({ type, scheduleId, jobId }) => [type, scheduleId, jobId].join()).sort(),
      ["failed,other,of other", "failed,schedule,run 0", "recovered,schedule,again"],
      "the notices",
    );
  }),

  ledgerCase(["N1", "N4"], "notices: a channel has the types and the schedules that it asks for", async (store) => {
    await notify(store, { on: ["succeeded"], schedules: ["other", "schedule"] });
    const [of, none] = ["of", "none"].map((name) => `${NOTICE_TASK_PREFIX}${name}`);
    await store.putTasks([
      makeTask({ id: of ?? "", metadata: { on: ["succeeded", "failed"], schedules: ["other"] } }),
      makeTask({ id: none ?? "", metadata: {} }),
      makeTask({ id: "escapement.noticed", metadata: { on: ["succeeded"] } }),
    ]);
    await store.addSchedules(add(makeSchedule()), NOTE);
    await end(store, 0, "success");
    await end(store, 1, "success", "error", "cancelled");
    equal(await turns(store), ["succeeded 0", "succeeded 1"], "the successes");
    for (const taskId of [of, none, "escapement.noticed"]) {
      equal(await notices(store, taskId), [], `no notice of ${taskId}`);
    }
    equal(await store.removeTask(none ?? ""), "removed", "a channel that has no job can be removed");
  }),

  ledgerCase(["N1"], "notices: a channel that was removed, and a store without any, add none", async (store) => {
    await store.putTasks([makeTask()]);
    await store.addSchedules(add(makeSchedule()), NOTE);
    await end(store, 0, "error");
    await end(store, 1, "success");
    await notify(store);
    equal(await store.removeTask(CHANNEL), "removed", "the channel");
    await end(store, 2, "error");
    equal(await notices(store), [], "the notices");
  }),

  ledgerCase(["N5"], "notices: an overdue occurrence adds one when it is raised", async (store) => {
    await notify(store);
    await store.addSchedules(add(makeSchedule({ expectStartMs: 10, expectFinishMs: 20 })), NOTE);
    const overdue = { type: "overdue", scheduleId: "schedule", taskId: "task", fireTime: T0, jobId: null };
    const start = { ...overdue, at: T0 + 10, kind: "start", dueAt: T0 + 10 };
    await commit(store, { now: T0 + 9, limit: 0, overdue: true });
    equal(await notices(store), [], "before it is overdue");
    for (const now of [T0 + 10, T0 + 11]) await commit(store, { now, limit: 0, overdue: true });
    equal(await notices(store), [start], "the start");
    await commit(store, { now: T0 + 25, limit: 0, overdue: true });
    equal(await notices(store), [start, { ...overdue, at: T0 + 25, kind: "finish", dueAt: T0 + 20 }], "the end");
  }),

  ledgerCase(["N6"], "notices: each pause that the ledger records adds one", async (store) => {
    await notify(store);
    await store.addSchedules(add(makeSchedule(), makeSchedule({ id: "paused", paused: true })), NOTE);
    const paused = { type: "paused", scheduleId: null, taskId: "task", key: null, reason: null, until: null };
    const pause = { pausedUntil: T0 + 900, pauseReason: "a reason" };
    await updateSchedule(store, "schedule", { paused: true, name: "new", ...pause }, undefined, {
      at: T0 + 1,
      by: "ada",
    });
    await updateSchedule(store, "schedule", { paused: true }, undefined, { at: T0 + 2, by: "bob" });
    await updateSchedule(store, "schedule", { paused: false }, undefined, { at: T0 + 3, by: "bob" });
    await updateSchedule(store, "schedule", { paused: true });
    const said = { until: T0 + 900, reason: "a reason" };
    const ofSchedule = { ...paused, at: T0 + 1, scheduleId: "schedule", by: "ada", ...said };
    equal(await notices(store), [ofSchedule], "of the schedule");
    for (const isPaused of [true, true, false]) {
      const facts = { paused: isPaused, ...(isPaused ? said : {}) };
      await store.pauseTask({ taskId: "task", key: null, ...facts, now: T0 + 5, by: "ada" });
      await store.pauseTask({ taskId: "task", key: "key", paused: isPaused, now: T0 + 6, by: "bob", reason: "other" });
    }
    const ofTask = [
      { ...paused, at: T0 + 5, by: "ada", ...said },
      { ...paused, at: T0 + 6, by: "bob", key: "key", reason: "other" },
    ];
    equal(await notices(store), [ofSchedule, ...ofTask], "of the task");
  }),

  ledgerCase(["N6"], "notices: a plan that pauses its schedule adds one", async (store) => {
    await notify(store);
    const schedule = await dueSchedule(store, {}, NOTE);
    await commit(store, { now: T0 + 4, limit: 0, plans: [planOf(schedule, { paused: true, nextFireTime: T0 })] });
    const about = { type: "paused", at: T0 + 4, scheduleId: "schedule", taskId: "task", key: null };
    equal(await notices(store), [{ ...about, by: "scheduler-a", reason: null, until: null }], "the notices");
  }),

  ledgerCase(["N7"], "notices: what does not count adds none, and a repetition none again", async (store) => {
    await notify(store);
    const schedule = await dueSchedule(store, { expectStartMs: 5 }, NOTE);
    await store.addJobs([makeJob({ scheduleId: "schedule", fireTime: T0 - 1, scheduledFireTime: T0 - 1 })]);
    const { acquired } = await take(store, { queues: [{ executor: "inline", taskId: "task" }] });
    const job = present(acquired[0], "the job of the fire time");
    const failed = finish(job, { outcome: "error" });
    await release(store, [{ ...failed, fence: 9 }]);
    const plan = planOf(schedule, { fence: schedule.fence + 1, paused: true });
    await commit(store, { now: T0 + 1, limit: 0, plans: [plan] });
    equal(await notices(store), [], "a release and a plan that do not count");
    const request = { commitId: "scheduler-a 1#x", now: T0 + 10, limit: 0, releases: [failed], overdue: true } as const;
    await commit(store, request);
    for (const now of [T0 + 10, T0 + 20]) await commit(store, { ...request, now, isRepetition: true });
    equal(await turns(store), ["failed -1", "overdue 0"], "each once");
    const seen = await seenAgain(store);
    const fires = [fireOf("schedule", T0)];
    await commit(store, { now: T0 + 30, limit: 0, plans: [planOf(seen, { fires, nextFireTime: T0 + 1000 })] });
    equal((await notices(store)).length, 2, "a fire is no change of state");
  }),
];
