/**
 * What steps and looks heed of flow control, because heeding all of it costs more than the rest of a step:
 * - `none`: nothing;
 * - `keys`: concurrency keys and `maxRunningPerKey`;
 * - `all`: rates, turns and pauses too.
 */
export type FlowControl = "none" | "keys" | "all";

/** In the order of what they heed. The column `has_flow` of a look is a place in this list. */
export const FLOWS: readonly FlowControl[] = ["none", "keys", "all"];

/**
 * What the last look told a store about the flow control that its database needs.
 *
 * Nothing goes wrong while a database needs more than that. Statements that heed nothing touch no job of a task with
 * limits, no job with a concurrency key, and no job that others wait for. Statements that heed keys acquire no job of a
 * task with a rate, turns or a pause, and neither promote nor hold a job of such a task or of a paused key; they leave
 * their gates woken. The look of the same step tells what is needed, and then the step is repeated at once. Jobs that
 * are added without the key that their task would give them get it from the steps that heed everything, see `capture`.
 */
export interface Awareness {
  flow: FlowControl;
  /** Whether a look has told anything yet. */
  isTold: boolean;
}

/** What `has_flow` tells. */
export function flowOf(hasFlow: number): FlowControl {
  return FLOWS[hasFlow] ?? "all";
}

/** Whether statements for `one` leave out what statements for `other` heed. */
export function isLess(one: FlowControl, other: FlowControl): boolean {
  return FLOWS.indexOf(one) < FLOWS.indexOf(other);
}
