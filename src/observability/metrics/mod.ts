/**
 * Numbers about schedulers, for Prometheus and whatever else reads its text format.
 *
 * @module
 */
export { Metrics, type WatchedOptions } from "./metrics.ts";
