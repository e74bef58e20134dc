import type { CoalescePolicy, Metadata } from "./policies.ts";

/** A schedule as stores keep it: times are epoch milliseconds, what is serialized is text. */
export interface ScheduleRecord {
  readonly id: string;
  readonly taskId: string;
  /** The trigger's JSON as text, anchor included. */
  readonly trigger: string;
  /** Canonical text of the trigger's rule without its anchor: equal for triggers that are the same rule. */
  readonly triggerRule: string;
  /** Serialized payload, or null for none. */
  readonly payload: string | null;
  readonly executor: string;
  readonly priority: number;
  readonly coalesce: CoalescePolicy;
  /** How late a job may start, in milliseconds; null is unlimited. */
  readonly misfireGraceMs: number | null;
  readonly maxJitterMs: number;
  /** Most missed fire times that `coalesce: "all"` still makes up for, newest first kept; null is all of them. */
  readonly maxCatchUp: number | null;
  readonly resultExpirationMs: number;
  readonly maxRecoveries: number;
  readonly metadata: Metadata;
  readonly paused: boolean;
  readonly createdAt: number;
  /** The next fire time, or null when the trigger is exhausted. */
  readonly nextFireTime: number | null;
  /** The last fire time that was processed. */
  readonly lastFireTime: number | null;
  /** Grows with every commit of a plan and with every change, so that a stale plan no longer counts. Begins
   *  anywhere. */
  readonly fence: number;
}
