import { PAGE_SIZE_MAX } from "../../core/limits.ts";
import { optionError } from "../../core/option-errors.ts";
import { failureKeyOf } from "../../records/failure.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import { plain } from "../../scheduler/views/plain.ts";
import type { JobBulkReport } from "../api.ts";
import { withLabels } from "../labels-of.ts";
import type { JobBulk } from "../wire.ts";
import { assertExpected } from "./expected-count.ts";

const WHERE = "POST /jobs/bulk";

/**
 * Retries, cancels or purges many jobs, until the caller leaves.
 * @throws {OptionsError} @throws {Refusal} when another number of jobs fits than was expected
 */
export async function changeManyJobs(
  client: SchedulerClient,
  bulk: JobBulk,
  signal: AbortSignal,
): Promise<JobBulkReport> {
  const { action, ids, filter = {}, all = false, expectedCount } = bulk;
  if (ids !== undefined && (bulk.filter !== undefined || all)) {
    throw optionError(WHERE, "ids", "go without a filter, and without all");
  }
  if (ids !== undefined && action === "purge") {
    throw optionError(WHERE, "ids", "go with retry and cancel; purge takes a filter");
  }
  if (filter.failureKey !== undefined && action !== "retry") {
    throw optionError(WHERE, "filter.failureKey", "goes with retry alone");
  }
  if (expectedCount !== undefined) {
    const count = ids === undefined ? await countOf(client, bulk, expectedCount + 1, signal) : new Set(ids).size;
    assertExpected("jobs", count, expectedCount);
  }
  const selection = ids === undefined ? { ...withLabels(filter, WHERE), all, signal } : { ids, signal };
  switch (action) {
    case "retry": {
      const { retried: count, ...skipped } = await client.retryJobs(selection);
      return { action, count, ...skipped };
    }
    case "purge": {
      const { removed } = await client.removeJobResults(selection);
      return { action, count: removed, skipped: 0, refusals: [] };
    }
    case "cancel": {
      const { cancelled: count, ...skipped } = await client.cancelJobs(selection);
      return { action, count, ...skipped };
    }
    default:
      return action satisfies never;
  }
}

/** How many jobs or results fit, counted to a bound. */
async function countOf(
  client: SchedulerClient,
  { action, filter = {} }: JobBulk,
  max: number,
  signal: AbortSignal,
): Promise<number> {
  const { failureKey, ...others } = filter;
  const page = { ...withLabels(others, WHERE), limit: PAGE_SIZE_MAX };
  const found = action === "cancel" ? client.getJobs(page) : client.getJobResults(page);
  const skips = action === "retry" && filter.outcome === undefined ? ["success", "skipped", "cancelled"] : [];
  let count = 0;
  for await (const one of found) {
    signal.throwIfAborted();
    if ("outcome" in one && skips.includes(one.outcome)) continue;
    if ("outcome" in one && failureKey !== undefined && failureKey !== keyOf(one)) continue;
    count++;
    if (count === max) break;
  }
  return count;
}

/** The key of the group of failures that a result is of. */
function keyOf(result: JobResult): string {
  const { outcome, error } = plain(result);
  return failureKeyOf({ outcome, name: error?.name ?? null, message: error?.message ?? null });
}
