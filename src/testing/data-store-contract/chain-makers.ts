import type { JobRecord } from "../../records/job.ts";
import type { CommitReport, DataStore, JobRelease } from "../../stores/data-store.ts";
import { LEASE_MS, makeJob, T0 } from "./makers.ts";

/** A job that waits for others. */
export function childOf(parents: readonly string[], fields: Partial<JobRecord> = {}): JobRecord {
  return makeJob({ id: "child", after: parents, onParentFailure: "cancel", ...fields });
}

/** The jobs that waited until a report, and the jobs that ended because of their parents. */
export function settledBy({ admitted = [], ended }: CommitReport): { admitted: string[]; cancelled: string[] } {
  return { admitted: admitted.map(({ jobId }) => jobId), cancelled: ended.map(({ jobId }) => jobId) };
}

/** When leases of the cases have ended. */
export const LATE: number = T0 + LEASE_MS;

/** Releases of a job that is to be cancelled, and of one that has started. */
export const GIVEN_UP: JobRelease = { jobId: "parent", fence: 1, kind: "giveUp" };
export const STARTED: JobRelease = { jobId: "parent", fence: 1, kind: "giveUp", hasStarted: true };

/** The outcomes of jobs that have a result, by id. */
export async function outcomesOf(
  store: DataStore,
  ids: readonly string[],
  now?: number,
): Promise<Record<string, string>> {
  const { results } = await store.getResultsOfJobs(ids, now ?? T0 + 1);
  return Object.fromEntries(results.map(({ jobId, outcome }) => [jobId, outcome]));
}
