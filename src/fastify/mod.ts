/**
 * A plugin of Fastify: the scheduler starts with the server, and stops with it.
 *
 * @module
 */
export { type SchedulerPluginOptions, schedulerPlugin } from "./scheduler-plugin.ts";
