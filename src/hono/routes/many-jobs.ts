import { PAGE_SIZE_MAX } from "../../core/limits.ts";
import { optionError } from "../../core/option-errors.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
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
  const page = { ...withLabels(filter, WHERE), limit: PAGE_SIZE_MAX };
  const found = action === "cancel" ? client.getJobs(page) : client.getJobResults(page);
  const skips = action === "retry" && filter.outcome === undefined ? ["success", "skipped", "cancelled"] : [];
  let count = 0;
  for await (const one of found) {
    signal.throwIfAborted();
    if ("outcome" in one && skips.includes(one.outcome)) continue;
    count++;
    if (count === max) break;
  }
  return count;
}
