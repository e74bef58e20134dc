/**
 * Entry points of Cloudflare: `createWorker` makes a Worker of a scheduler, `attachScheduler` puts one into a Durable
 * Object, and within workerd `SchedulerDurableObject` is such an object.
 *
 * @module
 */

export type { Plain, PlainPage, RemoteValue } from "../scheduler/views/plain.ts";
export { createWorker, type SchedulerWorker } from "./create-worker.ts";
export type { AlarmTickOptions, AttachOptions } from "./durable-object/attach-options.ts";
export { type AttachedScheduler, attachScheduler } from "./durable-object/attach-scheduler.ts";
export type { RemoteScheduleUpdate, RemoteTrigger, RemoteVerbs } from "./durable-object/remote-verbs.ts";
export type { AlarmStorage, ObjectContext, ObjectStorage } from "./durable-object/shapes.ts";
export type { GivenContext, ScheduledEvent, WorkerContext } from "./shapes.ts";
export type { WorkerOptions } from "./worker-options.ts";
