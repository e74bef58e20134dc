/**
 * Entry points of Cloudflare: `createWorker` makes a Worker of a scheduler.
 *
 * @module
 */
export { createWorker, type SchedulerWorker } from "./create-worker.ts";
export type { GivenContext, ScheduledEvent, WorkerContext } from "./shapes.ts";
export type { WorkerOptions } from "./worker-options.ts";
