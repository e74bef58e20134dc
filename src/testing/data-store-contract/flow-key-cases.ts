import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { blockedIds, drainQueue, keyed, outlook, putTask, takenIds } from "./flow-makers.ts";
import {
  cancel,
  commit,
  extend,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeTask,
  numbered,
  QUEUE,
  release,
  T0,
  take,
} from "./makers.ts";

const LATE = T0 + LEASE_MS;

/** The other task of the cases, and the queues of both. */
const OTHER = { executor: "inline", taskId: "other" };
const BOTH = [QUEUE, OTHER];

/** Of a key with one job at a time, one job that runs (`first`), and one that waits (`second`). */
const PAIR = [keyed("first", "k"), keyed("second", "k")];

export const flowKeyCases: readonly DataStoreCase[] = [
  {
    name: "keys: no more jobs of a key run at once than the limit, and the end of one lets the next run in that commit",
    rules: ["F3"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 2 });
      await store.addJobs(["a1", "a2", "a3", "a4", "b1"].map((id) => keyed(id, id.slice(0, 1))));
      const first = await take(store);
      equal(outlook(first), { acquired: ["a1", "a2", "b1"], hasReady: false, nextRunAt: null }, "the first commit");
      const [a1, a2, b1] = first.acquired.map((job) => present(job, "a job"));
      const second = await take(store, { releases: [finish(present(b1, "b1")), finish(present(a1, "a1"))] });
      equal(outlook(second), { acquired: ["a3"], hasReady: false, nextRunAt: null }, "the second commit");
      const third = await take(store, {
        releases: [finish(present(a2, "a2")), finish(present(second.acquired[0], "a3"))],
      });
      equal(idsOf(third.acquired), ["a4"], "the last job");
    },
  },
  {
    name: "keys: many schedulers at once never exceed a limit",
    rules: ["F3", "G16"],
    async run(context) {
      const stores = await openTwo(context);
      await putTask(stores[0], { maxRunningPerKey: 3 });
      const all = Array.from({ length: 60 }, (_, index) => keyed(numbered("job", index), `key ${index % 3}`));
      await stores[0].addJobs(all);
      const reports = await Promise.all(
        Array.from({ length: 10 }, (_, by) =>
          take(present(stores[by % 2], "a store"), { by: `scheduler-${by}`, limit: 2 }),
        ),
      );
      const keys = reports.flatMap(({ acquired }) => acquired.map(({ concurrencyKey }) => concurrencyKey));
      const counts = [0, 1, 2].map((key) => keys.filter((one) => one === `key ${key}`).length);
      equal(counts, [3, 3, 3], "the leases of each key");
    },
  },
  {
    name: "keys: tasks with equal keys do not count together, and jobs without a key do not count",
    rules: ["F7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 }), makeTask({ id: "other", maxRunningPerKey: 1 })]);
      const ofOther = { taskId: "other" };
      await store.addJobs([keyed("a", "k"), keyed("b", "k"), keyed("c", "k", ofOther), keyed("d", "k", ofOther)]);
      await store.addJobs([makeJob({ id: "e" }), makeJob({ id: "f" })]);
      equal(await takenIds(store, { queues: BOTH }), ["a", "c", "e", "f"], "the acquired jobs");
      equal(await blockedIds(store), ["b", "d"], "the blocked jobs");
    },
  },
  {
    name: "keys: without a limit, and in a task that was never put, jobs with keys are acquired in the usual order",
    rules: ["F1"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs([
        keyed("a", "k", { runAt: T0 - 1 }),
        keyed("b", "l", { priority: 1 }),
        keyed("c", "k", { taskId: "other", runAt: T0 - 3 }),
        makeJob({ id: "d", runAt: T0 - 2 }),
        keyed("e", "k"),
        keyed("f", "l"),
      ]);
      equal(await takenIds(store, { queues: BOTH }), ["b", "c", "d", "a", "e", "f"], "the acquired jobs");
    },
  },
  {
    name: "keys: blocked jobs go by priority, then runAt, then addition",
    rules: ["F2"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([
        keyed("last", "k"),
        keyed("earlier", "k", { runAt: T0 - 5 }),
        keyed("delayed", "k", { priority: 1, runAt: T0 + 5 }),
        keyed("urgent", "k", { priority: 2 }),
        keyed("very last", "k"),
        keyed("negative", "k", { priority: -1, runAt: T0 - 50 }),
      ]);
      const order = idsOf(await drainQueue(store, { now: T0 + 9 }));
      equal(order, ["urgent", "delayed", "earlier", "last", "very last", "negative"], "the order");
    },
  },
  {
    name: "keys: the limit of the task counts too, and a task at its limit does not lose the jobs of its keys",
    rules: ["F8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 2, maxRunningJobs: 3 });
      await store.addJobs(["a1", "a2", "a3", "b1", "b2", "b3"].map((id) => keyed(id, id.slice(0, 1))));
      const first = await take(store);
      equal(outlook(first), { acquired: ["a1", "a2", "b1"], hasReady: false, nextRunAt: null }, "the first commit");
      const second = await take(store, { releases: [finish(present(first.acquired[2], "b1"))] });
      equal(outlook(second), { acquired: ["b2"], hasReady: false, nextRunAt: null }, "the second commit");
      const third = await take(store, { releases: [finish(present(first.acquired[0], "a1"))] });
      equal(idsOf(third.acquired).length, 1, "the jobs of the third commit");
      const rest = [present(first.acquired[1], "a2"), ...second.acquired, ...third.acquired];
      const fourth = await take(store, { releases: rest.map((job) => finish(job)) });
      equal(idsOf([...third.acquired, ...fourth.acquired]).toSorted(), ["a3", "b3"], "the last jobs");
    },
  },
  {
    name: "keys: a job in a queue that nobody asks for keeps its place in its key until it is cancelled",
    rules: ["F3"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([keyed("elsewhere", "k", { executor: "threads" }), keyed("here", "k")]);
      equal(await takenIds(store), [], "what is acquired of the other queue");
      equal(await blockedIds(store), ["here"], "the blocked jobs");
      await cancel(store, "elsewhere", T0);
      equal((await look(store)).hasReady, true, "whether a look finds the next job");
      equal(await takenIds(store), ["here"], "what is acquired then");
    },
  },
  {
    name: "keys: additions of a commit take part in it",
    rules: ["A1", "F3"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const report = await commit(store, { additions: [...PAIR, keyed("third", "l", { runAt: T0 + 9 })] });
      equal(outlook(report), { acquired: ["first"], hasReady: false, nextRunAt: T0 + 9 }, "the commit");
      const answers = report.additions.map(({ job, isNew }) => [job.id, isNew, job.blockedBy]);
      const expected = [
        ["first", true, undefined],
        ["second", true, "limit"],
        ["third", true, undefined],
      ];
      equal(answers, expected, "the answers");
      equal(report.admitted, undefined, "what was blocked before");
    },
  },
  {
    name: "keys: hasReady tells whether a higher limit of jobs would acquire more, and counts no blocked job",
    rules: ["V8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([...PAIR, keyed("other", "l")]);
      const first = await take(store, { limit: 1 });
      equal(outlook(first), { acquired: ["first"], hasReady: true, nextRunAt: null }, "one of two keys");
      const second = await take(store, { limit: 1 });
      equal(outlook(second), { acquired: ["other"], hasReady: false, nextRunAt: null }, "both");
      equal((await look(store)).hasReady, false, "whether a look finds a job");
    },
  },
  {
    name: "keys: a commit that acquires nothing makes the next job ready",
    rules: ["F9"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs(PAIR);
      const { acquired } = await take(store);
      await release(store, [finish(present(acquired[0], "the first job"))]);
      equal((await look(store)).hasReady, true, "whether a look finds the second");
      equal(await takenIds(store), ["second"], "the acquired jobs");
    },
  },
  {
    name: "keys: a job that is to be tried again later leaves its place to the next, and competes again when it is due",
    rules: ["F10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const first = await leasedJob(store, keyed("first", "k", { priority: 1 }));
      await store.addJobs([keyed("second", "k"), keyed("third", "k")]);
      const retry = { jobId: "first", fence: first.fence, kind: "retry", runAt: T0 + 50, failedAttempts: 1 } as const;
      const second = await take(store, { releases: [retry] });
      equal(outlook(second), { acquired: ["second"], hasReady: false, nextRunAt: T0 + 50 }, "the commit of the retry");
      equal(await takenIds(store, { now: T0 + 60 }), [], "when it is due and another runs");
      const releases = [finish(present(second.acquired[0], "the second job"))];
      equal(await takenIds(store, { now: T0 + 60, releases }), ["first"], "when the other has ended");
    },
  },
  {
    name: "keys: a job that is to be tried again at once, or is given up, competes anew with the jobs of its key",
    rules: ["F10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const first = await leasedJob(store, keyed("first", "k"));
      await store.addJobs([keyed("second", "k", { runAt: T0 + 5 }), keyed("third", "k", { runAt: T0 + 8 })]);
      const now = T0 + 9;
      const retry = { jobId: "first", fence: first.fence, kind: "retry", runAt: T0 + 7, failedAttempts: 1 } as const;
      const second = await take(store, { now, releases: [retry] });
      equal(idsOf(second.acquired), ["second"], "after the retry");
      const { fence } = present(second.acquired[0], "the second job");
      const again = await take(store, { now, releases: [{ jobId: "second", fence, kind: "giveUp" }] });
      equal(idsOf(again.acquired), ["second"], "after the job was given up");
      equal(await blockedIds(store), ["first", "third"], "the blocked jobs");
      const releases = [finish(present(again.acquired[0], "the second job"))];
      equal(await takenIds(store, { now, releases }), ["first"], "when the second job has ended");
    },
  },
  {
    name: "keys: a lost job keeps no place, and competes anew with the jobs of its key",
    rules: ["F10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await leasedJob(store, keyed("lost", "k"));
      await store.addJobs([keyed("later", "k"), keyed("urgent", "k", { priority: 1 })]);
      const now = LATE;
      const report = await take(store, { now });
      equal(
        [report.recovered.map(({ jobId }) => jobId), idsOf(report.acquired), report.hasReady],
        [["lost"], ["urgent"], false],
        "the recovery",
      );
      equal(await blockedIds(store), ["later", "lost"], "the blocked jobs");
      const releases = [finish(present(report.acquired[0], "the urgent job"))];
      equal(await takenIds(store, { now, releases }), ["lost"], "when the urgent job has ended");
    },
  },
  {
    name: "keys: an abandoned job leaves its place to the next",
    rules: ["F3", "L12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await leasedJob(store, keyed("lost", "k", { maxRecoveries: 0 }));
      await store.addJobs([keyed("next", "k")]);
      const report = await take(store, { now: LATE });
      equal([report.ended.map(({ jobId }) => jobId), idsOf(report.acquired)], [["lost"], ["next"]], "the recovery");
    },
  },
  {
    name: "keys: leases that are given up at a start, or that nobody knows of, leave their places",
    rules: ["F10", "L6", "L8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs(PAIR);
      await take(store);
      const instanceId = "scheduler-a 2#";
      await store.giveUpLeases({ now: T0, schedulerId: "scheduler-a", instanceId, aliveUntil: null });
      equal((await look(store)).hasReady, true, "whether a look finds a job after the start");
      equal(await takenIds(store), ["first"], "the job that was given up");
      await extend(store, []);
      equal((await look(store)).hasReady, true, "whether a look finds a job after the extension");
      equal([await takenIds(store), await blockedIds(store)], [["first"], ["second"]], "the jobs then");
    },
  },
  {
    name: "keys: a blocked job that is cancelled ends at once, and a running one keeps its place until it is released",
    rules: ["F10", "R10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([...PAIR, keyed("third", "k")]);
      await take(store);
      equal((await cancel(store, "second", T0)).status, "cancelled", "the blocked job");
      equal((await cancel(store, "first", T0)).status, "requested", "the running job");
      equal(await takenIds(store), [], "what can be acquired");
      const report = await commit(store, { releases: [{ jobId: "first", fence: 1, kind: "giveUp" }] });
      equal([report.ended.map(({ jobId }) => jobId), idsOf(report.acquired)], [["first"], ["third"]], "the release");
    },
  },
];
