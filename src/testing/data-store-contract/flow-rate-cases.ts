import type { DataStore } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { blockedIds, keyed, outlook, putTask, takenIds, tenASecond } from "./flow-makers.ts";
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
  numbered,
  QUEUE,
  T0,
  take,
} from "./makers.ts";
import { COMMIT_ID, twice } from "./repeat.ts";

const ABC = ["a", "b", "c"].map((id) => makeJob({ id }));

/** Takes jobs whenever the commit before said that the next may start. Returns the instants of the starts. */
async function startsUntil(stores: readonly DataStore[], end: number): Promise<number[]> {
  const starts: number[] = [];
  for (let now: number | null = T0, commits = 0; now !== null && now < end; commits++) {
    const at = now;
    const store = present(stores[commits % stores.length], "a store");
    const { acquired, hasReady, nextRunAt } = await commit(store, {
      now: at,
      until: end,
      by: `scheduler-${commits % 3}`,
    });
    isTrue(acquired.length > 0 || commits === 0, "a commit at the instant that the one before named starts a job");
    isTrue(!hasReady, "a commit that may take a hundred jobs leaves none that could start");
    isTrue(nextRunAt === null || (Number.isSafeInteger(nextRunAt) && nextRunAt > at), "the next instant is to come");
    starts.push(...acquired.map(() => at));
    now = nextRunAt;
  }
  return starts;
}

/** The most starts in a time of `perMs`. */
function mostIn(perMs: number, starts: readonly number[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < starts.length; last++) {
    while ((starts[last] ?? 0) - (starts[first] ?? 0) >= perMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

export const flowRateCases: readonly DataStoreCase[] = [
  {
    name: "rates: jobs start as far apart as the rate says, and the commit tells when the next may start",
    rules: ["F4", "V6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs(ABC);
      const waits = { hasReady: false, nextRunAt: T0 + 100 };
      equal(outlook(await take(store)), { acquired: ["a"], ...waits }, "the first job");
      equal((await look(store)).nextRunAt, T0 + 100, "the instant that a look tells");
      equal(outlook(await take(store, { now: T0 + 99 })), { acquired: [], ...waits }, "too early");
      const second = await take(store, { now: T0 + 100 });
      equal(outlook(second), { acquired: ["b"], hasReady: false, nextRunAt: T0 + 200 }, "the second job");
      const third = await take(store, { now: T0 + 950 });
      equal(outlook(third), { acquired: ["c"], hasReady: false, nextRunAt: null }, "the third job, late");
      await store.addJobs([makeJob({ id: "d" })]);
      const fourth = await take(store, { now: T0 + 950 });
      equal(outlook(fourth), { acquired: [], hasReady: false, nextRunAt: T0 + 1050 }, "the fourth job");
    },
  },
  {
    name: "rates: a burst lets so many start at once after a pause, and no longer pause lets more",
    rules: ["F4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond(3));
      await store.addJobs(makeJobs(20));
      const counts: [number, number][] = [];
      for (const at of [0, 50, 100, 350, 350, 100_000, 100_099, 100_100]) {
        const { acquired, nextRunAt } = await take(store, { now: T0 + at, until: T0 + 1_000_000 });
        counts.push([acquired.length, (nextRunAt ?? 0) - T0]);
      }
      const expected = [
        [3, 100],
        [0, 100],
        [1, 200],
        [2, 400],
        [0, 400],
        [3, 100_100],
        [0, 100_100],
        [1, 100_200],
      ];
      equal(counts, expected, "how many start, and when the next may");
    },
  },
  {
    name: "rates: over a long time and several stores and schedulers, exactly as many start as the rate says",
    rules: ["F4"],
    async run(context) {
      const stores = await openTwo(context);
      const [burst, intervalMs] = [4, 100];
      await putTask(stores[0], tenASecond(burst));
      await stores[0].addJobs(makeJobs(600));
      // The generic cell rate algorithm in whole milliseconds.
      let arrival = T0;
      let now = T0;
      let random = 1;
      for (let commits = 0; commits < 150; commits++) {
        const tokens = Math.min(burst, Math.floor((now - arrival) / intervalMs) + burst);
        const limit = commits % 7 === 0 ? 2 : 50;
        const store = present(stores[commits % 2], "a store");
        const { acquired } = await take(store, { now, until: T0 * 2, limit, by: `scheduler-${commits % 3}` });
        equal(acquired.length, Math.min(tokens, limit), `starts of commit ${commits}, ${now - T0} ms after the first`);
        arrival = Math.max(arrival, now) + acquired.length * intervalMs;
        random = (random * 48_271) % 2_147_483_647;
        now += commits % 40 === 39 ? 3_600_000 : random % 250;
      }
    },
  },
  {
    name: "rates: no time has more starts than the rate allows, where starts are not whole milliseconds apart",
    rules: ["F4"],
    async run(context) {
      const stores = await openTwo(context);
      await putTask(stores[0], { rateLimit: { limit: 14, perMs: 1000, burst: 1 } });
      await stores[0].addJobs(makeJobs(200));
      const starts = await startsUntil(stores, T0 + 10_000);
      equal(mostIn(1000, starts), 14, "the most starts in a second");
      isTrue(starts.length >= 10_000 / 72, `${starts.length} starts in ten seconds are enough`);
    },
  },
  {
    name: "rates: another rate begins with full buckets, and the same rate, put again, does not",
    rules: ["F4", "F11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs(ABC);
      equal(await takenIds(store), ["a"], "the first job");
      await putTask(store, tenASecond());
      equal(await takenIds(store, { now: T0 + 1 }), [], "the jobs that start after the same rate was put");
      await putTask(store, { rateLimit: { limit: 1, perMs: 1000, burst: 1 } });
      equal(await takenIds(store, { now: T0 + 2 }), ["b"], "the jobs that start after another rate was put");
      const { acquired, nextRunAt } = await take(store, { now: T0 + 3 });
      equal([idsOf(acquired), nextRunAt], [[], T0 + 1002], "what is next, by the new rate");
    },
  },
  {
    name: "rates: more than one start in a millisecond is possible with a burst",
    rules: ["F4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { rateLimit: { limit: 3000, perMs: 2000, burst: 50 } });
      await store.addJobs(makeJobs(500));
      let count = 0;
      for (let at = 0; at <= 200; at += 10) count += (await take(store, { now: T0 + at })).acquired.length;
      isTrue(count <= 50 + 300 && count >= 50 + 300 - 2, `${count} starts in 200 ms are those of the rate`);
    },
  },
  {
    name: "rates: each key has its own, the jobs without a key share one, and so has each task",
    rules: ["F7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask(tenASecond()), makeTask({ id: "other", ...tenASecond(2) })]);
      await store.addJobs([...ABC, keyed("k1", "k"), keyed("k2", "k"), keyed("l1", "l")]);
      await store.addJobs(["o1", "o2", "o3"].map((id) => keyed(id, "k", { taskId: "other" })));
      const queues = [QUEUE, { executor: "inline", taskId: "other" }];
      equal(await takenIds(store, { queues }), ["a", "k1", "l1", "o1", "o2"], "the first jobs");
      equal(await blockedIds(store), ["b", "c", "k2", "o3"], "the blocked jobs");
      equal(await takenIds(store, { queues, now: T0 + 100 }), ["b", "k2", "o3"], "the next jobs");
    },
  },
  {
    name: "rates: jobs over the rate take no place from other tasks, and are in the order of their priority",
    rules: ["F8", "F2"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs([...ABC, makeJob({ id: "urgent", priority: 1 }), makeJob({ id: "other", taskId: "other" })]);
      const queues = [QUEUE, { executor: "inline", taskId: "other" }];
      equal(await takenIds(store, { queues, limit: 2 }), ["urgent", "other"], "the first jobs");
      await store.addJobs([makeJob({ id: "more urgent", priority: 2 })]);
      equal(await takenIds(store, { queues, now: T0 + 100 }), ["more urgent"], "the next job");
    },
  },
  {
    name: "rates: a job without a key is blocked by the rate, and has no key",
    rules: ["F1"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await take(store, { additions: ABC.slice(0, 1) });
      const { additions } = await commit(store, { additions: ABC.slice(1, 2) });
      const blocked = makeJob({ id: "b", blockedBy: "limit" });
      equal(additions, [{ job: blocked, isNew: true }], "the addition in a commit");
      equal(await store.getJob("b"), blocked, "the job");
      const { acquired, admitted } = await take(store, { now: T0 + 100 });
      equal(admitted, [{ jobId: "b", taskId: "task", scheduleId: null }], "the admitted job");
      const leased = { acquiredBy: "scheduler-a", acquiredUntil: T0 + 100 + LEASE_MS, fence: 1 };
      equal(acquired, [makeJob({ id: "b", ...leased })], "the acquired job");
    },
  },
  {
    name: "rates: attempts count, so a job that is tried again or was lost takes another token",
    rules: ["F4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      const first = await leasedJob(store);
      const retry = { jobId: "job", fence: first.fence, kind: "retry", runAt: T0 + 10, failedAttempts: 1 } as const;
      const report = await commit(store, { now: T0 + 10, releases: [retry] });
      equal(outlook(report), { acquired: [], hasReady: false, nextRunAt: T0 + 100 }, "the commit of the retry");
      const now = T0 + 100;
      equal(await takenIds(store, { now, until: now + 50 }), ["job"], "the second attempt");
      const lost = await take(store, { now: now + 50 });
      equal(outlook(lost), { acquired: [], hasReady: false, nextRunAt: now + 100 }, "when the job was lost");
      equal(await takenIds(store, { now: now + 100 }), ["job"], "the third attempt");
    },
  },
  {
    name: "rates: a job that is cancelled before it starts takes no token",
    rules: ["F4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs([makeJob({ id: "elsewhere", executor: "threads" }), ...ABC]);
      equal(await takenIds(store), [], "while the token is for another queue");
      await cancel(store, "elsewhere", T0);
      equal(await takenIds(store), ["a"], "when its job is cancelled");
      await cancel(store, "b", T0);
      equal(await takenIds(store, { now: T0 + 100 }), ["c"], "when a blocked job was cancelled");
    },
  },
  {
    name: "rates: the repetition of a commit takes no token twice",
    rules: ["X14"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond(3));
      await store.addJobs(makeJobs(6));
      const [lost, answer] = await twice(store, { limit: 1 });
      equal([idsOf(lost.acquired), idsOf(answer.acquired)], [["job-00000"], ["job-00000"]], "the jobs");
      const rest = await take(store, { now: T0 + 7 });
      equal(idsOf(rest.acquired), ["job-00001", "job-00002"], "the jobs of the other tokens");
      equal((rest.nextRunAt ?? 0) <= T0 + 107, true, "whether the next token comes in time");
      equal(await takenIds(store, { now: T0 + 107 }), ["job-00003"], "the next job");
    },
  },
  {
    name: "rates: the try of a commit that comes after its repetition takes no token again",
    rules: ["X14"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond(3));
      const [first, ...others] = makeJobs(6);
      await store.addJobs(first === undefined ? [] : [first]);
      await twice(store, { limit: 1 });
      // The same request once more: the network kept it.
      await commit(store, { commitId: COMMIT_ID, limit: 1 });
      await store.addJobs(others);
      const rest = await take(store, { now: T0 + 8 });
      equal(idsOf(rest.acquired), ["job-00001", "job-00002"], "the jobs of the other tokens");
    },
  },
  {
    name: "rates: other limits count too, and no token is lost to them",
    rules: ["F8"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { ...tenASecond(3), maxRunningPerKey: 1 });
      await store.addJobs(ABC);
      // Jobs without a key share the rate, but no limit of running jobs.
      equal(await takenIds(store), ["a", "b", "c"], "the jobs without a key");
      await store.addJobs(["k1", "k2", "k3", "k4", "k5"].map((id) => keyed(id, "k")));
      let now = T0 + 20;
      let held = (await take(store, { now })).acquired;
      const ids = idsOf(held);
      for (; now < T0 + 60; now += 10) {
        const report = await take(store, { now, releases: held.map((job) => finish(job)) });
        held = report.acquired;
        ids.push(...idsOf(held));
      }
      equal(ids, ["k1", "k2", "k3"], "the jobs of a key, one by one, until its tokens are used up");
      equal(await takenIds(store, { now: T0 + 120 }), ["k4"], "the job of the next token");
      equal(await takenIds(store, { now: T0 + 500 }), [], "while another job of the key runs");
    },
  },
  {
    name: "rates: delayed jobs wait for their time, then for a token",
    rules: ["F4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs([makeJob({ id: "a" }), makeJob({ id: "late", runAt: T0 + 30 })]);
      equal(outlook(await take(store)), { acquired: ["a"], hasReady: false, nextRunAt: T0 + 30 }, "the first commit");
      const second = await take(store, { now: T0 + 30 });
      equal(outlook(second), { acquired: [], hasReady: false, nextRunAt: T0 + 100 }, "when it is due");
      equal(await takenIds(store, { now: T0 + 100 }), ["late"], "when there is a token");
    },
  },
  {
    name: "rates: a scheduler whose clock is behind takes no token that others have taken",
    rules: ["K4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs(ABC);
      await take(store);
      const report = await take(store, { now: T0 - 500, by: "b" });
      equal(outlook(report), { acquired: [], hasReady: false, nextRunAt: T0 + 100 }, "what it sees");
      equal(await takenIds(store, { now: T0 + 100 }), ["b"], "the next job");
    },
  },
  {
    name: "rates: a scheduler whose clock is ahead by less than a minute lets nobody forget what was taken",
    rules: ["K4"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await store.addJobs([keyed("a", "key")]);
      const { acquired } = await take(store);
      await commit(store, { releases: acquired.map((job) => finish(job)), jobs: null });
      const ahead = T0 + 50_000;
      await commit(store, { now: ahead, by: "ahead", until: ahead + LEASE_MS });
      await store.cleanup({ now: ahead, limit: 100 });
      await store.addJobs([keyed("b", "key")]);
      equal(
        outlook(await commit(store, { now: T0 + 1 })),
        { acquired: [], hasReady: false, nextRunAt: T0 + 100 },
        "too early",
      );
      equal(await takenIds(store, { now: T0 + 100 }), ["b"], "at the next token");
    },
  },
  {
    name: "rates: they can be given to a task whose jobs wait, changed, and taken away; an unchanged one stays",
    rules: ["F11"],
    async run({ open }) {
      const store = await open();
      await putTask(store, {});
      await store.addJobs([...makeJobs(6), makeJob({ id: "late", runAt: T0 + 5 })]);
      const hour = { rateLimit: { limit: 1, perMs: 3_600_000, burst: 1 } };
      await putTask(store, hour);
      equal(await takenIds(store), ["job-00000"], "the first job");
      await putTask(store, hour);
      const again = await take(store, { now: T0 + 10 });
      equal(outlook(again), { acquired: [], hasReady: false, nextRunAt: T0 + 3_600_000 }, "the rate, put again");
      await putTask(store, tenASecond());
      equal(await takenIds(store, { now: T0 + 110 }), ["job-00001"], "with a higher rate");
      await putTask(store, {});
      equal((await look(store, { now: T0 + 110 })).hasReady, true, "whether a look finds the others");
      const rest = [...makeJobs(6).slice(2), makeJob({ id: "late" })];
      equal(await takenIds(store, { now: T0 + 110 }), idsOf(rest), "without a rate");
    },
  },
  {
    name: "rates: a job of a key or task without a rate is not touched by those of others",
    rules: ["F7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask(tenASecond()), makeTask({ id: "other" })]);
      const ofOther = Array.from({ length: 9 }, (_, index) => keyed(numbered("o", index), "k", { taskId: "other" }));
      await store.addJobs([...ofOther, keyed("k1", "k"), keyed("k2", "k")]);
      const queues = [QUEUE, { executor: "inline", taskId: "other" }];
      equal(await takenIds(store, { queues }), [...idsOf(ofOther), "k1"], "the acquired jobs");
    },
  },
];
