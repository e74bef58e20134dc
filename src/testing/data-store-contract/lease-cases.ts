import type { LeaseSurrender, RecoveredJob } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  commit,
  extend,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  planOf,
  release,
  T0,
  take,
} from "./makers.ts";

/** When the leases that were taken at {@link T0} have ended. */
const LATE = T0 + LEASE_MS;

const LOST_JOB = { jobId: "job", taskId: "task", scheduleId: null, attempt: 1 };

/** The request of a scheduler that has just started. */
function surrender(fields: Partial<LeaseSurrender> = {}): LeaseSurrender {
  return { now: T0, schedulerId: "scheduler-a", instanceId: "just started", aliveUntil: null, ...fields };
}

export const leaseCases: readonly DataStoreCase[] = [
  {
    name: "leases: extending moves their end, for those that are still the caller's",
    rules: ["L2"],
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
      const report = await extend(store, named, { instanceId: "another" });
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
    name: "leases: an extension that arrives late shortens none",
    rules: ["L3"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(1));
      await take(store);
      const named = [{ jobId: "job-00000", fence: 1 }];
      await extend(store, named, { until: T0 + 90_000 });
      const late = await extend(store, named, { until: T0 + 80_000 });
      equal(late, { lost: [], cancelRequested: [] }, "the answer");
      equal((await store.getJob("job-00000"))?.acquiredUntil, T0 + 90_000, "the lease");
    },
  },
  {
    name: "leases: one that has ended can be extended until somebody takes the job, and not after",
    rules: ["L2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await take(store);
      const lateExtension = { now: LATE, until: LATE + 1000, instanceId: "another" };
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
    rules: ["L2"],
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
    rules: ["L4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await take(store);
      await cancel(store, "job-00001", T0);
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
    rules: ["L8"],
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
    rules: ["L10", "L12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "a", maxRecoveries: 0 }), makeJob({ id: "b" }), makeJob({ id: "c" })]);
      await take(store);
      await cancel(store, "b", T0);
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
    name: "leases: giving up spares what this very instanceId leased, so that a try that arrives late takes nothing",
    rules: ["L8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      await take(store, { limit: 1, commitId: "dead#1" });
      await take(store, { limit: 1, commitId: "alive#1" });
      const { recovered } = await store.giveUpLeases(surrender({ instanceId: "alive#" }));
      equal(
        recovered.map(({ jobId }) => jobId),
        ["job-00000"],
        "the recovered jobs",
      );
      equal((await store.getJob("job-00001"))?.acquiredBy, "scheduler-a", "the holder of the other");
    },
  },
  {
    name: "leases: what a commit fired and leased before its process died is recovered when its identity comes back",
    rules: ["L8"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      await commit(store, { commitId: "dead#1", plans: [planOf(present(due, "the schedule"))] });
      const { recovered } = await store.giveUpLeases(surrender({ now: T0 + 1 }));
      equal(recovered, [{ jobId: "job of schedule", taskId: "task", scheduleId: "schedule", attempt: 1 }], "the job");
      const { acquired } = await commit(store, { now: T0 + 1 });
      equal(
        acquired.map(({ id, fireTime, recoveries, fence }) => [id, fireTime, recoveries, fence]),
        [["job of schedule", T0, 1, 2]],
        "what it runs",
      );
    },
  },
  {
    name: "leases: giving up spares the other runs of the identity that count as alive, to the millisecond",
    rules: ["L8", "K1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const runs = [
        { instanceId: "dead#", aliveUntil: T0 + 9 },
        { instanceId: "alive#", aliveUntil: T0 + 10 },
      ];
      for (const { instanceId, aliveUntil } of runs) {
        await extend(store, [], { instanceId, aliveUntil });
        await take(store, { limit: 1, commitId: `${instanceId}1` });
      }
      await extend(store, [], { schedulerId: "b", instanceId: "silent#", aliveUntil: T0 + 90_000 });
      await take(store, { limit: 1, commitId: "silent#1" });
      const early = await store.giveUpLeases(surrender({ now: T0 + 8 }));
      equal(jobIdsOf(early.recovered), ["job-00002"], "of a run that never said that it is alive");
      const late = await store.giveUpLeases(surrender({ now: T0 + 9 }));
      equal(jobIdsOf(late.recovered), ["job-00000"], "of a run that does not say so any more");
      equal((await store.getJob("job-00001"))?.acquiredBy, "scheduler-a", "the job of the one that is alive");
      await extend(store, [], { now: T0 + 9, instanceId: "alive#", settledCommitId: null, aliveUntil: T0 + 9 });
      const last = await store.giveUpLeases(surrender({ now: T0 + 9 }));
      equal(jobIdsOf(last.recovered), ["job-00001"], "when that one has said that it stops");
    },
  },
  {
    name: "leases: a commit that carries a heartbeat is of a run that is alive",
    rules: ["L17"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(1));
      const profile = { role: "worker", isResident: false, tasks: ["task"], executors: ["inline"] } as const;
      await take(store, { commitId: "tick#1", heartbeat: { instanceId: "tick#", aliveUntil: T0 + 5, profile } });
      equal((await store.giveUpLeases(surrender({ now: T0 + 4 }))).recovered, [], "while it is");
      equal(jobIdsOf((await store.giveUpLeases(surrender({ now: T0 + 5 }))).recovered), ["job-00000"], "after that");
    },
  },
  {
    name: "leases: a run that is alone gives up what all others of its identity left, whatever they said",
    rules: ["L9"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      await extend(store, [], { instanceId: "other#", aliveUntil: T0 + 90_000 });
      await take(store, { limit: 1, commitId: "other#1" });
      await take(store, { limit: 1, by: "b" });
      const report = await store.giveUpLeases(surrender({ now: T0 + 1, isAlone: true }));
      equal(jobIdsOf(report.recovered), ["job-00000"], "its identity's");
      equal(await store.getSchedulers(T0 + 1), [], "nobody of its identity is alive");
      equal((await store.getJob("job-00001"))?.acquiredBy, "b", "the job of another identity");
    },
  },
  {
    name: "leases: whoever says that it is alive learns of the last heartbeats of all others",
    rules: ["L19"],
    async run({ open }) {
      const store = await open();
      const tick = { role: "both", isResident: false, tasks: [], executors: [] } as const;
      await extend(store, [], { instanceId: "b#", now: T0 + 2, aliveUntil: T0 + 5 });
      await extend(store, [], { instanceId: "c#", aliveUntil: T0 + 6, profile: tick });
      await extend(store, [], { schedulerId: "other", instanceId: "d#", now: T0 - 90, aliveUntil: T0 - 60 });
      await extend(store, [], { schedulerId: "other", instanceId: "e#", aliveUntil: T0 + 60 });
      await extend(store, [], { schedulerId: "other", instanceId: "e#", now: T0 + 1, aliveUntil: T0 + 1 });
      const mine = { instanceId: "a#", aliveUntil: T0 + 9 };
      const heartbeats = [
        { identity: "scheduler-a", instanceId: "c#", isResident: false, at: T0, aliveUntil: T0 + 6 },
        { identity: "scheduler-a", instanceId: "b#", isResident: true, at: T0 + 2, aliveUntil: T0 + 5 },
        // By its own clock, which is behind. The other one has signed off.
        { identity: "other", instanceId: "d#", isResident: true, at: T0 - 90, aliveUntil: T0 - 60 },
      ];
      equal(await extend(store, [], mine), { lost: [], cancelRequested: [], heartbeats }, "one that extends");
      equal(
        await store.giveUpLeases(surrender({ ...mine, now: T0 + 8 })),
        { recovered: [], ended: [], heartbeats },
        "one that starts",
      );
      const silent = await extend(store, [], { ...mine, aliveUntil: null });
      equal(silent, { lost: [], cancelRequested: [] }, "one that says nothing itself");
      await store.cleanup({ now: T0 + 60_000, limit: 10 });
      const kept = await extend(store, [], mine);
      equal(kept.heartbeats, heartbeats.slice(1), "after a clean-up by a clock that is ahead: the resident ones");
    },
  },
  {
    name: "leases: the runs of schedulers that are alive are listed, with what they said last",
    rules: ["L18"],
    async run({ open }) {
      const store = await open();
      equal(await store.getSchedulers(T0), [], "nobody");
      const worker = { role: "worker", isResident: true, tasks: ["a", "b"], executors: ["inline"] } as const;
      const tick = { role: "both", isResident: false, tasks: ["a"], executors: ["inline", "x"] } as const;
      await store.giveUpLeases(surrender({ schedulerId: "z", instanceId: "1", aliveUntil: T0 + 9, profile: worker }));
      await store.giveUpLeases(surrender({ schedulerId: "a", instanceId: "2", aliveUntil: T0 + 5 }));
      await extend(store, [], { schedulerId: "a", instanceId: "2", aliveUntil: T0 + 9, profile: tick });
      await extend(store, [], { schedulerId: "a", instanceId: "1", aliveUntil: T0 + 5 });
      const unknown = { role: "both", isResident: true, tasks: [], executors: [] } as const;
      const first = { identity: "a", instanceId: "1", aliveUntil: T0 + 5, ...unknown };
      const others = [
        { identity: "a", instanceId: "2", aliveUntil: T0 + 9, ...tick },
        { identity: "z", instanceId: "1", aliveUntil: T0 + 9, ...worker },
      ];
      equal(await store.getSchedulers(T0 + 4), [first, ...others], "all");
      equal(await store.getSchedulers(T0 + 5), others, "when one is not alive any more");
      await store.cleanup({ now: T0 + 8, limit: 10 });
      equal(await store.getSchedulers(T0 + 8), others, "after a clean-up");
    },
  },
];

function jobIdsOf(recovered: readonly RecoveredJob[]): string[] {
  return recovered.map(({ jobId }) => jobId);
}
