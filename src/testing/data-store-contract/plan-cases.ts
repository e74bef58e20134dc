import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  commit,
  commitPlans,
  finish,
  fireOf,
  idsOf,
  jobOf,
  look,
  lookedAt,
  makeJob,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  release,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";
import { COMMITTED, planned, REFUSED } from "./planned.ts";

export const planCases: readonly DataStoreCase[] = [
  {
    name: "plans: one that counts adds its jobs, moves the schedule on and raises its fence",
    rules: ["P4", "P7"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { fence: 41 });
      equal((await commitPlans(store, [planOf(due)])).plans, [COMMITTED], "the answer");
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 42 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
      equal(await store.getJob("job of schedule"), jobOf(schedule, fireOf("schedule", T0)), "the job");
    },
  },
  {
    name: "plans: the job of a fire is leased in the same commit",
    rules: ["Q12", "P4"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const report = await commit(store, { by: "me", until: T0 + 500, plans: [planOf(due)], schedules: {} });
      const lease = { acquiredBy: "me", acquiredUntil: T0 + 500, fence: 1 };
      equal(report.acquired, [jobOf(makeSchedule(), fireOf("schedule", T0), lease)], "what is acquired");
      const { due: left, nextFireAt, hasReady, leaseEndsAt } = report;
      equal([left, nextFireAt, hasReady, leaseEndsAt], [[], T0 + 1000, false, T0 + 500], "what the commit sees");
    },
  },
  {
    name: "plans: a job gets everything that its schedule and its fire say",
    rules: ["P4"],
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
      await commitPlans(store, [planOf(present(due, "the schedule"), { fires: [fire] })]);
      equal(await store.getJob("job of schedule"), jobOf(schedule, fire), "the job");
    },
  },
  {
    name: "plans: jobs that make up for fire times come behind what else is due, in whatever way they wait",
    rules: ["P5"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: null }), makeTask({ id: "keyed", maxRunningPerKey: 1 })]);
      const schedules = [
        makeSchedule({ id: "plain", nextFireTime: T0 - 9000 }),
        makeSchedule({ id: "of a key", taskId: "keyed", concurrencyKey: "k", nextFireTime: T0 - 9000 }),
        makeSchedule({ id: "urgent", priority: 3, nextFireTime: T0 - 9000 }),
      ];
      await store.addSchedules(add(...schedules));
      const plans = schedules.map((schedule) => {
        const fires = [9000, 8000].map((before) =>
          fireOf(schedule.id, T0 - before, { jobId: `${schedule.id} ${before}`, createdAt: T0 }),
        );
        return planOf(schedule, { fires, lastFireTime: T0 - 8000, nextFireTime: T0 + 1000, isCatchUp: true });
      });
      await commitPlans(store, plans);
      const [made] = plans[2]?.fires ?? [];
      const asked = jobOf(makeSchedule({ id: "urgent" }), present(made, "a fire"), { priority: 2.5 });
      equal(await store.getJob("urgent 9000"), asked, "a job that makes up for a fire time");
      await store.addJobs([
        makeJob({ id: "3", priority: 3, runAt: T0 }),
        makeJob({ id: "2", priority: 2, runAt: T0 }),
        makeJob({ id: "0", runAt: T0 }),
        makeJob({ id: "-1", priority: -1, runAt: T0 - 99_000 }),
        makeJob({ id: "0 of the key", taskId: "keyed", concurrencyKey: "k", runAt: T0 }),
      ]);
      const queues = ["task", "keyed"].map((taskId) => ({ executor: "inline", taskId }));
      const first = await take(store, { queues, limit: 5 });
      equal(idsOf(first.acquired), ["3", "urgent 9000", "urgent 8000", "2", "0"], "the first ones");
      const second = await take(store, { queues, limit: 5 });
      equal(idsOf(second.acquired), ["0 of the key", "plain 9000", "plain 8000", "-1"], "the others");
      const ofKey = present(second.acquired[0], "the job of the key");
      await release(store, [finish(ofKey)]);
      equal(idsOf((await take(store, { queues })).acquired), ["of a key 9000"], "the key's next one");
    },
  },
  {
    name: 'plans: any payload text reaches the job, null, "null" and what breaks careless stores too',
    rules: ["P4", "G5"],
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
        await commitPlans(store, [planOf(present(due, `schedule ${index}`), { nextFireTime: null })]);
        equal((await store.getJob(`job of ${id}`))?.payload, payload, `the payload of job ${index}`);
      }
    },
  },
  {
    name: "plans: any metadata reaches the job, nulls within it too",
    rules: ["P4", "G5"],
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
        const { acquired } = await commit(store, {
          plans: [planOf(present(due, `schedule ${index}`), { nextFireTime: null })],
        });
        equal(acquired[0]?.metadata, metadata, `the metadata of job ${index} when it is acquired`);
        equal((await store.getJob(`job of ${id}`))?.metadata, metadata, `the metadata of job ${index}`);
      }
    },
  },
  {
    name: "plans: one can exhaust its schedule, or pause it, with jobs and without",
    rules: ["P7"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "exhausted" }), makeSchedule({ id: "paused" })));
      const { due } = await look(store, { schedules: {} });
      const plans = [
        planOf(present(due[0], "a schedule"), { nextFireTime: null }),
        planOf(present(due[1], "a schedule"), { paused: true, fires: [], nextFireTime: T0, lastFireTime: null }),
      ];
      const report = await commitPlans(store, plans, { schedules: {} });
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
    rules: ["P7"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { lastFireTime: T0 - 9 });
      const plan = planOf(due, { fires: [], nextFireTime: T0 - 5000, lastFireTime: T0 - 9 });
      equal((await commitPlans(store, [plan])).plans, [{ committed: true, addedJobIds: [] }], "the answer");
      const expected = makeSchedule({ nextFireTime: T0 - 5000, lastFireTime: T0 - 9, fence: 1 });
      equal(await store.getSchedule("schedule"), expected, "the schedule");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
    },
  },
  {
    name: "plans: in one commit each counts by itself, and answers in order",
    rules: ["P3", "G15"],
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(
        store,
        makeSchedule({ id: "a" }),
        makeSchedule({ id: "b" }),
        makeSchedule({ id: "c" }),
      );
      await updateSchedule(store, "b", {});
      const { plans } = await commitPlans(
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
    name: "plans: the same fire time of two schedules makes two jobs",
    rules: ["P6"],
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(store, makeSchedule({ id: "a" }), makeSchedule({ id: "b" }));
      const report = await commitPlans(
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
    rules: ["P9"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const fires = Array.from({ length: 500 }, (_, index) =>
        fireOf("schedule", T0 - 500 + index, { jobId: numbered("z", 500 - index), runAt: T0 }),
      );
      const ids = fires.map(({ jobId }) => jobId);
      const report = await commit(store, { plans: [planOf(due, { fires })], limit: 500 });
      equal(report.plans[0]?.addedJobIds, ids, "the jobs that were added");
      equal(idsOf(report.acquired), ids, "the jobs that were acquired");
    },
  },
  {
    name: "plans: two hundred schedules in one commit each make their job",
    rules: ["P9"],
    async run({ open }) {
      const store = await open();
      const all = Array.from({ length: 200 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      await store.addSchedules(add(...all));
      const { due } = await look(store, { schedules: { limit: 200 } });
      const report = await commit(store, {
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
    rules: ["P4"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const fire = fireOf("schedule", T0, { runAt: T0 + 250, scheduledFireTime: T0 + 250 });
      const report = await commit(store, { plans: [planOf(due, { fires: [fire] })] });
      equal(
        [report.plans, report.acquired, report.nextRunAt, report.hasReady],
        [[COMMITTED], [], T0 + 250, false],
        "the commit that adds it",
      );
      equal((await commit(store, { now: T0 + 249 })).acquired, [], "just before");
      equal(idsOf((await commit(store, { now: T0 + 250 })).acquired), ["job of schedule"], "at its time");
    },
  },
];
