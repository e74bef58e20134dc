import { TOMBSTONE_MS } from "../../core/limits.ts";
import type { CleanupReport } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { DEAD_SCHEDULER_MS, ORPHANS_PER_CLEANUP_MAX } from "./limits.ts";
import { idsOf, numberOrNull } from "./rows.ts";
import type { Statements } from "./statements.ts";

const FIRST_LINK: readonly [string, string] = Object.freeze(["", ""]);

/** The clean-up of a `SqlDataStore`: a write of its own, or a part of a step. */
export class CleanUp {
  readonly #statements: Statements;
  /** The link after which the next clean-up looks for parents that are gone. */
  #orphansAfter: readonly [parentId: string, childId: string] = FIRST_LINK;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  statements({ now, limit }: { readonly now: number; readonly limit: number }): SqlStatement[] {
    const { removeExpired, countChanges, removeExhausted, removeStamps, removeDead, removeWindows } = this.#statements;
    const { settleOrphans, nextOrphans, captureForgotten, wakeForgotten, removeIdle } = this.#statements;
    const orphans = [...this.#orphansAfter, ORPHANS_PER_CLEANUP_MAX] as const;
    return [
      statement(removeExpired, now, limit),
      statement(countChanges),
      statement(removeExhausted, now, limit),
      statement(removeStamps, now - TOMBSTONE_MS),
      statement(removeDead, now - DEAD_SCHEDULER_MS, now),
      statement(removeWindows, now - TOMBSTONE_MS, limit),
      statement(countChanges),
      statement(settleOrphans, ...orphans),
      statement(nextOrphans, ...orphans),
      statement(captureForgotten, limit),
      statement(wakeForgotten, now),
      statement(removeIdle, now, limit),
    ];
  }

  /** What the statements did, by their answers. */
  report(results: readonly Row[][]): CleanupReport {
    const [, expired, exhausted, , , , windows, , [last] = []] = results;
    const removedWindows = numberOrNull(windows, "changes") ?? 0;
    this.#orphansAfter = last === undefined ? FIRST_LINK : [String(last.parent_id), String(last.child_id)];
    return {
      removedResults: numberOrNull(expired, "changes") ?? 0,
      removedScheduleIds: idsOf(exhausted),
      ...(removedWindows === 0 ? {} : { removedWindows }),
    };
  }
}
