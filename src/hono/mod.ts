/**
 * A scheduler behind HTTP: routes for schedules, jobs, results, tasks and health, as a Hono app.
 *
 * @module
 */
export type { Api, ApiSchema, Endpoints } from "./api.ts";
export { createRouter, type RouterScheduler } from "./create-router.ts";
export type { MetricsSource, RouterAuth, RouterOptions } from "./options.ts";
