import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  extend,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  makeTask,
  release,
  T0,
  take,
} from "./makers.ts";

/** When the leases that were taken at {@link T0} have ended. */
const LATE = T0 + LEASE_MS;

export const orphanCases: readonly DataStoreCase[] = [
  {
    name: "orphans: leases of a commit of this instanceId that run nowhere are given up, and count as no recovery",
    rules: ["L6"],
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
    rules: ["L6"],
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
    name: "orphans: leases of commits under way, of another instanceId, and of others are left alone",
    rules: ["L6"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(4));
      await take(store, { limit: 1, commitId: "now#9" });
      await take(store, { limit: 1, commitId: "before#7" });
      await take(store, { limit: 1, commitId: "now#7", by: "b" });
      await take(store, { limit: 1, commitId: "now#8" });
      await extend(store, [], { instanceId: "now#", settledCommitId: "now#8" });
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
    name: "orphans: before the answer to the first commit nothing is one",
    rules: ["L6"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await extend(store, [], { settledCommitId: null });
      equal(await store.getJob("job"), job, "the job");
    },
  },
  {
    name: "orphans: giving one up makes room for another of its task, and its old fence releases nothing",
    rules: ["L6"],
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
    rules: ["L7"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await cancel(store, "job", T0);
      const report = await extend(store, [], { now: T0 + 1 });
      equal(report, { lost: [], cancelRequested: [] }, "the answer");
      const { leaseEndsAt } = await look(store, { now: T0 + 1 });
      equal(present(leaseEndsAt, "the end of its lease") <= T0 + 1, true, "its lease has ended");
      const { ended, recovered, acquired } = await take(store, { now: T0 + 1 });
      equal(
        [ended.map(({ jobId, outcome }) => [jobId, outcome]), recovered, acquired],
        [[["job", "cancelled"]], [], []],
        "the next commit",
      );
    },
  },
  {
    name: "orphans: one that is to be cancelled ends also when its identity comes back",
    rules: ["L7", "L8"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await cancel(store, "job", T0);
      await extend(store, [], { now: T0 + 1 });
      const start = { now: T0 + 2, schedulerId: "scheduler-a", instanceId: "just started", aliveUntil: null };
      const { ended } = await store.giveUpLeases(start);
      equal(
        ended.map(({ jobId, outcome }) => [jobId, outcome]),
        [["job", "cancelled"]],
        "what ends",
      );
    },
  },
];
