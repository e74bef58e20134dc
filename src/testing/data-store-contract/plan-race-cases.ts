import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  add,
  commit,
  commitPlans,
  finish,
  fireOf,
  idsOf,
  jobOf,
  leasedJob,
  look,
  lookedAt,
  makeJob,
  makeSchedule,
  numbered,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";
import { COMMITTED, planned, REFUSED } from "./planned.ts";

export const planRaceCases: readonly DataStoreCase[] = [
  {
    name: "plans: of two planners who saw the same the first alone counts, and its job runs alone",
    rules: ["P1"],
    async run(context) {
      const [first, second] = await openTwo(context);
      const due = await planned(first);
      const ours = planOf(due, { fires: [fireOf("schedule", T0, { jobId: "ours" })] });
      const theirs = planOf(due, { fires: [fireOf("schedule", T0, { jobId: "theirs" })] });
      const one = await commit(first, { by: "a", plans: [ours] });
      const other = await commit(second, { by: "b", plans: [theirs] });
      equal([one.plans[0]?.committed, idsOf(one.acquired)], [true, ["ours"]], "the first");
      equal([other.plans, other.acquired], [[REFUSED], []], "the second");
      equal(await first.getJob("theirs"), null, "the second's job");
      equal((await second.getSchedule("schedule"))?.fence, 1, "the fence");
    },
  },
  {
    name: "plans: two planners at once never both count",
    rules: ["P1", "G16"],
    async run(context) {
      const stores = await openTwo(context);
      const all = Array.from({ length: 20 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      const due = await lookedAt(stores[0], ...all);
      const reports = await Promise.all(
        Array.from({ length: 6 }, (_, by) =>
          commit(present(stores[by % 2], "a store"), {
            by: `scheduler-${by}`,
            plans: due.map((schedule) =>
              planOf(schedule, { fires: [fireOf(schedule.id, T0, { jobId: `${by} ${schedule.id}` })] }),
            ),
          }),
        ),
      );
      const committed = reports.flatMap(({ plans }) => plans.filter((plan) => plan.committed));
      const acquired = reports.flatMap((report) => idsOf(report.acquired));
      equal([committed.length, new Set(acquired).size, acquired.length], [20, 20, 20], "plans and jobs");
      equal((await stores[0].getJobs({ limit: 100, cursor: null })).items.length, 20, "the jobs in the store");
    },
  },
  {
    name: "plans: one whose schedule was changed, paused, replaced or removed since changes nothing",
    rules: ["P1", "P2"],
    async run({ open }) {
      const store = await open();
      const changes: [string, () => Promise<unknown>][] = [
        ["updated", () => updateSchedule(store, "schedule", { priority: 5 })],
        ["updated by nothing", () => updateSchedule(store, "schedule", {})],
        ["paused", () => updateSchedule(store, "schedule", { paused: true })],
        ["moved on", () => updateSchedule(store, "schedule", { nextFireTime: T0 + 5 })],
        ["replaced", () => store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "replace" }])],
        ["removed", () => removeSchedule(store, "schedule")],
      ];
      for (const [what, change] of changes) {
        const due = await planned(store);
        await change();
        const before = await store.getSchedule("schedule");
        const report = await commit(store, { plans: [planOf(due)] });
        equal([report.plans, report.acquired], [[REFUSED], []], `the answer, ${what}`);
        equal(await store.getSchedule("schedule"), before, `the schedule, ${what}`);
        equal(await store.getJob("job of schedule"), null, `the job, ${what}`);
        await removeSchedule(store, "schedule");
      }
    },
  },
  {
    name: "plans: paused and unpaused since, one no longer counts",
    rules: ["P1", "S11"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      await updateSchedule(store, "schedule", { paused: true });
      await updateSchedule(store, "schedule", { paused: false });
      equal((await commitPlans(store, [planOf(due)])).plans, [REFUSED], "the answer");
    },
  },
  {
    name: "plans: one whose schedule was removed and added again, under another first fence, changes nothing",
    rules: ["P1"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { fence: 7_000_000_001 });
      await removeSchedule(store, "schedule");
      await store.addSchedules(add(makeSchedule({ fence: 5 })));
      equal((await commitPlans(store, [planOf(due)])).plans, [REFUSED], "the answer");
      equal(await store.getSchedule("schedule"), makeSchedule({ fence: 5 }), "the schedule");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: one whose schedule has another fire time, or another fence, changes nothing",
    rules: ["P1"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { fence: 3, nextFireTime: T0 - 10 });
      const wrong = [
        planOf(due, { expected: T0 - 9 }),
        planOf(due, { expected: T0 - 11 }),
        planOf(due, { fence: 2 }),
        planOf(due, { fence: 4 }),
      ];
      for (const plan of wrong) equal((await commitPlans(store, [plan])).plans, [REFUSED], "the answer");
      equal(await store.getSchedule("schedule"), makeSchedule({ fence: 3, nextFireTime: T0 - 10 }), "the schedule");
      equal((await commitPlans(store, [planOf(due)])).plans, [COMMITTED], "the right one");
    },
  },
  {
    name: "plans: of a schedule that is paused none counts, whatever it saw",
    rules: ["P1"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ paused: true })));
      equal((await commitPlans(store, [planOf(makeSchedule())])).plans, [REFUSED], "the answer");
      equal(await store.getSchedule("schedule"), makeSchedule({ paused: true }), "the schedule");
    },
  },
  {
    name: "plans: none counts before its fire time by the commit's clock, and it does once the clock is there",
    rules: ["P1", "K1"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      equal((await commitPlans(store, [planOf(due)], { now: T0 - 1 })).plans, [REFUSED], "a clock that was set back");
      equal(await store.getSchedule("schedule"), makeSchedule(), "the schedule");
      const report = await commit(store, { plans: [planOf(due)] });
      equal([report.plans, idsOf(report.acquired)], [[COMMITTED], ["job of schedule"]], "forward again");
    },
  },
  {
    name: "plans: of an unknown schedule changes nothing",
    rules: ["P1"],
    async run({ open }) {
      const store = await open();
      equal((await commitPlans(store, [planOf(makeSchedule())])).plans, [REFUSED], "the answer");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: of several of one schedule in a commit the first alone can count",
    rules: ["P3"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const second = planOf(due, { fires: [fireOf("schedule", T0 + 1, { jobId: "second" })], nextFireTime: T0 + 5000 });
      const follower = planOf({ id: "schedule", fence: 1, nextFireTime: T0 + 1000 }, { fires: [] });
      const report = await commitPlans(store, [planOf(due), second, follower], { now: T0 + 2000 });
      equal(report.plans, [COMMITTED, REFUSED, REFUSED], "the answers");
      equal(idsOf((await store.getJobs({ limit: 10, cursor: null })).items), ["job of schedule"], "the jobs");
      const expected = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("schedule"), expected, "the schedule");
    },
  },
  {
    name: "plans: a fire time that an unfinished job of the schedule has already is left out",
    rules: ["P6"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      await commitPlans(store, [planOf(due, { nextFireTime: T0 })]);
      const [again] = (await look(store, { schedules: {} })).due;
      const fires = [fireOf("schedule", T0, { jobId: "double" }), fireOf("schedule", T0 + 1, { jobId: "next" })];
      const report = await commitPlans(store, [planOf(present(again, "the schedule"), { fires })]);
      equal(report.plans, [{ committed: true, addedJobIds: ["next"] }], "the answer");
      equal(await store.getJob("double"), null, "the second job of the fire time");
      equal(await store.getJob("job of schedule"), jobOf(makeSchedule(), fireOf("schedule", T0)), "the first one");
    },
  },
  {
    name: "plans: the fence grows with every commit and change, and never falls",
    rules: ["P7", "S11"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ fence: 9 })));
      const fences: unknown[] = [];
      const note = async (): Promise<void> => {
        fences.push((await store.getSchedule("schedule"))?.fence);
      };
      for (let round = 0; round < 3; round++) {
        const now = T0 + round * 1000;
        const [due] = (await look(store, { now, schedules: {} })).due;
        await commitPlans(store, [planOf(present(due, "the schedule"))], { now });
        await note();
        await commitPlans(store, [planOf(present(due, "the schedule"))], { now });
        await note();
      }
      await updateSchedule(store, "schedule", { priority: 2 });
      await note();
      await store.addSchedules([{ schedule: makeSchedule({ fence: 1 }), conflictPolicy: "replace" }]);
      await note();
      equal(fences, [10, 10, 11, 11, 12, 12, 13, 14], "the fences");
    },
  },
  {
    name: "plans: a refused one does not hold up the rest of its commit",
    rules: ["X1", "P2"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const due = await planned(store);
      await updateSchedule(store, "schedule", {});
      const report = await commit(store, {
        releases: [finish(job)],
        additions: [makeJob({ id: "added" })],
        plans: [planOf(due)],
        schedules: {},
      });
      equal(
        [report.releases, report.additions[0]?.isNew, report.plans, idsOf(report.acquired), idsOf(report.due)],
        [["released"], true, [REFUSED], ["added"], ["schedule"]],
        "the answer",
      );
    },
  },
  {
    name: "plans: a job that ran is not added again by the same plan",
    rules: ["P2"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const { acquired } = await commit(store, { plans: [planOf(due)] });
      await release(store, [finish(present(acquired[0], "the job"))]);
      equal((await commitPlans(store, [planOf(due)])).plans, [REFUSED], "the answer");
      equal((await take(store)).acquired, [], "what a worker gets");
    },
  },
  {
    name: "plans: looking ahead, one that was planned before its time counts at its time",
    rules: ["P1"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ nextFireTime: T0 + 60 })));
      const [due] = (await look(store, { schedules: { dueBy: T0 + 60 } })).due;
      const plan = planOf(present(due, "the schedule"));
      const report = await commit(store, { now: T0 + 60, plans: [plan] });
      equal([report.plans, idsOf(report.acquired)], [[COMMITTED], ["job of schedule"]], "the answer");
      isTrue(report.leaseEndsAt !== null, "its lease is told");
    },
  },
];
