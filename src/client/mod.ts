/**
 * A scheduler that is reached over HTTP: a `SchedulerClient` of a router.
 *
 * @module
 */
export { connect } from "./connect.ts";
export type { ClientFetch } from "./http/transport.ts";
export type { ConnectOptions } from "./options.ts";
export { RemoteError } from "./remote-error.ts";
export type { RemoteScheduler, Session } from "./remote-scheduler.ts";
