import { type FailureRecord, failureKeyOf, patternOf } from "../../records/failure.ts";
import type { FailureFilter } from "../options/checked-options.ts";
import { FailureGroup, type FailureGroupFacts } from "../views/failure-group.ts";

/** Most jobs, and most schedules, that a group names. */
const NAMED_MAX = 10;

/** A group while it grows. */
interface Group extends FailureGroupFacts {
  count: number;
  firstAt: number;
  readonly jobIds: string[];
  readonly scheduleIds: string[];
}

/** Groups failures, which come with the newest first. */
export function groupsOf(failures: readonly FailureRecord[], { groupBy, limit }: FailureFilter): FailureGroup[] {
  const [byTask, byError] = [groupBy.includes("task"), groupBy.includes("error")];
  const groups = new Map<string, Group>();
  for (const failure of failures) {
    const { jobId, scheduleId, finishedAt } = failure;
    const key = byError ? failureKeyOf(failure) : null;
    const taskId = byTask ? failure.taskId : null;
    const id = JSON.stringify([taskId, key]);
    const group = groups.get(id) ?? newGroup(failure, taskId, key);
    groups.set(id, group);
    group.count++;
    group.firstAt = Math.min(group.firstAt, finishedAt);
    if (group.jobIds.length < NAMED_MAX) group.jobIds.push(jobId);
    const isNamed = scheduleId === null || group.scheduleIds.includes(scheduleId);
    if (!isNamed && group.scheduleIds.length < NAMED_MAX) group.scheduleIds.push(scheduleId);
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count || b.lastAt - a.lastAt);
  return sorted.slice(0, limit).map((facts) => new FailureGroup(facts));
}

function newGroup(
  { outcome, name, message, finishedAt }: FailureRecord,
  taskId: string | null,
  key: string | null,
): Group {
  const error = key === null ? { outcome: null, name: null } : { outcome, name };
  const pattern = key === null || message === null ? null : patternOf(message);
  const times = { firstAt: finishedAt, lastAt: finishedAt };
  return { taskId, key, ...error, pattern, message, count: 0, ...times, jobIds: [], scheduleIds: [] };
}
