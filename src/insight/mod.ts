/**
 * What schedules will do: the load to come, a simulation of everything that may go wrong, and plans that change them.
 *
 * @module
 */

export { type DeclaredSchedule, declaredSchema } from "./declared.ts";
export {
  type Forecast,
  type ForecastBucket,
  type ForecastedSchedule,
  type ForecastOptions,
  forecast,
  type ScheduleSource,
} from "./forecast.ts";
export {
  type CalendarDate,
  type CalendarDatesOptions,
  type CalendarFinding,
  datesFromICalendar,
} from "./from-icalendar.ts";
export { type CalendarAccess, type Insight, type InsightOptions, insight } from "./insight.ts";
export { type ApplyOptions, apply, type PlanOptions, plan } from "./plan.ts";
export type { Plan, PlannedHerd, PlannedSchedule } from "./plan-report.ts";
export { type SimulatedSchedule, type SimulateOptions, type SimulationFault, simulate } from "./simulate.ts";
export type { SimulatedOccurrence, SimulationReport } from "./simulation-report.ts";
export { type CalendarOptions, type CalendarSchedule, toICalendar } from "./to-icalendar.ts";
