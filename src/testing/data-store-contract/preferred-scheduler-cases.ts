import type { DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { commit, commitPlans, extend, look, lookedAt, makeSchedule, planOf, T0, updateSchedule } from "./makers.ts";

/** When the schedules of these cases are due again. */
const NEXT = T0 + 1000;

/** The scheduler that others see as the preferred scheduler of the only schedule. */
async function preferredScheduler(store: DataStore, now: number = NEXT): Promise<string | null | undefined> {
  return (await look(store, { by: "somebody", now, schedules: { dueBy: NEXT + 9000 } })).due[0]?.preferredScheduler;
}

/** Fires the only schedule once. */
async function fire(store: DataStore, by: string, isPreferred = true): Promise<void> {
  const [due] = (await look(store, { by, now: NEXT, schedules: { dueBy: NEXT + 9000 } })).due;
  const schedule = present(due, "the schedule");
  const plan = planOf(schedule, { isPreferred, fires: [] });
  const { plans } = await commitPlans(store, [plan], { by, now: schedule.nextFireTime });
  equal(plans[0]?.committed, true, `the plan of ${by} counts`);
}

export const preferredSchedulerCases: readonly DataStoreCase[] = [
  {
    name: "preferred schedulers: a schedule that nobody has fired yet has none",
    rules: ["P10"],
    async run({ open }) {
      const store = await open();
      await extend(store, [], { aliveUntil: T0 + 90_000 });
      equal((await lookedAt(store, makeSchedule()))[0]?.preferredScheduler, null, "the preferred scheduler");
    },
  },
  {
    name: "preferred schedulers: whoever committed the last plan, while it is alive, to the millisecond",
    rules: ["P10", "L17"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 5 });
      await fire(store, "a");
      equal(await preferredScheduler(store, NEXT + 4), "a", "while it is alive");
      equal(await preferredScheduler(store, NEXT + 5), null, "when it is not any more");
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 9 });
      equal(await preferredScheduler(store, NEXT + 8), "a", "when it has told again");
    },
  },
  {
    name: "preferred schedulers: one that never said that it is alive is nobody",
    rules: ["P10"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "b", aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      equal(await preferredScheduler(store), null, "the preferred scheduler");
    },
  },
  {
    name: "preferred schedulers: the commits of another one that is alive take over",
    rules: ["P10"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      for (const schedulerId of ["a", "b"]) await extend(store, [], { schedulerId, aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      await fire(store, "b");
      equal(await preferredScheduler(store), "b", "the preferred scheduler");
    },
  },
  {
    name: "preferred schedulers: one that cannot run the jobs leaves nobody, also where somebody was",
    rules: ["P10"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      for (const schedulerId of ["a", "b"]) await extend(store, [], { schedulerId, aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      await fire(store, "b", false);
      equal(await preferredScheduler(store), null, "the preferred scheduler");
    },
  },
  {
    name: "preferred schedulers: a change of the schedule leaves nobody",
    rules: ["P10"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      await updateSchedule(store, "schedule", { priority: 7 });
      equal(await preferredScheduler(store), null, "the preferred scheduler");
    },
  },
  {
    name: "preferred schedulers: a scheduler tells that it is alive when it starts, and not with null",
    rules: ["L17"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      const start = { now: T0, schedulerId: "a", instanceId: "a 1#" };
      await store.giveUpLeases({ ...start, aliveUntil: null });
      await fire(store, "a");
      equal(await preferredScheduler(store), null, "with null");
      await store.giveUpLeases({ ...start, aliveUntil: NEXT + 1 });
      equal(await preferredScheduler(store), "a", "with an instant");
      await extend(store, [], { schedulerId: "a", aliveUntil: null });
      await store.giveUpLeases({ ...start, aliveUntil: null });
      equal(await preferredScheduler(store), "a", "null leaves it as it is");
    },
  },
  {
    name: "preferred schedulers: one that stops says so, and is nobody from then on",
    rules: ["L17", "P10"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      await extend(store, [], { now: NEXT, schedulerId: "a", aliveUntil: NEXT });
      equal(await preferredScheduler(store), null, "the preferred scheduler");
    },
  },
  {
    name: "preferred schedulers: a commit's report tells of them too, its own included",
    rules: ["P10", "X3"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 90_000 });
      const plans = [planOf(present(due, "the schedule"))];
      const report = await commit(store, { by: "a", plans, schedules: { dueBy: NEXT } });
      equal(report.due[0]?.preferredScheduler, "a", "in its own report");
      equal(
        (await commit(store, { by: "b", schedules: { dueBy: NEXT } })).due[0]?.preferredScheduler,
        "a",
        "in another's",
      );
    },
  },
  {
    name: "preferred schedulers: a plan of anybody counts, preferred scheduler or not",
    rules: ["P11"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      await fire(store, "b");
      equal((await store.getSchedule("schedule"))?.fence, 2, "the fence");
    },
  },
  {
    name: "preferred schedulers: clean-up forgets the dead alone",
    rules: ["L20"],
    async run({ open }) {
      const store = await open();
      await lookedAt(store, makeSchedule());
      await extend(store, [], { schedulerId: "a", aliveUntil: NEXT + 90_000 });
      await fire(store, "a");
      await store.cleanup({ now: NEXT, limit: 10 });
      equal(await preferredScheduler(store), "a", "while it is alive");
      await store.cleanup({ now: NEXT + 90_000, limit: 10 });
      equal(await preferredScheduler(store, NEXT + 90_000), null, "when it is not any more");
    },
  },
];
