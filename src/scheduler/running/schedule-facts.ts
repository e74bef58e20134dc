import type { JobRecord } from "../../records/job.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../records/policies.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import { withinBudget } from "../../triggers/step-budget.ts";
import type { Environment } from "../environment.ts";

// What a handler may ask about the schedule of its job. The store is read when it asks.

/** How the last run of a schedule ended; times in epoch milliseconds. */
export interface LastRunFacts {
  readonly outcome: JobOutcome;
  readonly finishedAt: number;
}

/** A fire time, in epoch milliseconds, and the time zone of its rule. */
export interface ZonedFireTime {
  readonly at: number;
  readonly timeZone: string;
}

type StoreAndClock = Pick<Environment, "store" | "clock">;

/** Most pages of the ledger that are read: the entries of others lie between those of a schedule. */
const PAGES_MAX = 10;

/** How the job of the latest fire time ended that has one; without a ledger, or where it has none, how the job of the
 *  schedule ended that did so last, while its result is kept. Null for none. @throws {StoreUnavailableError} */
export async function lastRunOf(
  { store, clock }: StoreAndClock,
  { scheduleId }: JobRecord,
): Promise<LastRunFacts | null> {
  if (scheduleId === null) return null;
  const every = { from: Number.MIN_SAFE_INTEGER, until: Number.MAX_SAFE_INTEGER };
  const newest = { scheduleId, ...every, verdicts: JOB_OUTCOMES, order: "newest", limit: 1 } as const;
  for (let pages = 0, cursor: string | null = null; store.ledger != null && pages < PAGES_MAX; pages++) {
    const page: Awaited<ReturnType<typeof store.ledger.getOccurrences>> = await store.ledger.getOccurrences({
      ...newest,
      cursor,
    });
    const [entry] = page.items;
    if (entry?.kind === "run") return { outcome: entry.outcome, finishedAt: entry.finishedAt };
    cursor = page.cursor;
    if (cursor === null) break;
  }
  const { items } = await store.getJobResults({ scheduleId, order: "newest", limit: 1, cursor: null }, clock.now());
  const [result] = items;
  return result === undefined ? null : { outcome: result.outcome, finishedAt: result.finishedAt };
}

/** The fire time before all those that a job stands for, by the rule that its schedule has now; null for none, and
 *  where the schedule is gone. For a job that no fire time made, the last one before it was added.
 *  @throws {StoreUnavailableError} */
export async function previousFireTimeOf({ store }: StoreAndClock, job: JobRecord): Promise<ZonedFireTime | null> {
  const schedule = job.scheduleId === null ? null : await store.getSchedule(job.scheduleId);
  if (schedule === null) return null;
  const { fireTime, firstMissedTime, createdAt } = job;
  const first = fireTime === null ? createdAt : Math.min(fireTime, firstMissedTime ?? fireTime);
  const trigger = parseTrigger(schedule.trigger);
  const at = withinBudget(() => trigger.previousMs(first));
  return at === null ? null : { at, timeZone: trigger.timeZone };
}
