import { optionError } from "../../core/option-errors.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import { checkId, checkScheduledTask, taskSettingNames } from "../options/check-options.ts";
import type { ScheduleOptions, TaskSettings } from "../options/options.ts";
import type { TaskHandler } from "../scheduler-client.ts";

/** A task and its schedule, as `schedule` was given them. */
export interface ScheduledTask {
  readonly id: string;
  readonly trigger: TriggerLike;
  readonly settings: TaskSettings;
  readonly options: ScheduleOptions;
  readonly handler: TaskHandler<never>;
}

/** Tells settings of the task from options of the schedule. @throws {OptionsError} */
export function scheduledTask(
  id: string,
  trigger: TriggerLike,
  optionsOrHandler: unknown,
  lastHandler: unknown,
): ScheduledTask {
  const isShort = typeof optionsOrHandler === "function" && lastHandler === undefined;
  const handler = isShort ? optionsOrHandler : lastHandler;
  checkId(id, "schedule id");
  if (typeof handler !== "function") {
    const order = "schedule(id, trigger, handler) or schedule(id, trigger, options, handler)";
    throw optionError("schedule()", "handler", `must be a function, the last argument: ${order}`);
  }
  const given: unknown = isShort ? {} : (optionsOrHandler ?? {});
  checkScheduledTask(given, "schedule()");
  const entries = Object.entries(given as object);
  const isSetting = ([name]: [string, unknown]): boolean => taskSettingNames().includes(name);
  return {
    id,
    trigger,
    settings: Object.fromEntries(entries.filter(isSetting)),
    options: { ...Object.fromEntries(entries.filter((entry) => !isSetting(entry))), id },
    handler: handler as TaskHandler<never>,
  };
}
