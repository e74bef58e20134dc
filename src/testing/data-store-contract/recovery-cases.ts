import { FAILURE_KEPT_MS } from "../../records/limits.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  cancel,
  commit,
  extend,
  finish,
  idsOf,
  keptFacts,
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
  T0,
  take,
} from "./makers.ts";

/** When the leases that were taken at {@link T0} have ended. */
const LATE = T0 + LEASE_MS;

const LOST_JOB = { jobId: "job", taskId: "task", scheduleId: null, attempt: 1 };

export const recoveryCases: readonly DataStoreCase[] = [
  {
    name: "recovery: a job whose lease has ended goes back to the queue, and the same commit can acquire it",
    rules: ["L11", "L1"],
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
    name: "recovery: whoever held it and whoever looks, also in a commit that acquires nothing",
    rules: ["L11"],
    async run(context) {
      const [first, second] = await openTwo(context);
      await leasedJob(first);
      const { recovered } = await release(second, [], { by: "b", now: LATE });
      equal(recovered, [LOST_JOB], "what was recovered");
      equal(await first.getJob("job"), makeJob({ recoveries: 1, fence: 1 }), "the job");
    },
  },
  {
    name: "recovery: a job comes before less urgent ones in the very commit that recovers it",
    rules: ["Q12", "L12"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "urgent", priority: 5 });
      await store.addJobs(makeJobs(3));
      const { acquired } = await take(store, { now: LATE, limit: 2 });
      equal(idsOf(acquired), ["urgent", "job-00000"], "the order");
    },
  },
  {
    name: "recovery: a commit that does not ask for it recovers nothing, and acquires nothing while a dead lease waits",
    rules: ["L11", "Q10"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "lost" });
      await store.addJobs([makeJob({ id: "urgent", priority: 9 }), makeJob({ id: "foreign", taskId: "other" })]);
      const queues = [QUEUE, { executor: "inline", taskId: "other" }];
      const blind = await commit(store, { by: "b", now: LATE, queues });
      equal(
        [blind.recovered, blind.ended, blind.acquired, blind.leaseEndsAt],
        [[], [], [], LATE],
        "a commit that does not ask",
      );
      equal((await store.getJob("lost"))?.acquiredBy, "scheduler-a", "the holder");
      const foreign = await commit(store, { by: "b", now: LATE, queues: queues.slice(1) });
      equal(foreign.acquired, [], "another queue");
      const { recovered, acquired } = await commit(store, { by: "b", now: LATE, queues, recover: true });
      equal(
        [recovered.map(({ jobId }) => jobId), idsOf(acquired)],
        [["lost"], ["urgent", "lost", "foreign"]],
        "one that asks",
      );
    },
  },
  {
    name: "recovery: what a commit does without acquiring counts also while a dead lease waits",
    rules: ["X1", "Q10"],
    async run({ open }) {
      const store = await open();
      const done = await leasedJob(store, { id: "done" }, { until: LATE + 5 });
      await leasedJob(store, { id: "lost" });
      const [due] = await lookedAt(store, makeSchedule());
      const report = await commit(store, {
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
    name: "recovery: leases of a run that is said to be alive end when that is said, whatever they say",
    rules: ["L15"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 3 })]);
      await store.addJobs(makeJobs(3));
      await take(store, { by: "b", commitId: "b#1", limit: 1 });
      await take(store, { by: "c", commitId: "c#1", limit: 1 });
      await take(store, { by: "b", commitId: "b#2", limit: 1, until: LATE + 500 });
      await store.addJobs([makeJob({ id: "ready" })]);
      const alive = { instanceId: "b#", until: LATE + 100 };
      const blind = await commit(store, { now: LATE, queues: [], leaseEnds: [alive] });
      equal([blind.recovered, blind.leaseEndsAt], [[], LATE], "without recovery");
      const report = await take(store, { now: LATE, leaseEnds: [{ instanceId: "x#", until: LATE + 100 }, alive] });
      const lost = report.recovered.map(({ jobId }) => jobId);
      equal([lost, report.leaseEndsAt], [["job-00001"], LATE + 100], "the other one's are lost");
      equal(idsOf(report.acquired), ["job-00001"], "there is room for one");
      const ends = await Promise.all(["job-00000", "job-00002"].map((id) => store.getJob(id)));
      equal(
        ends.map((job) => job?.acquiredUntil),
        [LATE + 100, LATE + 500],
        "one that is live stays as it is",
      );
      const late = await take(store, { now: LATE + 100, limit: 0 });
      equal(
        late.recovered.map(({ jobId }) => jobId),
        ["job-00000"],
        "when nothing is said any more",
      );
    },
  },
  {
    name: "recovery: leases of a run that is said to be dead are lost, whatever they say",
    rules: ["L15"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      await take(store, { by: "b", commitId: "b#1", limit: 1, until: LATE + 86_400_000 });
      await take(store, { by: "c", commitId: "c#1", limit: 1 });
      await cancel(store, "job-00000", T0);
      await take(store, { by: "b", commitId: "b#2", limit: 1, until: LATE + 86_400_000 });
      const leaseEnds = [{ instanceId: "b#", until: T0 + 5 }];
      const { recovered, ended, leaseEndsAt } = await take(store, { now: T0 + 5, limit: 0, leaseEnds });
      const lost = [recovered.map(({ jobId }) => jobId), ended.map(({ jobId, outcome }) => [jobId, outcome])];
      equal(lost, [["job-00002"], [["job-00000", "cancelled"]]], "its jobs");
      equal(leaseEndsAt, LATE, "the other one's lease");
    },
  },
  {
    name: "recovery: a job that its living holder does not run is not kept by what is said of the holder",
    rules: ["L16"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, {}, { by: "b", commitId: "b#1" });
      await cancel(store, "job", T0);
      await extend(store, [], { schedulerId: "b", instanceId: "b#", settledCommitId: "b#1", now: T0 + 5 });
      const leaseEnds = [{ instanceId: "b#", until: LATE }];
      const { ended } = await take(store, { now: T0 + 5, leaseEnds });
      equal(
        ended.map(({ jobId, outcome }) => [jobId, outcome]),
        [["job", "cancelled"]],
        "the job",
      );
    },
  },
  {
    name: "recovery: asked for while every lease is live, it changes nothing",
    rules: ["L1", "L11"],
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
    rules: ["L12"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, {
        maxRecoveries: 1,
        scheduleId: "s",
        fireTime: T0,
        scheduledFireTime: T0 + 3,
        failedAttempts: 0,
      });
      const first = await take(store, { now: LATE });
      equal(first.acquired.length, 1, "the first loss is made up for");
      await release(store, [{ jobId: "job", fence: 2, kind: "start" }], { now: LATE });
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
        expiresAt: now + FAILURE_KEPT_MS,
      };
      equal([second.recovered, second.acquired, second.ended], [[], [], [result]], "the second loss");
      equal(await store.getJobResult("job", now), { ...result, ...keptFacts(job, true) }, "the result");
      equal(await store.getJob("job"), null, "the job");
    },
  },
  {
    name: "recovery: a job that was lost before counts only what it had started under",
    rules: ["L13"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3, { maxRecoveries: 1 }));
      const names = ["job-00000", "job-00001", "job-00002"];
      let now = T0;
      await take(store);
      now += LEASE_MS;
      equal((await take(store, { now })).recovered.length, 3, "the first loss, which counts for all");
      await release(store, [{ jobId: "job-00000", fence: 2, kind: "start" }], { now });
      for (const isLast of [false, true]) {
        now += LEASE_MS;
        const { recovered, ended } = await take(store, { now });
        equal(recovered.map(({ jobId }) => jobId).toSorted(), names.slice(1), "those that did not start");
        equal(
          ended.map(({ jobId, outcome }) => [jobId, outcome]),
          isLast ? [] : [["job-00000", "abandoned"]],
          "the one that did",
        );
      }
      const renewed = { jobId: "job-00001", fence: 4 };
      await extend(
        store,
        [
          { ...renewed, hasStarted: true },
          { jobId: "job-00002", fence: 4 },
        ],
        { now, until: now + 1 },
      );
      const startedFence = (await store.getJob("job-00001"))?.startedFence;
      equal(startedFence, 4, "a renewal tells of a start");
      now += LEASE_MS;
      const { recovered, ended } = await take(store, { now });
      equal(
        [recovered.map(({ jobId }) => jobId), ended.map(({ jobId }) => jobId)],
        [["job-00002"], ["job-00001"]],
        "what a renewal told of",
      );
      equal((await store.getJob("job-00002"))?.recoveries, 1, "its recoveries");
    },
  },
  {
    name: "recovery: a clock that is behind does not make a ready job wait again",
    rules: ["K2"],
    async run({ open }) {
      const store = await open();
      const ahead = { runAt: T0 + 300, createdAt: T0 + 300 };
      await store.addJobs(makeJobs(3, ahead));
      const { acquired } = await take(store, { until: T0 + 1 });
      equal(acquired.length, 3, "what a clock that is behind acquires");
      await release(store, [{ jobId: "job-00000", fence: 1, kind: "giveUp" }], { now: T0 });
      await extend(store, [{ jobId: "job-00002", fence: 1 }], { until: T0 + 1 });
      const seen = await look(store, { now: T0 });
      equal([seen.hasReady, seen.nextRunAt], [true, null], "when two were given up");
      equal(idsOf((await take(store, { now: T0 + 1 })).acquired).length, 3, "when the last was lost");
    },
  },
  {
    name: "recovery: with maxRecoveries 0 a job is never run twice",
    rules: ["L12"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { maxRecoveries: 0 });
      const report = await take(store, { now: LATE });
      equal([report.acquired, report.recovered, report.ended[0]?.outcome], [[], [], "abandoned"], "the answer");
    },
  },
  {
    name: "recovery: a result that would expire at once is reported, but not kept",
    rules: ["R12"],
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
    rules: ["L14"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await cancel(store, "job", T0);
      const report = await take(store, { now: LATE });
      equal([report.acquired, report.recovered, report.ended[0]?.outcome], [[], [], "cancelled"], "the answer");
      equal((await store.getJobResult("job", LATE))?.outcome, "cancelled", "the result");
    },
  },
  {
    name: "recovery: a release in the same commit comes first, so the work of a late holder is kept",
    rules: ["X2"],
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
    rules: ["L1", "L11"],
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
];
