import type { JobResultRecord } from "../../records/job-result.ts";
import type { OccurrenceRecord } from "../../records/ledger.ts";

/** Records of another store. */
export interface RestoredRecords {
  /** No two of the same job. */
  readonly results: readonly JobResultRecord[];
  /** No two of the same schedule. */
  readonly histories: readonly RestoredHistory[];
}

/** What another store remembers of the fire times of a schedule. */
export interface RestoredHistory {
  readonly scheduleId: string;
  /** From when on the entries are whole, in epoch milliseconds; null leaves that of the store. */
  readonly since: number | null;
  /** What became of fire times, in any order. */
  readonly entries: readonly OccurrenceRecord[];
}
