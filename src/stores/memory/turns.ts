import type { JobRecord } from "../../records/job.ts";

/** What has a turn. */
interface Turning {
  readonly record: Pick<JobRecord, "priority">;
  readonly turn: number | null;
}

/** The turns of one priority. */
interface Lane {
  /** The turn of the job that was acquired last. */
  now: number;
  /** How many promoted jobs wait. */
  waiting: number;
  /** The last turn of each key that was taken. */
  readonly takenByKey: Map<string, number>;
}

/**
 * The turns of the keys of a fair task: start-time fair queueing, with jobs of equal weight. Each promoted job gets a
 * turn, which stands in the place of its `runAt`: one after the last turn of its key, and one after the turn that is
 * being served. So a key that was idle has nothing to catch up. Turns are numbers and no instants: no clock is in them.
 */
export class Turns {
  readonly #lanes = new Map<number, Lane>();

  /** @param others the promoted jobs of the key that wait and are as urgent. Their turns are read from themselves, so
   *  that a job that is held again gives its turn back to its key. */
  give(key: string, { record }: Turning, others: Iterable<Turning>): number {
    const { priority } = record;
    let lane = this.#lanes.get(priority);
    if (lane === undefined) {
      lane = { now: 0, waiting: 0, takenByKey: new Map() };
      this.#lanes.set(priority, lane);
    }
    lane.waiting++;
    let last = Math.max(lane.now, lane.takenByKey.get(key) ?? lane.now);
    for (const { turn } of others) last = Math.max(last, turn ?? last);
    return last + 1;
  }

  /** A job that has a turn was acquired. */
  take(key: string, { record, turn }: Turning): void {
    const lane = this.#lanes.get(record.priority);
    if (lane === undefined) return;
    lane.waiting--;
    if (turn === null) return;
    lane.now = Math.max(lane.now, turn);
    lane.takenByKey.set(key, Math.max(turn, lane.takenByKey.get(key) ?? turn));
  }

  /** A job that has a turn is gone, or held again. */
  giveBack({ record }: Turning): void {
    const lane = this.#lanes.get(record.priority);
    if (lane !== undefined) lane.waiting--;
  }

  /** Forgets a key that has no jobs. */
  forget(key: string): void {
    for (const [priority, lane] of this.#lanes) {
      lane.takenByKey.delete(key);
      if (lane.takenByKey.size === 0 && lane.waiting === 0) this.#lanes.delete(priority);
    }
  }
}
