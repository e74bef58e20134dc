import type { ParentResults } from "../../executors/job-executor.ts";
import type { JobRecord } from "../../records/job.ts";
import type { Environment } from "../environment.ts";

/** Reads the results of the jobs that a job came after. @throws {StoreUnavailableError} */
export async function parentResults(env: Environment, { after = [] }: JobRecord): Promise<ParentResults> {
  const { store, clock } = env;
  const found = after.length === 0 ? [] : await store.getResultsOfJobs(after, clock.now());
  const results = new Map(found.map((record) => [record.jobId, record]));
  return { records: after.map((id) => results.get(id) ?? null), serializer: store.serializer };
}
