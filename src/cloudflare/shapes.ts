// What a Worker gets from its platform, by shape: the types of Cloudflare's own package fit, and none is needed.

/** The context of an invocation. */
export interface WorkerContext {
  /** Lets the invocation go on until the promise has settled, after the answer too. */
  waitUntil(promise: Promise<unknown>): void;
  /** Lets a request go to the origin server when the Worker throws. Does nothing where there is none. */
  passThroughOnException(): void;
  /** What a service binding hands over; `{}` where there is none. */
  readonly props: unknown;
}

/** A context as it comes: of an older platform, or of a test. */
export type GivenContext = Pick<WorkerContext, "waitUntil">;

/** What a Cron Trigger hands over. */
export interface ScheduledEvent {
  /** The crontab text of the Cron Trigger. */
  readonly cron: string;
  /** When the Cron Trigger was due, in epoch milliseconds. */
  readonly scheduledTime: number;
}
