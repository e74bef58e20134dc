import type { Seen } from "../../src/stores/data-store.ts";

/** Triggers of this type are newer than the older version of the program. */
const NOVEL = '"type":"cron"';

/** Whether the older version of the program can read a schedule's trigger. */
export function isReadByOld({ trigger }: { readonly trigger: string }): boolean {
  return !trigger.includes(NOVEL);
}

/** What the older version is shown. Codecs belong to a process of the real world, and all simulated ones live in one:
 *  so the text is changed into one that nobody here can read. */
export function seenByOld<T extends Seen>(seen: T): T {
  const due = seen.due.map((schedule) => {
    return isReadByOld(schedule)
      ? schedule
      : { ...schedule, trigger: schedule.trigger.replace(NOVEL, '"type":"novel"') };
  });
  return { ...seen, due };
}
