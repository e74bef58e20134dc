import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { commit, LEASE_MS, makeJob, release } from "./makers.ts";

/** How long the debounced jobs of the cases wait after the last addition, in milliseconds. */
export const WAIT_MS = 1000;

/** A queue without jobs: a commit that asks for it admits jobs, and acquires none. */
export const NOBODYS = { executor: "none", taskId: "task" };

/** A job of a burst that is added at `createdAt`. */
export function debounced(
  createdAt: number,
  fields: Partial<JobRecord>,
  { key = "key", waitMs = WAIT_MS, maxWaitMs = null }: Partial<NonNullable<NewJobRecord["debounce"]>> = {},
): NewJobRecord {
  return { ...makeJob({ createdAt, runAt: createdAt + waitMs, ...fields }), debounce: { key, waitMs, maxWaitMs } };
}

/** The job that an addition makes. */
export function plain({ debounce: _debounce, ...job }: NewJobRecord): JobRecord {
  return job;
}

/** Puts an acquired job back, in one of the ways in which that happens. */
export async function putBack(
  store: DataStore,
  { id: jobId, fence }: JobRecord,
  how: "retry" | "giveUp" | "loss" | "stray",
  now: number,
): Promise<void> {
  if (how === "retry") {
    await release(store, [{ jobId, fence, kind: "retry", runAt: now + 5, failedAttempts: 1 }], { now });
  } else if (how === "giveUp") {
    await release(store, [{ jobId, fence, kind: "giveUp" }], { now });
  } else if (how === "loss") {
    await commit(store, { by: "b", now: now + LEASE_MS, recover: true, jobs: null });
  } else {
    const instanceId = "scheduler-a 1#";
    const extension = { schedulerId: "scheduler-a", instanceId, settledCommitId: `${instanceId}~`, jobs: [] };
    await store.extendLeases({ ...extension, now, until: now + LEASE_MS, aliveUntil: null });
  }
}
