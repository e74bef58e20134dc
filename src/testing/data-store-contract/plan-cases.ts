import type { DataStore, LookedSchedule } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  add,
  commit,
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
  step,
  T0,
  take,
} from "./makers.ts";

const REFUSED = { committed: false, addedJobIds: [] };
const COMMITTED = { committed: true, addedJobIds: ["job of schedule"] };

/** A store with one due schedule, as a planner sees it. */
async function planned(store: DataStore, fields: Parameters<typeof makeSchedule>[0] = {}): Promise<LookedSchedule> {
  return present((await lookedAt(store, makeSchedule(fields)))[0], "the schedule that was just added is due");
}

export const planCases: readonly DataStoreCase[] = [
  {
    name: "plans: one that counts adds its jobs, moves the schedule on and raises its fence",
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { fence: 41 });
      equal((await commit(store, [planOf(due)])).plans, [COMMITTED], "the answer");
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 42 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
      equal(await store.getJob("job of schedule"), jobOf(schedule, fireOf("schedule", T0)), "the job");
    },
  },
  {
    name: "plans: the job of a fire is leased in the same step",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const report = await step(store, { by: "me", until: T0 + 500, plans: [planOf(due)], schedules: {} });
      const lease = { acquiredBy: "me", acquiredUntil: T0 + 500, fence: 1 };
      equal(report.acquired, [jobOf(makeSchedule(), fireOf("schedule", T0), lease)], "what is acquired");
      const { due: left, nextFireAt, hasReady, leaseEndsAt } = report;
      equal([left, nextFireAt, hasReady, leaseEndsAt], [[], T0 + 1000, false, T0 + 500], "what the step sees");
    },
  },
  {
    name: "plans: a job gets everything that its schedule and its fire say",
    async run({ open }) {
      const store = await open();
      const schedule = makeSchedule({
        taskId: "other",
        payload: '{"to":["a",null]}',
        executor: "threads",
        priority: -7,
        resultExpirationMs: 0,
        maxRecoveries: 0,
        metadata: { text: "x" },
      });
      const fire = fireOf("schedule", T0 - 50, {
        createdAt: T0 + 1,
        scheduledFireTime: T0 - 20,
        runAt: T0 - 20,
        startDeadline: T0 + 99,
        missedCount: 3,
        firstMissedTime: T0 - 80,
        lastMissedTime: T0 - 60,
      });
      const [due] = await lookedAt(store, schedule);
      await commit(store, [planOf(present(due, "the schedule"), { fires: [fire] })]);
      equal(await store.getJob("job of schedule"), jobOf(schedule, fire), "the job");
    },
  },
  {
    name: 'plans: any payload text reaches the job, null, "null" and what breaks careless stores too',
    async run({ open }) {
      const store = await open();
      const texts = [
        null,
        "null",
        "",
        "0",
        "plain text",
        '"quoted"',
        '{"a":[1,null,{"b":"ü"}]}',
        '"\\u0000a"',
        "raw \u0000 nul",
        '"\u2028\u2029\\"\'; --"',
        '"half a pair \ud83d"',
        "{not json",
        "[1, 2.50, 1e3, 12345678901234567890]",
      ];
      for (const [index, payload] of texts.entries()) {
        const id = numbered("s", index);
        const [due] = await lookedAt(store, makeSchedule({ id, payload }));
        await commit(store, [planOf(present(due, `schedule ${index}`), { nextFireTime: null })]);
        equal((await store.getJob(`job of ${id}`))?.payload, payload, `the payload of job ${index}`);
      }
    },
  },
  {
    name: "plans: any metadata reaches the job, nulls within it too",
    async run({ open }) {
      const store = await open();
      const variants = [
        {},
        { a: null },
        {
          deep: { a: null, list: [null, { b: null }, []] },
          text: "'\"\\ \u2028 \u0001 {}",
          number: -1.5e-7,
          no: false,
        },
        { priority: 3, payload: "no payload", metadata: { id: "x" }, createdAt: 0 },
      ];
      for (const [index, metadata] of variants.entries()) {
        const id = numbered("s", index);
        const [due] = await lookedAt(store, makeSchedule({ id, metadata }));
        const { acquired } = await step(store, {
          plans: [planOf(present(due, `schedule ${index}`), { nextFireTime: null })],
        });
        equal(acquired[0]?.metadata, metadata, `the metadata of job ${index} when it is acquired`);
        equal((await store.getJob(`job of ${id}`))?.metadata, metadata, `the metadata of job ${index}`);
      }
    },
  },
  {
    name: "plans: one can exhaust its schedule, or pause it, with jobs and without",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "exhausted" }), makeSchedule({ id: "paused" })));
      const { due } = await look(store, { schedules: {} });
      const plans = [
        planOf(present(due[0], "a schedule"), { nextFireTime: null }),
        planOf(present(due[1], "a schedule"), { paused: true, fires: [], nextFireTime: T0, lastFireTime: null }),
      ];
      const report = await commit(store, plans, { schedules: {} });
      equal(
        report.plans,
        [
          { committed: true, addedJobIds: ["job of exhausted"] },
          { committed: true, addedJobIds: [] },
        ],
        "the answers",
      );
      equal([report.due, report.nextFireAt], [[], null], "what is due then");
      const exhausted = makeSchedule({ id: "exhausted", nextFireTime: null, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("exhausted"), exhausted, "the exhausted one");
      equal(
        await store.getSchedule("paused"),
        makeSchedule({ id: "paused", paused: true, fence: 1 }),
        "the paused one",
      );
    },
  },
  {
    name: "plans: one without fires moves the schedule on, back too",
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { lastFireTime: T0 - 9 });
      const plan = planOf(due, { fires: [], nextFireTime: T0 - 5000, lastFireTime: T0 - 9 });
      equal((await commit(store, [plan])).plans, [{ committed: true, addedJobIds: [] }], "the answer");
      const expected = makeSchedule({ nextFireTime: T0 - 5000, lastFireTime: T0 - 9, fence: 1 });
      equal(await store.getSchedule("schedule"), expected, "the schedule");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
    },
  },
  {
    name: "plans: of two planners who saw the same the first alone counts, and its job runs alone",
    async run(context) {
      const [first, second] = await openTwo(context);
      const due = await planned(first);
      const ours = planOf(due, { fires: [fireOf("schedule", T0, { jobId: "ours" })] });
      const theirs = planOf(due, { fires: [fireOf("schedule", T0, { jobId: "theirs" })] });
      const one = await step(first, { by: "a", plans: [ours] });
      const other = await step(second, { by: "b", plans: [theirs] });
      equal([one.plans[0]?.committed, idsOf(one.acquired)], [true, ["ours"]], "the first");
      equal([other.plans, other.acquired], [[REFUSED], []], "the second");
      equal(await first.getJob("theirs"), null, "the second's job");
      equal((await second.getSchedule("schedule"))?.fence, 1, "the fence");
    },
  },
  {
    name: "plans: two planners at once never both count",
    async run(context) {
      const stores = await openTwo(context);
      const all = Array.from({ length: 20 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      const due = await lookedAt(stores[0], ...all);
      const reports = await Promise.all(
        Array.from({ length: 6 }, (_, by) =>
          step(present(stores[by % 2], "a store"), {
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
    async run(context) {
      const changes: [string, (store: DataStore) => Promise<unknown>][] = [
        ["updated", (store) => store.updateSchedule("schedule", { priority: 5 })],
        ["updated by nothing", (store) => store.updateSchedule("schedule", {})],
        ["paused", (store) => store.updateSchedule("schedule", { paused: true })],
        ["moved on", (store) => store.updateSchedule("schedule", { nextFireTime: T0 + 5 })],
        ["replaced", (store) => store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "replace" }])],
        ["removed", (store) => store.removeSchedule("schedule")],
      ];
      for (const [what, change] of changes) {
        const store = await context.open();
        await store.removeSchedule("schedule");
        const due = await planned(store);
        await change(store);
        const before = await store.getSchedule("schedule");
        const report = await step(store, { plans: [planOf(due)] });
        equal([report.plans, report.acquired], [[REFUSED], []], `the answer, ${what}`);
        equal(await store.getSchedule("schedule"), before, `the schedule, ${what}`);
        equal(await store.getJob("job of schedule"), null, `the job, ${what}`);
        await store.removeSchedule("schedule");
      }
    },
  },
  {
    name: "plans: paused and unpaused since, one no longer counts",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      await store.updateSchedule("schedule", { paused: true });
      await store.updateSchedule("schedule", { paused: false });
      equal((await commit(store, [planOf(due)])).plans, [REFUSED], "the answer");
    },
  },
  {
    name: "plans: one whose schedule was removed and added again counts only where the first fence is the same",
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { fence: 7_000_000_001 });
      await store.removeSchedule("schedule");
      await store.addSchedules(add(makeSchedule({ fence: 5 })));
      equal((await commit(store, [planOf(due)])).plans, [REFUSED], "the answer");
      equal(await store.getSchedule("schedule"), makeSchedule({ fence: 5 }), "the schedule");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: one whose schedule has another fire time, or another fence, changes nothing",
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { fence: 3, nextFireTime: T0 - 10 });
      const wrong = [
        planOf(due, { expected: T0 - 9 }),
        planOf(due, { expected: T0 - 11 }),
        planOf(due, { fence: 2 }),
        planOf(due, { fence: 4 }),
      ];
      for (const plan of wrong) equal((await commit(store, [plan])).plans, [REFUSED], "the answer");
      equal(await store.getSchedule("schedule"), makeSchedule({ fence: 3, nextFireTime: T0 - 10 }), "the schedule");
      equal((await commit(store, [planOf(due)])).plans, [COMMITTED], "the right one");
    },
  },
  {
    name: "plans: of a schedule that is paused none counts, whatever it saw",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ paused: true })));
      equal((await commit(store, [planOf(makeSchedule())])).plans, [REFUSED], "the answer");
      equal(await store.getSchedule("schedule"), makeSchedule({ paused: true }), "the schedule");
    },
  },
  {
    name: "plans: none counts before its fire time by the step's clock, and it does once the clock is there",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      equal((await commit(store, [planOf(due)], { now: T0 - 1 })).plans, [REFUSED], "a clock that was set back");
      equal(await store.getSchedule("schedule"), makeSchedule(), "the schedule");
      const report = await step(store, { plans: [planOf(due)] });
      equal([report.plans, idsOf(report.acquired)], [[COMMITTED], ["job of schedule"]], "forward again");
    },
  },
  {
    name: "plans: of an unknown schedule changes nothing",
    async run({ open }) {
      const store = await open();
      equal((await commit(store, [planOf(makeSchedule())])).plans, [REFUSED], "the answer");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: of several of one schedule in a step the first alone can count",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const second = planOf(due, { fires: [fireOf("schedule", T0 + 1, { jobId: "second" })], nextFireTime: T0 + 5000 });
      const follower = planOf({ id: "schedule", fence: 1, nextFireTime: T0 + 1000 }, { fires: [] });
      const report = await commit(store, [planOf(due), second, follower], { now: T0 + 2000 });
      equal(report.plans, [COMMITTED, REFUSED, REFUSED], "the answers");
      equal(idsOf((await store.getJobs({ limit: 10, cursor: null })).items), ["job of schedule"], "the jobs");
      const expected = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("schedule"), expected, "the schedule");
    },
  },
  {
    name: "plans: in one step each counts by itself, and answers in order",
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(
        store,
        makeSchedule({ id: "a" }),
        makeSchedule({ id: "b" }),
        makeSchedule({ id: "c" }),
      );
      await store.updateSchedule("b", {});
      const { plans } = await commit(
        store,
        due.toReversed().map((schedule) => planOf(schedule)),
      );
      const expected = [
        { committed: true, addedJobIds: ["job of c"] },
        REFUSED,
        { committed: true, addedJobIds: ["job of a"] },
      ];
      equal(plans, expected, "the answers");
    },
  },
  {
    name: "plans: a fire time that an unfinished job of the schedule has already is left out",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      await commit(store, [planOf(due, { nextFireTime: T0 })]);
      const [again] = (await look(store, { schedules: {} })).due;
      const fires = [fireOf("schedule", T0, { jobId: "double" }), fireOf("schedule", T0 + 1, { jobId: "next" })];
      const report = await commit(store, [planOf(present(again, "the schedule"), { fires })]);
      equal(report.plans, [{ committed: true, addedJobIds: ["next"] }], "the answer");
      equal(await store.getJob("double"), null, "the second job of the fire time");
      equal(await store.getJob("job of schedule"), jobOf(makeSchedule(), fireOf("schedule", T0)), "the first one");
    },
  },
  {
    name: "plans: the same fire time of two schedules makes two jobs",
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(store, makeSchedule({ id: "a" }), makeSchedule({ id: "b" }));
      const report = await commit(
        store,
        due.map((schedule) => planOf(schedule)),
      );
      equal(
        report.plans.map((plan) => plan.addedJobIds),
        [["job of a"], ["job of b"]],
        "the jobs",
      );
    },
  },
  {
    name: "plans: one may add many jobs, and they run in order of their addition",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const fires = Array.from({ length: 500 }, (_, index) =>
        fireOf("schedule", T0 - 500 + index, { jobId: numbered("z", 500 - index), runAt: T0 }),
      );
      const ids = fires.map(({ jobId }) => jobId);
      const report = await step(store, { plans: [planOf(due, { fires })], limit: 500 });
      equal(report.plans[0]?.addedJobIds, ids, "the jobs that were added");
      equal(idsOf(report.acquired), ids, "the jobs that were acquired");
    },
  },
  {
    name: "plans: two hundred schedules in one step each make their job",
    async run({ open }) {
      const store = await open();
      const all = Array.from({ length: 200 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      await store.addSchedules(add(...all));
      const { due } = await look(store, { schedules: { limit: 200 } });
      const report = await step(store, {
        plans: due.map((schedule) => planOf(schedule)),
        limit: 300,
        schedules: { limit: 300 },
      });
      equal(
        report.plans.every((plan, index) => plan.committed && plan.addedJobIds[0] === `job of ${numbered("s", index)}`),
        true,
        "every plan counts",
      );
      equal([report.acquired.length, report.due.length, report.nextFireAt], [200, 0, T0 + 1000], "what comes of it");
    },
  },
  {
    name: "plans: a delayed fire, as jitter makes it, waits for its runAt",
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const fire = fireOf("schedule", T0, { runAt: T0 + 250, scheduledFireTime: T0 + 250 });
      const report = await step(store, { plans: [planOf(due, { fires: [fire] })] });
      equal(
        [report.plans, report.acquired, report.nextRunAt, report.hasReady],
        [[COMMITTED], [], T0 + 250, false],
        "the step that adds it",
      );
      equal((await step(store, { now: T0 + 249 })).acquired, [], "just before");
      equal(idsOf((await step(store, { now: T0 + 250 })).acquired), ["job of schedule"], "at its time");
    },
  },
  {
    name: "plans: the fence grows with every commit and change, and never falls",
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
        await commit(store, [planOf(present(due, "the schedule"))], { now });
        await note();
        await commit(store, [planOf(present(due, "the schedule"))], { now });
        await note();
      }
      await store.updateSchedule("schedule", { priority: 2 });
      await note();
      await store.addSchedules([{ schedule: makeSchedule({ fence: 1 }), conflictPolicy: "replace" }]);
      await note();
      equal(fences, [10, 10, 11, 11, 12, 12, 13, 14], "the fences");
    },
  },
  {
    name: "plans: a refused one does not hold up the rest of its step",
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const due = await planned(store);
      await store.updateSchedule("schedule", {});
      const report = await step(store, {
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
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const { acquired } = await step(store, { plans: [planOf(due)] });
      await release(store, [finish(present(acquired[0], "the job"))]);
      equal((await commit(store, [planOf(due)])).plans, [REFUSED], "the answer");
      equal((await take(store)).acquired, [], "what a worker gets");
    },
  },
  {
    name: "plans: looking ahead, one that was planned before its time counts at its time",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ nextFireTime: T0 + 60 })));
      const [due] = (await look(store, { schedules: { dueBy: T0 + 60 } })).due;
      const plan = planOf(present(due, "the schedule"));
      const report = await step(store, { now: T0 + 60, plans: [plan] });
      equal([report.plans, idsOf(report.acquired)], [[COMMITTED], ["job of schedule"]], "the answer");
      isTrue(report.leaseEndsAt !== null, "its lease is told");
    },
  },
];
