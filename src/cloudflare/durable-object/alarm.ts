import { systemClock } from "../../core/clock.ts";
import type { AlarmStorage } from "./shapes.ts";

/** How long after the beginning of a tick the alarm goes off that takes its place if it never ends, in milliseconds.
 *  After a failure there is as much time to the next try. */
export const GUARD_MS = 30_000;

/** How late an alarm may be before it counts as lost, in milliseconds. The platform may still deliver a younger one. */
const LATE_MS_MAX = 60_000;

/** Sets the alarm of an object, and writes only what changes. All instants are epoch milliseconds. */
export class Alarm {
  readonly #storage: AlarmStorage;

  constructor(storage: AlarmStorage) {
    this.#storage = storage;
  }

  /** Sets the alarm that goes off if the work which begins now never ends. */
  async guard(): Promise<void> {
    await this.#storage.setAlarm(systemClock.now() + GUARD_MS);
  }

  /** Sets the alarm to when something is due, and deletes it where nothing is. */
  async set(dueAt: number | null): Promise<void> {
    const current = await this.#storage.getAlarm();
    if (dueAt === null) {
      if (current !== null) await this.#storage.deleteAlarm();
      return;
    }
    const at = deliverable(dueAt);
    // An alarm that was set to go off by now may be on its way.
    const isOnItsWay = current !== null && current <= at && at - current <= LATE_MS_MAX && dueAt < at;
    if (current !== at && !isOnItsWay) await this.#storage.setAlarm(at);
  }

  /** For an object that begins: sets the alarm where it is missing, lost or later than due, and leaves it as it is
   *  otherwise, because the object may have begun for its sake. */
  async restore(dueAt: number | null): Promise<void> {
    if (dueAt === null) return;
    const at = deliverable(dueAt);
    const current = await this.#storage.getAlarm();
    const isLost = current === null || systemClock.now() - current > LATE_MS_MAX;
    if (isLost || current > at) await this.#storage.setAlarm(at);
  }

  /** For an object that cannot begin: sets an alarm for the next try, unless one is set, or nothing is planned. */
  async tryAgain(dueAt: number | null): Promise<void> {
    const now = systemClock.now();
    const current = await this.#storage.getAlarm();
    // The platform gives up an alarm that fails seven times.
    if ((current ?? now) > now || (current === null && dueAt === null)) return;
    await this.#storage.setAlarm(Math.max(dueAt ?? now, now + GUARD_MS));
  }
}

/** An alarm for the present, set within `alarm()`, may never go off (a fault of workerd's). */
function deliverable(dueAt: number): number {
  return Math.max(dueAt, systemClock.now() + 1);
}
