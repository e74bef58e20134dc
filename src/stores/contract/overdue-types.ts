import type { OverdueRecord, ResolvedOverdueRecord } from "../../records/overdue.ts";

// What looks and steps say of overdue occurrences.

export interface SeenOverdue {
  /** The earliest time at which an overdue occurrence may become due; null for never. See rules O10 and O11. */
  readonly nextAt: number | null;
  /** Whether overdue occurrences are open. */
  readonly isOpen: boolean;
}

/** An overdue occurrence that a step raised and resolved is in both. */
export interface OverdueReport {
  readonly raised: readonly OverdueRecord[];
  readonly resolved: readonly ResolvedOverdueRecord[];
}
