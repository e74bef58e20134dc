import type { ScheduleFilter } from "../../data-store.ts";
import { labelCount } from "../lists/label-index.ts";

/** A statement that keeps whether the schedules are paused, and one that sets it. */
export interface ReplacementStatements {
  readonly keepingPause: string;
  readonly settingPause: string;
}

/** The statements about schedules, except plans. */
export interface ScheduleStatements {
  readonly findConflicts: string;
  readonly guardConflicts: string;
  readonly findExisting: string;
  readonly findMoved: string;
  readonly guardRevisions: string;
  readonly renameSchedules: Readonly<Record<string, string>>;
  readonly insertSchedules: string;
  readonly replaceSchedules: ReplacementStatements;
  readonly updateDeclared: ReplacementStatements;
  readonly raiseVersions: string;
  readonly getSchedulesById: string;
  readonly getSchedule: string;
  readonly getStampedSchedules: string;
  /** By the scan that reads a page. See {@link scheduleScanOf}. */
  readonly getSchedules: Readonly<Record<string, string>>;
  readonly updateSchedules: string;
  readonly endSchedulePauses: string;
  readonly countEnds: string;
  readonly pauseFailing: string;
  readonly removeSchedules: string;
  readonly removeExhausted: string;
  readonly makeLimiters: string;
}

/** The scan that fits a filter best, and whether the filter takes every row of the scan. */
export function scheduleScanOf(filter: ScheduleFilter): [name: string, takesAll: boolean] {
  const { ids, taskId, paused, state, search, labels, sort } = filter;
  const areAbsent = (...parts: unknown[]): boolean => parts.every((part) => part === undefined);
  if (ids !== undefined) return ["named by id", areAbsent(taskId, paused, state, search, labels)];
  if (sort === "nextFireTime") {
    const isAll = state === undefined || state === "failing";
    return [
      isAll ? "all by time" : `${state} by time`,
      areAbsent(taskId, paused, search, labels) && state !== "failing",
    ];
  }
  if (labels !== undefined)
    return ["label by id", areAbsent(taskId, paused, state, search) && labelCount(labels) === 1];
  if (taskId !== undefined) return ["task by id", areAbsent(paused, state, search)];
  if (state === "ended" || state === "failing") return [`${state} by id`, areAbsent(paused, search)];
  if (paused === true || state === "paused") return ["paused by id", areAbsent(state, search)];
  return ["all by id", areAbsent(paused, state, search)];
}
