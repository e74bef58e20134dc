import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { finish, idsOf, keptFacts, leasedJob, makeJob, makeTask, release, T0, take } from "./makers.ts";

export const cancellationCases: readonly DataStoreCase[] = [
  {
    name: "cancelling: a delayed or ready job ends as cancelled at once",
    rules: ["R10"],
    async run({ open }) {
      const store = await open();
      const jobs = [makeJob({ id: "ready" }), makeJob({ id: "delayed", runAt: T0 + 1000, failedAttempts: 2 })];
      await store.addJobs(jobs);
      for (const job of jobs) {
        const { id } = job;
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
        equal(await store.getJobResult(id, T0 + 1), { ...result, ...keptFacts(job) }, "the result");
        equal(await store.getJob(id), null, "the job");
      }
      equal((await take(store, { now: T0 + 2000 })).acquired, [], "what a worker gets");
    },
  },
  {
    name: "cancelling: a result that would expire at once is reported, but not kept",
    rules: ["R12"],
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
    rules: ["R11"],
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
    rules: ["R11"],
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
