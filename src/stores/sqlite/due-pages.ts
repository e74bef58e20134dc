import type { LookedSchedule, ScheduleWindow, Seen } from "../data-store.ts";
import type { SqlValue } from "./driver.ts";
import { FAR_PAST_MS } from "./limits.ts";

/** What a page of schedules shows. */
export type DuePage = Pick<Seen, "due" | "nextFireAt">;

/**
 * Pages of due schedules. A page ends where its bytes are enough. A statement that stopped reading there would cost
 * more to prepare than all the rest of a look, so it reads all rows up to the limit; and where that was too much, the
 * next ones read about as many as fitted.
 */
export class DuePages {
  #rowsMax = Number.POSITIVE_INFINITY;

  /** The parameters of a page: dueBy, limit, and the time and id of `after`. One row more tells what comes next. */
  parameters({ dueBy, limit, after }: ScheduleWindow): SqlValue[] {
    return [dueBy, this.#rowsOf(limit) + 1, ...(after ?? [FAR_PAST_MS, ""])];
  }

  /** Cuts what was read. `nextFireAt` is the earliest fire time that is not due. */
  page(rows: readonly LookedSchedule[], { limit, bytesMax }: ScheduleWindow, nextFireAt: number | null): DuePage {
    let bytes = 0;
    const fitting = rows.findIndex((row, place) => {
      bytes += row.bytes;
      return place > 0 && bytes > bytesMax;
    });
    const rowsMax = this.#rowsOf(limit);
    const count = Math.min(fitting === -1 ? rows.length : fitting, rowsMax);
    if (count < rowsMax && count < rows.length) this.#rowsMax = 2 * count;
    else if (rows.length > rowsMax) this.#rowsMax *= 2;
    return { due: rows.slice(0, count), nextFireAt: rows[count]?.nextFireTime ?? nextFireAt };
  }

  /** The answer was above what the database sends: fewer are read from now on. False when there are no fewer. */
  shrink({ limit }: ScheduleWindow): boolean {
    const rowsMax = this.#rowsOf(limit);
    this.#rowsMax = Math.max(1, Math.ceil(rowsMax / 4));
    return rowsMax > 1;
  }

  #rowsOf(limit: number): number {
    return Math.min(limit, this.#rowsMax);
  }
}
