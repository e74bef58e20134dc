import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { blockedIds, drainQueue, keyed, outlook, putTask, takenIds } from "./flow-makers.ts";
import {
  commit,
  finish,
  fireOf,
  idsOf,
  leasedJob,
  look,
  lookedAt,
  makeJob,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  T0,
  take,
} from "./makers.ts";
import { again, twice } from "./repeat.ts";

/** Five jobs of one key. */
const FIVE = [1, 2, 3, 4, 5].map((number) => keyed(`job ${number}`, "k"));

export const flowLimitCases: readonly DataStoreCase[] = [
  {
    name: "limits of keys: each setting comes back as it was put, counts as a change, and can be taken away",
    rules: ["G4", "T1"],
    async run({ open }) {
      const store = await open();
      const rateLimit = { limit: 14, perMs: 1000, burst: 3 };
      const task = makeTask({ maxRunningPerKey: 2, rateLimit, fair: true });
      equal(await store.putTasks([task]), ["added"], "the first put");
      equal([await store.getTask("task"), await store.getTasks()], [task, [task]], "the stored task");
      const others = [
        { ...task, maxRunningPerKey: 3 },
        { ...task, rateLimit: { ...rateLimit, limit: 15 } },
        { ...task, rateLimit: { ...rateLimit, perMs: 1001 } },
        { ...task, rateLimit: { ...rateLimit, burst: 4 } },
        makeTask({ maxRunningPerKey: 2, rateLimit }),
        makeTask(),
      ];
      for (const other of others) {
        equal((await look(store, { tasks: [other] })).staleTaskIds, ["task"], "a change, looked at");
        equal(await store.putTasks([other, other]), ["updated", "unchanged"], "a change");
        equal(await store.getTask("task"), other, "the changed task");
        equal(await store.putTasks([task, task]), ["updated", "unchanged"], "the task again");
      }
    },
  },
  {
    name: "limits of keys: a higher limit counts at once, and a lower one as soon as enough jobs have ended",
    rules: ["F11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs(FIVE);
      await take(store);
      await putTask(store, { maxRunningPerKey: 3 });
      equal((await look(store)).hasReady, true, "whether a look finds more jobs");
      const { acquired } = await take(store);
      equal(idsOf(acquired), ["job 2", "job 3"], "the jobs of the higher limit");
      await putTask(store, { maxRunningPerKey: 2 });
      const [second, third] = acquired.map((job) => present(job, "a job"));
      equal(await takenIds(store, { releases: [finish(present(second, "job 2"))] }), [], "with two that run");
      const next = await takenIds(store, { releases: [finish(present(third, "job 3"))] });
      equal([next, await blockedIds(store)], [["job 4"], ["job 5"]], "with one that runs");
    },
  },
  {
    name: "limits of keys: a lower limit counts for jobs too that were admitted and wait",
    rules: ["F11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 4 });
      await store.addJobs(FIVE);
      equal(await takenIds(store, { limit: 1 }), ["job 1"], "the first job");
      await putTask(store, { maxRunningPerKey: 2 });
      equal(outlook(await take(store)), { acquired: ["job 2"], hasReady: false, nextRunAt: null }, "the others");
    },
  },
  {
    name: "limits of keys: they can be given to a task whose jobs wait and run already, and taken away",
    rules: ["F11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs([...FIVE, makeJob({ id: "without" })]);
      equal(await takenIds(store, { limit: 1 }), ["job 1"], "a job without limits");
      await putTask(store, { maxRunningPerKey: 2 });
      equal(await takenIds(store), ["job 2", "without"], "the jobs with a limit");
      await putTask(store, {});
      equal((await look(store)).hasReady, true, "whether a look finds the others");
      equal(await takenIds(store), ["job 3", "job 4", "job 5"], "the jobs without the limit");
    },
  },
  {
    name: "limits of keys: a job tells its key and what holds it, wherever it is shown",
    rules: ["F15"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await leasedJob(store, keyed("running", "k"));
      const blocked = keyed("blocked", "k", { idempotencyKey: "once" });
      const asBlocked = { ...blocked, blockedBy: "limit" } as const;
      equal(await store.addJobs([blocked]), [{ job: asBlocked, isNew: true }], "the addition");
      const again = makeJob({ id: "again", idempotencyKey: "once" });
      equal(await store.addJobs([again]), [{ job: asBlocked, isNew: false }], "an addition that it stands for");
      equal(await store.getJob("blocked"), asBlocked, "the job");
      const delayed = keyed("later", "k", { runAt: T0 + 9 });
      equal(await store.addJobs([delayed]), [{ job: delayed, isNew: true }], "one that is not due");
      const leased = keyed("running", "k", { acquiredBy: "scheduler-a", acquiredUntil: T0 + 60_000, fence: 1 });
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [asBlocked, delayed, leased], "the jobs");
      const { acquired } = await take(store, { releases: [finish(leased)] });
      const taken = { ...blocked, acquiredBy: "scheduler-a", acquiredUntil: T0 + 60_000, fence: 1 };
      equal(acquired, [taken], "the job as it is acquired");
      await take(store, { now: T0 + 9, limit: 0 });
      equal(await store.getJob("later"), { ...delayed, blockedBy: "limit" }, "the delayed job when it is due");
    },
  },
  {
    name: "limits of keys: what an addition says about being blocked means nothing",
    rules: ["F15"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ blockedBy: "limit" })]);
      equal(await store.getJob("job"), makeJob(), "the job");
      equal(await takenIds(store), ["job"], "the acquired jobs");
    },
  },
  {
    name: "limits of keys: a commit names the jobs that it admitted and that were blocked before",
    rules: ["F15"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([...FIVE.slice(0, 3), keyed("fired", "l", { scheduleId: "s", fireTime: T0 })]);
      const { acquired } = await take(store);
      await store.addJobs([keyed("fired again", "l", { scheduleId: "s", fireTime: T0 + 1, createdAt: T0 + 1 })]);
      const report = await take(store, { releases: acquired.map((job) => finish(job)) });
      equal(
        report.admitted?.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1)),
        [
          { jobId: "fired again", taskId: "task", scheduleId: "s", concurrencyKey: "l" },
          { jobId: "job 2", taskId: "task", scheduleId: null, concurrencyKey: "k" },
        ],
        "the admitted jobs",
      );
      equal((await take(store)).admitted, undefined, "those of a commit that admits none");
    },
  },
  {
    name: "limits of keys: the key of a schedule is the key of its jobs",
    rules: ["P4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const schedule = makeSchedule({ concurrencyKey: "k" });
      await store.addJobs([keyed("first", "k", { runAt: T0 - 1 })]);
      const [due] = await lookedAt(store, schedule);
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
      const report = await commit(store, { plans: [planOf(present(due, "the schedule"))] });
      equal([report.plans[0]?.committed, idsOf(report.acquired)], [true, ["first"]], "the commit");
      const job = await store.getJob("job of schedule");
      equal([job?.concurrencyKey, job?.blockedBy], ["k", "limit"], "its job");
      const { acquired } = await take(store, { releases: [finish(present(report.acquired[0], "the first job"))] });
      equal(idsOf(acquired), ["job of schedule"], "when the key is free");
      await store.addSchedules([{ schedule: makeSchedule({ triggerRule: "other" }), conflictPolicy: "replace" }]);
      equal((await store.getSchedule("schedule"))?.concurrencyKey, undefined, "the key of a schedule that replaces it");
    },
  },
  {
    name: "limits of keys: a job that an overlap removes leaves its place, and one that was blocked leaves none",
    rules: ["F9", "P14"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const [due] = await lookedAt(store, makeSchedule({ concurrencyKey: "k", overlap: "replaceQueued" }));
      const schedule = present(due, "the schedule");
      // The first fire is admitted, and nobody acquires it.
      await commit(store, { queues: [{ executor: "none", taskId: "task" }], plans: [planOf(schedule)] });
      await store.addJobs([keyed("by hand", "k"), keyed("last", "k", { runAt: T0 + 2000 })]);
      const overlap = { policy: "replaceQueued", passed: 0, lastPassedTime: null } as const;
      const fires = [fireOf("schedule", T0 + 1000, { jobId: "second fire" })];
      const seen = { id: "schedule", fence: schedule.fence + 1, nextFireTime: T0 + 1000 };
      const second = await commit(store, { now: T0 + 1000, plans: [planOf(seen, { fires, overlap })] });
      equal(second.plans[0]?.overlap?.replaced, [{ jobId: "job of schedule", fireTime: T0 }], "what is removed");
      equal([idsOf(second.acquired), await blockedIds(store)], [["by hand"], ["second fire"]], "what takes its place");
      const third = { id: "schedule", fence: schedule.fence + 2, nextFireTime: T0 + 2000 };
      const thirdFire = [fireOf("schedule", T0 + 2000, { jobId: "third fire" })];
      const report = await commit(store, {
        now: T0 + 2000,
        plans: [planOf(third, { fires: thirdFire, overlap })],
        releases: [finish(present(second.acquired[0], "the job by hand"))],
      });
      equal(
        report.plans[0]?.overlap?.replaced,
        [{ jobId: "second fire", fireTime: T0 + 1000 }],
        "what is removed then",
      );
      equal([idsOf(report.acquired), await blockedIds(store)], [["last"], ["third fire"]], "what is acquired then");
    },
  },
  {
    name: "limits of keys: the repetition of a commit loses no admission, and exceeds no limit",
    rules: ["X14"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const first = await leasedJob(store, keyed("first", "k"));
      await store.addJobs([keyed("second", "k"), keyed("third", "k"), keyed("other", "l")]);
      const fields = { releases: [finish(first)], additions: [keyed("fourth", "k")] };
      const [lost, answer] = await twice(store, fields);
      equal(
        [idsOf(lost.acquired), idsOf(answer.acquired)],
        [
          ["second", "other"],
          ["second", "other"],
        ],
        "the jobs",
      );
      equal([answer.releases, answer.hasReady], [["released"], false], "the answer");
      const second = present(answer.acquired[0], "the second job");
      const retry = { jobId: "second", fence: second.fence, kind: "retry", runAt: T0 + 1, failedAttempts: 1 } as const;
      const next = { now: T0 + 1, commitId: "next", releases: [retry] };
      const third = await commit(store, next);
      const thirdAgain = await again(store, next);
      equal([idsOf(third.acquired), idsOf(thirdAgain.acquired)], [["third"], ["third"]], "the jobs after the retry");
      equal([thirdAgain.releases, await blockedIds(store)], [["released"], ["fourth", "second"]], "the others");
    },
  },
  {
    name: "limits of keys: an addition that is repeated adds no second job, and is blocked like the first",
    rules: ["X9"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs(FIVE);
      equal(
        (await store.addJobs(FIVE)).map(({ isNew }) => isNew),
        Array(5).fill(true),
        "the answers",
      );
      equal(idsOf(await drainQueue(store)), idsOf(FIVE), "the jobs, each once");
    },
  },
  {
    name: "limits of keys: ten thousand keys are all served, each within its limit",
    rules: ["F3"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const all = Array.from({ length: 12_000 }, (_, index) =>
        keyed(numbered("job", index), `key ${index % 10_000}`, { resultExpirationMs: 0 }),
      );
      for (let start = 0; start < all.length; start += 1000) await store.addJobs(all.slice(start, start + 1000));
      const first = await take(store, { limit: 500 });
      const keys = new Set(first.acquired.map(({ concurrencyKey }) => concurrencyKey));
      isTrue(keys.size === first.acquired.length && keys.size > 0, "the jobs of the first commit have a key each");
      const releases = first.acquired.map((job) => finish(job, { expiresAt: T0 }));
      await commit(store, { jobs: null, releases });
      const rest = await drainQueue(store, { limit: 500 });
      equal(idsOf([...first.acquired, ...rest]).toSorted(), idsOf(all), "the jobs, each once");
    },
  },
  {
    name: "inspection: tells how many of the waiting jobs are blocked",
    rules: ["I7"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([...FIVE, makeJob({ id: "without" }), makeJob({ id: "other", taskId: "other" })]);
      await take(store, { limit: 1 });
      const { tasks } = await store.inspect(T0);
      equal(
        tasks,
        [
          { taskId: "other", waiting: 1, running: 0 },
          { taskId: "task", waiting: 5, running: 1, blocked: 4 },
        ],
        "the counts",
      );
    },
  },
];
