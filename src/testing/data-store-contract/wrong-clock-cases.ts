import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { DataStore, JobAddition } from "../../stores/data-store.ts";
import { equal, isTrue } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { debounced, WAIT_MS } from "./debounce-makers.ts";
import { drainQueue, keyed, outlook, putTask, takenIds, tenASecond } from "./flow-makers.ts";
import { cancel, finish, idsOf, look, makeJob, makeJobs, QUEUE, release, T0, take } from "./makers.ts";

// A host whose clock is a day ahead writes, and then hosts with right clocks go on. Nothing that it wrote stops them
// for longer than the feature itself lets a job wait, and at most one burst more gets through.

const DAY_MS = 86_400_000;
const AHEAD = T0 + DAY_MS;
const BEHIND = T0 - DAY_MS;
const PER_MS = 1000;
const OTHER = { executor: "inline", taskId: "other" };
const queues = [QUEUE, OTHER];

export const wrongClockCases: readonly DataStoreCase[] = [
  ...[1, 3].map((burst) => ({
    name: `wrong clocks: a start by a clock that is ahead holds a rate no longer than its burst of ${burst}`,
    rules: ["K3"],
    async run(context: Parameters<DataStoreCase["run"]>[0]): Promise<void> {
      const [wrong, right] = await openTwo(context);
      await putTask(wrong, tenASecond(burst));
      await wrong.addJobs(makeJobs(burst + 4));
      const first = await take(wrong, { now: AHEAD });
      equal(first.acquired.length, burst, "what the clock ahead lets start at once");
      await release(
        wrong,
        first.acquired.map((job) => finish(job)),
        { now: AHEAD },
      );
      const starts = [];
      for (let now: number | null = T0, commits = 0; now !== null && commits < 10; commits++) {
        const { acquired, hasReady, nextRunAt } = await take(right, { now, until: now + 1 });
        starts.push(...acquired.map(() => (now ?? 0) - T0));
        await release(
          right,
          acquired.map((job) => finish(job)),
          { now },
        );
        isTrue(!hasReady, "a commit leaves nothing that could start");
        now = nextRunAt;
      }
      equal(starts, [100, 200, 300, 400], "when the others start");
    },
  })),
  {
    name: "wrong clocks: jobs that a clock ahead left blocked behind a rate are looked after at once, of every key",
    rules: ["K3"],
    async run(context) {
      const [wrong, right] = await openTwo(context);
      await putTask(wrong, tenASecond());
      await putTask(wrong, { id: "other", rateLimit: { limit: 1, perMs: 7 * DAY_MS, burst: 1 } });
      const ofKeys = ["j", "k"].flatMap((key) => [keyed(`${key}1`, key), keyed(`${key}2`, key)]);
      const slow = ["o1", "o2"].map((id) => keyed(id, "k", { taskId: "other" }));
      await wrong.addJobs([...ofKeys, ...slow]);
      const first = await take(wrong, { now: AHEAD, queues });
      equal(idsOf(first.acquired), ["j1", "k1", "o1"], "what starts first");
      isTrue((first.nextRunAt ?? 0) > AHEAD, "the next instant by the clock ahead");
      // Nothing else happens at these gates: the host is gone.
      const seen = await look(right, { now: T0, queues });
      isTrue(seen.hasReady || seen.nextRunAt === T0 + 100, "what a look by a right clock finds to do");
      const none = { acquired: [], hasReady: false, nextRunAt: T0 + 100 };
      equal(outlook(await take(right, { now: T0, queues })), none, "the first commit");
      equal(await takenIds(right, { now: T0 + 100, queues }), ["j2", "k2"], "a token later");
    },
  },
  {
    name: "wrong clocks: a clock that is behind lets one burst more through, and none that is a little off does",
    rules: ["K3", "K4"],
    async run(context) {
      const [one, other] = await openTwo(context);
      await putTask(one, tenASecond(2));
      await one.addJobs(makeJobs(20));
      const count = async (store: DataStore, now: number): Promise<number> =>
        (await take(store, { now, until: AHEAD })).acquired.length;
      equal(await count(one, T0), 2, "the burst");
      for (const behindMs of [1000, 30_000]) {
        equal(await count(other, T0 - behindMs), 0, "what a clock starts that is a little behind");
      }
      equal(await count(other, BEHIND), 0, "what a clock starts that is a day behind");
      equal(await count(other, BEHIND + 100), 1, "a token later, by its clock");
      equal(await count(one, T0 + 100), 2, "what the right clock starts then");
      equal(await count(one, T0 + 101), 0, "and no more");
    },
  },
  ...(["throttle", "unique"] as const).map((kind) => ({
    name: `wrong clocks: a window that a clock ahead opened (${kind}) lasts from the next addition by a right one`,
    rules: ["K5"],
    async run(context: Parameters<DataStoreCase["run"]>[0]): Promise<void> {
      const [wrong, right] = await openTwo(context);
      await wrong.addJobs([once(AHEAD, kind, "a")]);
      await drainQueue(wrong, { now: AHEAD });
      const additions = [T0, T0 + PER_MS - 1, T0 + PER_MS, T0 + PER_MS + 1];
      const answers = [];
      for (const [place, at] of additions.entries()) {
        answers.push(...(await right.addJobs([once(at, kind, `${place}`)])).map(answerOf));
        await drainQueue(right, { now: at });
      }
      equal(answers, ["a ended", "a ended", "2", "2 ended"], "which job stands for each addition");
    },
  })),
  {
    name: "wrong clocks: a clock behind shortens a window, and a repetition of an earlier addition does not",
    rules: ["K5", "K7"],
    async run({ open }) {
      const store = await open();
      const early = { ...once(T0, "throttle", "a"), resultExpirationMs: DAY_MS };
      equal((await store.addJobs([early])).map(answerOf), ["a"], "the first addition");
      await cancel(store, "a", T0);
      const at = T0 + 300_000;
      equal((await store.addJobs([once(at, "throttle", "b")])).map(answerOf), ["b"], "the next one");
      await store.addJobs([early]);
      const later = (await store.addJobs([once(at + 1, "throttle", "c")])).map(answerOf);
      equal(later, ["b"], "after a repetition of the first one");
      const behind = (await store.addJobs([once(BEHIND, "throttle", "d")])).map(answerOf);
      equal(behind, ["b"], "by a clock that is a day behind");
      equal((await store.addJobs([once(at + 2, "throttle", "e")])).map(answerOf), ["e"], "by a right clock then");
    },
  },
  {
    name: "wrong clocks: a burst that a clock ahead began runs its wait after the next addition by a right one",
    rules: ["K6"],
    async run(context) {
      const [wrong, right] = await openTwo(context);
      const maxWaitMs = 2 * WAIT_MS;
      await wrong.addJobs([debounced(AHEAD, { id: "a", payload: "1" }, { maxWaitMs })]);
      const [second] = await right.addJobs([debounced(T0, { id: "b", payload: "2" }, { maxWaitMs })]);
      const changed = { id: "a", payload: "2", createdAt: T0, runAt: T0 + WAIT_MS };
      equal(second, { job: makeJob(changed), isNew: false }, "the answer to the next addition");
      const last = T0 + WAIT_MS - 1;
      for (const at of [T0 + 500, last, T0 + 1500]) {
        await right.addJobs([debounced(at, { id: `at ${at - T0}`, payload: `${at - T0}` }, { maxWaitMs })]);
      }
      equal(await takenIds(right, { now: T0 + maxWaitMs - 1 }), [], "what runs before the longest wait is over");
      const { acquired } = await take(right, { now: T0 + maxWaitMs });
      equal(
        acquired.map(({ id, payload }) => [id, payload]),
        [["a", "1500"]],
        "what runs then",
      );
    },
  },
  {
    name: "wrong clocks: an addition by a clock behind counts in a burst, and a late repetition does not",
    rules: ["K6", "K7"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", payload: "1" }, { waitMs: DAY_MS })]);
      await store.addJobs([debounced(T0 + 300_000, { id: "b", payload: "2" }, { waitMs: DAY_MS })]);
      await store.addJobs([debounced(T0, { id: "a", payload: "1" }, { waitMs: DAY_MS })]);
      equal((await store.getJob("a"))?.payload, "2", "the payload after a repetition of the first addition");
      await store.addJobs([debounced(BEHIND, { id: "c", payload: "3" }, { waitMs: DAY_MS })]);
      const { payload, runAt } = (await store.getJob("a")) ?? {};
      equal([payload, runAt], ["3", T0], "after an addition by a clock that is a day behind");
    },
  },
  {
    name: "wrong clocks: the keys of a fair task take turns, and it keeps its place beside others",
    rules: ["K8"],
    async run(context) {
      const [wrong, right] = await openTwo(context);
      await putTask(wrong, { fair: true });
      await wrong.addJobs([keyed("ahead", "k", { createdAt: AHEAD, runAt: AHEAD })]);
      equal(await takenIds(wrong, { now: AHEAD }), ["ahead"], "what the clock ahead starts");
      const ofKeys = ["k", "l"].flatMap((key) => [1, 2].map((place) => keyed(`${key}${place}`, key)));
      const others = [1, 2].map((place) => makeJob({ id: `o${place}`, taskId: "other", runAt: T0 + 1 }));
      await right.addJobs([...others, ...ofKeys]);
      const order: string[] = [];
      for (let left = 6; left > 0; left--) {
        order.push(...(await takenIds(right, { now: T0 + 2, queues, limit: 1 })));
      }
      const pairs = [0, 2, 4].map((start) =>
        order
          .slice(start, start + 2)
          .sort()
          .join(),
      );
      equal(pairs, ["k1,l1", "k2,l2", "o1,o2"], "whose turn it is");
    },
  },
];

function once(createdAt: number, kind: "throttle" | "unique", id: string): NewJobRecord {
  const fields: Partial<JobRecord> = { id, createdAt, runAt: createdAt, ...(kind === "unique" ? UNIQUE : {}) };
  return { ...makeJob(fields), once: { kind, key: "key", until: createdAt + PER_MS } };
}

const UNIQUE = { idempotencyKey: "key" };

function answerOf({ job, hasEnded = false }: JobAddition): string {
  return hasEnded ? `${job.id} ended` : job.id;
}
