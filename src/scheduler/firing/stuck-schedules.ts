import type { LookedSchedule } from "../../stores/data-store.ts";
import { TRIGGER_CACHE_MAX, UNREADABLE_MS } from "./limits.ts";

/** A schedule whose plans were rejected, as last seen. */
interface Stuck {
  readonly fence: number;
  readonly expected: number;
  readonly count: number;
  /** The instant of the next try, in epoch milliseconds. */
  readonly until: number;
}

/** Plans of one schedule that may fail to count before the schedule is passed by. When somebody else has changed a
 *  schedule, the next look shows it changed. */
const TRIES_MAX = 3;

/** Schedules that stay due as they are, because the store takes no plan of theirs: for example, their row was edited by
 *  hand, and holds a fence that no number of JavaScript equals. Without a pause, a scheduler would plan such a schedule
 *  for ever. */
export class StuckSchedules {
  readonly #byId = new Map<string, Stuck>();

  /** A plan of the schedule did not count. */
  notCommitted({ id, fence, nextFireTime: expected }: LookedSchedule, now: number): void {
    const before = this.#byId.get(id);
    const isSame = before !== undefined && before.fence === fence && before.expected === expected;
    const count = isSame ? before.count + 1 : 1;
    this.#byId.delete(id);
    // The schedule that was noted longest ago is forgotten.
    const oldest = this.#byId.keys().next();
    if (this.#byId.size >= TRIGGER_CACHE_MAX && !oldest.done) this.#byId.delete(oldest.value);
    this.#byId.set(id, { fence, expected, count, until: now + UNREADABLE_MS });
  }

  /** Whether to pass the schedule by for now. */
  has({ id, fence, nextFireTime }: LookedSchedule, now: number): boolean {
    const stuck = this.#byId.get(id);
    if (stuck === undefined || stuck.count < TRIES_MAX) return false;
    // The clock may have been set back.
    const isOver = now >= stuck.until || stuck.until > now + UNREADABLE_MS;
    return !isOver && stuck.fence === fence && stuck.expected === nextFireTime;
  }
}
