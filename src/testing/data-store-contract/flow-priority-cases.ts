import type { JobRecord } from "../../records/job.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { blockedIds, drainQueue, keyed, outlook, putTask, takenIds, tenASecond } from "./flow-makers.ts";
import { finish, idsOf, leasedJob, look, makeJob, numbered, T0, take } from "./makers.ts";

/** Admits what there is room for, and acquires nothing. */
async function admit(store: DataStore, now = T0): Promise<void> {
  for (
    let commits = 0;
    (await take(store, { now, queues: [{ executor: "none", taskId: "task" }] })).hasReady;
    commits++
  ) {
    isTrue(commits < 100, "the admissions come to an end");
  }
}

/** `count` jobs of one key and priority, in the order of addition. */
function jobsOf(name: string, count: number, priority: number): JobRecord[] {
  return Array.from({ length: count }, (_, index) => keyed(numbered(name, index), "k", { priority }));
}

export const flowPriorityCases: readonly DataStoreCase[] = [
  {
    name: "keys: a job that was admitted makes room for a more urgent one of its key, which comes next",
    rules: ["F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([keyed("low", "k", { priority: -5 }), keyed("of other", "l")]);
      await admit(store);
      await store.addJobs([keyed("urgent", "k", { priority: 5 })]);
      equal((await look(store)).hasReady, true, "whether a look finds it");
      const first = await take(store, { limit: 1 });
      equal(outlook(first), { acquired: ["urgent"], hasReady: true, nextRunAt: null }, "the first commit");
      equal(await blockedIds(store), ["low"], "the blocked job");
      equal(first.admitted, [{ jobId: "urgent", taskId: "task", scheduleId: null, concurrencyKey: "k" }], "admitted");
      const second = await take(store, { releases: [finish(present(first.acquired[0], "the job"))] });
      equal(idsOf(second.acquired), ["of other", "low"], "what follows");
      equal([second.hasReady, (await look(store)).hasReady], [false, false], "whether there is more");
    },
  },
  {
    name: "keys: only so many jobs make room as more urgent ones wait, the least urgent and latest first",
    rules: ["F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 4 });
      const running = await leasedJob(store, keyed("running", "k"));
      await store.addJobs([...jobsOf("low", 2, -1), ...jobsOf("middle", 1, 0), ...jobsOf("waiting", 1, -1)]);
      await admit(store);
      await store.addJobs([...jobsOf("high", 1, 1), ...jobsOf("also middle", 1, 0)]);
      await admit(store);
      equal(await blockedIds(store), ["low-00000", "low-00001", "waiting-00000"], "the blocked jobs");
      const { acquired } = await take(store, { releases: [finish(running)] });
      equal(idsOf(acquired), ["high-00000", "middle-00000", "also middle-00000", "low-00000"], "what is acquired");
    },
  },
  {
    name: "keys: jobs make room for very many more urgent ones, and this comes to an end",
    rules: ["F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 50 });
      await store.addJobs(jobsOf("low", 60, 0));
      await admit(store);
      await store.addJobs(jobsOf("high", 60, 1));
      await admit(store);
      equal((await blockedIds(store)).length, 70, "how many are blocked");
      const order = idsOf(await drainQueue(store, { limit: 7 }));
      equal(order, [...idsOf(jobsOf("high", 60, 1)), ...idsOf(jobsOf("low", 60, 0))], "the order");
    },
  },
  {
    name: "keys: a job that becomes due, is put back, or whose parent ends takes the place of a less urgent one",
    rules: ["F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([keyed("low", "k"), keyed("late", "k", { priority: 1, runAt: T0 + 5 })]);
      await store.addJobs([keyed("child", "k", { priority: 2, after: ["parent"], onParentFailure: "run" })]);
      await admit(store);
      await admit(store, T0 + 5);
      equal(await blockedIds(store), ["child", "low"], "when the more urgent job is due");
      const { acquired } = await take(store, { now: T0 + 5, releases: [finish(parent)] });
      equal([idsOf(acquired), await blockedIds(store)], [["child"], ["late", "low"]], "when the parent has ended");
      const { id: jobId, fence } = present(acquired[0], "the child");
      const retry = { jobId, fence, kind: "retry", runAt: T0 + 9, failedAttempts: 1 } as const;
      await take(store, { now: T0 + 5, releases: [retry], queues: [{ executor: "none", taskId: "task" }] });
      equal(await blockedIds(store), ["low"], "when the child is to be tried again");
      equal(await takenIds(store, { now: T0 + 9 }), ["child"], "when the child is due again");
    },
  },
  {
    name: "rates: a job that was admitted gives its token to a more urgent one, and none is lost",
    rules: ["F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond(2));
      await store.addJobs([makeJob({ id: "first low" }), makeJob({ id: "second low" })]);
      await admit(store);
      await store.addJobs([makeJob({ id: "urgent", priority: 1 }), makeJob({ id: "third low" })]);
      const first = await take(store);
      equal(
        outlook(first),
        { acquired: ["urgent", "first low"], hasReady: false, nextRunAt: T0 + 100 },
        "the first commit",
      );
      equal(await blockedIds(store), ["second low", "third low"], "the blocked jobs");
      equal(await takenIds(store, { now: T0 + 100 }), ["second low"], "with the next token");
    },
  },
  {
    name: "turns: of as many admitted jobs as may wait, one makes room for a more urgent one, and keeps its runAt",
    rules: ["F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      const jobs = jobsOf("low", 16, 0).map((job) => ({ ...job, runAt: T0 - 7 }));
      await store.addJobs([...jobs, keyed("of other", "l")]);
      await admit(store);
      await store.addJobs([keyed("urgent", "k", { priority: 1 })]);
      await admit(store);
      equal(await blockedIds(store), ["low-00015"], "the blocked job");
      equal((await store.getJob("low-00015"))?.runAt, T0 - 7, "its runAt");
      const order = idsOf(await drainQueue(store, { limit: 1 }));
      equal(order[0], "urgent", "the first job");
      equal(
        order.filter((id) => id.startsWith("low")),
        idsOf(jobs),
        "the jobs of the key, in their order",
      );
      isTrue(order.indexOf("of other") < 4, "the other key has its turn soon");
    },
  },
  {
    name: "pauses: while a key is paused, no job of it makes room, and the most urgent one comes first afterwards",
    rules: ["F5", "F6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      await store.addJobs([keyed("low", "k")]);
      await admit(store);
      await store.pauseTask({ taskId: "task", key: "k", paused: true, now: T0 });
      await store.addJobs([keyed("urgent", "k", { priority: 1 })]);
      equal(outlook(await take(store)), { acquired: [], hasReady: false, nextRunAt: null }, "while it is paused");
      await store.pauseTask({ taskId: "task", key: "k", paused: false, now: T0 });
      equal(await takenIds(store), ["urgent"], "afterwards");
    },
  },
];
