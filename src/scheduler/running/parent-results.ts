import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { Environment } from "../environment.ts";

/** Reads the results of the jobs that a job came after, in their order; null for one that is not kept any more.
 *  @throws {StoreUnavailableError} */
export async function parentResults(
  { store, clock }: Environment,
  { after = [] }: JobRecord,
): Promise<readonly (JobResultRecord | null)[]> {
  const found = after.length === 0 ? [] : await store.getResultsOfJobs(after, clock.now());
  const results = new Map(found.map((record) => [record.jobId, record]));
  return after.map((id) => results.get(id) ?? null);
}
