import type { FailureGroup } from "./api.ts";
import { sayingOf } from "./verdicts.ts";

/** What a group of failures is called: by its schedule, where there is one. */
export function nameOf({ taskId, scheduleIds }: FailureGroup): string {
  const [only, ...others] = scheduleIds;
  return only !== undefined && others.length === 0 ? only : (taskId ?? "all tasks");
}

/** The newest message of a group. */
export function messageOf({ name, message, outcome }: FailureGroup): string {
  return [name, message].filter((part) => part).join(": ") || sayingOf(outcome ?? "error").words;
}
