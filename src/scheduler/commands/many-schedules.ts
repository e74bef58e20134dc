import { ScheduleLookupError } from "../../core/errors.ts";
import { PAGE_SIZE_MAX } from "../../core/limits.ts";
import type { CheckedPrintOptions, CheckedRemoval } from "../options/checked-options.ts";
import type { ScheduleFilterOptions } from "../options/options.ts";
import type { Listing } from "../views/page.ts";
import type { Schedule } from "../views/schedule.ts";
import { tableLines } from "../views/table.ts";

/** What is needed of a client. */
interface Client {
  getSchedule(id: string): Promise<Schedule>;
  getSchedules(filter: ScheduleFilterOptions): Listing<Schedule>;
  removeSchedule(id: string): Promise<void>;
}

/** `removeSchedules` of any client. One write removes one schedule, so that no step is long. */
export async function removeSchedules(client: Client, removal: CheckedRemoval): Promise<number> {
  const { ids, all: _all, ...filter } = removal;
  const chosen = ids === undefined ? idsLike(client, filter) : idsAmong(client, ids, filter);
  let count = 0;
  // Pages are ordered by id and begin after an id, so removing what was read does not shift the next page.
  for await (const id of chosen) {
    if (await unlessMissing(client.removeSchedule(id).then(() => true))) count++;
  }
  return count;
}

/** `printSchedules` of any client. */
export async function printSchedules(client: Client, options: CheckedPrintOptions): Promise<void> {
  const { write = (line) => console.log(line), ...filter } = options;
  const { items, cursor } = await client.getSchedules(filter);
  const lines = items.length === 0 ? ["no schedules"] : tableLines(items.map((schedule) => schedule.toRow()));
  if (cursor !== null) lines.push(`and more: these are the first ${items.length}; a higher limit shows more`);
  for (const line of lines) write(line);
}

type Filter = Pick<CheckedRemoval, "taskId" | "paused">;

async function* idsLike(client: Client, filter: Filter): AsyncGenerator<string> {
  for await (const { id } of client.getSchedules({ ...filter, limit: PAGE_SIZE_MAX })) yield id;
}

/** Those of the ids whose schedules a filter takes. */
async function* idsAmong(client: Client, ids: readonly string[], filter: Filter): AsyncGenerator<string> {
  const { taskId, paused } = filter;
  for (const id of ids) {
    if (taskId === undefined && paused === undefined) yield id;
    else {
      const schedule = await unlessMissing(client.getSchedule(id));
      if (schedule === null || (taskId ?? schedule.taskId) !== schedule.taskId) continue;
      if ((paused ?? schedule.paused) === schedule.paused) yield id;
    }
  }
}

/** What a call answers; null when there is no such schedule. */
async function unlessMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ScheduleLookupError) return null;
    throw error;
  }
}
