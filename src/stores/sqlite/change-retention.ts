import type { LedgerLimits } from "../ledger.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { CHANGES_SEEN_PER_CLEANUP_MAX } from "./limits.ts";
import { numberOrNull } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** How the clean-up removes changes, and lives of schedulers, a bounded part each time. */
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
    const { nextChanges, emptyNewestChange, removeAgedChanges, removeExcessChanges } = this.#statements;
    const { removeLives, noteExhausted } = this.#statements;
    const oldest = now - this.#limits.ageMsMax;
    const [aged, excess] = this.#next;
    const most = CHANGES_SEEN_PER_CLEANUP_MAX;
    return [
      statement(nextChanges, oldest, aged, excess, most - 1),
      statement(removeAgedChanges, oldest, aged, most),
      statement(emptyNewestChange, oldest),
      statement(removeExcessChanges, excess, most, limit),
      statement(removeLives, oldest, limit),
      statement(noteExhausted, now, limit),
    ];
  }

  /** Takes their answers. Returns those of the other statements of the clean-up. */
  seen([next, , , , , , ...others]: readonly Row[][]): readonly Row[][] {
    this.#next = [numberOrNull(next, "aged") ?? 0, numberOrNull(next, "excess") ?? 0];
    return others;
  }
}
