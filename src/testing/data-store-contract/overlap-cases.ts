import type { ScheduleRecord } from "../../records/schedule.ts";
import type {
  DataStore,
  LookedSchedule,
  OverlapReport,
  PlannedOverlap,
  PlanReport,
  SchedulePlan,
} from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  cancel,
  commit,
  endedJob,
  extend,
  finish,
  fireOf,
  idsOf,
  jobIds,
  jobOf,
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
import { again, twice } from "./repeat.ts";

type Policy = Exclude<PlannedOverlap["policy"], "latest" | "earliest">;

const NOTHING: OverlapReport = { isSkipped: false, replaced: [], cancelRequested: [] };

/** The plan of the next fire of a schedule, whose job is named after the number of the fire. */
function fireNo(
  number: number,
  schedule: Pick<ScheduleRecord, "id" | "fence" | "nextFireTime" | "overlap">,
  passed: Omit<PlannedOverlap, "policy"> = { passed: 0, lastPassedTime: null },
): SchedulePlan {
  const fireTime = present(schedule.nextFireTime, "a fire time");
  const overlap = { policy: schedule.overlap as Policy, ...passed };
  return planOf(schedule, { fires: [fireOf(schedule.id, fireTime, { jobId: numbered("job", number) })], overlap });
}

function committed(jobIds: readonly string[], overlap: Partial<OverlapReport> = {}): PlanReport[] {
  return [{ committed: true, addedJobIds: jobIds, overlap: { ...NOTHING, ...overlap } }];
}

/** Adds a due schedule and lets it fire once; its job is acquired if the commit may acquire. */
async function firedOnce(store: DataStore, overlap: Policy, limit: number): Promise<LookedSchedule> {
  const [due] = await lookedAt(store, makeSchedule({ overlap }));
  await commit(store, { limit, plans: [fireNo(1, present(due, "the schedule"))] });
  return dueAgain(store);
}

/** The schedule as a planner sees it at its next fire time. */
async function dueAgain(store: DataStore): Promise<LookedSchedule> {
  const { due } = await look(store, { schedules: { dueBy: T0 + 100_000 } });
  return present(due[0], "the schedule is due again");
}

async function skippedCount(store: DataStore): Promise<number | undefined> {
  return (await store.getSchedule("schedule"))?.skippedCount;
}

const LATER = { now: T0 + 1000 };

export const overlapCases: readonly DataStoreCase[] = [
  {
    name: "overlaps: with skip a fire makes its job when no job of the schedule is unfinished",
    rules: ["P12", "P13"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "skip" }));
      const schedule = present(due, "the schedule");
      equal(schedule.overlap, "skip", "the overlap that a look shows");
      const report = await commit(store, { plans: [fireNo(1, schedule)] });
      equal([report.plans, idsOf(report.acquired)], [committed(["job-00001"]), ["job-00001"]], "the answer");
      equal(await skippedCount(store), 0, "the count of skips");
    },
  },
  {
    name: "overlaps: with skip a fire makes no job and counts, while a job of the schedule waits or runs",
    rules: ["P13", "P16"],
    async run({ open }) {
      for (const limit of [0, 1]) {
        const store = await open();
        const id = `schedule-${limit}`;
        const [due] = await lookedAt(store, makeSchedule({ id, overlap: "skip" }));
        await commit(store, { limit, plans: [fireNo(limit, present(due, "the schedule"))] });
        const { due: second } = await look(store, { schedules: { dueBy: T0 + 1000 } });
        const schedule = present(
          second.find((one) => one.id === id),
          "the schedule is due again",
        );
        const report = await commit(store, { ...LATER, jobs: null, plans: [fireNo(10 + limit, schedule)] });
        equal(report.plans, committed([], { isSkipped: true }), "the answer");
        equal((await jobIds(store)).includes(numbered("job", 10 + limit)), false, "whether there is a job");
        const stored = present(await store.getSchedule(id), "the schedule");
        equal(
          [stored.skippedCount, stored.nextFireTime, stored.lastFireTime],
          [1, T0 + 2000, T0 + 1000],
          "the count of skips, and the fire times",
        );
      }
    },
  },
  {
    name: "overlaps: a job that waits for a retry is unfinished",
    rules: ["P12"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "skip" }));
      const { acquired } = await commit(store, { plans: [fireNo(1, present(due, "the schedule"))] });
      const { id: jobId, fence } = present(acquired[0], "the job");
      await release(store, [{ jobId, fence, kind: "retry", runAt: T0 + 60_000, failedAttempts: 1 }]);
      const report = await commit(store, { ...LATER, jobs: null, plans: [fireNo(2, await dueAgain(store))] });
      equal(report.plans, committed([], { isSkipped: true }), "the answer");
    },
  },
  {
    name: "overlaps: a job that ends in the same commit is finished",
    rules: ["P12", "X2"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "skip" }));
      const { acquired } = await commit(store, { plans: [fireNo(1, present(due, "the schedule"))] });
      const schedule = await dueAgain(store);
      const releases = [finish(present(acquired[0], "the job"))];
      const report = await commit(store, { ...LATER, releases, plans: [fireNo(2, schedule)] });
      equal([report.plans, await skippedCount(store)], [committed(["job-00002"]), 0], "the answer, and the count");
    },
  },
  {
    name: "overlaps: jobs by hand, repeated jobs, and jobs of other schedules neither count nor are touched",
    rules: ["P12"],
    async run({ open }) {
      for (const overlap of ["skip", "replaceQueued", "cancelRunning"] as const) {
        const store = await open();
        const other = makeSchedule({ id: "other", nextFireTime: null });
        const former = makeSchedule({ nextFireTime: null });
        const repeated = jobOf(former, fireOf("schedule", T0 - 1000, { jobId: `again, ${overlap}` }));
        await endedJob(store);
        await store.addJobs([
          { ...repeated, retryOf: "first" },
          makeJob({ id: `by hand, ${overlap}`, scheduleId: "schedule" }),
          jobOf(other, fireOf("other", T0, { jobId: `other's, ${overlap}` })),
        ]);
        const [due] = await lookedAt(store, makeSchedule({ overlap }));
        const plans = [fireNo(1, present(due, "the schedule"))];
        const report = await commit(store, { jobs: null, plans });
        equal(report.plans, committed(["job-00001"]), `the answer with ${overlap}`);
        const expected = [`again, ${overlap}`, `by hand, ${overlap}`, "job-00001", `other's, ${overlap}`];
        equal(await jobIds(store), expected, "the jobs");
        await removeSchedule(store, "schedule");
        for (const id of await jobIds(store)) await cancel(store, id, T0);
      }
    },
  },
  {
    name: "overlaps: the fire times that a plan passes over count as skipped",
    rules: ["P16"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "skip" }));
      const passed = { passed: 5000, lastPassedTime: T0 + 900 };
      const first = await commit(store, { jobs: null, plans: [fireNo(1, present(due, "the schedule"), passed)] });
      equal([first.plans, await skippedCount(store)], [committed(["job-00001"]), 5000], "the first answer");
      const second = await commit(store, { ...LATER, jobs: null, plans: [fireNo(2, await dueAgain(store), passed)] });
      equal(
        [second.plans, await skippedCount(store)],
        [committed([], { isSkipped: true }), 10_001],
        "the second answer",
      );
    },
  },
  {
    name: "overlaps: replaceQueued puts the new job in the place of the one that waits, which leaves no result",
    rules: ["P14"],
    async run({ open }) {
      const store = await open();
      const schedule = await firedOnce(store, "replaceQueued", 0);
      const report = await commit(store, { ...LATER, limit: 0, plans: [fireNo(2, schedule)] });
      const replaced = [{ jobId: "job-00001", fireTime: T0 }];
      equal([report.plans, report.ended], [committed(["job-00002"], { replaced }), []], "the answer");
      equal([await jobIds(store), await skippedCount(store)], [["job-00002"], 1], "the jobs, and the count");
      equal(await store.getJobResult("job-00001", T0), null, "the result of the replaced job");
      const { acquired } = await take(store, LATER);
      equal(idsOf(acquired), ["job-00002"], "the jobs that can be acquired");
    },
  },
  {
    name: "overlaps: replaceQueued leaves the job that runs alone, and one more waits",
    rules: ["P14"],
    async run({ open }) {
      const store = await open();
      const schedule = await firedOnce(store, "replaceQueued", 1);
      const second = await commit(store, { ...LATER, limit: 0, plans: [fireNo(2, schedule)] });
      equal(second.plans, committed(["job-00002"]), "the second answer");
      const now = T0 + 2000;
      const third = await commit(store, { now, limit: 0, plans: [fireNo(3, await dueAgain(store))] });
      const replaced = [{ jobId: "job-00002", fireTime: T0 + 1000 }];
      equal(third.plans, committed(["job-00003"], { replaced }), "the third answer");
      equal(await jobIds(store), ["job-00001", "job-00003"], "the jobs");
      equal((await store.getJob("job-00001"))?.cancelRequested, false, "whether the job that runs is to be cancelled");
    },
  },
  {
    name: "overlaps: replaceQueued also replaces a job that waits for a retry or for its time",
    rules: ["P14"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "replaceQueued" }));
      const { acquired } = await commit(store, { plans: [fireNo(1, present(due, "the schedule"))] });
      const { id: jobId, fence } = present(acquired[0], "the job");
      await release(store, [{ jobId, fence, kind: "retry", runAt: T0 + 60_000, failedAttempts: 1 }]);
      const report = await commit(store, { ...LATER, limit: 0, plans: [fireNo(2, await dueAgain(store))] });
      equal(report.plans, committed(["job-00002"], { replaced: [{ jobId, fireTime: T0 }] }), "the answer");
      equal(report.nextRunAt, null, "when the next job is to run");
    },
  },
  {
    name: "overlaps: cancelRunning asks to cancel what runs, once, and replaces what waits",
    rules: ["P15", "P14"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "cancelRunning" }));
      const { acquired } = await commit(store, { plans: [fireNo(1, present(due, "the schedule"))] });
      const second = await commit(store, { ...LATER, limit: 0, plans: [fireNo(2, await dueAgain(store))] });
      equal(second.plans, committed(["job-00002"], { cancelRequested: ["job-00001"] }), "the second answer");
      const third = await commit(store, { now: T0 + 2000, limit: 0, plans: [fireNo(3, await dueAgain(store))] });
      const replaced = [{ jobId: "job-00002", fireTime: T0 + 1000 }];
      equal(third.plans, committed(["job-00003"], { replaced }), "the third answer");
      equal([await jobIds(store), await skippedCount(store)], [["job-00001", "job-00003"], 1], "the jobs, the count");
      const { id: jobId, fence } = present(acquired[0], "the job");
      const { cancelRequested } = await extend(store, [{ jobId, fence }]);
      equal(cancelRequested, ["job-00001"], "the cancellations that the holder hears of");
    },
  },
  {
    name: "overlaps: of very many waiting jobs, one plan replaces the hundred with the earliest fire times",
    rules: ["P14"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "replaceQueued" }));
      const schedule = present(due, "the schedule");
      const stored = present(await store.getSchedule("schedule"), "the schedule");
      const old = Array.from({ length: 150 }, (_, index) =>
        jobOf(stored, fireOf("schedule", T0 - 150 + index, { jobId: numbered("old", index) })),
      );
      await store.addJobs(old.toReversed());
      const report = await commit(store, { limit: 0, plans: [fireNo(1, schedule)] });
      const replaced = old.slice(0, 100).map((job) => ({ jobId: job.id, fireTime: job.fireTime ?? 0 }));
      equal(report.plans, committed(["job-00001"], { replaced }), "the answer");
      equal(await jobIds(store), ["job-00001", ...idsOf(old.slice(100))], "the jobs");
      equal(await skippedCount(store), 100, "the count");
    },
  },
  {
    name: "overlaps: a plan that does not count touches no job and skips nothing",
    rules: ["P2"],
    async run(context) {
      const [first, second] = await openTwo(context);
      for (const overlap of ["skip", "replaceQueued", "cancelRunning"] as const) {
        const schedule = await firedOnce(first, overlap, 0);
        await updateSchedule(second, "schedule", { priority: 3 });
        const passed = { passed: 7, lastPassedTime: T0 + 900 };
        const report = await commit(first, { ...LATER, limit: 0, plans: [fireNo(2, schedule, passed)] });
        equal(report.plans, [{ committed: false, addedJobIds: [] }], "the answer");
        equal([await jobIds(first), await skippedCount(first)], [["job-00001"], 0], "the jobs, and the count");
        await removeSchedule(first, "schedule");
        await cancel(first, "job-00001", T0);
        await first.cleanup({ now: T0 + 1_000_000_000, limit: 10 });
      }
    },
  },
  {
    name: "overlaps: in one commit each plan follows its own policy",
    rules: ["P3", "P13", "P14"],
    async run({ open }) {
      const store = await open();
      const schedules = (["skip", "replaceQueued", "cancelRunning"] as const).map((overlap, index) =>
        makeSchedule({ id: numbered("schedule", index), overlap }),
      );
      const queueing = makeSchedule({ id: numbered("schedule", 3) });
      const due = await lookedAt(store, ...schedules, queueing);
      const plansOf = (shown: readonly LookedSchedule[], from: number): SchedulePlan[] =>
        shown.map((schedule, index) =>
          schedule.overlap === "queue"
            ? planOf(schedule, {
                fires: [fireOf(schedule.id, schedule.nextFireTime, { jobId: numbered("job", from + index) })],
              })
            : fireNo(from + index, schedule),
        );
      await commit(store, { limit: 0, plans: plansOf(due, 0) });
      const { due: later } = await look(store, { schedules: { dueBy: T0 + 1000 } });
      const report = await commit(store, { ...LATER, limit: 0, plans: plansOf(later, 10) });
      const replaced = (number: number) => [{ jobId: numbered("job", number), fireTime: T0 }];
      equal(
        report.plans,
        [
          ...committed([], { isSkipped: true }),
          ...committed(["job-00011"], { replaced: replaced(1) }),
          ...committed(["job-00012"], { replaced: replaced(2) }),
          { committed: true, addedJobIds: ["job-00013"] },
        ],
        "the answers",
      );
      const left = ["job-00000", "job-00003", "job-00011", "job-00012", "job-00013"];
      equal(await jobIds(store), left, "the jobs");
    },
  },
  {
    name: "overlaps: a repetition tells the same, and counts and does nothing again",
    rules: ["X11"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "cancelRunning" }));
      await commit(store, { plans: [fireNo(1, present(due, "the schedule"))] });
      await commit(store, { ...LATER, limit: 0, plans: [fireNo(2, await dueAgain(store))] });
      const passed = { passed: 2, lastPassedTime: T0 + 1900 };
      const plans = [fireNo(3, await dueAgain(store), passed)];
      const [lost, answer] = await twice(store, { now: T0 + 2000, limit: 0, plans });
      const replaced = [{ jobId: "job-00002", fireTime: T0 + 1000 }];
      const expected = committed(["job-00003"], { replaced });
      equal([lost.plans, answer.plans], [expected, expected], "the answers");
      equal([await jobIds(store), await skippedCount(store)], [["job-00001", "job-00003"], 3], "the jobs, the count");
    },
  },
  {
    name: "overlaps: a repetition of a skip tells of the skip, though its job has ended meanwhile",
    rules: ["X11"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "skip" }));
      const { acquired } = await commit(store, { plans: [fireNo(1, present(due, "the schedule"))] });
      const plans = [fireNo(2, await dueAgain(store))];
      const lost = await commit(store, { ...LATER, commitId: "scheduler-a 1#twice", jobs: null, plans });
      await release(store, [finish(present(acquired[0], "the job"))]);
      const answer = await again(store, { ...LATER, jobs: null, plans });
      const expected = committed([], { isSkipped: true });
      equal([lost.plans, answer.plans], [expected, expected], "the answers");
      equal([await jobIds(store), await skippedCount(store)], [[], 1], "the jobs, and the count");
    },
  },
  {
    name: "overlaps: a repetition that comes first decides, and when others moved the schedule on it tells of nothing",
    rules: ["X11"],
    async run({ open }) {
      const store = await open();
      const schedule = await firedOnce(store, "skip", 0);
      const plans = [fireNo(2, schedule)];
      const first = await again(store, { ...LATER, jobs: null, plans });
      equal(first.plans, committed([], { isSkipped: true }), "the answer of the repetition that came first");
      await updateSchedule(store, "schedule", { priority: 1 });
      const second = await again(store, { ...LATER, jobs: null, plans });
      equal(second.plans, [{ committed: false, addedJobIds: [] }], "the answer after a change");
      equal(await skippedCount(store), 1, "the count");
    },
  },
  {
    name: "overlaps: a change of the schedule keeps the count of skips",
    rules: ["P16"],
    async run({ open }) {
      const store = await open();
      const schedule = await firedOnce(store, "skip", 0);
      await commit(store, { ...LATER, jobs: null, plans: [fireNo(2, schedule)] });
      await updateSchedule(store, "schedule", { overlap: "queue" });
      await store.addSchedules([{ schedule: makeSchedule({ overlap: "skip" }), conflictPolicy: "replace" }]);
      const stored = present(await store.getSchedule("schedule"), "the schedule");
      equal([stored.overlap, stored.skippedCount], ["skip", 1], "the policy, and the count");
    },
  },
];
