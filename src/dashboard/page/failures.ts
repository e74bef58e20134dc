import type { ShownFailureGroup } from "./api.ts";
import { sayingOf } from "./verdicts.ts";

/** What a group of failures is called: by its schedule, where there is one. */
export function nameOf({ taskId, scheduleIds }: ShownFailureGroup): string {
  const [only, ...others] = scheduleIds;
  return only !== undefined && others.length === 0 ? only : (taskId ?? "all tasks");
}

interface Said {
  readonly name: string | null;
  readonly message: string | null;
  readonly outcome?: string | null;
}

/** `TypeError: x is not a function`; of a failure without an error, what it was. */
export function messageOf({ name, message, outcome }: Said): string {
  return [name, message].filter((part) => part).join(": ") || sayingOf(outcome ?? "error").words;
}
