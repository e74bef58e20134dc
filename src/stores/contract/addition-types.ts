import type { JobRecord } from "../../records/job.ts";
import type { ConflictPolicy } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";

// What is added to a store, and what became of it.

export interface ScheduleAddition {
  readonly schedule: ScheduleRecord;
  readonly conflictPolicy: ConflictPolicy;
  /** Whether `paused` of the schedule also replaces that of a stored schedule. Default: false. */
  readonly setsPaused?: boolean;
}

/** What became of a schedule that was added. */
export type ScheduleAdditionChange = "added" | "replaced" | "updated" | "kept" | "outdated";

export type ScheduleAdditionReport =
  /** The places in the call of the additions whose ids are in use, in order. */
  | { readonly conflicts: readonly number[] }
  | {
      readonly conflicts: null;
      readonly results: readonly {
        readonly change: ScheduleAdditionChange;
        readonly schedule: ScheduleRecord;
      }[];
    };

export interface JobAddition {
  /** `heldBy` tells how the commit left the job. */
  readonly job: JobRecord;
  readonly isNew: boolean;
  /** Whether `job`, which stands for the addition, has ended. Then its fields besides the id may be those of the
   *  addition. Absent is false. */
  readonly hasEnded?: boolean;
  /** Whether nothing was added, because the job that the addition repeats (`retryOf`) has no result any more. Absent is
   *  false. */
  readonly isOutdated?: boolean;
}
