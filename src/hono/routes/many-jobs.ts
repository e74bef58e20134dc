import { mustBeOneOf, optionError } from "../../core/option-errors.ts";
import { FAILURES, failureKeyOf } from "../../records/failure.ts";
import type { JobOutcome } from "../../records/policies.ts";
import { BULK_ADD_MAX, PAGE_SIZE_MAX } from "../../scheduler/options/limits.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import { plain } from "../../scheduler/views/plain.ts";
import type { JobBulkReport } from "../api.ts";
import { withLabels } from "../labels-of.ts";
import type { JobBulkBody, JobBulkFilter, RunQuery } from "../wire.ts";
import { assertExpected } from "./expected-count.ts";

const WHERE = "POST /jobs/bulk";

/**
 * Retries, cancels or purges many jobs, until the caller leaves.
 * @throws {OptionsError} @throws {Refusal} when another number of jobs fits than was expected
 */
export async function changeManyJobs(
  client: SchedulerClient,
  bulk: JobBulkBody,
  signal: AbortSignal,
): Promise<JobBulkReport> {
  const { action, filter = {}, all = false, expectedCount } = bulk;
  let { ids } = bulk;
  if (ids !== undefined && (bulk.filter !== undefined || all)) {
    throw optionError(WHERE, "ids", "go without a filter, and without all");
  }
  if (filter.failureKey !== undefined && action !== "retry") {
    throw optionError(WHERE, "filter.failureKey", "goes with retry alone");
  }
  if (action === "purge") return purge(client, bulk, signal);
  if (bulk.dryRun !== undefined) throw optionError(WHERE, "dryRun", "goes with purge alone");
  let own: OwnFilter = {};
  if (isOwn(action, filter)) own = filter;
  else ids = await runIdsOf(client, action, filter, signal);
  if (expectedCount !== undefined) {
    const max = expectedCount + 1;
    const count = ids === undefined ? await countOf(client, action, own, max, signal) : new Set(ids).size;
    assertExpected("jobs", count, expectedCount);
  }
  const selection = ids === undefined ? { ...withLabels(own, WHERE), all, signal } : { ids, signal };
  switch (action) {
    case "retry": {
      const { retried: count, ...skipped } = await client.retryJobs(selection);
      return { action, count, ...skipped };
    }
    case "cancel": {
      const { cancelled: count, ...skipped } = await client.cancelJobs(selection);
      return { action, count, ...skipped };
    }
    default:
      return action satisfies never;
  }
}

async function purge(
  client: SchedulerClient,
  { ids, filter = {}, all = false, dryRun = false, expectedCount }: JobBulkBody,
  signal: AbortSignal,
): Promise<JobBulkReport> {
  const { failureKey: _, backfillId, state, ...ended } = filter;
  if (backfillId !== undefined) throw optionError(WHERE, "filter.backfillId", "goes with cancel alone");
  const wrong = [state ?? []].flat().find((one) => one !== "ended");
  if (wrong !== undefined) {
    throw optionError(WHERE, "filter.state", `${mustBeOneOf(["ended"], wrong)}, because the action is purge`);
  }
  const isOfState = state !== undefined && Object.keys(ended).length === 0;
  const selection =
    ids === undefined ? { ...withLabels(ended, WHERE), all: all || isOfState, signal } : { ids, signal };
  if (expectedCount !== undefined) {
    const { removed } = await client.removeJobResults({ ...selection, dryRun: true });
    assertExpected("jobs", removed, expectedCount);
  }
  const { removed: count } = await client.removeJobResults({ ...selection, dryRun });
  return { action: "purge", count, skipped: 0, refusals: [] };
}

/** What is done to many jobs by ids, or by a filter of its own. */
type Action = Exclude<JobBulkBody["action"], "purge">;

/** A filter that the verb of an action takes itself. */
type OwnFilter = Omit<JobBulkFilter, keyof RunQuery> &
  Pick<JobBulkFilter, "taskId" | "scheduleId" | "label" | "from" | "until"> & { readonly outcome?: JobOutcome };

const OF_RESULTS = ["taskId", "scheduleId", "label", "outcome", "from", "until"];
const OWN: Readonly<Record<Action, readonly string[]>> = {
  retry: [...OF_RESULTS, "failureKey"],
  cancel: ["taskId", "scheduleId", "label", "backfillId"],
};

function isOwn(action: Action, filter: JobBulkFilter): filter is OwnFilter {
  return !Array.isArray(filter.outcome) && Object.keys(filter).every((name) => OWN[action].includes(name));
}

const UNFINISHED = ["queued", "blocked", "running"] as const;
/** What only a run that has ended has. */
const OF_ENDED = ["outcome", "error", "minRunTime", "maxRunTime"] as const;

/**
 * The ids of the runs that fit. Without outcomes, a retry is about failures.
 * @throws {OptionsError} when the filter does not go with the action, or too many fit
 */
async function runIdsOf(
  client: SchedulerClient,
  action: Action,
  { failureKey, backfillId, ...filter }: JobBulkFilter,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const refusal = (name: string, message: string) =>
    optionError(WHERE, name === "" ? "filter" : `filter.${name}`, message);
  if (failureKey !== undefined) throw refusal("failureKey", `goes with ${OF_RESULTS.join(", ")} alone`);
  if (backfillId !== undefined)
    throw refusal("backfillId", "goes with cancel, and with taskId, scheduleId and label alone");
  const states: readonly string[] = action === "retry" ? ["ended"] : UNFINISHED;
  const { state = action === "retry" ? "ended" : UNFINISHED, outcome = FAILURES } = filter;
  const wrong = [state].flat().find((one) => !states.includes(one));
  if (wrong !== undefined) throw refusal("state", `${mustBeOneOf(states, wrong)}, because the action is ${action}`);
  const ofEnded = action === "cancel" ? OF_ENDED.find((name) => filter[name] !== undefined) : undefined;
  if (ofEnded !== undefined) throw refusal(ofEnded, "does not go with cancel, because only what has ended has it");
  const ended = action === "retry" ? { outcome } : {};
  const found: string[] = [];
  const runs = { ...withLabels(filter, WHERE), ...ended, state, limit: PAGE_SIZE_MAX };
  for await (const { id } of client.getRuns(runs)) {
    signal.throwIfAborted();
    found.push(id);
    if (found.length > BULK_ADD_MAX) throw refusal("", `takes more than ${BULK_ADD_MAX} runs; narrow it`);
  }
  return found;
}

/** How many jobs or results fit, counted to a bound. */
async function countOf(
  client: SchedulerClient,
  action: Action,
  filter: OwnFilter,
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
