import type { CheckedPrintOptions } from "../options/checked-options.ts";
import type { ScheduleFilterOptions } from "../options/options.ts";
import type { Listing } from "../views/page.ts";
import type { Schedule } from "../views/schedule.ts";
import { tableLines } from "../views/table.ts";

/** What is needed of a client. */
interface Client {
  getSchedules(filter: ScheduleFilterOptions): Listing<Schedule>;
}

/** `printSchedules` of any client. */
export async function printSchedules(client: Client, options: CheckedPrintOptions): Promise<void> {
  const { write = (line) => console.log(line), ...filter } = options;
  const { items, cursor } = await client.getSchedules(filter);
  const lines = items.length === 0 ? ["no schedules"] : tableLines(items.map((schedule) => schedule.toRow()));
  if (cursor !== null) lines.push(`and more: these are the first ${items.length}; a higher limit shows more`);
  for (const line of lines) write(line);
}
