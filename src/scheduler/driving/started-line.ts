import type { SchedulerRole } from "../../records/scheduler.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import { isoIn } from "../../triggers/words.ts";
import type { Environment } from "../environment.ts";

/** Most names of tasks in the line, so that it stays a line. */
const NAMES_MAX = 10;

/** How many stored schedules are looked at, those that fire next. */
const SCHEDULES_MAX = 100;

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

const WEEK_MS = 7 * 86_400_000;

/** What a scheduler says of itself when it has started. */
export function startedLine({
  identity,
  role,
  taskIds,
  paused,
}: {
  readonly identity: string;
  readonly role: SchedulerRole;
  readonly taskIds: readonly string[];
  readonly paused: boolean;
}): string {
  const tasks = taskIds.length === 0 ? "no tasks" : `the tasks ${listed(taskIds.map((id) => `"${id}"`))}`;
  const does = {
    both: `fires schedules and runs ${tasks}`,
    scheduler: "fires schedules, and runs no jobs",
    worker: `runs ${tasks}, and fires no schedules`,
  }[role];
  return `escapement: started as "${identity}"${paused ? ", paused" : ""}: ${does}`;
}

/**
 * Says which stored schedule fires next, and which schedules have no handler here: those may be left from an earlier
 * version of the program. It takes one read, and none where nobody sees the lines. Does not reject, because the
 * scheduler has started.
 * @param taskIds the tasks that have a handler here; null when the scheduler runs no jobs
 */
export async function tellSchedules(
  { store, clock, logger }: Environment,
  taskIds: readonly string[] | null,
): Promise<void> {
  if (!logger.showsInfo) return;
  try {
    const filter = { sort: "nextFireTime", limit: SCHEDULES_MAX, cursor: null } as const;
    const { items, cursor } = await store.getSchedules(filter);
    const next = items.find(({ paused, nextFireTime }) => !paused && nextFireTime !== null);
    if (next?.nextFireTime != null) {
      const now = clock.now();
      const due = next.nextFireTime < now ? "due since " : "";
      logger.info(`escapement: next: ${next.id}, ${due}${localText(next.nextFireTime, zoneOf(next.trigger), now)}`);
    }
    const unserved = taskIds === null ? [] : items.filter(({ taskId }) => !taskIds.includes(taskId));
    if (unserved.length === 0) return;
    const hasMore = cursor !== null;
    const names = listed(
      unserved.map(({ id, taskId }) => `"${id}" (task "${taskId}")`),
      hasMore,
    );
    // As JavaScript takes it, because somebody may paste it.
    const calls = listed(
      unserved.map(({ id }) => `removeSchedule(${JSON.stringify(id)})`),
      hasMore,
    );
    logger.info(
      `escapement: there is no handler here for the stored schedule${unserved.length > 1 ? "s" : ""} ${names}; ` +
        `if no other program has one either, ${calls} ends what is left`,
    );
  } catch (error) {
    logger.info("escapement: the stored schedules could not be read for this log", error);
  }
}

/** The zone of a stored trigger, or UTC where this program does not know the trigger's kind. */
function zoneOf(trigger: string): string {
  try {
    return parseTrigger(trigger).timeZone;
  } catch {
    return "UTC";
  }
}

/** `Tue 09:00 Europe/Berlin`, with the date where that is a week away or more, and with seconds that are not
 *  zero. */
function localText(epochMs: number, timeZone: string, now: number): string {
  const text = isoIn(epochMs, timeZone);
  const [date = "", time = ""] = text.split("T");
  const weekday = WEEKDAYS[new Date(date).getUTCDay()];
  const day = Math.abs(epochMs - now) < WEEK_MS ? weekday : `${weekday} ${date}`;
  const seconds = time.slice(5, 8);
  return `${day} ${time.slice(0, 5)}${seconds === ":00" ? "" : seconds} ${timeZone}`;
}

/** @param hasMore whether there may be names besides these. Default: false */
function listed(names: readonly string[], hasMore = false): string {
  const count = names.length - NAMES_MAX;
  const more = count > 0 ? ` and ${hasMore ? "at least " : ""}${count} more` : "";
  return `${names.slice(0, NAMES_MAX).join(", ")}${more}`;
}
