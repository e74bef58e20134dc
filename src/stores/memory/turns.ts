import type { JobRecord } from "../../records/job.ts";

/** What has a turn. */
interface Turning {
  readonly record: Pick<JobRecord, "priority" | "runAt">;
  readonly turn: number | null;
}

/** The turns of one priority. */
interface Lane {
  /** The turn of the job that was acquired last. */
  now: number;
  /** How many promoted jobs wait. */
  waiting: number;
  /** The last turn that each key was given. */
  readonly lastByKey: Map<string, number>;
}

/** How far apart two turns of a key are, in milliseconds: so little that turns come no later than the clock, and a
 *  power of 2, so that sums with instants are exact. */
const TURN_MS = 1 / 1024;

/**
 * The turns of the keys of a fair task: start-time fair queueing, with jobs of equal weight. Each promoted job gets a
 * turn, which stands in the place of its `runAt`: one after the last turn of its key, and one after the turn that is
 * being served. So a key that was idle has nothing to catch up. Turns begin at the `runAt` of a job that finds no other
 * promoted job, so that jobs of other tasks compare with those of the task by their age.
 */
export class Turns {
  readonly #lanes = new Map<number, Lane>();

  give(key: string, { record }: Turning): number {
    const { priority, runAt } = record;
    let lane = this.#lanes.get(priority);
    if (lane === undefined) {
      lane = { now: runAt, waiting: 0, lastByKey: new Map() };
      this.#lanes.set(priority, lane);
    }
    if (lane.waiting === 0) lane.now = Math.max(lane.now, runAt);
    lane.waiting++;
    const turn = Math.max(lane.now, lane.lastByKey.get(key) ?? lane.now) + TURN_MS;
    lane.lastByKey.set(key, turn);
    return turn;
  }

  /** @param isServed whether the job was acquired; otherwise it is gone, or held again */
  take({ record, turn }: Turning, isServed: boolean): void {
    const lane = this.#lanes.get(record.priority);
    if (lane === undefined) return;
    lane.waiting--;
    if (isServed) lane.now = Math.max(lane.now, turn ?? lane.now);
  }

  /** Takes back the turn of a job that is held again, so that its key has it once more. */
  takeBack(key: string, { record, turn }: Turning): void {
    const lane = this.#lanes.get(record.priority);
    if (lane === undefined || turn === null) return;
    lane.waiting--;
    if (lane.lastByKey.get(key) === turn) lane.lastByKey.set(key, turn - TURN_MS);
  }

  /** Forgets a key that has no jobs. */
  forget(key: string): void {
    for (const [priority, lane] of this.#lanes) {
      lane.lastByKey.delete(key);
      if (lane.lastByKey.size === 0 && lane.waiting === 0) this.#lanes.delete(priority);
    }
  }
}
