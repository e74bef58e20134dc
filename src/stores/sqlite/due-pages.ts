import type { LookedSchedule, ScheduleWindow, Seen } from "../data-store.ts";
import type { SqlValue } from "./driver.ts";
import { FAR_PAST_MS } from "./limits.ts";

/** What a page of schedules shows. */
export type DuePage = Pick<Seen, "due" | "nextFireAt">;

/**
 * Pages of due schedules. A page ends where its bytes reach their limit. A statement that stopped reading at that place
 * would cost more to prepare than the rest of a look. Therefore the statement reads all rows up to the limit of rows.
 * When these rows were too large, the next statements read about as many rows as fitted.
 */
export class DuePages {
  #rowsMax = Number.POSITIVE_INFINITY;

  /** The parameters of a page: dueBy, limit, and the time and id of `after`. The limit has one row more than the page,
   *  because that row tells what comes next. */
  parameters({ dueBy, limit, after }: ScheduleWindow): SqlValue[] {
    return [dueBy, this.#rowsOf(limit) + 1, ...(after ?? [FAR_PAST_MS, ""])];
  }

  /** Cuts the rows that were read to the page. `nextFireAt` is the earliest fire time that is not due. */
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

  /** The answer was larger than the database sends: from now on, fewer rows are read. False when the answer had one row
   *  only. */
  shrink({ limit }: ScheduleWindow): boolean {
    const rowsMax = this.#rowsOf(limit);
    this.#rowsMax = Math.max(1, Math.ceil(rowsMax / 4));
    return rowsMax > 1;
  }

  #rowsOf(limit: number): number {
    return Math.min(limit, this.#rowsMax);
  }
}
