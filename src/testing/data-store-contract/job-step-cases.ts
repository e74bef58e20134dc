import type { JobRecord } from "../../records/job.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { DataStore, JobStepReport, JobStepSave } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  cancel,
  finish,
  jobIds,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeTask,
  numbered,
  release,
  T0,
  take,
} from "./makers.ts";

const SAVED: JobStepReport = { isSaved: true, cancelRequested: false };
const NOT_SAVED: JobStepReport = { isSaved: false, cancelRequested: false };

function makeStep(fields: Partial<JobStepRecord> = {}): JobStepRecord {
  const nothing = { endedAt: null, wakeAt: null, version: null, value: null, cursor: null };
  return { name: "step", startedAt: T0, attempts: 1, ...nothing, ...fields };
}

/** A save under the lease of `leasedJob`. */
function save(
  store: DataStore,
  job: JobRecord,
  step: Partial<JobStepRecord>,
  fields: Partial<JobStepSave> = {},
): Promise<JobStepReport> {
  const { id: jobId, fence } = job;
  const lease = { now: T0, schedulerId: "scheduler-a", until: T0 + LEASE_MS, number: 1, isFirst: true };
  return store.saveJobStep({ ...lease, jobId, fence, step: makeStep(step), ...fields });
}

function steps(store: DataStore, jobId = "job", now = T0): Promise<JobStepRecord[]> {
  return store.getJobSteps(jobId, now);
}

export const jobStepCases: readonly DataStoreCase[] = [
  {
    name: "steps: each is written as a whole, and is read by its beginning, then its name",
    rules: ["J2", "J7", "G5", "G14"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const text = `"'\\ ?1 \u00fc \u{1F600}`;
      const all = [
        makeStep({ name: "\u{ff5e}", value: "[1]", endedAt: T0 + 1, version: 7 }),
        makeStep({ name: "\u{1F600}", wakeAt: T0 + 9_000_000_000, attempts: 0 }),
        makeStep({ name: text, startedAt: T0 + 1, cursor: text, attempts: 3 }),
      ];
      for (const [number, one] of [...all].reverse().entries()) {
        equal(await save(store, job, one, { number }), SAVED, "the report");
      }
      equal(await steps(store), all, "the steps");
      const changed = { ...present(all[2], "the last"), cursor: "2", attempts: 4, version: 8 };
      equal(await save(store, job, changed, { number: 4 }), SAVED, "the report of a change");
      equal(await steps(store), [...all.slice(0, 2), changed], "the steps after the change");
      equal([await steps(store, "another"), await steps(store, "")], [[], []], "those of unknown jobs");
    },
  },
  {
    name: "steps: a save counts only under the live lease of its scheduler",
    rules: ["J1"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const job = await leasedJob(store);
      equal(await save(store, job, { value: "1" }, { schedulerId: "scheduler-b" }), NOT_SAVED, "of another scheduler");
      equal(await save(store, job, { value: "2" }, { fence: job.fence + 1 }), NOT_SAVED, "under another fence");
      equal(await save(store, job, { value: "3" }, { jobId: "another" }), NOT_SAVED, "of an unknown job");
      const late = T0 + LEASE_MS;
      equal(await save(store, job, { value: "4" }, { now: late }), NOT_SAVED, "after the end of the lease");
      equal([await steps(store), await steps(store, "another")], [[], []], "the steps");
      equal(await save(store, job, { value: "5" }, { now: late - 1 }), SAVED, "in its last millisecond");
      equal(await steps(other), [makeStep({ value: "5" })], "the steps as another store sees them");
    },
  },
  {
    name: "steps: a scheduler whose job was taken over writes nothing, and its successor goes on",
    rules: ["J1", "J4", "J7"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await save(store, job, { cursor: "5" }, { number: 9 });
      const now = T0 + LEASE_MS;
      const [taken] = (await take(store, { now, by: "scheduler-b" })).acquired;
      const next = present(taken, "the job of another scheduler");
      const fields = { now, until: now + LEASE_MS, schedulerId: "scheduler-b" };
      equal(await save(store, next, { cursor: "6" }, { ...fields, number: 1 }), SAVED, "the successor's");
      equal(await save(store, job, { cursor: "7" }, { now, number: 10 }), NOT_SAVED, "that of the former");
      equal(await steps(store), [makeStep({ cursor: "6" })], "the step");
    },
  },
  {
    name: "steps: one that has ended never changes",
    rules: ["J3", "J5"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const ended = { value: "1", endedAt: T0 + 1 };
      await save(store, job, ended);
      const until = T0 + 2 * LEASE_MS;
      equal(await save(store, job, { value: "2", endedAt: T0 + 2 }, { number: 2, until }), SAVED, "the report");
      equal(await steps(store), [makeStep(ended)], "the step");
      equal((await store.getJob("job"))?.acquiredUntil, until, "the end of the lease");
    },
  },
  {
    name: "steps: a save that arrives late or twice changes nothing",
    rules: ["J4", "X4"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await save(store, job, { cursor: "2" }, { number: 2 });
      equal(await save(store, job, { cursor: "1" }, { number: 1 }), SAVED, "the report of a late one");
      equal(await steps(store), [makeStep({ cursor: "2" })], "the step after a late save");
      equal(await save(store, job, { cursor: "2" }, { number: 2 }), SAVED, "the report of a repetition");
      equal(await steps(store), [makeStep({ cursor: "2" })], "the step after a repetition");
    },
  },
  {
    name: "steps: a save extends the lease, never shortens it, and tells that the job has started",
    rules: ["J5", "L13"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      equal(job.startedFence, 0, "the token before");
      await save(store, job, {}, { until: T0 + LEASE_MS + 5 });
      await save(store, job, { name: "b" }, { until: T0 + 5, number: 2 });
      const { acquiredUntil, startedFence } = present(await store.getJob("job"), "the job");
      equal([acquiredUntil, startedFence], [T0 + LEASE_MS + 5, job.fence], "the lease");
      equal((await look(store)).leaseEndsAt, T0 + LEASE_MS + 5, "what a look sees");
    },
  },
  {
    name: "steps: a save says that the job is to be cancelled",
    rules: ["J6"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await cancel(store, job.id, T0);
      equal(await save(store, job, {}), { isSaved: true, cancelRequested: true }, "the report");
      equal((await steps(store)).length, 1, "how many steps there are");
    },
  },
  {
    name: "steps: they stay with the result of their job, and go with it",
    rules: ["J8", "J12", "R14", "R16"],
    async run({ open }) {
      const store = await open();
      for (const id of ["expires", "removed", "fleeting"]) {
        const job = await leasedJob(store, { id });
        await save(store, job, {});
        const end = id === "fleeting" ? { expiresAt: T0 } : { expiresAt: T0 + 10 };
        await release(store, [finish(job, end)]);
      }
      const read = async (now: number): Promise<number[]> => {
        const ids = ["expires", "removed", "fleeting"];
        return (await Promise.all(ids.map((id) => steps(store, id, now)))).map(({ length }) => length);
      };
      equal(await read(T0 + 9), [1, 1, 0], "how many each has");
      await store.removeJobResults({ until: T0 + 100 }, 100);
      equal(await read(T0 + 9), [0, 0, 0], "how many each has without results");
      const job = await leasedJob(store, { id: "expires again" });
      await save(store, job, {});
      await release(store, [finish(job, { expiresAt: T0 + 10 })]);
      equal((await steps(store, job.id, T0 + 10)).length, 0, "those of an expired result");
      await store.cleanup({ now: T0 + 9_000_000, limit: 10 });
      equal((await steps(store, job.id, T0 + 9)).length, 0, "those after a clean-up");
    },
  },
  {
    name: "steps: those of a job that goes on stay over clean-ups",
    rules: ["J12"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await save(store, job, { value: "1" });
      const ended = await leasedJob(store, { id: "ended" });
      await save(store, ended, { value: "2" });
      await release(store, [finish(ended, { expiresAt: T0 + 90_000_000 })]);
      for (const now of [T0 + 9_000_000, T0 + 19_000_000]) await store.cleanup({ now, limit: 10 });
      const found = [await steps(store), await steps(store, "ended", T0 + 89_000_000)];
      equal(found, [[makeStep({ value: "1" })], [makeStep({ value: "2" })]], "the steps");
    },
  },
  {
    name: "steps: a job that was cancelled or lost for good leaves its steps with its result",
    rules: ["J8"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { maxRecoveries: 0 });
      await save(store, job, { value: "1" });
      const now = T0 + LEASE_MS;
      await take(store, { now });
      equal(await jobIds(store), [], "the unfinished jobs");
      equal(await steps(store, "job", now), [makeStep({ value: "1" })], "the steps");
    },
  },
  {
    name: "steps: a job that repeats another one begins with a copy of its steps",
    rules: ["J9"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { id: "first" });
      const all = [makeStep({ name: "a", value: "1", endedAt: T0 }), makeStep({ name: "b", cursor: "5" })];
      for (const [number, one] of all.entries()) await save(store, job, one, { number });
      await release(store, [finish(job, { outcome: "error" })]);
      const again = makeJob({ id: "first~1", retryOf: "first" });
      await store.addJobs([{ ...again, copiesSteps: true }, makeJob({ id: "first~2", retryOf: "first" })]);
      equal([await steps(store, "first~1"), await steps(store, "first~2")], [all, []], "the steps of both");
      equal(await steps(store, "first"), all, "those of the first job");
      equal(present(await store.getJob("first~1"), "the job"), again, "the job");
      const { acquired } = await take(store, { limit: 1 });
      const next = present(acquired[0], "the job that repeats");
      await save(store, next, { name: "b", cursor: "6" });
      await store.addJobs([{ ...again, copiesSteps: true }]);
      const changed = [present(all[0], "the first step"), makeStep({ name: "b", cursor: "6" })];
      equal(await steps(store, "first~1"), changed, "the steps after a repeated addition");
      equal(await steps(store, "first"), all, "those of the first job after that");
    },
  },
  {
    name: "steps: an addition that adds no job copies none",
    rules: ["J9", "A2"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { id: "first" });
      await save(store, job, { value: "1" });
      await release(store, [finish(job)]);
      await store.addJobs([makeJob({ id: "existing", idempotencyKey: "key" })]);
      const again = makeJob({ id: "first~1", retryOf: "first", idempotencyKey: "key" });
      const [addition] = await store.addJobs([{ ...again, copiesSteps: true }]);
      equal(addition?.isNew, false, "whether the job is new");
      equal([await steps(store, "existing"), await steps(store, "first~1")], [[], []], "the steps");
    },
  },
  {
    name: "steps: a job has room for many, and for large ones",
    rules: ["J10"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const large = makeStep({ value: "x".repeat(262_144), cursor: "\u00fc".repeat(262_144), endedAt: T0 });
      await save(store, job, large);
      const saved = (number: number) =>
        save(store, job, { name: numbered("step", number), startedAt: T0 + number, endedAt: T0 }, { number });
      // Many at a time, because a store over a network takes long for each.
      for (let first = 1; first < 1000; first += 100) {
        await Promise.all(Array.from({ length: Math.min(100, 1000 - first) }, (_, index) => saved(first + index)));
      }
      const found = await steps(store);
      equal([found.length, found[0]], [1000, large], "how many there are, and the first of them");
    },
  },
  {
    name: "steps: a job that sleeps is nobody's until its time, and keeps no place",
    rules: ["R20", "R3", "Q7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      const job = await leasedJob(store);
      const runAt = T0 + 5000;
      const sleep = { step: "settle", snoozes: 0 };
      const asleep = { jobId: job.id, fence: job.fence, kind: "retry", runAt, failedAttempts: 0, sleep } as const;
      equal((await release(store, [asleep])).releases, ["released"], "the release");
      const { acquiredBy, fence } = job;
      const waiting = { ...job, runAt, acquiredBy: null, acquiredUntil: null, sleep, startedFence: fence };
      equal(await store.getJob("job"), waiting, "the job");
      await store.addJobs([makeJob({ id: "other" })]);
      equal(
        (await take(store)).acquired.map(({ id }) => id),
        ["other"],
        "what runs while it sleeps",
      );
      await release(store, [finish(present(await store.getJob("other"), "the other"))]);
      equal((await look(store)).nextRunAt, runAt, "when a look finds it");
      const [woken] = (await take(store, { now: runAt })).acquired;
      equal(
        woken,
        { ...waiting, acquiredBy, acquiredUntil: runAt + LEASE_MS, fence: fence + 1 },
        "the job as it wakes",
      );
      const failed = { jobId: job.id, fence: fence + 1, kind: "retry", runAt, failedAttempts: 1 } as const;
      await release(store, [failed], { now: runAt });
      equal((await store.getJob("job"))?.sleep, sleep, "its sleep after a failure");
    },
  },
  {
    name: "steps: a job that sleeps has not missed its start",
    rules: ["R20", "J5", "D1"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { startDeadline: T0 + 10 });
      const sleep = { step: null, snoozes: 3 };
      const asleep = { jobId: job.id, fence: job.fence, kind: "retry", runAt: T0 + 5000, failedAttempts: 0 } as const;
      await release(store, [{ ...asleep, sleep }]);
      equal((await look(store)).nextMissAt, null, "when a start is missed");
      const { ended, acquired } = await take(store, { now: T0 + 5000, endsMissed: true });
      equal([ended.length, acquired[0]?.sleep], [0, sleep], "what ends, and how the job slept");
    },
  },
];
