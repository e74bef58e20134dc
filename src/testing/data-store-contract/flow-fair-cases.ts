import type { JobRecord } from "../../records/job.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { blockedIds, drainQueue, keyed, pause, putTask, takenIds, tenASecond, unpause } from "./flow-makers.ts";
import { commit, finish, idsOf, LEASE_MS, makeJob, numbered, QUEUE, T0, take } from "./makers.ts";

/** `count` jobs of a key, whose ids sort in the order of addition. */
function backlog(key: string, count: number, fields: Partial<JobRecord> = {}): JobRecord[] {
  return Array.from({ length: count }, (_, index) => keyed(numbered(key, index), key, fields));
}

async function addAll(store: DataStore, jobs: readonly JobRecord[]): Promise<void> {
  for (let start = 0; start < jobs.length; start += 1000) await store.addJobs(jobs.slice(start, start + 1000));
}

/** The keys of the next jobs: `count` commits acquire and finish one job each. */
async function nextKeys(store: DataStore, count: number): Promise<string[]> {
  const keys: string[] = [];
  for (let commits = 0; commits < count; commits++) {
    const { acquired } = await take(store, { limit: 1 });
    const job = present(acquired[0], "a job");
    await commit(store, { jobs: null, releases: [finish(job, { expiresAt: T0 })] });
    keys.push(job.concurrencyKey ?? "none");
  }
  return keys;
}

function countOf(key: string, keys: readonly (string | undefined)[]): number {
  return keys.filter((one) => one === key).length;
}

export const flowFairCases: readonly DataStoreCase[] = [
  {
    name: "turns: the keys of a fair task take turns, however many jobs of a key wait",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...backlog("a", 5), ...backlog("b", 3), ...backlog("c", 1)]);
      const rounds = [await nextKeys(store, 3), await nextKeys(store, 2), await nextKeys(store, 2)];
      const sorted = rounds.map((round) => round.toSorted());
      const expected = [
        ["a", "b", "c"],
        ["a", "b"],
        ["a", "b"],
      ];
      equal(sorted, expected, "the rounds");
      equal(await nextKeys(store, 2), ["a", "a"], "the rest");
    },
  },
  {
    name: "turns: a commit that acquires many jobs takes as many of each key, in the order of the key",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...backlog("a", 20), ...backlog("b", 20), ...backlog("c", 20)]);
      const ids = await takenIds(store, { limit: 9 });
      const expected = ["a", "b", "c"].flatMap((key) => idsOf(backlog(key, 3)));
      equal(ids.toSorted(), expected, "the acquired jobs");
      for (const key of ["a", "b", "c"]) {
        const ofKey = ids.filter((id) => id.startsWith(key));
        equal(ofKey, idsOf(backlog(key, 3)), "the order in a key");
      }
    },
  },
  {
    name: "turns: without them the oldest jobs come first",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs([...backlog("a", 5), ...backlog("b", 5)]);
      equal(await nextKeys(store, 6), ["a", "a", "a", "a", "a", "b"], "the keys");
    },
  },
  {
    name: "turns: a key that comes late has its turn at once, and no more than its turns",
    rules: ["F13"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...backlog("a", 90), ...backlog("b", 90)]);
      await nextKeys(store, 60);
      await store.addJobs(backlog("c", 40));
      const soon = await nextKeys(store, 6);
      isTrue(soon.includes("c"), `the new key is among ${soon.join()}`);
      const keys = await nextKeys(store, 60);
      for (const key of ["a", "b", "c"]) {
        const count = countOf(key, keys);
        isTrue(count >= 18 && count <= 22, `${count} of 60 turns for the key ${key} are a third`);
      }
    },
  },
  {
    name: "turns: a key that was idle has no turns to catch up",
    rules: ["F13"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...backlog("a", 60), ...backlog("b", 5)]);
      await nextKeys(store, 30);
      await store.addJobs(Array.from({ length: 20 }, (_, index) => keyed(numbered("more b", index), "b")));
      const count = countOf("b", await nextKeys(store, 20));
      isTrue(count >= 8 && count <= 12, `${count} of 20 turns are half`);
    },
  },
  {
    name: "turns: a higher priority comes first, and keys take turns within a priority",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([
        ...backlog("b", 4),
        ...backlog("a", 4).map((job) => ({ ...job, id: `urgent ${job.id}`, priority: 1 })),
        ...backlog("a", 4),
      ]);
      equal(await nextKeys(store, 4), ["a", "a", "a", "a"], "the urgent jobs");
      const round = await nextKeys(store, 6);
      isTrue(countOf("b", round) >= 2 && countOf("a", round) >= 2, `the keys ${round.join()} take turns`);
      equal((await nextKeys(store, 2)).length, 2, "the rest");
    },
  },
  {
    name: "turns: an urgent job of a key comes before its other jobs, even if they are admitted",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...backlog("a", 12), ...backlog("b", 12)]);
      await nextKeys(store, 2);
      await store.addJobs([keyed("urgent", "b", { priority: 1 })]);
      equal(await takenIds(store, { limit: 1 }), ["urgent"], "the next job");
    },
  },
  {
    name: "turns: the jobs without a key are one more key",
    rules: ["F1"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([
        ...Array.from({ length: 9 }, (_, index) => makeJob({ id: `${index}` })),
        ...backlog("a", 9),
      ]);
      const keys = await nextKeys(store, 10);
      equal([countOf("a", keys), countOf("none", keys)], [5, 5], "the turns");
      await putTask(store, {});
      const byAge = [...Array<string>(4).fill("none"), ...Array<string>(4).fill("a")];
      equal(await nextKeys(store, 8), byAge, "the others, when the task is no longer fair");
    },
  },
  {
    name: "turns: at most 16 jobs of a key are admitted and wait, and the others follow",
    rules: ["F5"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      const jobs = backlog("a", 70);
      await store.addJobs(jobs);
      equal(await takenIds(store, { limit: 1 }), ["a-00000"], "the first job");
      const blocked = await blockedIds(store);
      isTrue(blocked.length >= 70 - 1 - 16, `${blocked.length} of 69 waiting jobs are blocked`);
      equal(blocked, idsOf(jobs).slice(-blocked.length), "the blocked jobs, which are the last");
      equal(idsOf(await drainQueue(store)), idsOf(jobs).slice(1), "the others, in order");
    },
  },
  {
    name: "turns: admitted jobs show their own runAt",
    rules: ["F15"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      const jobs = backlog("a", 3, { runAt: T0 - 7 });
      await store.addJobs([...jobs, ...backlog("b", 3)]);
      const { acquired } = await take(store, { limit: 1 });
      equal(acquired[0]?.runAt, T0 - 7, "the runAt of an acquired job");
      const waiting = await Promise.all(["a-00001", "a-00002", "b-00002"].map((id) => store.getJob(id)));
      equal(
        waiting.map((job) => job?.runAt),
        [T0 - 7, T0 - 7, T0],
        "that of waiting jobs",
      );
    },
  },
  {
    name: "turns: a job that goes back to the queue keeps its runAt, and comes again",
    rules: ["F10"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs([...backlog("a", 2), ...backlog("b", 2)]);
      const { acquired } = await take(store, { limit: 2 });
      const [first, second] = acquired.map((job) => present(job, "a job"));
      const retried = present(first, "the first job");
      const retry = { jobId: retried.id, fence: 1, kind: "retry", runAt: T0 + 5, failedAttempts: 1 } as const;
      await commit(store, { now: T0 + 5, jobs: null, releases: [retry] });
      equal((await store.getJob(retried.id))?.runAt, T0 + 5, "the runAt of the retry");
      const rest = await takenIds(store, { now: T0 + LEASE_MS });
      const all = ["a-00000", "a-00001", "b-00000", "b-00001"];
      equal(rest.toSorted(), all, "the jobs, of which one is tried again and one was lost");
      equal((await store.getJob(present(second, "the second job").id))?.runAt, T0, "the runAt of the lost job");
    },
  },
  {
    name: "turns: a key whose admitted jobs were blocked again by a pause does not fall behind",
    rules: ["F13"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await store.addJobs(backlog("a", 40));
      equal(await nextKeys(store, 1), ["a"], "the first job");
      for (let pauses = 0; pauses < 3; pauses++) {
        await pause(store, { key: "a" });
        equal(await takenIds(store), [], "the jobs of the paused key");
        await unpause(store, { key: "a" });
        await take(store, { queues: [{ executor: "none", taskId: "task" }] });
      }
      await store.addJobs(backlog("b", 40));
      const keys = await nextKeys(store, 8);
      isTrue(countOf("a", keys) >= 3, `the turns are ${keys.join()}`);
    },
  },
  {
    name: "turns: other limits of keys count too",
    rules: ["F8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true, maxRunningPerKey: 2, maxRunningJobs: 5 });
      await store.addJobs([...backlog("a", 9), ...backlog("b", 9), ...backlog("c", 9)]);
      const { acquired } = await take(store);
      const counts = ["a", "b", "c"].map((key) =>
        countOf(
          key,
          acquired.map(({ concurrencyKey }) => concurrencyKey),
        ),
      );
      equal(counts.toSorted(), [1, 2, 2], "the jobs of each key");
    },
  },
  {
    name: "turns: rates of keys count too",
    rules: ["F8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true, ...tenASecond(2) });
      await store.addJobs([...backlog("a", 9), ...backlog("b", 9)]);
      const first = await take(store);
      equal(idsOf(first.acquired).toSorted(), ["a-00000", "a-00001", "b-00000", "b-00001"], "the first jobs");
      equal(first.nextRunAt, T0 + 100, "when the next may start");
      equal((await takenIds(store, { now: T0 + 100 })).toSorted(), ["a-00002", "b-00002"], "the next jobs");
    },
  },
  {
    name: "turns: a backlog of thousands delays no other key",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      await addAll(store, backlog("big", 3000));
      await take(store, { queues: [{ executor: "none", taskId: "task" }] });
      const small = Array.from({ length: 20 }, (_, index) => backlog(`small ${index}`, 3)).flat();
      await store.addJobs(small);
      const order = await drainQueue(store, { limit: 50 });
      equal(order.length, 3060, "the jobs");
      const last = order.findLastIndex(({ concurrencyKey }) => concurrencyKey !== "big");
      isTrue(last < 150, `the last job of the small keys is number ${last}`);
    },
  },
  {
    name: "turns: a hundred keys get about as many turns each",
    rules: ["F12"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`);
      await addAll(
        store,
        keys.flatMap((key, index) => backlog(key, index === 0 ? 500 : 20)),
      );
      const order: (string | undefined)[] = [];
      let held: readonly JobRecord[] = [];
      for (let commits = 0; order.length < 1000 && commits < 1000; commits++) {
        const releases = held.map((job) => finish(job, { expiresAt: T0 }));
        held = (await take(store, { limit: 20, releases })).acquired;
        order.push(...held.map(({ concurrencyKey }) => concurrencyKey));
      }
      const counts = keys.map((key) => countOf(key, order));
      isTrue(Math.min(...counts) >= 7 && Math.max(...counts) <= 13, `the turns are ${counts.join()}`);
    },
  },
  {
    name: "turns: a fair task with a backlog comes neither before nor after all jobs of other tasks",
    rules: ["F14"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { fair: true });
      const queues = [QUEUE, { executor: "inline", taskId: "other" }];
      const ofOther = { taskId: "other", runAt: T0 - 5000 };
      await store.addJobs([...backlog("a", 60), ...backlog("b", 60), makeJob({ id: "older", ...ofOther })]);
      const first = await takenIds(store, { queues, limit: 10 });
      isTrue(first.includes("older"), `the older job of another task is among ${first.join()}`);
      const later = Array.from({ length: 60 }, (_, index) => makeJob({ id: `later ${index}`, taskId: "other" }));
      await store.addJobs(later.map((job) => ({ ...job, runAt: T0 + 5000 })));
      const second = await takenIds(store, { queues, limit: 10, now: T0 + 5000 });
      isTrue(
        second.every((id) => !id.startsWith("later")),
        `the older jobs of the fair task are ${second.join()}`,
      );
    },
  },
  {
    name: "turns: a task with waiting jobs can be made fair, and no longer so",
    rules: ["F11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs([...backlog("a", 30), ...backlog("b", 30)]);
      equal(await nextKeys(store, 2), ["a", "a"], "the keys before");
      await putTask(store, { fair: true });
      const keys = await nextKeys(store, 20);
      equal([countOf("a", keys), countOf("b", keys)], [10, 10], "the turns");
      await putTask(store, {});
      equal(countOf("a", await nextKeys(store, 18)), 18, "the keys afterwards");
    },
  },
];
