/**
 * What schedules will do: the load to come.
 *
 * @module
 */

export {
  type Forecast,
  type ForecastBucket,
  type ForecastedSchedule,
  type ForecastOptions,
  forecast,
  type Insight,
  insight,
  type ScheduleSource,
} from "./forecast.ts";
