import { equal, present } from "./assert.ts";
import { childOf, settledBy } from "./chain-makers.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { keyed, putTask } from "./flow-makers.ts";
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
  release,
  T0,
  take,
} from "./makers.ts";

/** What becomes of a job while its parents have not ended. */
export const chainCases: readonly DataStoreCase[] = [
  {
    name: "chains: a job is blocked until its parents have ended, and can be acquired in the commit of the last end",
    rules: ["C1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const child = childOf(["job-00000", "job-00001"]);
      const [addition] = await store.addJobs([child]);
      const blocked = { ...child, blockedBy: "parents" as const };
      equal(addition, { job: blocked, isNew: true }, "the answer of the addition");
      equal(await store.getJob("child"), blocked, "the job while it is blocked");
      const { acquired, hasReady, nextRunAt } = await take(store);
      equal(idsOf(acquired), ["job-00000", "job-00001"], "what a worker gets");
      equal([hasReady, nextRunAt], [false, null], "what there is to do");
      const first = await commit(store, { releases: [finish(present(acquired[0], "a parent"))] });
      equal([first.admitted ?? [], idsOf(first.acquired)], [[], []], "after the first parent");
      const second = await commit(store, { releases: [finish(present(acquired[1], "a parent"))] });
      equal(second.admitted, [{ jobId: "child", taskId: "task", scheduleId: null }], "what was admitted");
      const leased = { acquiredBy: "scheduler-a", acquiredUntil: T0 + 60_000, fence: 1 };
      equal(second.acquired, [{ ...child, ...leased }], "what the last commit acquires");
    },
  },
  {
    name: "chains: a job without a key is blocked until its parents end, also where its task has a rate or is fair",
    rules: ["C1"],
    async run({ open }) {
      const store = await open();
      const rateLimit = { limit: 10, perMs: 1000, burst: 10 };
      await store.putTasks([makeTask({ id: "rated", rateLimit }), makeTask({ id: "fair", fair: true })]);
      await store.addJobs(makeJobs(1));
      for (const taskId of ["rated", "fair"]) {
        await store.addJobs([childOf(["job-00000"], { id: `one-${taskId}`, taskId })]);
        await store.addJobs(["a", "b"].map((id) => childOf(["job-00000"], { id: `${id}-${taskId}`, taskId })));
      }
      const { items } = await store.getJobs({ limit: 10, cursor: null });
      const blockedBy = Object.fromEntries(items.map((job) => [job.id, job.blockedBy]));
      const ids = ["rated", "fair"].flatMap((taskId) => ["one", "a", "b"].map((id) => `${id}-${taskId}`));
      const expected = Object.fromEntries(ids.map((id) => [id, "parents"]));
      equal({ "job-00000": undefined, ...blockedBy }, { "job-00000": undefined, ...expected }, "what holds them");
    },
  },
  {
    name: "chains: the jobs of a task with a rate wait for their parents, however many are added at once",
    rules: ["C1"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ rateLimit: { limit: 1000, perMs: 1000, burst: 10 } })]);
      await store.addJobs([makeJob({ id: "parent" })]);
      await store.addJobs([childOf(["parent"], { id: "alone" })]);
      await store.addJobs([childOf(["parent"], { id: "first" }), childOf(["parent"], { id: "second" })]);
      const { acquired } = await take(store);
      equal(idsOf(acquired), ["parent"], "what a worker gets");
      const after = await take(store, { releases: [finish(present(acquired[0], "the parent"))] });
      equal(idsOf(after.acquired), ["alone", "first", "second"], "what a worker gets after the parent");
    },
  },
  {
    name: "chains: a job that is to run later waits for its time as well, and its priority counts then",
    rules: ["C10"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([
        childOf(["parent"], { id: "later", runAt: T0 + 1000 }),
        childOf(["parent"], { id: "low", priority: 1 }),
        childOf(["parent"], { id: "high", priority: 2 }),
      ]);
      equal((await look(store)).nextRunAt, null, "the next instant while they are blocked");
      const report = await commit(store, { releases: [finish(parent)] });
      equal([...settledBy(report).admitted].sort(), ["high", "later", "low"], "what was admitted");
      equal(idsOf(report.acquired), ["high", "low"], "what a worker gets");
      equal(report.nextRunAt, T0 + 1000, "the next instant");
      equal((await store.getJob("later"))?.blockedBy, undefined, "whether it is blocked");
      equal(idsOf((await take(store, { now: T0 + 1000 })).acquired), ["later"], "what a worker gets later");
    },
  },
  {
    name: "chains: a blocked job keeps its idempotency key, and is returned for another of the same key",
    rules: ["C10", "A2"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"], { idempotencyKey: "key" })]);
      const other = childOf(["parent", "nobody"], { id: "other", idempotencyKey: "key" });
      const [addition] = await store.addJobs([other]);
      equal([addition?.isNew, addition?.job.id, addition?.job.blockedBy], [false, "child", "parents"], "the answer");
      equal(settledBy(await release(store, [finish(parent)])).admitted, ["child"], "what was admitted");
    },
  },
  {
    name: "chains: a blocked job can be cancelled, and its parents go on",
    rules: ["C10"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"]), childOf(["child"], { id: "grandchild" })]);
      const report = await cancel(store, "child", T0);
      equal(report.status === "cancelled" && report.ended?.map(({ jobId }) => jobId), ["grandchild"], "what ended");
      const { releases, ended, admitted } = await release(store, [finish(parent)]);
      equal([releases, ended, admitted ?? []], [["released"], [], []], "the end of the parent");
      equal((await take(store)).acquired, [], "what a worker gets");
    },
  },
  {
    name: "chains: a worker that does not know of the children of its job ends their wait",
    rules: ["C7"],
    async run(context) {
      const [worker, other] = await openTwo(context);
      const parent = await leasedJob(worker, { id: "parent" });
      await commit(worker);
      await other.addJobs([childOf(["parent"]), childOf(["parent"], { id: "second", onParentFailure: "run" })]);
      const report = await commit(worker, { releases: [finish(parent, { outcome: "error" })] });
      equal(settledBy(report), { admitted: ["second"], cancelled: ["child"] }, "what the worker settles");
      equal(idsOf(report.acquired), ["second"], "what it acquires");
    },
  },
  {
    name: "chains: a read of results ends where they have four megabytes",
    rules: ["R15"],
    async run({ open }) {
      const store = await open();
      const large = [0, 1, 2, 3, 4].map((index) => `job ${index}`);
      for (const id of large) {
        await release(store, [finish(await leasedJob(store, { id }), { returnValue: `"${"x".repeat(900_000)}"` })]);
      }
      const ids = ["none", ...large, "nobody"];
      const first = await store.getResultsOfJobs(ids, T0);
      equal([first.results.length, first.read], [4, 5], "the first read");
      const second = await store.getResultsOfJobs(ids.slice(first.read), T0);
      equal([second.results.map(({ jobId }) => jobId), second.read], [["job 4"], 2], "the second");
    },
  },
  {
    name: "chains: the results of many jobs are read at once",
    rules: ["R15"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const [a = makeJob(), b = makeJob(), c = makeJob()] = (await take(store)).acquired;
      await release(store, [finish(a), finish(b, { expiresAt: T0 + 50 }), finish(c, { outcome: "error" })]);
      const ids = [c.id, "nobody", a.id, b.id];
      const read = async (now: number): Promise<string[]> =>
        (await store.getResultsOfJobs(ids, now)).results.map(({ jobId }) => jobId).sort();
      equal(await read(T0), [a.id, b.id, c.id], "the results");
      equal(await read(T0 + 50), [a.id, c.id], "once one has expired");
      equal(await store.getResultsOfJobs([], T0), { results: [], read: 0 }, "of no jobs");
      const { results, read: count } = await store.getResultsOfJobs([a.id], T0);
      equal([results[0], count], [await store.getJobResult(a.id, T0), 1], "one result");
      await store.addJobs([makeJob({ id: "waiting" })]);
      const asked = ["none", a.id, b.id, "waiting", "nobody"];
      equal(await store.getUnknownJobIds(asked, T0), ["none", "nobody"], "the unknown ids");
      equal((await store.getUnknownJobIds(asked, T0 + 50)).sort(), ["nobody", "none", b.id].sort(), "later");
    },
  },
  {
    name: "chains: a job with a key is blocked by its key when its parents have ended, and is admitted once",
    rules: ["C10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const parent = await leasedJob(store, { id: "parent" });
      const running = await leasedJob(store, keyed("running", "k"));
      const addition = childOf(["parent"], { concurrencyKey: "k" });
      await store.addJobs([addition, childOf(["parent"], { id: "of other key", concurrencyKey: "l" })]);
      equal((await store.getJob("child"))?.blockedBy, "parents", "what holds it at first");
      const { tasks } = await store.inspect(T0);
      equal(tasks, [{ taskId: "task", waiting: 2, running: 2, blocked: 2 }], "the counts at first");
      const first = await take(store, { releases: [finish(parent)] });
      const ofOther = { jobId: "of other key", taskId: "task", scheduleId: null, concurrencyKey: "l" };
      equal([first.admitted, idsOf(first.acquired)], [[ofOther], ["of other key"]], "the commit that ends the parent");
      equal([first.hasReady, first.nextRunAt], [false, null], "what there is to do");
      equal((await store.getJob("child"))?.blockedBy, "limit", "what holds it then");
      const counted = await store.inspect(T0);
      equal(counted.tasks, [{ taskId: "task", waiting: 1, running: 2, blocked: 1 }], "the counts then");
      const second = await take(store, { releases: [finish(running)] });
      equal(
        second.admitted,
        [{ ...ofOther, jobId: "child" }].map((job) => ({ ...job, concurrencyKey: "k" })),
        "admitted",
      );
      const leased = { acquiredBy: "scheduler-a", acquiredUntil: T0 + LEASE_MS, fence: 1 };
      equal(second.acquired, [{ ...addition, ...leased }], "what the commit that frees the key acquires");
      const third = await take(store, { releases: second.acquired.map((job) => finish(job)) });
      equal([third.admitted, third.acquired], [undefined, []], "when it has ended");
    },
  },
  {
    name: "chains: blocked jobs are counted, and are not late",
    rules: ["C10", "I7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"]), childOf(["parent"], { id: "second" })]);
      const { tasks, oldestDueJob } = await store.inspect(T0 + 1000);
      equal(tasks, [{ taskId: "task", waiting: 2, running: 1, blocked: 2 }], "the counts");
      equal(oldestDueJob, null, "the oldest due job");
      equal(await store.removeTask("task"), "inUse", "whether the task can be removed");
    },
  },
];
