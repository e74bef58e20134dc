import type { JobQueue } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  cancel,
  commit,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  look,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  QUEUE,
  release,
  T0,
  take,
} from "./makers.ts";

/** The queues of tasks `task-0`, `task-1`, ... */
function manyQueues(count: number): JobQueue[] {
  return Array.from({ length: count }, (_, index) => ({ executor: "inline", taskId: `task-${index}` }));
}

/** Two queues of one executor. */
const POOL: readonly JobQueue[] = [
  { executor: "pool", taskId: "p1" },
  { executor: "pool", taskId: "p2" },
];

export const acquisitionCases: readonly DataStoreCase[] = [
  {
    name: "acquisition: a job gets its holder, the lease's end and a higher fence",
    rules: ["Q9"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob()]);
      const { acquired, hasReady } = await take(store, { by: "me", until: T0 + 500 });
      const expected = makeJob({ acquiredBy: "me", acquiredUntil: T0 + 500, fence: 1 });
      equal([acquired, hasReady], [[expected], false], "the answer");
      equal(await store.getJob("job"), expected, "the stored job");
    },
  },
  {
    name: "acquisition: higher priority first, then earlier runAt, then earlier addition",
    rules: ["Q2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "5 added later", runAt: T0 - 1 }),
        makeJob({ id: "1 urgent", priority: 10, runAt: T0 }),
        makeJob({ id: "3 early", runAt: T0 - 9 }),
      ]);
      await store.addJobs([
        makeJob({ id: "4 same time", runAt: T0 - 1 }),
        makeJob({ id: "2 urgent too", priority: 10, runAt: T0 }),
        makeJob({ id: "6 unimportant", priority: -1, runAt: T0 - 99 }),
      ]);
      const { acquired } = await take(store);
      equal(
        idsOf(acquired),
        ["1 urgent", "2 urgent too", "3 early", "5 added later", "4 same time", "6 unimportant"],
        "the order",
      );
    },
  },
  {
    name: "acquisition: the order holds across commits and queues",
    rules: ["Q2"],
    async run({ open }) {
      const store = await open();
      const queues = manyQueues(3);
      await store.addJobs(
        Array.from({ length: 30 }, (_, index) =>
          makeJob({ id: numbered("job", index), taskId: `task-${index % 3}`, priority: -Math.floor(index / 2) }),
        ),
      );
      const ids: string[] = [];
      for (let round = 0; round < 6; round++) ids.push(...idsOf((await take(store, { limit: 5, queues })).acquired));
      equal(ids, idsOf(makeJobs(30)), "the order");
    },
  },
  {
    name: "acquisition: at most the limit, and hasReady says whether it left any behind",
    rules: ["Q3", "V8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(5));
      const first = await take(store, { limit: 3 });
      equal([first.acquired.length, first.hasReady], [3, true], "the first commit");
      const second = await take(store, { limit: 2 });
      equal([second.acquired.length, second.hasReady], [2, false], "the second, which takes exactly the rest");
      const third = await take(store, { limit: 2 });
      equal([third.acquired.length, third.hasReady], [0, false], "the third");
    },
  },
  {
    name: "acquisition: a limit of nothing acquires nothing, and still tells whether there is more",
    rules: ["Q3", "V8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob()]);
      const { acquired, hasReady } = await take(store, { limit: 0 });
      equal([acquired, hasReady], [[], true], "the answer");
      const blind = await take(store, { jobs: null });
      equal([blind.acquired, blind.hasReady], [[], false], "a commit without jobs in its view");
    },
  },
  {
    name: "acquisition: only from the queues that were named, by executor and task",
    rules: ["Q1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "other task", taskId: "other" }),
        makeJob({ id: "other executor", executor: "threads" }),
        makeJob({ id: "ours" }),
      ]);
      const { acquired, hasReady } = await take(store);
      equal([idsOf(acquired), hasReady], [["ours"], false], "one queue");
      const none = await take(store, { queues: [] });
      equal([none.acquired, none.hasReady], [[], false], "no queue");
      const queues = [
        { executor: "threads", taskId: "task" },
        { executor: "threads", taskId: "other" },
      ];
      equal(idsOf((await take(store, { queues })).acquired), ["other executor"], "two other queues");
    },
  },
  {
    name: "acquisition: a queue that is named twice gives its jobs once",
    rules: ["Q1"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 2 })]);
      await store.addJobs(makeJobs(5));
      const { acquired } = await take(store, { queues: [QUEUE, QUEUE] });
      equal(idsOf(acquired), ["job-00000", "job-00001"], "the jobs");
    },
  },
  {
    name: "acquisition: jobs of many queues come in one order",
    rules: ["Q2"],
    async run({ open }) {
      const store = await open();
      await store.putTasks(
        manyQueues(40).map(({ taskId: id }, index) => makeTask({ id, maxRunningJobs: (index % 3) + 1 })),
      );
      await store.addJobs(
        Array.from({ length: 200 }, (_, index) =>
          makeJob({ id: numbered("job", index), taskId: `task-${index % 40}` }),
        ),
      );
      const { acquired, hasReady } = await take(store, { limit: 50, queues: manyQueues(40) });
      // One job of each task first, then one of those whose limit is 2 or 3, as they were added.
      const expected = Array.from({ length: 40 }, (_, index) => index);
      for (let index = 40; expected.length < 50; index++) if ((index % 40) % 3 > 0) expected.push(index);
      equal(
        idsOf(acquired),
        expected.map((index) => numbered("job", index)),
        "the jobs",
      );
      isTrue(hasReady, "there is more");
    },
  },
  {
    name: "bounds: no more jobs of an executor than its bound, over all its queues, in the order of all",
    rules: ["Q4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        ...POOL.flatMap(({ taskId }, index) =>
          makeJobs(4, { executor: "pool", taskId }).map((job) => ({
            ...job,
            id: `${taskId} ${job.id}`,
            priority: index,
          })),
        ),
        makeJob({ id: "inline" }),
      ]);
      const { acquired, hasReady } = await take(store, { queues: [...POOL, QUEUE], bounds: { pool: 5 } });
      const second = [0, 1, 2, 3].map((index) => `p2 ${numbered("job", index)}`);
      equal([idsOf(acquired), hasReady], [[...second, "p1 job-00000", "inline"], false], "the acquired jobs");
      const other = await take(store, { by: "b", queues: POOL, bounds: { pool: 1 } });
      equal([idsOf(other.acquired), other.hasReady], [["p1 job-00001"], false], "what another scheduler gets");
      equal(idsOf((await take(store, { queues: POOL })).acquired).length, 2, "the others, without a bound");
    },
  },
  {
    name: "bounds: an executor at its bound takes no place from others, however many and urgent its jobs are",
    rules: ["Q4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(200, { executor: "pool", taskId: "p1", priority: 9 }));
      await store.addJobs(Array.from({ length: 5 }, (_, index) => makeJob({ id: numbered("other", index) })));
      const fields = { limit: 4, queues: [...POOL, QUEUE], bounds: { pool: 1 } };
      const first = await take(store, fields);
      equal(idsOf(first.acquired), ["job-00000", "other-00000", "other-00001", "other-00002"], "the first commit");
      isTrue(first.hasReady, "there is more for the other executor");
      const none = await take(store, { ...fields, bounds: { pool: 0 } });
      equal([idsOf(none.acquired), none.hasReady], [["other-00003", "other-00004"], false], "without room in the pool");
    },
  },
  {
    name: "bounds: looks and commits say that jobs are ready only where the bound of their executor has room for them",
    rules: ["Q4", "V8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3, { executor: "pool", taskId: "p1" }));
      const ready = async (pool: number): Promise<boolean> =>
        (await look(store, { queues: POOL, bounds: { pool } })).hasReady;
      equal([await ready(0), await ready(1)], [false, true], "looks");
      const short = await take(store, { queues: POOL, limit: 1, bounds: { pool: 2 } });
      equal([short.acquired.length, short.hasReady], [1, true], "a commit whose limit is lower");
      const full = await take(store, { queues: POOL, limit: 1, bounds: { pool: 1 } });
      equal([full.acquired.length, full.hasReady], [1, false], "a commit whose bound is as low");
      const [job] = full.acquired;
      const next = await take(store, { releases: [finish(present(job, "a job"))], queues: POOL, bounds: { pool: 1 } });
      equal([next.acquired.length, next.hasReady], [1, false], "the commit after the end of a job");
    },
  },
  {
    name: "bounds: a task for two executors, one without room, is not held up, and its limit holds",
    rules: ["Q5"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 2 })]);
      await store.addJobs(makeJobs(5, { executor: "pool", priority: 1 }));
      await store.addJobs(Array.from({ length: 5 }, (_, index) => makeJob({ id: numbered("other", index) })));
      const queues = [{ executor: "pool", taskId: "task" }, QUEUE];
      const ids: string[] = [];
      for (const pool of [1, 0]) ids.push(...idsOf((await take(store, { queues, bounds: { pool } })).acquired));
      equal(ids.sort(), ["job-00000", "other-00000"], "the acquired jobs");
    },
  },
  {
    name: "bounds: a repetition tops up to the bound",
    rules: ["X12", "Q4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(5, { executor: "pool", taskId: "p1" }));
      const fields = { queues: POOL, commitId: "scheduler-a 1#000000000" };
      await take(store, { ...fields, bounds: { pool: 2 } });
      const again = await take(store, { ...fields, isRepetition: true, bounds: { pool: 3 } });
      equal([idsOf(again.acquired), again.hasReady], [idsOf(makeJobs(3)), false], "what the commit holds");
    },
  },
  {
    name: "acquisition: a delayed job waits for its runAt, to the millisecond, whatever its priority",
    rules: ["Q1", "K1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "delayed", runAt: T0 + 1000, priority: 100 }), makeJob({ id: "ready" })]);
      const early = await take(store, { now: T0 + 999, until: T0 + 9000 });
      equal([idsOf(early.acquired), early.nextRunAt], [["ready"], T0 + 1000], "just before");
      equal(idsOf((await take(store, { now: T0 + 1000 })).acquired), ["delayed"], "at its time");
    },
  },
  {
    name: "acquisition: jobs that became due take their place by priority and runAt",
    rules: ["Q2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "c", runAt: T0 + 30 }),
        makeJob({ id: "b", runAt: T0 + 20 }),
        makeJob({ id: "a", runAt: T0 + 40, priority: 1 }),
        makeJob({ id: "0", priority: 2 }),
      ]);
      equal(idsOf((await take(store, { now: T0 + 50 })).acquired), ["0", "a", "b", "c"], "the order");
    },
  },
  {
    name: "acquisition: what a faster clock found due is ready for a slower one too",
    rules: ["K2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "ready" }), makeJob({ id: "delayed", runAt: T0 + 1000 })]);
      const fast = await take(store, { by: "fast", now: T0 + 1000, limit: 1 });
      equal([idsOf(fast.acquired), fast.hasReady], [["ready"], true], "what the faster one gets");
      const slow = await take(store, { by: "slow" });
      equal([idsOf(slow.acquired), slow.hasReady], [["delayed"], false], "what the slower one gets");
    },
  },
  {
    name: "acquisition: nextRunAt and leaseEndsAt are the earliest of any queue, null when there is none",
    rules: ["V6", "V7"],
    async run({ open }) {
      const store = await open();
      const instants = async (): Promise<unknown> => {
        const { nextRunAt, leaseEndsAt } = await take(store, { limit: 0 });
        return [nextRunAt, leaseEndsAt];
      };
      equal(await instants(), [null, null], "an empty store");
      await store.addJobs([makeJob({ id: "foreign", taskId: "other", runAt: T0 + 90_000 })]);
      equal(await instants(), [T0 + 90_000, null], "a delayed job of another queue");
      const job = await leasedJob(store, { id: "ours" });
      equal(await instants(), [T0 + 90_000, T0 + LEASE_MS], "and a leased job");
      await store.addJobs([makeJob({ id: "second", runAt: T0 + 500 })]);
      await take(store, { by: "b", queues: [{ executor: "inline", taskId: "other" }] });
      equal(await instants(), [T0 + 500, T0 + LEASE_MS], "and an earlier one");
      await release(store, [finish(job)]);
      await cancel(store, "second", T0);
      equal(await instants(), [T0 + 90_000, null], "when both have ended");
      await store.addJobs([makeJob({ id: "ready foreign", taskId: "other" })]);
      equal(await instants(), [T0 + 90_000, null], "a ready job that nobody here runs is nothing new");
    },
  },
  {
    name: "limits: no more jobs of a task than its maxRunningJobs are under live leases, over all schedulers",
    rules: ["Q6"],
    async run(context) {
      const [first, second] = await openTwo(context);
      await first.putTasks([makeTask({ maxRunningJobs: 3 })]);
      await first.addJobs(makeJobs(10));
      const a = await take(first, { by: "a", limit: 2 });
      const b = await take(second, { by: "b", limit: 5 });
      equal([a.acquired.length, a.hasReady], [2, true], "the first scheduler");
      equal([b.acquired.length, b.hasReady], [1, false], "the second scheduler");
      equal((await take(first, { by: "c" })).acquired, [], "a third one");
      await release(first, [finish(present(a.acquired[0], "a job"))], { by: "a" });
      const d = await take(second, { by: "c" });
      equal(idsOf(d.acquired), ["job-00003"], "after one has finished");
    },
  },
  {
    name: "limits: a release makes room for an acquisition in the same commit",
    rules: ["Q7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      await store.addJobs(makeJobs(3));
      const first = await take(store);
      equal(idsOf(first.acquired), ["job-00000"], "the first commit");
      const second = await take(store, { releases: [finish(present(first.acquired[0], "the job"))] });
      equal([second.releases, idsOf(second.acquired)], [["released"], ["job-00001"]], "the second commit");
    },
  },
  {
    name: "limits: a task at its limit takes no place from others, however many and urgent its jobs are",
    rules: ["Q8"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ id: "full", maxRunningJobs: 1 }), makeTask({ id: "free" })]);
      await store.addJobs(makeJobs(500, { taskId: "full", priority: 9 }));
      await store.addJobs(
        Array.from({ length: 20 }, (_, index) => makeJob({ id: numbered("other", index), taskId: "free" })),
      );
      const queues = [
        { executor: "inline", taskId: "full" },
        { executor: "inline", taskId: "free" },
      ];
      const { acquired, hasReady } = await take(store, { limit: 10, queues });
      equal(
        acquired.map(({ taskId }) => taskId),
        ["full", ...Array.from({ length: 9 }, () => "free")],
        "the jobs",
      );
      isTrue(hasReady, "there is more of the free task");
      const rest = await take(store, { limit: 100, queues });
      equal([rest.acquired.length, rest.hasReady], [11, false], "the rest, of which no more may start");
    },
  },
  {
    name: "limits: a task's limit counts its jobs on all executors together",
    rules: ["Q6"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 3 })]);
      await store.addJobs([
        ...makeJobs(5),
        ...Array.from({ length: 5 }, (_, index) => makeJob({ id: numbered("thread", index), executor: "threads" })),
      ]);
      const queues = [QUEUE, { executor: "threads", taskId: "task" }];
      const { acquired, hasReady } = await take(store, { queues });
      equal([acquired.length, hasReady], [3, false], "both queues");
      equal((await take(store)).acquired, [], "one of them");
    },
  },
  {
    name: "limits: a task without a record has none, nor has one whose maxRunningJobs is null",
    rules: ["Q6"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ id: "unlimited", maxRunningJobs: null })]);
      await store.addJobs(makeJobs(50));
      await store.addJobs(
        Array.from({ length: 50 }, (_, index) => makeJob({ id: numbered("u", index), taskId: "unlimited" })),
      );
      const queues = [QUEUE, { executor: "inline", taskId: "unlimited" }];
      equal((await take(store, { queues, limit: 100 })).acquired.length, 100, "all jobs");
    },
  },
  {
    name: "limits: a changed limit holds from the next acquisition on",
    rules: ["Q6"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      await store.addJobs(makeJobs(9));
      equal((await take(store)).acquired.length, 1, "at first");
      await store.putTasks([makeTask({ maxRunningJobs: 4 })]);
      equal((await take(store)).acquired.length, 3, "raised");
      await store.putTasks([makeTask({ maxRunningJobs: 2 })]);
      equal((await take(store)).acquired.length, 0, "lowered below what runs");
    },
  },
  {
    name: "limits: a lost lease gives its slot back, however often it happens",
    rules: ["Q7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 2 })]);
      await store.addJobs(makeJobs(2, { maxRecoveries: 100 }));
      for (let round = 0; round < 5; round++) {
        const now = T0 + round * LEASE_MS;
        equal((await take(store, { now })).acquired.length, 2, `both slots in round ${round}`);
      }
    },
  },
  {
    name: "limits: no way to release a job leaks a slot",
    rules: ["Q7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      for (let round = 0; round < 3; round++) {
        const finished = await leasedJob(store, { id: `finished-${round}` });
        await release(store, [finish(finished)]);
        const retried = await leasedJob(store, { id: `retried-${round}` });
        await release(store, [{ jobId: retried.id, fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 }]);
        const again = present((await take(store)).acquired[0], "the retried job");
        await release(store, [{ jobId: again.id, fence: again.fence, kind: "giveUp" }]);
        const given = present((await take(store)).acquired[0], "the job that was given up");
        await release(store, [finish(given), finish(given)]);
        await release(store, [finish(given)]);
      }
      await store.addJobs(makeJobs(3));
      equal((await take(store)).acquired.length, 1, "one slot, no more and no less");
    },
  },
  {
    name: "limits: jobs of plans, of additions and of the queue share the slots of their task",
    rules: ["Q6", "Q12"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 3 })]);
      const running = await leasedJob(store, { id: "running" });
      await store.addJobs([makeJob({ id: "queued", priority: 1 })]);
      const [due] = await lookedAt(store, makeSchedule());
      const report = await commit(store, {
        plans: [planOf(present(due, "the schedule"))],
        additions: [makeJob({ id: "added 1", priority: 2 }), makeJob({ id: "added 2" })],
      });
      equal([idsOf(report.acquired), report.hasReady], [["added 1", "queued"], false], "what is acquired");
      const next = await commit(store, { releases: [finish(running)] });
      equal([idsOf(next.acquired), next.hasReady], [["added 2"], false], "what takes the slot of a finished job");
      equal((await store.getJob("job of schedule"))?.acquiredBy, null, "the one that came last");
    },
  },
  {
    name: "acquisition: many schedulers at once never get the same job, and none is lost",
    rules: ["Q11"],
    async run(context) {
      const stores = await openTwo(context);
      await stores[0].addJobs(makeJobs(300));
      const reports = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          take(present(stores[index % 2], "a store"), { by: `scheduler-${index}`, limit: 20 }),
        ),
      );
      const ids = reports.flatMap(({ acquired }) => idsOf(acquired));
      equal([ids.length, new Set(ids).size], [300, 300], "all are acquired, each once");
    },
  },
  {
    name: "limits: many schedulers at once never exceed a task's limit",
    rules: ["Q6", "G16"],
    async run(context) {
      const stores = await openTwo(context);
      await stores[0].putTasks([makeTask({ maxRunningJobs: 7 })]);
      await stores[0].addJobs(makeJobs(100));
      const reports = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          take(present(stores[index % 2], "a store"), { by: `scheduler-${index}`, limit: 5 }),
        ),
      );
      equal(reports.flatMap(({ acquired }) => acquired).length, 7, "the number of leases");
    },
  },
];
