import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  finish,
  idsOf,
  keptFacts,
  leasedJob,
  makeJob,
  makeTask,
  numbered,
  release,
  T0,
  take,
} from "./makers.ts";

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
        const report = await cancel(store, id, T0 + 1);
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
      const report = await cancel(store, "job", T0);
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
      const report = await cancel(store, "job", T0);
      equal(report, { status: "requested", taskId: "task", acquiredBy: "scheduler-a" }, "the answer");
      equal(await store.getJob("job"), { ...job, cancelRequested: true }, "the job");
      equal((await cancel(store, "job", T0)).status, "requested", "asked again");
      const { releases } = await release(store, [finish(job, { outcome: "cancelled" })]);
      equal(releases, ["released"], "the holder's release");
    },
  },
  {
    name: "cancelling: a store that can be asked names the marked jobs of a scheduler",
    rules: ["G19"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await store.addJobs([makeJob({ id: "other" })]);
      await take(store, { by: "scheduler-b" });
      const marked = async (schedulerId: string): Promise<readonly string[] | undefined> =>
        store.getCancelRequests?.(schedulerId);
      if ((await marked("scheduler-a")) === undefined) return;
      equal(await marked("scheduler-a"), [], "before");
      await cancel(store, "job", T0);
      equal(await marked("scheduler-a"), ["job"], "once somebody has asked");
      equal(await marked("scheduler-b"), [], "of another scheduler");
      await release(store, [finish(job, { outcome: "cancelled" })]);
      equal(await marked("scheduler-a"), [], "once the job has ended");
    },
  },
  {
    name: "cancelling: many jobs in one commit, each as if it were alone",
    rules: ["R19", "G15"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
      const running = await leasedJob(store, { id: "running" });
      await store.addJobs([
        makeJob({ id: "queued", idempotencyKey: "key" }),
        makeJob({ id: "keyed", concurrencyKey: "k" }),
        makeJob({ id: "blocked", concurrencyKey: "k" }),
        makeJob({ id: "child", after: ["queued"] }),
        makeJob({ id: "other child", after: ["queued"] }),
        makeJob({ id: "grandchild", after: ["child"], onParentFailure: "run" }),
        makeJob({ id: "left" }),
      ]);
      const ids = ["queued", "running", "unknown", "child", "keyed", "queued", "blocked"];
      const { jobs, ended } = await store.cancelJobs(ids, T0);
      const statuses = ["cancelled", "requested", "missing", "cancelled", "cancelled", "missing", "cancelled"];
      equal(
        jobs.map(({ status }) => status),
        statuses,
        "the answers",
      );
      equal(
        jobs.flatMap((one) => (one.status === "cancelled" ? one.result.jobId : [])),
        ["queued", "child", "keyed", "blocked"],
        "whose results they have",
      );
      equal(
        ended.map(({ jobId }) => jobId),
        ["other child"],
        "the children that ended with them",
      );
      for (const id of ["queued", "child", "other child", "keyed", "blocked"]) {
        equal((await store.getJobResult(id, T0))?.outcome, "cancelled", `the result of ${id}`);
      }
      equal(await store.getJob("running"), { ...running, cancelRequested: true }, "the running job");
      equal(idsOf((await take(store)).acquired), ["left", "grandchild"].sort(), "what a worker gets");
      equal(await store.cancelJobs([], T0), { jobs: [], ended: [] }, "no jobs");
    },
  },
  {
    name: "cancelling: a thousand jobs",
    rules: ["R19"],
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 1001 }, (_, index) => numbered("job", index));
      await store.addJobs(ids.map((id) => makeJob({ id })));
      const { jobs } = await store.cancelJobs(ids.slice(0, 1000), T0);
      equal(
        jobs.map((one) => (one.status === "cancelled" ? one.result.jobId : one.status)),
        ids.slice(0, 1000),
        "the answers",
      );
      equal(idsOf((await take(store)).acquired), ids.slice(1000), "what a worker gets");
    },
  },
  {
    name: "cancelling: an unknown or finished job is missing, and frees keys and slots",
    rules: ["R11"],
    async run({ open }) {
      const store = await open();
      equal(await cancel(store, "unknown", T0), { status: "missing" }, "an unknown job");
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      await store.addJobs([makeJob({ idempotencyKey: "key", scheduleId: "s", fireTime: T0 })]);
      await cancel(store, "job", T0);
      equal(await cancel(store, "job", T0), { status: "missing" }, "a cancelled job");
      const [again] = await store.addJobs([
        makeJob({ id: "next", idempotencyKey: "key", scheduleId: "s", fireTime: T0 }),
      ]);
      equal(again?.isNew, true, "the key and the fire time are free");
      equal(idsOf((await take(store)).acquired), ["next"], "the slot is free");
    },
  },
];
