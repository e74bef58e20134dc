import type { LeaseSurrender } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  extend,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  look,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  planOf,
  QUEUE,
  release,
  step,
  T0,
  take,
} from "./makers.ts";

/** When the leases that were taken at {@link T0} have ended. */
const LATE = T0 + LEASE_MS;

const LOST_JOB = { jobId: "job", taskId: "task", scheduleId: null, attempt: 1 };

/** Of a scheduler that has just started. */
function surrender(fields: Partial<LeaseSurrender> = {}): LeaseSurrender {
  return { now: T0, schedulerId: "scheduler-a", incarnation: "just started", aliveUntil: null, ...fields };
}

export const leaseCases: readonly DataStoreCase[] = [
  {
    name: "recovery: a job whose lease has ended goes back to the queue, and the same step can acquire it",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { payload: '"p"' });
      const early = await take(store, { by: "b", now: LATE - 1 });
      equal([early.recovered, early.acquired, early.leaseEndsAt], [[], [], LATE], "just before");
      const report = await take(store, { by: "b", now: LATE });
      equal([report.recovered, report.ended], [[LOST_JOB], []], "what was recovered");
      const expected = makeJob({
        payload: '"p"',
        recoveries: 1,
        fence: 2,
        acquiredBy: "b",
        acquiredUntil: LATE + LEASE_MS,
      });
      equal(report.acquired, [expected], "what was acquired");
    },
  },
  {
    name: "recovery: whoever held it and whoever looks, also in a step that acquires nothing",
    async run(context) {
      const [first, second] = await openTwo(context);
      await leasedJob(first);
      const { recovered } = await release(second, [], { by: "b", now: LATE });
      equal(recovered, [LOST_JOB], "what was recovered");
      equal(await first.getJob("job"), makeJob({ recoveries: 1, fence: 1 }), "the job");
    },
  },
  {
    name: "recovery: a job comes before less urgent ones in the very step that recovers it",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "urgent", priority: 5 });
      await store.addJobs(makeJobs(3));
      const { acquired } = await take(store, { now: LATE, limit: 2 });
      equal(idsOf(acquired), ["urgent", "job-00000"], "the order");
    },
  },
  {
    name: "recovery: a step that does not ask for it recovers nothing, and acquires nothing while a dead lease waits",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "lost" });
      await store.addJobs([makeJob({ id: "urgent", priority: 9 }), makeJob({ id: "foreign", taskId: "other" })]);
      const queues = [QUEUE, { executor: "inline", taskId: "other" }];
      const blind = await step(store, { by: "b", now: LATE, queues });
      equal(
        [blind.recovered, blind.ended, blind.acquired, blind.leaseEndsAt],
        [[], [], [], LATE],
        "a step that does not ask",
      );
      equal((await store.getJob("lost"))?.acquiredBy, "scheduler-a", "the holder");
      const foreign = await step(store, { by: "b", now: LATE, queues: queues.slice(1) });
      equal(foreign.acquired, [], "another queue");
      const { recovered, acquired } = await step(store, { by: "b", now: LATE, queues, recover: true });
      equal(
        [recovered.map(({ jobId }) => jobId), idsOf(acquired)],
        [["lost"], ["urgent", "lost", "foreign"]],
        "one that asks",
      );
    },
  },
  {
    name: "recovery: what a step does without acquiring counts also while a dead lease waits",
    async run({ open }) {
      const store = await open();
      const done = await leasedJob(store, { id: "done" }, { until: LATE + 5 });
      await leasedJob(store, { id: "lost" });
      const [due] = await lookedAt(store, makeSchedule());
      const report = await step(store, {
        now: LATE,
        releases: [finish(done)],
        additions: [makeJob({ id: "added" })],
        plans: [planOf(present(due, "the schedule"))],
      });
      equal(
        [report.releases, report.additions[0]?.isNew, report.plans[0]?.committed, report.acquired],
        [["released"], true, true, []],
        "the answer",
      );
    },
  },
  {
    name: "recovery: asked for while every lease is live, it changes nothing",
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const report = await take(store, { by: "b", now: LATE - 1 });
      equal([report.recovered, report.ended, report.acquired], [[], [], []], "the answer");
      equal(await store.getJob("job"), job, "the job");
    },
  },
  {
    name: "recovery: lost more often than maxRecoveries, a job ends as abandoned",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, {
        maxRecoveries: 1,
        scheduleId: "s",
        fireTime: T0,
        scheduledFireTime: T0 + 3,
        failedAttempts: 0,
      });
      const first = await take(store, { now: LATE });
      equal(first.acquired.length, 1, "the first loss is made up for");
      const now = LATE + LEASE_MS;
      const second = await take(store, { now });
      const result = {
        jobId: "job",
        taskId: "task",
        scheduleId: "s",
        scheduledFireTime: T0 + 3,
        outcome: "abandoned",
        startedAt: null,
        finishedAt: now,
        attempts: 2,
        returnValue: null,
        error: null,
        expiresAt: now + 86_400_000,
      };
      equal([second.recovered, second.acquired, second.ended], [[], [], [result]], "the second loss");
      equal(await store.getJobResult("job", now), result, "the result");
      equal(await store.getJob("job"), null, "the job");
    },
  },
  {
    name: "recovery: with maxRecoveries 0 a job is never run twice",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { maxRecoveries: 0 });
      const report = await take(store, { now: LATE });
      equal([report.acquired, report.recovered, report.ended[0]?.outcome], [[], [], "abandoned"], "the answer");
    },
  },
  {
    name: "recovery: a result that would expire at once is reported, but not kept",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { maxRecoveries: 0, resultExpirationMs: 0 });
      const { ended } = await take(store, { now: LATE });
      equal(ended[0]?.expiresAt, LATE, "the reported result");
      equal(await store.getJobResult("job", LATE - 1), null, "the kept result");
    },
  },
  {
    name: "recovery: a job that is to be cancelled ends as cancelled",
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await store.cancelJob("job", T0);
      const report = await take(store, { now: LATE });
      equal([report.acquired, report.recovered, report.ended[0]?.outcome], [[], [], "cancelled"], "the answer");
      equal((await store.getJobResult("job", LATE))?.outcome, "cancelled", "the result");
    },
  },
  {
    name: "recovery: a release in the same step comes first, so the work of a late holder is kept",
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const report = await take(store, { now: LATE + 5, releases: [finish(job)] });
      equal([report.releases, report.recovered], [["released"], []], "the answer");
      equal((await store.getJobResult("job", T0))?.outcome, "success", "the result");
    },
  },
  {
    name: "recovery: several leases that ended at different times, and live ones are left alone",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(6));
      await take(store, { by: "a", limit: 2, until: T0 + 10 });
      await take(store, { by: "b", limit: 2, until: T0 + 20 });
      await take(store, { by: "c", limit: 2, until: T0 + 30 });
      const { recovered, leaseEndsAt } = await take(store, { now: T0 + 20, limit: 0 });
      equal(
        recovered.map(({ jobId }) => jobId).toSorted(),
        ["job-00000", "job-00001", "job-00002", "job-00003"],
        "the recovered jobs",
      );
      equal(leaseEndsAt, T0 + 30, "the next lease end");
    },
  },
  {
    name: "leases: extending moves their end, for those that are still the caller's",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const { acquired } = await take(store);
      await release(store, [finish(present(acquired[2], "the third job"))]);
      const named = [
        { jobId: "job-00002", fence: 1 },
        { jobId: "job-00000", fence: 1 },
        { jobId: "job-00001", fence: 2 },
        { jobId: "unknown", fence: 1 },
      ];
      const report = await extend(store, named, { incarnation: "another" });
      equal(report, { lost: ["job-00002", "job-00001", "unknown"], cancelRequested: [] }, "the answer");
      equal((await store.getJob("job-00000"))?.acquiredUntil, T0 + 90_000, "the extended lease");
      equal((await store.getJob("job-00001"))?.acquiredUntil, LATE, "the other lease");
      const { recovered } = await release(store, [], { now: LATE });
      equal(
        recovered.map(({ jobId }) => jobId),
        ["job-00001"],
        "what is lost when the old lease ends",
      );
    },
  },
  {
    name: "leases: one that has ended can be extended until somebody takes the job, and not after",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await take(store);
      const lateExtension = { now: LATE, until: LATE + 1000, incarnation: "another" };
      const first = await extend(store, [{ jobId: "job-00000", fence: 1 }], lateExtension);
      equal(first, { lost: [], cancelRequested: [] }, "nobody took it");
      const { acquired } = await take(store, { by: "b", now: LATE + 6 });
      equal(idsOf(acquired), ["job-00001"], "what another one takes");
      const second = await extend(store, [{ jobId: "job-00001", fence: 1 }], lateExtension);
      equal(second, { lost: ["job-00001"], cancelRequested: [] }, "the taken one");
    },
  },
  {
    name: "leases: of another scheduler cannot be extended, and extending none is fine",
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      const thief = { schedulerId: "thief" };
      equal((await extend(store, [{ jobId: "job", fence: 1 }], thief)).lost, ["job"], "a thief");
      equal(await extend(store, [], thief), { lost: [], cancelRequested: [] }, "none");
    },
  },
  {
    name: "leases: whoever extends learns what is to be cancelled",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await take(store);
      await store.cancelJob("job-00001", T0);
      const named = [
        { jobId: "job-00000", fence: 1 },
        { jobId: "job-00001", fence: 1 },
      ];
      const report = await extend(store, named);
      equal(report, { lost: [], cancelRequested: ["job-00001"] }, "the answer");
      equal((await store.getJob("job-00001"))?.acquiredUntil, T0 + 90_000, "its lease");
    },
  },
  {
    name: "leases: a scheduler that comes back gives up its own of before, and nobody else's",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      await take(store, { by: "a", limit: 2 });
      await take(store, { by: "b", limit: 1 });
      const { recovered, ended } = await store.giveUpLeases(surrender({ now: T0 + 1, schedulerId: "a" }));
      equal(
        [recovered.map(({ jobId }) => jobId).toSorted(), ended],
        [["job-00000", "job-00001"], []],
        "the recovered jobs",
      );
      equal((await store.getJob("job-00002"))?.acquiredBy, "b", "the other one's lease");
      const { acquired } = await take(store, { by: "a" });
      equal(
        acquired.map(({ id, recoveries, fence }) => [id, recoveries, fence]),
        [
          ["job-00000", 1, 2],
          ["job-00001", 1, 2],
        ],
        "what it gets at once",
      );
      equal(await store.giveUpLeases(surrender({ schedulerId: "nobody" })), { recovered: [], ended: [] }, "a stranger");
    },
  },
  {
    name: "leases: giving up goes the way of recovery, so it can abandon and cancel",
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "a", maxRecoveries: 0 }), makeJob({ id: "b" }), makeJob({ id: "c" })]);
      await take(store);
      await store.cancelJob("b", T0);
      const { recovered, ended } = await store.giveUpLeases(surrender({ now: T0 + 1 }));
      equal(recovered, [{ ...LOST_JOB, jobId: "c" }], "the recovered job");
      equal(
        ended.map(({ jobId, outcome, finishedAt }) => [jobId, outcome, finishedAt]).toSorted(),
        [
          ["a", "abandoned", T0 + 1],
          ["b", "cancelled", T0 + 1],
        ],
        "the ended jobs",
      );
      equal((await store.getJobResult("a", T0 + 1))?.outcome, "abandoned", "a result");
    },
  },
  {
    name: "leases: giving up spares what this very incarnation leased, so that a try that arrives late takes nothing",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      await take(store, { limit: 1, stepId: "dead#1" });
      await take(store, { limit: 1, stepId: "alive#1" });
      const { recovered } = await store.giveUpLeases(surrender({ incarnation: "alive#" }));
      equal(
        recovered.map(({ jobId }) => jobId),
        ["job-00000"],
        "the recovered jobs",
      );
      equal((await store.getJob("job-00001"))?.acquiredBy, "scheduler-a", "the holder of the other");
    },
  },
  {
    name: "leases: what a step fired and leased before its process died is recovered when its identity comes back",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      await step(store, { stepId: "dead#1", plans: [planOf(present(due, "the schedule"))] });
      const { recovered } = await store.giveUpLeases(surrender({ now: T0 + 1 }));
      equal(recovered, [{ jobId: "job of schedule", taskId: "task", scheduleId: "schedule", attempt: 1 }], "the job");
      const { acquired } = await step(store, { now: T0 + 1 });
      equal(
        acquired.map(({ id, fireTime, recoveries, fence }) => [id, fireTime, recoveries, fence]),
        [["job of schedule", T0, 1, 2]],
        "what it runs",
      );
    },
  },
  {
    name: "orphans: leases of a step of this incarnation that run nowhere are given up, and count as no recovery",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3, { startDeadline: T0 + 5 }));
      await take(store, { limit: 2 });
      const report = await extend(store, [{ jobId: "job-00000", fence: 1 }], { now: T0 + 1 });
      equal(report, { lost: [], cancelRequested: [] }, "the answer");
      equal(
        await store.getJob("job-00001"),
        makeJob({ id: "job-00001", startDeadline: T0 + 5, fence: 1 }),
        "the job that runs nowhere",
      );
      equal((await store.getJob("job-00000"))?.acquiredUntil, T0 + 90_000, "the one that runs");
      const { acquired } = await take(store, { by: "b" });
      equal(
        acquired.map(({ id, fence }) => [id, fence]),
        [
          ["job-00001", 2],
          ["job-00002", 1],
        ],
        "what another one gets at once",
      );
    },
  },
  {
    name: "orphans: one that is named with an earlier fence runs nowhere either",
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await take(store, { now: LATE });
      const report = await extend(store, [{ jobId: "job", fence: 1 }], { now: LATE });
      equal(report, { lost: ["job"], cancelRequested: [] }, "the answer");
      equal(await store.getJob("job"), makeJob({ recoveries: 1, fence: 2 }), "the job");
    },
  },
  {
    name: "orphans: leases of the pending step, of another incarnation, and of others are left alone",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(4));
      await take(store, { limit: 1, stepId: "now#9" });
      await take(store, { limit: 1, stepId: "before#7" });
      await take(store, { limit: 1, stepId: "now#7", by: "b" });
      await take(store, { limit: 1, stepId: "now#8" });
      await extend(store, [], { incarnation: "now#", settledStepId: "now#8" });
      const jobs = await store.getJobs({ limit: 10, cursor: null });
      equal(
        jobs.items.map(({ id, acquiredBy }) => [id, acquiredBy]),
        [
          ["job-00000", "scheduler-a"],
          ["job-00001", "scheduler-a"],
          ["job-00002", "b"],
          ["job-00003", null],
        ],
        "the holders",
      );
    },
  },
  {
    name: "orphans: giving one up makes room for another of its task, and its old fence releases nothing",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      const job = await leasedJob(store);
      await extend(store, []);
      equal((await release(store, [finish(job)])).releases, ["fenced"], "a release of the old lease");
      await store.addJobs([makeJob({ id: "urgent", priority: 1 })]);
      equal(idsOf((await take(store)).acquired), ["urgent"], "what takes its slot");
    },
  },
  {
    name: "orphans: one that is to be cancelled ends at the next recovery",
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await store.cancelJob("job", T0);
      const report = await extend(store, [], { now: T0 + 1 });
      equal(report, { lost: [], cancelRequested: [] }, "the answer");
      const { leaseEndsAt } = await look(store, { now: T0 + 1 });
      equal(present(leaseEndsAt, "the end of its lease") <= T0 + 1, true, "its lease has ended");
      const { ended, recovered, acquired } = await take(store, { now: T0 + 1 });
      equal(
        [ended.map(({ jobId, outcome }) => [jobId, outcome]), recovered, acquired],
        [[["job", "cancelled"]], [], []],
        "the next step",
      );
    },
  },
  {
    name: "cancelling: a delayed or ready job ends as cancelled at once",
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "ready" }), makeJob({ id: "delayed", runAt: T0 + 1000, failedAttempts: 2 })]);
      for (const id of ["ready", "delayed"]) {
        const report = await store.cancelJob(id, T0 + 1);
        const result = {
          jobId: id,
          taskId: "task",
          scheduleId: null,
          scheduledFireTime: null,
          outcome: "cancelled",
          startedAt: null,
          finishedAt: T0 + 1,
          attempts: id === "ready" ? 0 : 2,
          returnValue: null,
          error: null,
          expiresAt: T0 + 1 + 86_400_000,
        };
        equal(report, { status: "cancelled", result }, "the answer");
        equal(await store.getJobResult(id, T0 + 1), result, "the result");
        equal(await store.getJob(id), null, "the job");
      }
      equal((await take(store, { now: T0 + 2000 })).acquired, [], "what a worker gets");
    },
  },
  {
    name: "cancelling: a result that would expire at once is reported, but not kept",
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ resultExpirationMs: 0 })]);
      const report = await store.cancelJob("job", T0);
      equal(report.status, "cancelled", "the answer");
      equal(await store.getJobResult("job", T0 - 1), null, "the result");
    },
  },
  {
    name: "cancelling: a leased job stays with its holder, marked",
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const report = await store.cancelJob("job", T0);
      equal(report, { status: "requested", taskId: "task", acquiredBy: "scheduler-a" }, "the answer");
      equal(await store.getJob("job"), { ...job, cancelRequested: true }, "the job");
      equal((await store.cancelJob("job", T0)).status, "requested", "asked again");
      const { releases } = await release(store, [finish(job, { outcome: "cancelled" })]);
      equal(releases, ["released"], "the holder's release");
    },
  },
  {
    name: "cancelling: an unknown or finished job is missing, and frees keys and slots",
    async run({ open }) {
      const store = await open();
      equal(await store.cancelJob("unknown", T0), { status: "missing" }, "an unknown job");
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      await store.addJobs([makeJob({ idempotencyKey: "key", scheduleId: "s", fireTime: T0 })]);
      await store.cancelJob("job", T0);
      equal(await store.cancelJob("job", T0), { status: "missing" }, "a cancelled job");
      const [again] = await store.addJobs([
        makeJob({ id: "next", idempotencyKey: "key", scheduleId: "s", fireTime: T0 }),
      ]);
      equal(again?.isNew, true, "the key and the fire time are free");
      equal(idsOf((await take(store)).acquired), ["next"], "the slot is free");
    },
  },
];
