import { hourOf } from "../../../records/stats.ts";
import type { LedgerLimits } from "../../contract/ledger-types.ts";
import type { CleanupReport } from "../../data-store.ts";
import { BACKFILL_KEPT_MS, DEAD_SCHEDULER_MS, STATS_AGE_MS_MAX, TOMBSTONE_MS } from "../../shared/limits.ts";
import type { Statements } from "../all-statements.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { trimHistories } from "../history/history-writes.ts";
import { CHANGES_SEEN_PER_CLEANUP_MAX, COUNTS_REMOVED_PER_CLEANUP_MAX, STEPS_CHECKED_EVERY_MS } from "../limits.ts";
import { cleaningBlackouts } from "../schedules/blackouts.ts";
import { idsOf, numberOrNull } from "../sql-and-json.ts";

/** The clean-up of a `SqlDataStore`: a write of its own, or a part of a commit. */
export class CleanUp {
  readonly #statements: Statements;
  readonly #ledger: LedgerLimits | null;
  readonly #changes: ChangeRetention | null;

  constructor(statements: Statements, ledger: LedgerLimits | null) {
    this.#statements = statements;
    this.#ledger = ledger;
    this.#changes = ledger === null ? null : new ChangeRetention(statements, ledger);
  }

  statements({ now, limit }: { readonly now: number; readonly limit: number }): SqlStatement[] {
    const { removeExpired, countChanges, removeExhausted, removeStamps, removeDead, removeWindows } = this.#statements;
    const { markForgotten, removeIdle, removeBackfills, putOffSteps, removeSteps, hasMoreSteps } = this.#statements;
    return [
      ...(this.#changes?.statements({ now, limit }) ?? []),
      statement(removeExpired, now, limit),
      statement(countChanges),
      statement(removeExhausted, limit),
      statement(removeStamps, now - TOMBSTONE_MS),
      statement(removeDead, now - DEAD_SCHEDULER_MS, now),
      statement(removeWindows, now - TOMBSTONE_MS, limit),
      statement(countChanges),
      statement(putOffSteps, now, now + STEPS_CHECKED_EVERY_MS),
      statement(removeSteps, now),
      statement(hasMoreSteps, now),
      statement(markForgotten, now),
      statement(removeIdle, now, limit),
      statement(removeBackfills, now - BACKFILL_KEPT_MS, limit),
      ...(this.#ledger === null ? [] : trimHistories(this.#statements, this.#ledger, { now, limit })),
      ...(this.#ledger === null ? [] : this.#removingCounts(this.#ledger, now)),
      ...cleaningBlackouts(this.#statements, now),
    ];
  }

  #removingCounts({ ageMsMax }: LedgerLimits, now: number): SqlStatement[] {
    const { removeCounts, countChanges } = this.#statements;
    const oldest = hourOf(now - Math.min(ageMsMax, STATS_AGE_MS_MAX));
    return [statement(removeCounts, oldest, COUNTS_REMOVED_PER_CLEANUP_MAX), statement(countChanges)];
  }

  /** What the statements did, by their answers. */
  report(results: readonly Row[][]): CleanupReport {
    const answers = this.#changes?.seen(results) ?? results;
    const [, expired, exhausted, , , , windows, , , steps, , , , , , , , runs, , skips, trim, , counts] = answers;
    const removedWindows = numberOrNull(windows, "changes") ?? 0;
    const removedOccurrences = (numberOrNull(runs, "changes") ?? 0) + (numberOrNull(skips, "changes") ?? 0);
    const hasMoreCounts = numberOrNull(counts, "changes") === COUNTS_REMOVED_PER_CLEANUP_MAX;
    const hasMore = hasMoreCounts || [trim, steps].some((rows) => numberOrNull(rows, "has_more") === 1);
    return {
      removedResults: numberOrNull(expired, "changes") ?? 0,
      removedScheduleIds: idsOf(exhausted),
      ...(removedWindows === 0 ? {} : { removedWindows }),
      ...(removedOccurrences === 0 ? {} : { removedOccurrences }),
      ...(hasMore ? { hasMore } : {}),
    };
  }
}

/** How the clean-up removes changes, and uptimes of schedulers, a bounded part each time. */
export class ChangeRetention {
  readonly #statements: Statements;
  readonly #limits: LedgerLimits;
  /** The changes after which the next clean-up looks for those that are old, and for those that are too many. */
  #next: readonly [aged: number, excess: number] = [0, 0];

  constructor(statements: Statements, limits: LedgerLimits) {
    this.#statements = statements;
    this.#limits = limits;
  }

  /** The first statements of a clean-up. */
  statements({ now, limit }: { readonly now: number; readonly limit: number }): SqlStatement[] {
    const { nextChanges, removeAgedChanges, removeExcessChanges } = this.#statements;
    const { removeUptimes, recordExhausted } = this.#statements;
    const oldest = now - this.#limits.ageMsMax;
    const [aged, excess] = this.#next;
    const most = CHANGES_SEEN_PER_CLEANUP_MAX;
    return [
      statement(nextChanges, oldest, aged, excess, most - 1),
      statement(removeAgedChanges, oldest, aged, most),
      statement(removeExcessChanges, excess, most, limit),
      statement(removeUptimes, oldest, limit),
      statement(recordExhausted, now, limit),
    ];
  }

  /** Takes their answers. Returns those of the other statements of the clean-up. */
  seen([next, , , , , ...others]: readonly Row[][]): readonly Row[][] {
    this.#next = [numberOrNull(next, "aged") ?? 0, numberOrNull(next, "excess") ?? 0];
    return others;
  }
}
