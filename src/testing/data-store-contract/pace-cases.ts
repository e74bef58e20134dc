import type { ScheduleChanges } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { add, commitPlans, fireOf, look, makeSchedule, planOf, T0, take, updateSchedule } from "./makers.ts";
import { COMMITTED, planned, REFUSED } from "./planned.ts";

export const paceCases: readonly DataStoreCase[] = [
  {
    name: "pace: a plan that counts replaces it, and the next look shows it",
    rules: ["P8"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const plan = planOf(due, { paceUntil: T0 + 5000, nextFireTime: T0 });
      equal((await commitPlans(store, [plan])).plans, [COMMITTED], "the answer");
      equal((await store.getSchedule("schedule"))?.paceUntil, T0 + 5000, "of the stored schedule");
      const [again] = (await look(store, { schedules: {} })).due;
      equal(again?.paceUntil, T0 + 5000, "of the schedule that is due");
      const next = planOf(present(again, "the schedule"), { fires: [] });
      equal(
        (await commitPlans(store, [next])).plans,
        [{ ...COMMITTED, addedJobIds: [] }],
        "the answer to the next plan",
      );
      equal((await store.getSchedule("schedule"))?.paceUntil, null, "after a plan without one");
    },
  },
  {
    name: "pace: a plan that does not count leaves it",
    rules: ["P2"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store, { paceUntil: T0 + 7 });
      const plan = planOf({ ...due, fence: due.fence + 1 }, { paceUntil: T0 + 5000 });
      equal((await commitPlans(store, [plan])).plans, [REFUSED], "the answer");
      equal((await store.getSchedule("schedule"))?.paceUntil, T0 + 7, "of the stored schedule");
    },
  },
  {
    name: "pace: jobs that it puts off are not acquired before their time",
    rules: ["P4"],
    async run({ open }) {
      const store = await open();
      const due = await planned(store);
      const fires = [0, 1, 2].map((place) =>
        fireOf("schedule", T0 - 20 + place, { jobId: `job${place}`, createdAt: T0, runAt: T0 + place * 100 }),
      );
      await commitPlans(store, [planOf(due, { fires, paceUntil: T0 + 300 })]);
      const { acquired, nextRunAt } = await take(store, { now: T0 + 100 });
      equal([acquired.map(({ id }) => id), nextRunAt], [["job0", "job1"], T0 + 200], "what is acquired, and the next");
    },
  },
  {
    name: "pace: a replacement keeps it if the rule is the same, and not if the rule is new",
    rules: ["S4"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ paceUntil: T0 + 9 })));
      for (const [triggerRule, paceUntil] of [
        [makeSchedule().triggerRule, T0 + 9],
        ['{"type":"cron"}', null],
      ] as const) {
        const schedule = makeSchedule({ triggerRule, priority: 4 });
        await store.addSchedules([{ schedule, conflictPolicy: "replace" }]);
        equal((await store.getSchedule("schedule"))?.paceUntil, paceUntil, `with the rule ${triggerRule}`);
      }
    },
  },
  {
    name: "pace: an update sets it, leaves it, and takes it away; so it does with the bounds of catch-up, as a whole",
    rules: ["S10"],
    async run({ open }) {
      const store = await open();
      const catchUp = { maxAgeMs: 3, maxCount: null, paceMs: 4 };
      await store.addSchedules(add(makeSchedule()));
      const updated = async (changes: ScheduleChanges): Promise<unknown> => {
        const { paceUntil, catchUp } = present(await updateSchedule(store, "schedule", changes), "the schedule");
        return { paceUntil, catchUp };
      };
      equal(await updated({ paceUntil: T0, catchUp }), { paceUntil: T0, catchUp }, "when they are set");
      equal(await updated({ priority: 1 }), { paceUntil: T0, catchUp }, "when they are left");
      const other = { maxAgeMs: null, maxCount: 2, paceMs: null };
      equal(
        await updated({ paceUntil: null, catchUp: other }),
        { paceUntil: null, catchUp: other },
        "when they change",
      );
      equal(await updated({ catchUp: null }), { paceUntil: null, catchUp: null }, "when they are taken away");
    },
  },
];
