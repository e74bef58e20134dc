import { compareTexts } from "../../core/text.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { ZonedPage, ZonedPageRequest, ZonedSchedule } from "../zone-rules.ts";
import { countIn } from "./queues.ts";

/** The texts of `zoneRules` that the schedules of a `MemoryDataStore` have. */
export class ZoneTexts {
  readonly #counts = new Map<string, number>();

  /** Each text once. */
  list({ after, limit }: { readonly after: string; readonly limit: number }): string[] {
    return [...this.#counts.keys()]
      .filter((text) => text > after)
      .sort()
      .slice(0, limit);
  }

  /** A schedule came (1), or it goes (-1). Runs before and after each change of its `zoneRules`. */
  count({ zoneRules }: ScheduleRecord, by: 1 | -1): void {
    if (zoneRules !== undefined) countIn(this.#counts, zoneRules, by);
  }
}

/** A page of the schedules whose `zoneRules` are a text. */
export function zonedPage(
  schedules: Iterable<ScheduleRecord>,
  { zoneRules, after, limit, bytesMax }: ZonedPageRequest,
): ZonedPage {
  const found = [...schedules]
    .filter((record) => record.zoneRules === zoneRules && compareTexts(record.id, after) > 0)
    .sort((a, b) => compareTexts(a.id, b.id));
  const items: ZonedSchedule[] = [];
  let bytes = 0;
  for (const { id, trigger, nextFireTime, lastFireTime, createdAt, fence } of found.slice(0, limit)) {
    bytes += trigger.length;
    if (items.length > 0 && bytes > bytesMax) break;
    items.push({ id, trigger, nextFireTime, lastFireTime, createdAt, fence });
  }
  return { items, hasMore: items.length < found.length };
}
