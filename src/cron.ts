/**
 * Triggers and batches alone: rules that say when something fires, without a scheduler and a store.
 *
 * @module
 */

export type { Duration } from "./core/duration.ts";
export {
  BrokenTriggerError,
  CronSyntaxError,
  DeserializationError,
  EscapementError,
  type Issue,
  MaxIterationsReachedError,
  OptionsError,
} from "./core/errors.ts";
export { type InstantLike, Temporal } from "./core/temporal.ts";
export type { CronFields } from "./cron/fields.ts";
export type { CronDialect, DstPolicy, GapPolicy, OverlapPolicy } from "./cron/spec.ts";
export { type CalendarIntervalOptions, CalendarIntervalTrigger } from "./triggers/calendar-interval.ts";
export type { DateLike } from "./triggers/civil-date.ts";
export { type ReadTrigger, registerTrigger, type TriggerCodec, triggerFromJSON } from "./triggers/codec.ts";
export { type AndOptions, AndTrigger, OrTrigger } from "./triggers/combining.ts";
export { type CronOptions, CronTrigger } from "./triggers/cron.ts";
export { CronBatch } from "./triggers/cron-batch.ts";
export { type DateOptions, DateTrigger } from "./triggers/date.ts";
export type { DateRange } from "./triggers/excluded-dates.ts";
export { type Excluded, type ExcludingOptions, ExcludingTrigger } from "./triggers/excluding.ts";
export type { FireTimesOptions } from "./triggers/fire-time-range.ts";
export { type IntervalOptions, IntervalTrigger } from "./triggers/interval.ts";
export { preloadZones } from "./triggers/preload-zones.ts";
export { Trigger } from "./triggers/trigger.ts";
export type { TriggerJSON } from "./triggers/trigger-json.ts";
