import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { Environment } from "../environment.ts";

/** Reads the results of the jobs that a job came after, in their order; null for one that is not kept any more.
 *  @throws {StoreUnavailableError} */
export async function parentResults(
  { store, clock }: Environment,
  { after = [] }: JobRecord,
): Promise<readonly (JobResultRecord | null)[]> {
  const results = new Map<string, JobResultRecord>();
  for (let left = [...new Set(after)]; left.length > 0; ) {
    const found = await store.getResultsOfJobs(left, clock.now());
    for (const record of found.results) results.set(record.jobId, record);
    left = left.slice(found.read);
  }
  return after.map((id) => results.get(id) ?? null);
}
