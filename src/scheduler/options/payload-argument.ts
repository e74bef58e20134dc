import type { ScheduleOptions, TaskSettings } from "./options.ts";

/** Requires `payload` where a payload of type `P` may not be undefined; else nothing. */
export type RequiredPayload<P> = [P] extends [never]
  ? unknown
  : undefined extends P
    ? unknown
    : { readonly payload: P };

/** The last argument of a call about a task whose payload is of type `P`: options, which may be left out only where the
 *  payload may. */
export type OptionsWithPayload<Options, P> = [P] extends [never]
  ? [options?: Options]
  : undefined extends P
    ? [options?: Options]
    : [options: Options & RequiredPayload<P>];

/** Options of {@link Scheduler.schedule}: those of the schedule, and settings of the task. A setting that both have
 *  belongs to the task, and the schedule inherits it. */
export type ScheduledTaskOptions<P = unknown> = Omit<ScheduleOptions<P>, "id" | keyof TaskSettings> & TaskSettings<P>;
