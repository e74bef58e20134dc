import { type ConnectOptions, checkConnectOptions } from "./options.ts";
import { RemoteScheduler } from "./remote-scheduler.ts";

/**
 * A client of a scheduler that is behind a router (`escapement/hono`). It has everything of a `SchedulerClient`: what
 * the methods take, return and throw is the same as beside a scheduler, so that a program may have the one or the
 * other. Nothing is sent before the first call.
 *
 * Requests that fail for a reason that passes are repeated, if repeating them is harmless: jobs are added with keys,
 * and schedules with ids, which the client makes where the caller gives none.
 *
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * const scheduler = connect({ url: "https://example.org/scheduler", token: process.env.SCHEDULER_TOKEN });
 * await scheduler.addJob(tasks.mail, { payload: { to: "ada@example.org" } });
 * await scheduler.close();
 */
export function connect(options: ConnectOptions): RemoteScheduler {
  return new RemoteScheduler(checkConnectOptions(options), options);
}
