import type { BlackoutRecord } from "../../records/blackout.ts";
import type { ConflictPolicy } from "../../records/policies.ts";

// Blackouts in a store.

/** All blackouts, as of one instant. */
export interface BlackoutList {
  /** Grows with each change of the blackouts; 0 while there was none. */
  readonly version: number;
  /** By id. */
  readonly items: readonly BlackoutRecord[];
}

/** A blackout that is to be added. */
export interface BlackoutAddition {
  /** The blackout as it is to be stored. */
  readonly blackout: BlackoutRecord;
  readonly conflictPolicy: ConflictPolicy;
}

/** What became of it. `conflict`: the id is in use (`error`), and nothing was written. `full`: there are as many as a
 *  store takes. `blackout` is the stored one; that of the call where none is. */
export interface BlackoutAdditionReport {
  /** What became of it, as said above. */
  readonly change: "added" | "replaced" | "kept" | "conflict" | "full";
  readonly blackout: BlackoutRecord;
}
