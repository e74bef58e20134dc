import type { JobResultRecord } from "../../records/job-result.ts";
import type { PromotedJob, RecoveredJob } from "../data-store.ts";

/** What a report tells of jobs besides those of its request, while it is still being written. */
export interface RecoveryNotes {
  readonly recovered: RecoveredJob[];
  readonly ended: JobResultRecord[];
  readonly promoted: PromotedJob[];
}

export function emptyNotes(): RecoveryNotes {
  return { recovered: [], ended: [], promoted: [] };
}
