import { isMissed, type JobEntry } from "./gate.ts";

/** The unfinished jobs of each schedule, as a list that is linked through the entries: a fire adds and removes its job
 *  without a set of its own. */
export class JobsOfSchedules {
  readonly #newest = new Map<string, JobEntry>();

  has(scheduleId: string): boolean {
    return this.#newest.has(scheduleId);
  }

  add(scheduleId: string, entry: JobEntry): void {
    const older = this.#newest.get(scheduleId) ?? null;
    entry.older = older;
    if (older !== null) older.newer = entry;
    this.#newest.set(scheduleId, entry);
  }

  remove(scheduleId: string, entry: JobEntry): void {
    const { older, newer } = entry;
    if (older !== null) older.newer = newer;
    if (newer !== null) newer.older = older;
    else if (older !== null) this.#newest.set(scheduleId, older);
    else this.#newest.delete(scheduleId);
    entry.older = null;
    entry.newer = null;
  }

  /** Whether the schedule has an unfinished job that a fire time made, and that has not missed its start. */
  hasFired(scheduleId: string, now: number): boolean {
    let entry = this.#newest.get(scheduleId) ?? null;
    while (entry !== null && (!isOfFireTime(entry) || isMissed(entry, now))) entry = entry.older;
    return entry !== null;
  }

  /** The fire times of the unfinished jobs of the schedule, those of repeated jobs included. */
  fireTimes(scheduleId: string): number[] {
    const fireTimes: number[] = [];
    for (let entry = this.#newest.get(scheduleId) ?? null; entry !== null; entry = entry.older) {
      if (entry.record.fireTime !== null) fireTimes.push(entry.record.fireTime);
    }
    return fireTimes;
  }

  /** The unfinished jobs of the schedule that fire times made and that have not missed their start, the earliest fire
   *  time first. */
  fired(scheduleId: string, now: number): JobEntry[] {
    const fired: JobEntry[] = [];
    for (let entry = this.#newest.get(scheduleId) ?? null; entry !== null; entry = entry.older) {
      if (isOfFireTime(entry) && !isMissed(entry, now)) fired.push(entry);
    }
    return fired.sort((a, b) => (a.record.fireTime ?? 0) - (b.record.fireTime ?? 0));
  }
}

/** Whether a fire time made the job. One that repeats such a job has its fire time too, but was asked for. */
function isOfFireTime({ record: { fireTime, retryOf } }: JobEntry): boolean {
  return fireTime !== null && retryOf === undefined;
}
