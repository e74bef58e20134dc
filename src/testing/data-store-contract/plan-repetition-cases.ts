import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  commit,
  finish,
  fireOf,
  idsOf,
  lookedAt,
  makeSchedule,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";
import { again, twice } from "./repeat.ts";

export const planRepetitionCases: readonly DataStoreCase[] = [
  {
    name: "repetitions: a plan that was committed says so again, and moves the schedule once",
    rules: ["X10"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ fence: 11 }));
      const [lost, answer] = await twice(store, { plans: [planOf(present(due, "the schedule"))] });
      const plans = [{ committed: true, addedJobIds: ["job of schedule"] }];
      equal([lost.plans, answer.plans], [plans, plans], "the answers");
      equal(answer.acquired, lost.acquired, "what is acquired");
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 12 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
      equal((await store.getJobs({ limit: 10, cursor: null })).items.length, 1, "the number of jobs");
    },
  },
  {
    name: "repetitions: a plan without fires, one that pauses and one that exhausts say again that they counted",
    rules: ["X10"],
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(
        store,
        makeSchedule({ id: "a" }),
        makeSchedule({ id: "b" }),
        makeSchedule({ id: "c" }),
      );
      const [a, b, c] = due.map((schedule) => present(schedule, "a schedule"));
      const plans = [
        planOf(present(a, "a"), { fires: [], nextFireTime: T0 }),
        planOf(present(b, "b"), { fires: [], paused: true, nextFireTime: T0 }),
        planOf(present(c, "c"), { nextFireTime: null }),
      ];
      const [lost, answer] = await twice(store, { jobs: null, plans });
      const expected = [
        { committed: true, addedJobIds: [] },
        { committed: true, addedJobIds: [] },
        { committed: true, addedJobIds: ["job of c"] },
      ];
      equal([lost.plans, answer.plans], [expected, expected], "the answers");
      equal((await store.getSchedule("a"))?.fence, 1, "the fence of the first");
    },
  },
  {
    name: "repetitions: a plan that did not count is not said to have counted because another commit's did",
    rules: ["X10"],
    async run(context) {
      const [first, second] = await openTwo(context);
      const [due] = await lookedAt(first, makeSchedule());
      const schedule = present(due, "the schedule");
      const theirs = planOf(schedule, { fires: [fireOf("schedule", T0, { jobId: "theirs" })] });
      await commit(second, { by: "b", commitId: "b 1#1", jobs: null, plans: [theirs] });
      const [lost, answer] = await twice(first, { jobs: null, plans: [planOf(schedule)] });
      const refused = [{ committed: false, addedJobIds: [] }];
      equal([lost.plans, answer.plans], [refused, refused], "the answers");
      equal(idsOf((await first.getJobs({ limit: 10, cursor: null })).items), ["theirs"], "the jobs");
    },
  },
  {
    name: "repetitions: when others have moved the schedule on since, its jobs are still named, and it stays theirs",
    rules: ["X10"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const plans = [planOf(present(due, "the schedule"))];
      const lost = await commit(store, { commitId: "one", plans });
      await updateSchedule(store, "schedule", { priority: 3 });
      const answer = await again(store, { commitId: "one", plans });
      equal(
        [answer.plans[0]?.addedJobIds, answer.acquired],
        [["job of schedule"], lost.acquired],
        "what the repetition tells",
      );
      const counted = { fence: 2, revision: T0 + 1 };
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, priority: 3, ...counted });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
    },
  },
  {
    name: "repetitions: of a schedule that was removed since, nothing comes back",
    rules: ["X10"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const plans = [planOf(present(due, "the schedule"))];
      const lost = await commit(store, { commitId: "one", plans });
      await removeSchedule(store, "schedule");
      const answer = await again(store, { commitId: "one", plans });
      equal(
        [answer.plans, answer.acquired],
        [[{ committed: false, addedJobIds: ["job of schedule"] }], lost.acquired],
        "the answer",
      );
      equal(await store.getSchedule("schedule"), null, "the schedule");
    },
  },
  {
    name: "repetitions: a plan's job that ran elsewhere meanwhile is neither made nor named again",
    rules: ["X9"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ resultExpirationMs: 0 }));
      const plans = [planOf(present(due, "the schedule"))];
      await commit(store, { commitId: "one", limit: 0, plans });
      const { acquired } = await take(store, { by: "b" });
      await release(store, [finish(present(acquired[0], "the job"), { expiresAt: T0 })], { by: "b" });
      const answer = await again(store, { commitId: "one", plans });
      equal([answer.plans, answer.acquired], [[{ committed: true, addedJobIds: [] }], []], "the answer");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
    },
  },
  {
    name: "repetitions: of several plans of one schedule the first alone is said to have counted",
    rules: ["X10", "P3"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const schedule = present(due, "the schedule");
      const second = planOf(schedule, { fires: [fireOf("schedule", T0 + 1, { jobId: "second" })] });
      const [, answer] = await twice(store, { jobs: null, plans: [planOf(schedule), second] });
      equal(
        answer.plans,
        [
          { committed: true, addedJobIds: ["job of schedule"] },
          { committed: false, addedJobIds: [] },
        ],
        "the answer",
      );
    },
  },
];
