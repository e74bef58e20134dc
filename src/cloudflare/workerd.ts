/**
 * Entry points of Cloudflare, within workerd: those of every runtime, and the class of Durable Objects.
 *
 * @module
 */
export { SchedulerDurableObject } from "./durable-object/scheduler-object.ts";
export * from "./mod.ts";
