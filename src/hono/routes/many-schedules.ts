import { ScheduleLookupError } from "../../core/errors.ts";
import { BULK_ADD_MAX, PAGE_SIZE_MAX } from "../../core/limits.ts";
import { optionError } from "../../core/option-errors.ts";
import type { ChangeOptions } from "../../scheduler/options/options.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import { Refusal } from "../refusal.ts";
import type { ScheduleBulk } from "../wire.ts";

const WHERE = "POST /schedules/bulk";

/**
 * Pauses, unpauses or removes many schedules, one after the other. A schedule that is gone meanwhile is passed over.
 * @returns how many schedules it was done to
 * @throws {OptionsError} @throws {Refusal} when another number of schedules fits than was expected
 */
export async function changeMany(client: SchedulerClient, bulk: ScheduleBulk, note: ChangeOptions): Promise<number> {
  const { action, expectedCount, resumeFrom } = bulk;
  const ids = await idsOf(client, bulk);
  if (expectedCount !== undefined && expectedCount !== ids.length) {
    const detail = `${ids.length} schedules fit, and ${expectedCount} were expected; look at them again`;
    throw new Refusal(409, "unexpectedCount", detail);
  }
  const change = (id: string): Promise<unknown> => {
    if (action === "remove") return client.removeSchedule(id, note);
    if (action === "pause") return client.pauseSchedule(id, note);
    return client.unpauseSchedule(id, { ...note, ...(resumeFrom === undefined ? {} : { resumeFrom }) });
  };
  let count = 0;
  for (const id of ids) {
    try {
      await change(id);
      count++;
    } catch (error) {
      if (!(error instanceof ScheduleLookupError)) throw error;
    }
  }
  return count;
}

async function idsOf(client: SchedulerClient, bulk: ScheduleBulk): Promise<string[]> {
  const { action, ids, filter = {}, all = false, resumeFrom } = bulk;
  if (resumeFrom !== undefined && action !== "unpause") {
    throw optionError(WHERE, "resumeFrom", 'goes with the action "unpause" alone');
  }
  const hasFilter = Object.keys(filter).length > 0;
  if ([ids !== undefined, hasFilter, all].filter(Boolean).length !== 1 || (ids !== undefined && bulk.filter)) {
    const message = "takes ids, or a filter that names something; write { all: true } if you mean every schedule";
    throw optionError(WHERE, "", message);
  }
  if (ids !== undefined) return [...new Set(ids)];
  const found: string[] = [];
  for await (const { id } of client.getSchedules({ ...filter, limit: PAGE_SIZE_MAX })) {
    found.push(id);
    if (found.length > BULK_ADD_MAX) {
      const message = `takes more than ${BULK_ADD_MAX} schedules; narrow it`;
      throw optionError(WHERE, "filter", message);
    }
  }
  return found;
}
