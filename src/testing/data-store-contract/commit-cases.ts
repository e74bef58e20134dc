import type { DataStore } from "../../stores/data-store.ts";
import { ContractViolation, equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  cancel,
  commit,
  finish,
  fireOf,
  idsOf,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  T0,
  take,
} from "./makers.ts";

const LATE = T0 + LEASE_MS;

/** Everything that a store holds. */
async function everything(store: DataStore): Promise<unknown> {
  const page = { limit: 1000, cursor: null };
  return {
    tasks: await store.getTasks(),
    schedules: (await store.getSchedules(page)).items,
    jobs: (await store.getJobs(page)).items,
    results: (await store.getJobResults(page, T0)).items,
  };
}

/** Metadata that throws when it is read. */
function unreadable(): Record<string, never> {
  return Object.defineProperty({}, "deep", {
    enumerable: true,
    get() {
      throw new RangeError("this metadata cannot be read");
    },
  });
}

export const commitCases: readonly DataStoreCase[] = [
  {
    name: "commits: one that does nothing answers with nothing",
    rules: ["X3"],
    async run({ open }) {
      const store = await open();
      const jobs = { nextRunAt: null, nextMissAt: null, leaseEndsAt: null, hasReady: false };
      const nothing = { due: [], nextFireAt: null, ...jobs };
      const expected = { releases: [], recovered: [], ended: [], additions: [], plans: [], acquired: [], ...nothing };
      equal(await commit(store, { recover: true, schedules: {} }), expected, "a full view");
      equal(await commit(store, { jobs: null }), expected, "an empty view");
    },
  },
  {
    name: "commits: all parts of one count together, and the report tells of each",
    rules: ["X1", "X3"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      const done = await leasedJob(store, { id: "done" });
      const failed = await leasedJob(store, { id: "failed" });
      await leasedJob(store, { id: "lost" }, { until: T0 + 5 });
      await store.addJobs([makeJob({ id: "queued", priority: 1 }), makeJob({ id: "left", priority: -1 })]);
      const [due] = await lookedAt(
        store,
        makeSchedule(),
        makeSchedule({ id: "next", nextFireTime: T0 + 10, metadata: { a: 1 } }),
      );
      const report = await commit(store, {
        now: T0 + 10,
        until: LATE,
        limit: 4,
        recover: true,
        releases: [
          finish(done),
          { jobId: "failed", fence: failed.fence, kind: "retry", runAt: T0 + 90, failedAttempts: 1 },
        ],
        additions: [makeJob({ id: "added" })],
        plans: [planOf(present(due, "the schedule"))],
        schedules: {},
      });
      const { acquired, additions, due: dueThen, ...rest } = report;
      equal(
        rest,
        {
          releases: ["released", "released"],
          recovered: [{ jobId: "lost", taskId: "task", scheduleId: null, attempt: 1 }],
          ended: [],
          plans: [{ committed: true, addedJobIds: ["job of schedule"] }],
          nextFireAt: T0 + 1000,
          nextRunAt: T0 + 90,
          nextMissAt: null,
          leaseEndsAt: LATE,
          hasReady: true,
        },
        "the numbers",
      );
      equal(additions, [{ job: makeJob({ id: "added" }), isNew: true }], "the additions");
      equal(idsOf(acquired), ["queued", "lost", "added", "job of schedule"], "the jobs");
      equal(idsOf(dueThen), ["next"], "the schedules");
    },
  },
  {
    name: "commits: a fresh fire takes its place behind what is more urgent in the queue, and ahead of what is less",
    rules: ["Q12", "Q2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "urgent", priority: 9 }), makeJob({ id: "idle", priority: -9 })]);
      const [due] = await lookedAt(store, makeSchedule());
      const first = await commit(store, { limit: 1, plans: [planOf(present(due, "the schedule"))] });
      equal([idsOf(first.acquired), first.hasReady], [["urgent"], true], "the first job");
      equal(idsOf((await commit(store)).acquired), ["job of schedule", "idle"], "the others");
    },
  },
  {
    name: "commits: additions are acquired in the very commit that adds them, in their place",
    rules: ["A1", "Q12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "queued", priority: 1 })]);
      const additions = [
        makeJob({ id: "added", metadata: { a: null } }),
        makeJob({ id: "delayed", runAt: T0 + 9 }),
        makeJob({ id: "urgent", priority: 2 }),
      ];
      const report = await commit(store, { additions });
      equal(
        report.additions,
        additions.map((job) => ({ job, isNew: true })),
        "the answers",
      );
      equal(idsOf(report.acquired), ["urgent", "queued", "added"], "what is acquired");
      equal(report.acquired[2]?.metadata, { a: null }, "its metadata");
      equal(report.nextRunAt, T0 + 9, "the delayed one");
    },
  },
  {
    name: "commits: an addition whose key or fire time an unfinished job has is answered with that job",
    rules: ["A2", "A3"],
    async run({ open }) {
      const store = await open();
      const keyed = makeJob({ id: "keyed", idempotencyKey: "key", runAt: T0 + 9 });
      const fired = makeJob({ id: "fired", scheduleId: "s", fireTime: T0, runAt: T0 + 9 });
      await store.addJobs([keyed, fired]);
      const { additions, acquired } = await commit(store, {
        additions: [
          makeJob({ id: "a", idempotencyKey: "key" }),
          makeJob({ id: "b", scheduleId: "s", fireTime: T0 }),
          makeJob({ id: "c", idempotencyKey: "other" }),
          makeJob({ id: "d", idempotencyKey: "other" }),
        ],
      });
      const added = makeJob({ id: "c", idempotencyKey: "other" });
      equal(
        additions,
        [
          { job: keyed, isNew: false },
          { job: fired, isNew: false },
          { job: added, isNew: true },
          { job: added, isNew: false },
        ],
        "the answers",
      );
      equal(idsOf(acquired), ["c"], "what is acquired");
    },
  },
  {
    name: "commits: releases come first, so a key that a finished job held is free for an addition",
    rules: ["X2"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { idempotencyKey: "key" });
      const { additions, acquired } = await commit(store, {
        releases: [finish(job)],
        additions: [makeJob({ id: "next", idempotencyKey: "key" })],
      });
      equal([additions[0]?.isNew, idsOf(acquired)], [true, ["next"]], "the answer");
    },
  },
  {
    name: "commits: recovery comes before additions, so a key that a lost job held is free",
    rules: ["X2"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { idempotencyKey: "key", maxRecoveries: 0 });
      const { ended, additions, acquired } = await take(store, {
        now: LATE,
        additions: [makeJob({ id: "next", idempotencyKey: "key" })],
      });
      equal(
        [ended.map(({ jobId }) => jobId), additions[0]?.isNew, idsOf(acquired)],
        [["job"], true, ["next"]],
        "the answer",
      );
    },
  },
  {
    name: "commits: a release frees the fire time of its job for a plan of the same commit",
    rules: ["X2", "P6"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { scheduleId: "schedule", fireTime: T0 });
      const [due] = await lookedAt(store, makeSchedule());
      const { plans, acquired } = await commit(store, {
        releases: [finish(job)],
        plans: [planOf(present(due, "the schedule"))],
      });
      equal([plans[0]?.addedJobIds, idsOf(acquired)], [["job of schedule"], ["job of schedule"]], "the answer");
    },
  },
  {
    name: "commits: additions come before plans, so one of a fire time stands for the fire",
    rules: ["X2", "P6"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const { additions, plans, acquired } = await commit(store, {
        additions: [makeJob({ id: "by hand", scheduleId: "schedule", fireTime: T0 })],
        plans: [planOf(present(due, "the schedule"))],
      });
      equal(
        [additions[0]?.isNew, plans, idsOf(acquired)],
        [true, [{ committed: true, addedJobIds: [] }], ["by hand"]],
        "the answer",
      );
    },
  },
  {
    name: "commits: put-backs of jobs that are to be cancelled end them, also in a commit without recovery",
    rules: ["R7"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await take(store);
      for (const id of ["job-00000", "job-00001"]) await cancel(store, id, T0);
      const report = await commit(store, {
        releases: [
          { jobId: "job-00000", fence: 1, kind: "giveUp" },
          { jobId: "job-00001", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 },
        ],
      });
      equal(
        [
          report.releases,
          report.recovered,
          report.acquired,
          report.ended.map(({ jobId, outcome }) => [jobId, outcome]).toSorted(),
        ],
        [
          ["released", "released"],
          [],
          [],
          [
            ["job-00000", "cancelled"],
            ["job-00001", "cancelled"],
          ],
        ],
        "the answer",
      );
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the unfinished jobs");
    },
  },
  {
    name: "commits: two schedulers at once share one queue of fires, additions and put-backs, and none is run twice",
    rules: ["G16", "Q11"],
    async run(context) {
      const stores = await openTwo(context);
      await stores[0].putTasks([makeTask({ maxRunningJobs: 25 })]);
      const all = Array.from({ length: 20 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      const due = await lookedAt(stores[0], ...all);
      const reports = await Promise.all(
        Array.from({ length: 10 }, (_, by) =>
          commit(present(stores[by % 2], "a store"), {
            by: `scheduler-${by}`,
            limit: 5,
            additions: makeJobs(3).map((job) => ({ ...job, id: `${by} ${job.id}` })),
            plans: due.slice(2 * by, 2 * by + 2).map((schedule) => planOf(schedule)),
          }),
        ),
      );
      const ids = reports.flatMap(({ acquired }) => idsOf(acquired));
      equal([ids.length, new Set(ids).size], [25, 25], "the leases, which the limit bounds");
      equal((await stores[1].getJobs({ limit: 100, cursor: null })).items.length, 50, "the jobs");
    },
  },
  {
    name: "commits: one that is refused did nothing at all",
    rules: ["G12", "G1", "X1"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await store.addJobs([makeJob({ id: "queued" })]);
      const [due] = await lookedAt(store, makeSchedule());
      const before = await everything(store);
      const request = {
        commitId: "refused",
        now: LATE - 1,
        releases: [finish(job)],
        plans: [planOf(present(due, "the schedule"))],
        additions: [makeJob({ id: "good" }), makeJob({ id: "bad", metadata: unreadable() })],
      };
      let isRefused = false;
      try {
        await commit(store, request);
      } catch {
        isRefused = true;
      }
      if (!isRefused) throw new ContractViolation("a job whose metadata cannot be read: it was added");
      equal(await everything(store), before, "what there is");
      const report = await commit(store, { ...request, additions: request.additions.slice(0, 1) });
      equal(
        [report.releases, report.additions[0]?.isNew, report.plans[0]?.committed, idsOf(report.acquired)],
        [["released"], true, true, ["queued", "good", "job of schedule"]],
        "the commit without the bad part",
      );
    },
  },
  {
    name: "commits: a call that adds is refused as a whole",
    rules: ["G12", "G1"],
    async run({ open }) {
      const store = await open();
      const metadata = unreadable();
      const calls = [
        () => store.addJobs([makeJob(), makeJob({ id: "bad", metadata })]),
        () => store.putTasks([makeTask(), makeTask({ id: "bad", metadata })]),
        () =>
          store.addSchedules([
            { schedule: makeSchedule(), conflictPolicy: "doNothing" },
            { schedule: makeSchedule({ id: "bad", metadata }), conflictPolicy: "doNothing" },
          ]),
      ];
      for (const call of calls) {
        let isRefused = false;
        try {
          await call();
        } catch {
          isRefused = true;
        }
        equal(isRefused, true, "metadata that cannot be read is refused");
      }
      equal(await everything(store), { tasks: [], schedules: [], jobs: [], results: [] }, "what there is");
    },
  },
  {
    name: "commits: parts that are sent under one id, acquisition last, each count",
    rules: ["X15"],
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(store, makeSchedule({ id: "a" }), makeSchedule({ id: "b" }));
      const [first, second] = due.map((schedule) => planOf(schedule));
      const parts = { commitId: "split" };
      const one = await commit(store, { ...parts, jobs: null, plans: [present(first, "a plan")] });
      const two = await commit(store, { ...parts, jobs: null, plans: [present(second, "a plan")] });
      const last = await commit(store, { ...parts, additions: [makeJob({ id: "added" })] });
      equal(
        [one.plans[0]?.committed, two.plans[0]?.committed, idsOf(last.acquired).toSorted()],
        [true, true, ["added", "job of a", "job of b"]],
        "the answers",
      );
    },
  },
  {
    name: "commits: a plan's fires are bounded by nothing but the plan, and come after their schedule's earlier ones",
    rules: ["P9", "Q2"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const fires = [0, 1, 2].map((index) => fireOf("schedule", T0 + index, { jobId: `fire ${index}`, runAt: T0 }));
      const schedule = present(due, "the schedule");
      const first = await commit(store, { limit: 1, plans: [planOf(schedule, { fires, nextFireTime: T0 + 3 })] });
      const next = { ...schedule, fence: schedule.fence + 1, nextFireTime: T0 + 3 };
      const second = await commit(store, {
        now: T0 + 3,
        plans: [planOf(next, { fires: [fireOf("schedule", T0 + 3, { jobId: "fire 3", runAt: T0 })] })],
      });
      equal(
        [...idsOf(first.acquired), ...idsOf(second.acquired)],
        ["fire 0", "fire 1", "fire 2", "fire 3"],
        "the order in which they are acquired",
      );
    },
  },
];
