import { optionError } from "../../core/option-errors.ts";
import { BULK_ADD_MAX, PAGE_SIZE_MAX } from "../../scheduler/options/limits.ts";
import type { ChangeOptions } from "../../scheduler/options/options.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { ManyReport } from "../api.ts";
import { withLabels } from "../labels-of.ts";
import type { ScheduleBulkBody } from "../wire.ts";
import { assertExpected } from "./expected-count.ts";

const WHERE = "POST /schedules/bulk";

/**
 * Pauses, unpauses or removes many schedules, until the caller leaves. A schedule that is gone meanwhile is passed
 * over.
 * @throws {OptionsError} @throws {Refusal} when another number of schedules fits than was expected
 */
export async function changeMany(
  client: SchedulerClient,
  bulk: ScheduleBulkBody,
  note: ChangeOptions,
  signal: AbortSignal,
): Promise<ManyReport> {
  const { action, expectedCount, resumeFrom, until, reason } = bulk;
  const ids = await idsOf(client, bulk, signal);
  assertExpected("schedules", ids.length, expectedCount);
  const selection = { ids, signal };
  switch (action) {
    case "remove": {
      const { removed: count, ...skipped } = await client.removeSchedules(selection, note);
      return { count, ...skipped };
    }
    case "pause": {
      const { paused: count, ...skipped } = await client.pauseSchedules(selection, { ...note, until, reason });
      return { count, ...skipped };
    }
    case "unpause": {
      const options = { ...note, ...(resumeFrom === undefined ? {} : { resumeFrom }) };
      const { unpaused: count, ...skipped } = await client.unpauseSchedules(selection, options);
      return { count, ...skipped };
    }
    default:
      return action satisfies never;
  }
}

async function idsOf(client: SchedulerClient, bulk: ScheduleBulkBody, signal: AbortSignal): Promise<string[]> {
  const { action, ids, filter = {}, all = false, resumeFrom } = bulk;
  const ofUnpause = action === "unpause" ? {} : { resumeFrom };
  const ofPause = action === "pause" ? {} : { until: bulk.until, reason: bulk.reason };
  for (const [name, value] of Object.entries({ ...ofUnpause, ...ofPause })) {
    if (value === undefined) continue;
    throw optionError(WHERE, name, `goes with the action "${name === "resumeFrom" ? "unpause" : "pause"}" alone`);
  }
  const hasFilter = Object.keys(filter).length > 0;
  if ([ids !== undefined, hasFilter, all].filter(Boolean).length !== 1 || (ids !== undefined && bulk.filter)) {
    const message = "takes ids, or a filter that names something; write { all: true } if you mean every schedule";
    throw optionError(WHERE, "", message);
  }
  if (ids !== undefined) return [...new Set(ids)];
  const found: string[] = [];
  for await (const { id } of client.getSchedules({ ...withLabels(filter, WHERE), limit: PAGE_SIZE_MAX })) {
    signal.throwIfAborted();
    found.push(id);
    if (found.length > BULK_ADD_MAX) {
      const message = `takes more than ${BULK_ADD_MAX} schedules; narrow it`;
      throw optionError(WHERE, "filter", message);
    }
  }
  return found;
}
