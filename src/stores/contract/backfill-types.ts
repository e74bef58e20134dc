import type { BackfillRecord } from "../../records/backfill.ts";
import type { NewJobRecord } from "../../records/job.ts";

/** What a caller wants to know before it goes on with a backfill. */
export interface BackfillRequest {
  readonly scheduleId: string;
  /** The key of the backfill. */
  readonly key: string;
  /** At most 1,000. */
  readonly fireTimes: readonly number[];
}

export interface BackfillState {
  /** That of the key that is not cancelled; null when there is none. */
  readonly backfill: BackfillRecord | null;
  /** The greatest `seq` of all backfills of the schedule, cancelled ones too; 0 for none. */
  readonly seq: number;
  /** The fire times that an unfinished job has, in order. */
  readonly taken: readonly number[];
}

/** Jobs of a backfill, and how far it has come with them. */
export interface BackfillCommit {
  /** As it is afterwards. */
  readonly backfill: BackfillRecord;
  /** What {@link BackfillState.seq} must still be. */
  readonly expectedSeq: number;
  /** Neither debounced nor throttled, without parents, and without idempotency keys. */
  readonly jobs: readonly NewJobRecord[];
}
