/** What a scheduler does: `scheduler` only fires schedules, `worker` only runs jobs. */
export type SchedulerRole = "both" | "scheduler" | "worker";

/** What a scheduler says of itself. */
export interface SchedulerProfile {
  readonly role: SchedulerRole;
  /** Whether it was started and stays, or ticks. */
  readonly isResident: boolean;
  /** The tasks for which it has handlers, and the executors that it has. */
  readonly tasks: readonly string[];
  readonly executors: readonly string[];
}

/** One run of a scheduler. A scheduler that comes back has the same identity, and another instance. */
export interface SchedulerRecord extends SchedulerProfile {
  readonly identity: string;
  readonly instanceId: string;
  /** Until when it counts as alive, unless it says so again. */
  readonly aliveUntil: number;
}

/** What is taken for a profile that is not given. */
export const UNKNOWN_PROFILE: SchedulerProfile = Object.freeze({
  role: "both",
  isResident: true,
  tasks: Object.freeze([]),
  executors: Object.freeze([]),
});
