/**
 * What schedules will do: the load to come, and a simulation of everything that may go wrong.
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
export { type SimulatedSchedule, type SimulateOptions, type SimulationFault, simulate } from "./simulate.ts";
export type { SimulatedOccurrence, SimulationReport } from "./simulation-report.ts";
