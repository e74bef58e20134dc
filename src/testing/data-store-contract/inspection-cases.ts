import type { DataStore, StoreInspection } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  add,
  cancel,
  commit,
  finish,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";

/** The counts of a store as `task: waiting, running`. */
async function counts(store: DataStore): Promise<string[]> {
  const { tasks } = await store.inspect(T0);
  return tasks.map(({ taskId, waiting, running }) => `${taskId}: ${waiting}, ${running}`);
}

async function oldest(
  store: DataStore,
  now: number,
): Promise<Pick<StoreInspection, "oldestDueJob" | "oldestDueSchedule">> {
  const { oldestDueJob, oldestDueSchedule } = await store.inspect(now);
  return { oldestDueJob, oldestDueSchedule };
}

export const inspectionCases: readonly DataStoreCase[] = [
  {
    name: "inspection: an empty store has nothing, and tells its clock only if it has one",
    rules: ["I10"],
    async run({ open }) {
      const { storeNow, ...rest } = await (await open()).inspect(T0);
      equal(rest, { tasks: [], oldestDueJob: null, oldestDueSchedule: null }, "an empty store");
      isTrue(storeNow === null || Number.isSafeInteger(storeNow), "storeNow is null or whole milliseconds");
    },
  },
  {
    name: "inspection: counts the unfinished jobs of each task by what they do",
    rules: ["I7"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const jobs = [
        ...makeJobs(3),
        makeJob({ id: "later", runAt: T0 + 5000 }),
        makeJob({ id: "z", taskId: "zebra" }),
        makeJob({ id: "a", taskId: "ant" }),
      ];
      await store.addJobs(jobs);
      await other.addJobs(jobs);
      equal(await counts(other), ["ant: 1, 0", "task: 4, 0", "zebra: 1, 0"], "what was added, once");
      const { acquired } = await take(store, { limit: 2 });
      equal(await counts(other), ["ant: 1, 0", "task: 2, 2", "zebra: 1, 0"], "two that run");
      const [first, second] = acquired.map((job) => present(job, "a leased job"));
      const retry = { jobId: second?.id ?? "", fence: 1, kind: "retry", runAt: T0 + 9, failedAttempts: 1 } as const;
      await release(store, [finish(present(first, "the first"), { expiresAt: T0 }), retry]);
      await cancel(other, "z", T0);
      equal(await counts(store), ["ant: 1, 0", "task: 3, 0"], "one that ended, one that is tried again, one cancelled");
    },
  },
  {
    name: "inspection: counts jobs of schedules, jobs that are not added twice, and jobs that are lost",
    rules: ["I7"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      await commit(store, { plans: [planOf(present(due, "the schedule"))], limit: 0 });
      await store.addJobs([makeJob({ id: "x", idempotencyKey: "key" })]);
      await store.addJobs([makeJob({ id: "y", idempotencyKey: "key" })]);
      equal(await counts(store), ["task: 2, 0"], "one of the schedule, one of the key");
      await take(store);
      await take(store, { now: T0 + LEASE_MS, limit: 0 });
      equal(await counts(store), ["task: 2, 0"], "both are back in the queue");
      await store.addJobs([makeJob({ id: "fragile", maxRecoveries: 0 })]);
      await take(store);
      equal(await counts(store), ["task: 0, 3"], "all run");
      await take(store, { now: T0 + LEASE_MS, limit: 0 });
      equal(await counts(store), ["task: 2, 0"], "one was abandoned");
    },
  },
  {
    name: "inspection: names the job that has waited longest, whatever its task, executor and priority",
    rules: ["I8"],
    async run({ open }) {
      const store = await open();
      const nothing = { oldestDueJob: null, oldestDueSchedule: null };
      const queues = [0, 1, 2].flatMap((task) =>
        ["inline", "other"].flatMap((executor) =>
          [5, -1, 0.5].map((priority) => ({ taskId: `task-${task}`, executor, priority })),
        ),
      );
      for (const [place, queue] of queues.entries()) {
        const runAt = T0 - 1000 + place;
        await store.addJobs([makeJob({ id: `oldest ${place}`, ...queue, runAt: runAt - 1 })]);
        await store.addJobs(queues.map((one, index) => makeJob({ id: `${place} ${index}`, ...one, runAt: T0 })));
        const expected = { id: `oldest ${place}`, taskId: queue.taskId, runAt: runAt - 1 };
        equal(await oldest(store, T0), { ...nothing, oldestDueJob: expected }, `the oldest of queue ${place}`);
        equal(await oldest(store, runAt - 2), nothing, "before it is due");
        await cancel(store, `oldest ${place}`, T0);
        for (const index of queues.keys()) await cancel(store, `${place} ${index}`, T0);
      }
    },
  },
  {
    name: "inspection: a job is due that was delayed, and none that runs or is to run later",
    rules: ["I8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "later", runAt: T0 + 10 }), makeJob({ id: "delayed", runAt: T0 + 5 })]);
      await leasedJob(store, { id: "leased", runAt: T0 - 9 });
      const none = { oldestDueJob: null, oldestDueSchedule: null };
      equal(await oldest(store, T0 + 4), none, "before the delay is over");
      const due = { id: "delayed", taskId: "task", runAt: T0 + 5 };
      equal(await oldest(store, T0 + 20), { ...none, oldestDueJob: due }, "when both delays are over");
    },
  },
  {
    name: "inspection: names the schedule whose fire waits longest, paused ones aside",
    rules: ["I9"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "paused", nextFireTime: T0 - 9, paused: true }),
          makeSchedule({ id: "ended", nextFireTime: null }),
          makeSchedule({ id: "b", nextFireTime: T0, taskId: "other" }),
          makeSchedule({ id: "c", nextFireTime: T0 + 5 }),
        ),
      );
      const none = { oldestDueJob: null, oldestDueSchedule: null };
      equal(await oldest(store, T0 - 1), none, "before any is due");
      const due = { id: "b", taskId: "other", nextFireTime: T0 };
      equal(await oldest(store, T0 + 9), { ...none, oldestDueSchedule: due }, "when two are due");
    },
  },
  {
    name: "inspection: counts schedules by state when asked to, and only then",
    rules: ["I11"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await store.addSchedules(
        add(
          makeSchedule({ id: "paused", nextFireTime: T0 - 9, paused: true }),
          makeSchedule({ id: "ended", nextFireTime: null }),
          makeSchedule({ id: "both", nextFireTime: null, paused: true }),
          makeSchedule({ id: "due", nextFireTime: T0 }),
          makeSchedule({ id: "later", nextFireTime: T0 + 5 }),
          makeSchedule({ id: "latest", nextFireTime: T0 + 9 }),
        ),
      );
      equal((await other.inspect(T0)).schedules, undefined, "unless asked for");
      const { schedules } = await other.inspect(T0, { countsSchedules: true });
      // A store need not count them.
      if (schedules === undefined) return;
      equal(schedules, { active: 3, paused: 1, ended: 2, overdue: 1 }, "the counts");
      await removeSchedule(store, "later");
      await updateSchedule(store, "paused", { paused: false });
      const counted = await other.inspect(T0 + 9, { countsSchedules: true });
      equal(counted.schedules, { active: 3, paused: 0, ended: 2, overdue: 3 }, "after changes, when all are due");
    },
  },
];
