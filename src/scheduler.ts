/**
 * The scheduler without a store of its own, for programs that give it one and count their bytes, such as Workers.
 * Triggers, errors and the other types come from `escapement`.
 *
 * @module
 */
export type { SchedulerOptions } from "./scheduler/options/scheduler-options.ts";
export { Scheduler, type StoredSchedulerOptions } from "./scheduler/scheduler.ts";
