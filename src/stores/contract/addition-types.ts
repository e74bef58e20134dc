import type { JobRecord } from "../../records/job.ts";
import type { ConflictPolicy } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";

// What is added to a store, and what became of it.

/** A schedule that is to be added. */
export interface ScheduleAddition {
  /** The schedule as it is to be stored. */
  readonly schedule: ScheduleRecord;
  readonly conflictPolicy: ConflictPolicy;
  /** Whether `paused` of the schedule also replaces that of a stored schedule. Default: false. */
  readonly setsPaused?: boolean;
}

/** What became of a schedule that was added. */
export type ScheduleAdditionChange = "added" | "replaced" | "updated" | "kept" | "outdated";

/** What became of the schedules of a call: nothing, where ids are in use and the policy is `error`, or one answer
 *  each, in order. */
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

/** Changes of different schedules that happen together, or not at all. */
export interface ScheduleCommit {
  /** The `revision` that each schedule must have; null where there must be none. */
  readonly expected: readonly { readonly id: string; readonly revision: number | null }[];
  /** Schedules that get another id, with what the store keeps of them. They come first. */
  readonly renames: readonly { readonly from: string; readonly to: string }[];
  /** Ids of schedules that are removed. */
  readonly removals: readonly string[];
  /** Schedules with the policy `replace`, of different ids. They come last. */
  readonly additions: readonly ScheduleAddition[];
}

/** What became of a commit of many schedules. */
export interface ScheduleCommitReport {
  /** The ids of those that are not as expected. If there is one, nothing was written. */
  readonly moved: readonly string[];
  /** What the additions left, in their order. */
  readonly schedules: readonly ScheduleRecord[];
}

/** What became of a job that was added. */
export interface JobAddition {
  /** `blockedBy` tells how the commit left the job. */
  readonly job: JobRecord;
  /** Whether the call made the job; false where an existing job stands for the addition. */
  readonly isNew: boolean;
  /** Whether `job`, which stands for the addition, has ended. Then its fields besides the id may be those of the
   *  addition. Absent is false. */
  readonly hasEnded?: boolean;
  /** Whether nothing was added, because the job that the addition repeats (`retryOf`) has no result any more. Absent is
   *  false. */
  readonly isOutdated?: boolean;
}
