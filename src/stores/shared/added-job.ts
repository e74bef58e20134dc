import type { JobRecord, NewJobRecord } from "../../records/job.ts";

/** The job of an addition, without what decides about the addition. */
export function addedJob(addition: NewJobRecord): JobRecord {
  if (addition.debounce === undefined && addition.once === undefined) return addition;
  const { debounce: _debounce, once: _once, ...job } = addition;
  return job;
}

/** When a job runs that a debounced addition changes. @param createdAt of the job */
export function debouncedRunAt({ runAt, debounce }: NewJobRecord, createdAt: number): number {
  const maxWaitMs = debounce?.maxWaitMs ?? null;
  return maxWaitMs === null ? runAt : Math.min(runAt, createdAt + maxWaitMs);
}
