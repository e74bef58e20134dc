import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  blockedIds,
  drainQueue,
  keyed,
  outlook,
  pause,
  putTask,
  takenIds,
  tenASecond,
  unpause,
} from "./flow-makers.ts";
import {
  cancel,
  commit,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  makeTask,
  QUEUE,
  release,
  T0,
  take,
} from "./makers.ts";

const OTHER = { executor: "inline", taskId: "other" };
const ONE_KEY = [keyed("k1", "k"), keyed("k2", "k"), keyed("l1", "l"), keyed("l2", "l")];

export const flowPauseCases: readonly DataStoreCase[] = [
  {
    name: "pauses: no job of a paused task is acquired, and other tasks go on",
    rules: ["T9"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await store.putTasks([makeTask(), makeTask({ id: "other" })]);
      await store.addJobs([makeJob({ id: "a" }), keyed("b", "k"), makeJob({ id: "c", taskId: "other" })]);
      equal(await pause(other), true, "the answer");
      const queues = [QUEUE, OTHER];
      const report = await take(store, { queues });
      equal(outlook(report), { acquired: ["c"], hasReady: false, nextRunAt: null }, "a commit");
      equal((await look(store)).hasReady, false, "a look");
      equal(await unpause(other), true, "the answer");
      equal((await look(store)).hasReady, true, "a look when it goes on");
      equal(await takenIds(store, { queues }), ["a", "b"], "a commit when it goes on");
    },
  },
  {
    name: "pauses: a job that runs goes on, and stays when it goes back to the queue",
    rules: ["T9"],
    async run({ open }) {
      for (const kind of ["task", "key"]) {
        const store = await open();
        const own = { taskId: kind };
        const queues = [{ executor: "inline", taskId: kind }];
        await store.putTasks([makeTask({ id: kind })]);
        const jobs = ["done", "retried", "given up", "lost"].map((id) => keyed(`${kind} ${id}`, "k", own));
        await store.addJobs(jobs);
        const { acquired } = await take(store, { queues });
        equal(idsOf(acquired), idsOf(jobs), "the running jobs");
        await pause(store, { taskId: kind, key: kind === "key" ? "k" : null });
        const [done, retried, given] = acquired.map((job) => present(job, "a job"));
        const report = await commit(store, {
          queues,
          releases: [
            finish(present(done, "a job")),
            { jobId: retried?.id ?? "", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 },
            { jobId: given?.id ?? "", fence: 1, kind: "giveUp" },
          ],
        });
        equal([report.releases, report.acquired], [["released", "released", "released"], []], "the releases");
        const now = T0 + LEASE_MS;
        const lost = await take(store, { now, queues });
        equal([lost.recovered.length, lost.acquired, lost.hasReady], [1, [], false], "the recovery");
        await unpause(store, { taskId: kind, key: kind === "key" ? "k" : null });
        equal(await takenIds(store, { now, queues }), idsOf(jobs.slice(1)), "the jobs when it goes on");
        await take(store, { now, queues, releases: jobs.slice(1).map((job) => finish({ ...job, fence: 2 })) });
      }
    },
  },
  {
    name: "pauses: that of a key holds the jobs of the key alone, in this task alone",
    rules: ["T10"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask(), makeTask({ id: "other" })]);
      await store.addJobs([...ONE_KEY, makeJob({ id: "none" }), keyed("ok", "k", { taskId: "other" })]);
      await pause(store, { key: "k" });
      const report = await take(store, { queues: [QUEUE, OTHER] });
      equal(outlook(report), { acquired: ["l1", "l2", "none", "ok"], hasReady: false, nextRunAt: null }, "a commit");
      equal(await blockedIds(store), ["k1", "k2"], "the blocked jobs");
      await unpause(store, { key: "k" });
      equal((await look(store)).hasReady, true, "a look when it goes on");
      equal(await takenIds(store), ["k1", "k2"], "a commit when it goes on");
    },
  },
  {
    name: "pauses: that of a key needs no job, no limit and no key that was ever used",
    rules: ["T10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      equal(await pause(store, { key: "k" }), true, "the answer");
      await store.addJobs(ONE_KEY);
      equal(await takenIds(store), ["l1", "l2"], "the jobs of another key");
      const report = await commit(store, { additions: [keyed("k3", "k"), keyed("l3", "l")] });
      equal(idsOf(report.acquired), ["l3"], "an addition of another key");
      equal(
        report.additions.map(({ job }) => job.blockedBy),
        ["limit", undefined],
        "what holds the additions",
      );
      await unpause(store, { key: "k" });
      equal(await takenIds(store), ["k1", "k2", "k3"], "the jobs when it goes on");
    },
  },
  {
    name: "pauses: they count for jobs too that were admitted, or were ready before",
    rules: ["T11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs([...ONE_KEY, ...makeJobs(2)]);
      equal(await takenIds(store, { limit: 1 }), ["k1"], "the first job");
      await pause(store, { key: "k" });
      equal(await takenIds(store, { limit: 1 }), ["l1"], "the first of another key");
      await pause(store);
      equal(outlook(await take(store)), { acquired: [], hasReady: false, nextRunAt: null }, "in a paused task");
      await unpause(store);
      equal(await takenIds(store), ["l2", "job-00000", "job-00001"], "when the task goes on, and the key does not");
      await unpause(store, { key: "k" });
      equal(await takenIds(store), ["k2"], "when the key goes on");
    },
  },
  {
    name: "pauses: each is told, by task, then key, and pausing twice or going on twice changes nothing",
    rules: ["T13", "T12"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask(), makeTask({ id: "other" })]);
      equal(await store.getTaskPauses(), [], "none");
      for (const paused of [true, true, false, false]) equal(await pause(store, { paused }), true, "the answer");
      equal(await store.getTaskPauses(), [], "none any more");
      await pause(store, { key: "z" });
      await pause(store, { taskId: "other", key: "k" });
      await pause(store, { key: "a" });
      await pause(store, { key: "a" });
      await pause(store);
      await unpause(store, { key: "not paused" });
      const all = [
        { taskId: "other", key: "k" },
        { taskId: "task", key: null },
        { taskId: "task", key: "a" },
        { taskId: "task", key: "z" },
      ];
      equal(await store.getTaskPauses(), all, "all");
      await unpause(store);
      await unpause(store, { key: "z" });
      equal(await store.getTaskPauses(), [all[0], all[2]], "two of them");
    },
  },
  {
    name: "pauses: a task that does not exist cannot be paused, and one that is removed and put again is not paused",
    rules: ["T12", "T14"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob()]);
      equal([await pause(store), await pause(store, { key: "k" })], [false, false], "the answers");
      equal(await takenIds(store), ["job"], "the job of a task that was never put");
      await putTask(store, {});
      await release(store, [finish(makeJob({ fence: 1 }))]);
      await pause(store);
      await pause(store, { key: "k" });
      equal(await store.removeTask("task"), "removed", "the removal");
      equal([await store.getTaskPauses(), await unpause(store)], [[], false], "what is left of it");
      await putTask(store, {});
      equal([await store.getTask("task"), await store.getTaskPauses()], [makeTask(), []], "the task again");
      await store.addJobs([makeJob({ id: "new" }), keyed("keyed", "k")]);
      equal(await takenIds(store), ["new", "keyed"], "its jobs");
    },
  },
  {
    name: "pauses: a task tells that it is paused, and what a program declares changes nothing about it",
    rules: ["T14"],
    async run({ open }) {
      const store = await open();
      equal(await store.putTasks([makeTask({ paused: true })]), ["added"], "a new task");
      equal(await store.getTask("task"), makeTask(), "the new task");
      await pause(store);
      equal(await store.getTask("task"), makeTask({ paused: true }), "the paused task");
      equal((await look(store, { tasks: [makeTask()] })).staleTaskIds, [], "the task, looked at");
      equal(await store.putTasks([makeTask()]), ["unchanged"], "the task, put again");
      equal(await store.putTasks([makeTask({ maxRunningJobs: 1, maxRunningPerKey: 1 })]), ["updated"], "a change");
      const changed = makeTask({ maxRunningJobs: 1, maxRunningPerKey: 1, paused: true });
      equal([await store.getTask("task"), await store.getTasks()], [changed, [changed]], "the changed task");
      await store.putTasks([makeTask({ maxRunningJobs: 1, declaration: "hash" })]);
      await store.addJobs(makeJobs(2));
      equal(await takenIds(store), [], "its jobs");
      await unpause(store);
      equal(await store.getTask("task"), makeTask({ maxRunningJobs: 1, declaration: "hash" }), "when it goes on");
      equal(await takenIds(store), ["job-00000"], "its jobs, within the limit");
    },
  },
  {
    name: "pauses: delayed jobs that become due meanwhile, and additions, wait; a cancelled one ends",
    rules: ["T11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await pause(store);
      await store.addJobs([makeJob({ id: "a", runAt: T0 + 5 }), keyed("b", "k", { runAt: T0 + 5 })]);
      const first = await commit(store, { additions: [makeJob({ id: "c" }), keyed("d", "k")] });
      equal(outlook(first), { acquired: [], hasReady: false, nextRunAt: T0 + 5 }, "before they are due");
      const now = T0 + 9;
      equal(
        outlook(await take(store, { now })),
        { acquired: [], hasReady: false, nextRunAt: null },
        "when all are due",
      );
      equal((await cancel(store, "c", now)).status, "cancelled", "the cancellation");
      await unpause(store, { now });
      equal(await takenIds(store, { now }), ["d", "a", "b"], "the jobs when it goes on");
    },
  },
  {
    name: "pauses: a limit of running jobs and a rate hold when the task goes on",
    rules: ["F8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { ...tenASecond(2), maxRunningPerKey: 1 });
      await leasedJob(store, keyed("k0", "k"));
      await store.addJobs([...ONE_KEY, keyed("l3", "l")]);
      await pause(store);
      const paused = await take(store, { now: T0 + 10_000 });
      equal(outlook(paused), { acquired: [], hasReady: false, nextRunAt: null }, "long after, in the pause");
      await unpause(store, { now: T0 + 10_000 });
      equal(await takenIds(store, { now: T0 + 10_000 }), ["l1"], "one of the free key");
    },
  },
  {
    name: "pauses: the keys of a fair task go on with their turns",
    rules: ["F13"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...ONE_KEY, makeJob({ id: "none" })]);
      await pause(store, { key: "k" });
      equal((await takenIds(store, { limit: 2 })).toSorted(), ["l1", "none"], "the turns in the pause");
      await unpause(store, { key: "k" });
      equal((await drainQueue(store)).length, 3, "the other jobs");
    },
  },
  {
    name: "pauses: the repetition of a commit names what the commit acquired before the pause, and acquires no more",
    rules: ["X12", "T9"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs(ONE_KEY);
      const fields = { commitId: "lost", limit: 2 };
      const lost = await commit(store, fields);
      await pause(store);
      const answer = await commit(store, { ...fields, limit: 4, isRepetition: true });
      equal(
        [idsOf(lost.acquired), idsOf(answer.acquired)],
        [
          ["k1", "k2"],
          ["k1", "k2"],
        ],
        "the jobs",
      );
    },
  },
  {
    name: "inspection: jobs that are blocked, and those of a paused task, are due too",
    rules: ["I8"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 }), makeTask({ id: "other" })]);
      const later = makeJob({ id: "other", taskId: "other", runAt: T0 + 5 });
      const ofKeys = ["j", "k", "l"].flatMap((key) => [keyed(`runs ${key}`, key), keyed(`blocked ${key}`, key)]);
      const first = keyed("first", "k", { priority: -1, runAt: T0 - 5 });
      await store.addJobs([...ofKeys, later, first]);
      equal(await takenIds(store), ["runs j", "runs k", "runs l"], "the jobs that run");
      const oldest = async (): Promise<unknown> => (await store.inspect(T0 + 10)).oldestDueJob;
      equal(await oldest(), { id: "first", taskId: "task", runAt: T0 - 5 }, "the job that is blocked longest");
      for (const id of ["first", "blocked j", "blocked k", "blocked l"]) await cancel(store, id, T0);
      const due = { id: "other", taskId: "other", runAt: T0 + 5 };
      await pause(store, { taskId: "other" });
      equal(await oldest(), due, "in a pause");
      equal(await takenIds(store, { now: T0 + 10, queues: [OTHER] }), [], "what is acquired in the pause");
      equal(await oldest(), due, "in a pause, once a commit has seen the job");
      await unpause(store, { taskId: "other" });
      equal(await oldest(), due, "after the pause");
    },
  },
];
