import type { JobRelease } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  commit,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  makeJob,
  makeJobs,
  makeResult,
  release,
  T0,
  take,
} from "./makers.ts";

export const releaseCases: readonly DataStoreCase[] = [
  {
    name: "releases: finish removes the job and keeps its result",
    rules: ["R2", "X3"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const report = await release(store, [finish(job)]);
      const expected = {
        releases: ["released"],
        recovered: [],
        ended: [],
        additions: [],
        plans: [],
        acquired: [],
        due: [],
        nextFireAt: null,
        nextRunAt: null,
        nextMissAt: null,
        leaseEndsAt: null,
        hasReady: false,
      };
      equal(report, expected, "the answer");
      equal(await store.getJob("job"), null, "the job");
      equal(await store.getJobResult("job", T0), makeResult(job), "the result");
    },
  },
  {
    name: "releases: finish keeps no result that expires at once",
    rules: ["R2"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const { releases } = await release(store, [finish(job, { expiresAt: T0 })]);
      equal(releases, ["released"], "the answer");
      equal(await store.getJob("job"), null, "the job");
      equal(await store.getJobResult("job", T0 - 1), null, "the result");
    },
  },
  {
    name: "releases: retry puts the job back with its new runAt and failed attempts, under the same id",
    rules: ["R3"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { metadata: { a: 1 }, payload: '"p"', idempotencyKey: "key" });
      const retry = { jobId: job.id, fence: job.fence, kind: "retry", runAt: T0 + 500, failedAttempts: 2 } as const;
      const report = await take(store, { releases: [retry] });
      equal([report.releases, report.nextRunAt, report.acquired], [["released"], T0 + 500, []], "the answer");
      const expected = { ...job, acquiredBy: null, acquiredUntil: null, runAt: T0 + 500, failedAttempts: 2 };
      equal(await store.getJob("job"), expected, "the job");
      equal((await take(store, { now: T0 + 499 })).acquired, [], "before its time");
      const again = present((await take(store, { now: T0 + 500 })).acquired[0], "the job at its time");
      equal([again.fence, again.failedAttempts], [job.fence + 1, 2], "its next attempt");
    },
  },
  {
    name: "releases: retry at once makes the job acquirable in the same commit",
    rules: ["R3", "Q12"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const { acquired } = await take(store, {
        releases: [{ jobId: job.id, fence: job.fence, kind: "retry", runAt: T0, failedAttempts: 1 }],
      });
      equal(
        acquired.map(({ id, fence }) => [id, fence]),
        [["job", job.fence + 1]],
        "what is acquired",
      );
    },
  },
  {
    name: "releases: giveUp puts the job back as it was",
    rules: ["R4"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { runAt: T0 - 7, priority: 3 });
      await release(store, [{ jobId: job.id, fence: job.fence, kind: "giveUp" }]);
      const expected = makeJob({ runAt: T0 - 7, priority: 3, fence: job.fence });
      equal(await store.getJob("job"), expected, "the job");
      equal((await take(store, { by: "b" })).acquired[0]?.fence, job.fence + 1, "its next fence");
    },
  },
  {
    name: "releases: giveUp of a job that has started counts as a recovery, and of one that has not as nothing",
    rules: ["R5", "L12"],
    async run({ open }) {
      const store = await open();
      const started = await leasedJob(store, { id: "started", startDeadline: T0 + 5 });
      const waiting = await leasedJob(store, { id: "waiting", startDeadline: T0 + 5 });
      const { recovered } = await commit(store, {
        limit: 0,
        releases: [
          { jobId: started.id, fence: started.fence, kind: "giveUp", hasStarted: true },
          { jobId: waiting.id, fence: waiting.fence, kind: "giveUp", hasStarted: false },
        ],
      });
      equal(recovered, [{ jobId: "started", taskId: "task", scheduleId: null, attempt: 1 }], "what is recovered");
      const fields = { startDeadline: T0 + 5, fence: 1 };
      const expected = makeJob({ id: "started", ...fields, recoveries: 1, startedFence: 1 });
      equal(await store.getJob("started"), expected, "the one that has started");
      equal(await store.getJob("waiting"), makeJob({ id: "waiting", ...fields }), "the one that has not");
    },
  },
  {
    name: "releases: giveUp of a job that has started, and may not be recovered any more, ends it as abandoned",
    rules: ["R5", "L12"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { maxRecoveries: 0 });
      const releases: JobRelease[] = [{ jobId: "job", fence: job.fence, kind: "giveUp", hasStarted: true }];
      const { ended, recovered, acquired } = await commit(store, { releases });
      equal([recovered, acquired], [[], []], "what goes on");
      equal(
        ended.map(({ jobId, outcome, attempts }) => [jobId, outcome, attempts]),
        [["job", "abandoned", 1]],
        "what ended",
      );
      equal((await store.getJobResult("job", T0))?.outcome, "abandoned", "the result");
    },
  },
  {
    name: "releases: start keeps the lease, and tells that the job has started under it",
    rules: ["R6"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const start: JobRelease = { jobId: "job", fence: 1, kind: "start" };
      equal((await release(store, [start])).releases, ["released"], "of the holder");
      equal(await store.getJob("job"), { ...job, startedFence: 1 }, "the job");
      equal((await release(store, [{ ...start, fence: 0 }])).releases, ["fenced"], "with another fence");
      equal((await release(store, [start], { by: "b" })).releases, ["fenced"], "of another");
      equal((await release(store, [{ ...start, jobId: "unknown" }])).releases, ["missing"], "of an unknown job");
      equal(await store.getJob("job"), { ...job, startedFence: 1 }, "the job then");
    },
  },
  {
    name: "releases: a job that was put back keeps its place in the order",
    rules: ["R4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const { acquired } = await take(store, { limit: 1 });
      await release(store, [{ jobId: "job-00000", fence: present(acquired[0], "a job").fence, kind: "giveUp" }]);
      equal(idsOf((await take(store)).acquired), ["job-00000", "job-00001", "job-00002"], "the order");
    },
  },
  {
    name: "releases: one with another fence is fenced, and changes nothing",
    rules: ["R1"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      for (const fence of [job.fence - 1, job.fence + 1]) {
        const { releases } = await release(store, [{ ...finish(job), fence }]);
        equal(releases, ["fenced"], `with fence ${fence}`);
      }
      equal(await store.getJob("job"), job, "the job");
      equal(await store.getJobResult("job", T0), null, "the result");
    },
  },
  {
    name: "releases: one of a scheduler that does not hold the job is fenced",
    rules: ["R1"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      for (const kind of ["finish", "giveUp"] as const) {
        const one = kind === "finish" ? finish(job) : ({ jobId: job.id, fence: job.fence, kind } as const);
        equal((await release(store, [one], { by: "thief" })).releases, ["fenced"], kind);
      }
      equal(await store.getJob("job"), job, "the job");
    },
  },
  {
    name: "releases: a late holder is fenced once another one has the job, whatever it releases",
    rules: ["R1"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const late = T0 + LEASE_MS;
      const { acquired } = await take(store, { by: "b", now: late });
      const taken = present(acquired[0], "the recovered job");
      equal((await release(store, [finish(job)], { now: late })).releases, ["fenced"], "finish");
      const retry = { jobId: job.id, fence: job.fence, kind: "retry", runAt: late, failedAttempts: 1 } as const;
      equal((await release(store, [retry], { now: late })).releases, ["fenced"], "retry");
      equal(await store.getJob("job"), taken, "the job");
      equal(await store.getJobResult("job", late), null, "the result");
      equal((await release(store, [finish(taken)], { by: "b", now: late })).releases, ["released"], "the new holder's");
    },
  },
  {
    name: "releases: a job that was given up is nobody's",
    rules: ["R4"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await release(store, [{ jobId: job.id, fence: job.fence, kind: "giveUp" }]);
      equal((await release(store, [finish(job)])).releases, ["fenced"], "a second release");
      equal((await take(store)).acquired.length, 1, "the job is still there");
    },
  },
  {
    name: "releases: an unknown job is missing, and so is one that has finished",
    rules: ["R1"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await release(store, [finish(job)]);
      const { releases } = await release(store, [finish(job), finish(makeJob({ id: "unknown", fence: 1 }))]);
      equal(releases, ["missing", "missing"], "the answers");
    },
  },
  {
    name: "releases: repeating one changes neither the result nor anything else",
    rules: ["X7"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await release(store, [finish(job)]);
      await release(store, [finish(job, { outcome: "error", returnValue: null })]);
      equal(await store.getJobResult("job", T0), makeResult(job), "the first result");
    },
  },
  {
    name: "releases: a job that is released twice in one commit counts once",
    rules: ["R8"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const { releases } = await release(store, [finish(job), finish(job, { outcome: "error" })]);
      equal(releases, ["released", "missing"], "the answers");
      equal((await store.getJobResult("job", T0))?.outcome, "success", "the first one's result");
    },
  },
  {
    name: "releases: each counts by itself, and the answers come in order",
    rules: ["R8", "G15"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(4));
      const { acquired } = await take(store, { limit: 4 });
      const [a, b, c, d] = acquired.map((job) => present(job, "a job"));
      const { releases } = await release(store, [
        finish(present(d, "d")),
        { jobId: present(a, "a").id, fence: 99, kind: "giveUp" },
        finish(makeJob({ id: "unknown" })),
        { jobId: present(b, "b").id, fence: 1, kind: "retry", runAt: T0 + 1, failedAttempts: 1 },
        { jobId: present(c, "c").id, fence: 1, kind: "giveUp" },
        { ...finish(present(a, "a")), fence: 7 },
      ]);
      equal(releases, ["released", "fenced", "missing", "released", "released", "fenced"], "the answers");
      equal(await store.getJob("job-00000"), a, "the job whose releases were fenced");
      equal(await store.getJobResult("job-00000", T0), null, "its result");
      equal((await store.getJobResult("job-00003", T0))?.outcome, "success", "the finished job's result");
      equal((await store.getJob("job-00001"))?.failedAttempts, 1, "the retried job");
    },
  },
  {
    name: "releases: a hundred together with the next hundred acquisitions are one commit",
    rules: ["R8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(250));
      let releases = (await take(store)).acquired.map((job) => finish(job));
      const second = await take(store, { releases });
      equal(
        second.releases.every((status) => status === "released"),
        true,
        "all are released",
      );
      equal(second.acquired.length, 100, "the second hundred");
      releases = second.acquired.map((job) => finish(job));
      const third = await take(store, { releases });
      equal([third.acquired.length, third.hasReady], [50, false], "the rest");
      equal((await store.getJobResults({ limit: 1000, cursor: null }, T0)).items.length, 200, "the results");
    },
  },
  {
    name: "releases: retry or giveUp of a job that is to be cancelled ends it as cancelled",
    rules: ["R7", "R9"],
    async run({ open }) {
      const attemptHistory = [{ number: 1, startedAt: T0, finishedAt: T0, error: { name: "Error", message: "no" } }];
      const store = await open();
      await store.addJobs(makeJobs(2));
      const { acquired } = await take(store);
      for (const { id } of acquired) await cancel(store, id, T0);
      const report = await release(store, [
        { jobId: "job-00000", fence: 1, kind: "giveUp" },
        { jobId: "job-00001", fence: 1, kind: "retry", runAt: T0 + 1000, failedAttempts: 1, attemptHistory },
      ]);
      equal(report.releases, ["released", "released"], "the answers");
      equal(
        report.ended.map(({ jobId, outcome }) => [jobId, outcome]).toSorted(),
        [
          ["job-00000", "cancelled"],
          ["job-00001", "cancelled"],
        ],
        "the jobs that ended",
      );
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the unfinished jobs");
      const result = await store.getJobResult("job-00001", T0);
      equal([result?.outcome, result?.attempts], ["cancelled", 1], "a result");
      equal(result?.attemptHistory?.length, 1, "the attempts of the result");
    },
  },
];
