import {
  BUSY_RETRY_MS_MAX,
  CONNECTION_RETRY_MS_MAX,
  CONNECTION_TRIES_MAX,
  RETRY_PAUSE_MS_FIRST,
  RETRY_PAUSE_MS_MAX,
} from "../limits.ts";

/** How long an operation is repeated that fails for a passing reason. */
export interface RetryLimits {
  /** Tries of an operation whose connection fails, the first included. Default: 10. */
  readonly attemptsMax: number;
  /** Time after which an operation whose connection fails is not tried again, in milliseconds. Default: 30,000. */
  readonly durationMsMax: number;
  /** Time after which an operation is not tried again while others hold the lock, in milliseconds. Default: 20,000. */
  readonly busyMsMax: number;
  /** Bound of the first pause, in milliseconds. It doubles with each try; the pause is random below it. Default: 20. */
  readonly pauseMsFirst: number;
  /** Longest pause, in milliseconds. Default: 1,000. */
  readonly pauseMsMax: number;
}

export const RETRY_DEFAULTS: RetryLimits = Object.freeze({
  attemptsMax: CONNECTION_TRIES_MAX,
  durationMsMax: CONNECTION_RETRY_MS_MAX,
  busyMsMax: BUSY_RETRY_MS_MAX,
  pauseMsFirst: RETRY_PAUSE_MS_FIRST,
  pauseMsMax: RETRY_PAUSE_MS_MAX,
});
