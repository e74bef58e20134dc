import { ScheduleLookupError, SchedulerStateError } from "../../core/errors.ts";
import { UPDATE_TRIES_MAX } from "../tasks/limits.ts";

export function tooManyChanges(id: string): SchedulerStateError {
  return new SchedulerStateError(
    `schedule "${id}" was changed by others ${UPDATE_TRIES_MAX} times meanwhile; try again`,
  );
}

export function noSchedule(id: string): ScheduleLookupError {
  return new ScheduleLookupError(`there is no schedule "${id}"`, id);
}
