/**
 * A tick behind an HTTP request: for Vercel, Netlify, EventBridge and whatever else calls a URL on a schedule.
 *
 * @module
 */
export { type CronHandler, createCronHandler } from "./create-cron-handler.ts";
export type { CronHandlerOptions, TickingScheduler } from "./options.ts";
