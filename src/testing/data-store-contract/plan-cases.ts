import type { JobRecord } from "../../records/job.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { DataStore, PlanCommitReport, SchedulePlan } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  finish,
  idsOf,
  LEASE_MS,
  makeJob,
  makeSchedule,
  numbered,
  release,
  T0,
  take,
  takeSchedules,
} from "./makers.ts";

/** A job of a schedule's fire time. */
function fireJob(schedule: ScheduleRecord, fields: Partial<JobRecord> = {}): JobRecord {
  const fireTime = schedule.nextFireTime;
  return makeJob({
    id: `job of ${schedule.id}`,
    scheduleId: schedule.id,
    fireTime,
    scheduledFireTime: fireTime,
    ...fields,
  });
}

function planOf(schedule: ScheduleRecord, fields: Partial<SchedulePlan> = {}): SchedulePlan {
  return {
    scheduleId: schedule.id,
    fence: schedule.fence,
    jobs: [fireJob(schedule)],
    nextFireTime: T0 + 1000,
    lastFireTime: schedule.nextFireTime,
    paused: false,
    ...fields,
  };
}

function commit(store: DataStore, plans: readonly SchedulePlan[], by = "scheduler-a"): Promise<PlanCommitReport> {
  return store.commitPlans({ schedulerId: by, plans });
}

async function leased(store: DataStore, fields: Partial<ScheduleRecord> = {}): Promise<ScheduleRecord> {
  await store.addSchedules(add(makeSchedule(fields)));
  return present((await takeSchedules(store)).schedules[0], "the schedule that was just added is leased");
}

export const planCases: readonly DataStoreCase[] = [
  {
    name: "plans: one that counts adds its jobs, moves the schedule on and ends the lease",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const report = await commit(store, [planOf(schedule)]);
      equal(report, { plans: [{ committed: true, addedJobIds: ["job of schedule"] }] }, "the answer");
      equal(
        await store.getSchedule("schedule"),
        makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 }),
        "the schedule",
      );
      equal(await store.getJob("job of schedule"), fireJob(makeSchedule()), "the job");
      equal(idsOf((await take(store)).acquired), ["job of schedule"], "what a worker gets");
    },
  },
  {
    name: "plans: one may end the schedule, pause it, or add no job",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const report = await commit(store, [planOf(schedule, { jobs: [], nextFireTime: null, paused: true })]);
      equal(report, { plans: [{ committed: true, addedJobIds: [] }] }, "the answer");
      equal(
        await store.getSchedule("schedule"),
        makeSchedule({ nextFireTime: null, lastFireTime: T0, paused: true, fence: 1 }),
        "the schedule",
      );
    },
  },
  {
    name: "plans: one with a stale fence changes nothing",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const updated = await store.updateSchedule("schedule", { priority: 1 });
      equal(await commit(store, [planOf(schedule)]), { plans: [{ committed: false, addedJobIds: [] }] }, "the answer");
      equal(await store.getSchedule("schedule"), updated, "the schedule");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: one of a scheduler that does not hold the lease changes nothing",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const report = await commit(store, [planOf(schedule)], "scheduler-b");
      equal(report, { plans: [{ committed: false, addedJobIds: [] }] }, "the answer");
      equal(await store.getJob("job of schedule"), null, "the job");
      equal((await store.getSchedule("schedule"))?.acquiredBy, "scheduler-a", "the holder");
    },
  },
  {
    name: "plans: one whose lease has ended still counts while nobody took the schedule, and not after",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const taken = await takeSchedules(store, { by: "scheduler-b", now: T0 + LEASE_MS });
      equal(idsOf(taken.schedules), ["schedule"], "another scheduler takes it");
      equal(
        await commit(store, [planOf(schedule)]),
        { plans: [{ committed: false, addedJobIds: [] }] },
        "the late plan",
      );
      const other = await leased(store, { id: "other" });
      const late = await store.commitPlans({ schedulerId: "scheduler-a", plans: [planOf(other)] });
      equal(late.plans[0]?.committed, true, "a late plan that nobody overtook");
    },
  },
  {
    name: "plans: one made under an earlier lease of the same scheduler changes nothing",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const again = await takeSchedules(store, { now: T0 + LEASE_MS });
      equal(again.schedules[0]?.fence, schedule.fence + 1, "the later lease's fence");
      equal(await commit(store, [planOf(schedule)]), { plans: [{ committed: false, addedJobIds: [] }] }, "the answer");
      equal(await store.getSchedule("schedule"), again.schedules[0], "the schedule");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: of a removed schedule changes nothing",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      await store.removeSchedule("schedule");
      equal(await commit(store, [planOf(schedule)]), { plans: [{ committed: false, addedJobIds: [] }] }, "the answer");
      equal(await store.getJob("job of schedule"), null, "the job");
    },
  },
  {
    name: "plans: repeated, as after an unknown write, it does not count again",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      await commit(store, [planOf(schedule)]);
      equal(
        await commit(store, [planOf(schedule)]),
        { plans: [{ committed: false, addedJobIds: [] }] },
        "the repetition",
      );
      equal((await store.getJobs({ limit: 10, cursor: null })).items.length, 1, "the number of jobs");
    },
  },
  {
    name: "plans: a fire time that an unfinished job of the schedule has already is left out",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      await commit(store, [planOf(schedule, { nextFireTime: T0 })]);
      const again = present((await takeSchedules(store)).schedules[0], "leased again");
      const jobs = [fireJob(again, { id: "double" }), fireJob(again, { id: "next", fireTime: T0 + 1 })];
      const report = await commit(store, [planOf(again, { jobs })]);
      equal(report, { plans: [{ committed: true, addedJobIds: ["next"] }] }, "the answer");
      equal(await store.getJob("double"), null, "the second job of the fire time");
    },
  },
  {
    name: "plans: the same fire time of two schedules makes two jobs",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b" })));
      const { schedules } = await takeSchedules(store);
      const report = await commit(
        store,
        schedules.map((schedule) => planOf(schedule)),
      );
      equal(
        report.plans.map((plan) => plan.addedJobIds),
        [["job of a"], ["job of b"]],
        "the jobs",
      );
    },
  },
  {
    name: "plans: in one commit each counts by itself, and answers in order",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b" }), makeSchedule({ id: "c" })));
      const { schedules } = await takeSchedules(store);
      await store.updateSchedule("b", {});
      const report = await commit(
        store,
        schedules.toReversed().map((schedule) => planOf(schedule)),
      );
      equal(
        report.plans,
        [
          { committed: true, addedJobIds: ["job of c"] },
          { committed: false, addedJobIds: [] },
          { committed: true, addedJobIds: ["job of a"] },
        ],
        "the answers",
      );
    },
  },
  {
    name: "plans: one may add many jobs, and they run in order of their addition",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      const jobs = Array.from({ length: 500 }, (_, index) =>
        fireJob(schedule, { id: numbered("z", 500 - index), fireTime: T0 - 500 + index }),
      );
      const report = await commit(store, [planOf(schedule, { jobs })]);
      equal(report.plans[0]?.addedJobIds, idsOf(jobs), "the jobs that were added");
      equal(idsOf((await take(store, { limit: 500 })).acquired), idsOf(jobs), "the jobs that were acquired");
    },
  },
  {
    name: "plans: committing none is fine",
    async run({ open }) {
      const store = await open();
      equal(await commit(store, []), { plans: [] }, "the answer");
    },
  },
  {
    name: "plans: a job that ran is not added again by a repeated commit",
    async run({ open }) {
      const store = await open();
      const schedule = await leased(store);
      await commit(store, [planOf(schedule)]);
      const job = present((await take(store)).acquired[0], "the job");
      await release(store, [finish(job)]);
      await commit(store, [planOf(schedule)]);
      equal(await store.getJob(job.id), null, "the job");
      equal((await take(store)).acquired, [], "what a worker gets");
    },
  },
];
