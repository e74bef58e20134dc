import { compareTexts } from "../../core/text.ts";
import { backfillIdOf } from "../../records/backfill.ts";
import type { JobRecord } from "../../records/job.ts";
import { hasLabels } from "../../records/policies.ts";
import type { JobFilter, RecordPage, StoreInspection, TaskBacklog } from "../data-store.ts";
import { isFound, jobCursor, readJobCursor, tooManyToSort } from "../shared/cursors-and-search.ts";
import { SORTED_JOBS_MAX } from "../shared/limits.ts";
import type { Tables } from "./ends-of-jobs.ts";
import { inOrderOfIds, isBlocked, type JobEntry, recordOf } from "./entries-of-jobs-and-tasks.ts";
import { merged, pageOf } from "./list-pages.ts";

// What people read of the jobs of a memory store. A page costs a logarithm of the jobs, and the jobs that it looks
// through: those of the filter's schedule, those under a lease, those of its task, or all, beginning at the cursor.

export function jobPage(tables: Tables, filter: JobFilter): RecordPage<JobRecord> {
  const isByTime = filter.sort === "runAt";
  return pageOf(isByTime ? entriesByTime(tables, filter) : entriesOf(tables, filter), filter.limit, {
    matches: (entry) => isSelected(entry, filter),
    recordOf,
    cursorOf: ({ record: { id, runAt }, seq }) => (isByTime ? jobCursor({ runAt, seq }) : id),
  });
}

/** The same in the order of `runAt`. Those that are not due yet are in this order; the others are sorted. */
function entriesByTime({ jobs, queues }: Tables, filter: JobFilter): Iterable<JobEntry> {
  const { taskId, scheduleId, state, labels, order, cursor } = filter;
  const sign = order === "newest" ? -1 : 1;
  const compare = (a: JobEntry, b: JobEntry): number => sign * (a.record.runAt - b.record.runAt || a.seq - b.seq);
  const end = cursor === null ? null : readJobCursor(cursor);
  const isAfter = ({ record, seq }: JobEntry): boolean =>
    end === null || sign * (record.runAt - end.runAt || seq - end.seq) > 0;
  if (scheduleId !== undefined || state === "running") {
    const few = scheduleId === undefined ? queues.leasedWhere(isAfter) : [...jobs.ofSchedule(scheduleId)];
    return few.filter(isAfter).sort(compare);
  }
  const others: JobEntry[] = [];
  for (const entry of jobs.all()) {
    if (entry.list === queues.delayed || (taskId ?? entry.record.taskId) !== entry.record.taskId) continue;
    if (!hasLabels(entry.record.labels, labels)) continue;
    if (others.push(entry) > SORTED_JOBS_MAX) throw tooManyToSort();
  }
  const delayed = sign > 0 ? queues.delayed.from(isAfter) : queues.delayed.backFrom(isAfter);
  return merged([delayed, others.filter(isAfter).sort(compare)], compare);
}

/** The jobs that may be on a page, in its order. */
function entriesOf({ jobs, queues }: Tables, filter: JobFilter): Iterable<JobEntry> {
  const { taskId, scheduleId, backfillId, state, order, cursor } = filter;
  const sign = order === "newest" ? -1 : 1;
  // The ids of the jobs of a backfill lie together: between this text and the same with a point less or more.
  const bound = backfillId === undefined ? null : backfillId + (sign > 0 ? "." : "/");
  const isAfter = ({ record }: JobEntry): boolean =>
    (cursor === null || sign * compareTexts(record.id, cursor) > 0) &&
    (bound === null || sign * compareTexts(record.id, bound) > 0);
  if (scheduleId !== undefined || state === "running") {
    const few = scheduleId === undefined ? queues.leasedWhere(isAfter) : [...jobs.ofSchedule(scheduleId)];
    return few.filter(isAfter).sort((a, b) => sign * compareTexts(a.record.id, b.record.id));
  }
  const tasks = taskId === undefined ? [...jobs.tasks.values()] : [jobs.tasks.get(taskId)];
  const lists = tasks.flatMap((task) => (task === undefined ? [] : jobs.ofTask(task)));
  return merged(
    lists.map((list) => (sign > 0 ? list.from(isAfter) : list.backFrom(isAfter))),
    (a, b) => sign * inOrderOfIds(a, b),
  );
}

function isSelected(entry: JobEntry, filter: JobFilter): boolean {
  const { taskId, backfillId, state, from, until, search, key, attemptsMin = 0, labels } = filter;
  const { record } = entry;
  return (
    (taskId ?? record.taskId) === record.taskId &&
    (backfillId === undefined || backfillIdOf(record.id) === backfillId) &&
    (state === undefined || state === stateOf(entry)) &&
    (from === undefined || record.runAt >= from) &&
    (until === undefined || record.runAt < until) &&
    (key === undefined || key === record.idempotencyKey || key === record.concurrencyKey) &&
    (attemptsMin === 0 || attemptsMin <= attemptsOf(record)) &&
    (search === undefined ||
      isFound(search, [record.id, record.taskId, record.scheduleId, record.idempotencyKey, record.concurrencyKey])) &&
    hasLabels(record.labels, labels)
  );
}

function attemptsOf({ failedAttempts, recoveries, acquiredBy }: JobEntry["record"]): number {
  return failedAttempts + recoveries + (acquiredBy === null ? 0 : 1);
}

function stateOf(entry: JobEntry): JobFilter["state"] {
  if (entry.record.acquiredBy !== null) return "running";
  return isBlocked(entry) ? "blocked" : "queued";
}

/** How many jobs each task has, and the job that has been due for the longest time. */
export function inspectJobs({ jobs }: Tables, now: number): Pick<StoreInspection, "tasks" | "oldestDueJob"> {
  const tasks: TaskBacklog[] = [];
  for (const { id: taskId, jobCount, leasedCount: running, blockedCount: blocked } of jobs.tasks.values()) {
    if (jobCount === 0) continue;
    tasks.push({ taskId, waiting: jobCount - running, running, ...(blocked === 0 ? {} : { blocked }) });
  }
  tasks.sort((a, b) => compareTexts(a.taskId, b.taskId));
  let oldest: JobRecord | null = null;
  for (const { record, parents } of jobs.all()) {
    if (record.acquiredBy !== null || record.runAt > now || parents !== null) continue;
    if (oldest === null || record.runAt < oldest.runAt) oldest = record;
  }
  const oldestDueJob = oldest === null ? null : { id: oldest.id, taskId: oldest.taskId, runAt: oldest.runAt };
  return { tasks, oldestDueJob };
}
