import type { OverdueKind, OverdueRecord } from "../../../records/overdue.ts";
import type {
  InspectionOptions,
  ScheduleCounts,
  StoreInspection,
  StoreWarning,
  TaskBacklog,
} from "../../data-store.ts";
import { OVERDUE_COUNTED_MAX } from "../../shared/limits.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { INSPECTED_COUNT_MAX } from "../limits.ts";
import { openOverdueCount } from "../look/look-for-work.ts";
import { jsonArray, numberOrNull } from "../sql-and-json.ts";

export interface InspectionStatements {
  /** May have a column `warnings`, the JSON of {@link StoreWarning}s. */
  readonly inspect: string;
  /** The same with the counts of schedules, and without warnings. */
  readonly inspectAll: string;
}

/** What {@link InspectionStatements.inspect} yields for each task. */
type CountRow = [taskId: string, ready: number, delayed: number, blocked: number, running: number];
/** What it yields for the oldest job and for the oldest schedule that are due. */
type DueRow = [id: string, taskId: string, at: number];
/** What `inspectAll` yields besides. */
type ScheduleCountRow = [active: number, paused: number, ended: number, overdue: number];

/** What `openOverdueAsJson` yields. */
type OverdueRow = [
  scheduleId: string,
  taskId: string,
  kind: OverdueKind,
  fireTime: number,
  dueAt: number,
  raisedAt: number,
  jobId: string | null,
];

/** What is in a `SqlDataStore`, for people. */
export async function inspect(
  connection: Connection,
  { inspect: sql, inspectAll }: InspectionStatements,
  now: number,
  { countsSchedules = false, countMax = INSPECTED_COUNT_MAX }: InspectionOptions,
): Promise<StoreInspection> {
  const rows = await connection.readFresh(statement(countsSchedules ? inspectAll : sql, now, countMax));
  const [job] = jsonArray<DueRow>(rows, "oldest_job");
  const [schedule] = jsonArray<DueRow>(rows, "oldest_schedule");
  const open = jsonArray<OverdueRow>(rows, "overdue").map(overdueOf);
  const warnings = jsonArray<StoreWarning>(rows, "warnings");
  return {
    tasks: jsonArray<CountRow>(rows, "counts").map((row) => backlogOf(row, countMax)),
    oldestDueJob: job === undefined ? null : { id: job[0], taskId: job[1], runAt: job[2] },
    oldestDueSchedule:
      schedule === undefined ? null : { id: schedule[0], taskId: schedule[1], nextFireTime: schedule[2] },
    storeNow: numberOrNull(rows, "store_now"),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(open.length === 0 ? {} : { overdue: { open, ...openCount(openOverdueCount(rows)) } }),
    ...(countsSchedules ? { schedules: countsOf(jsonArray<ScheduleCountRow>(rows, "schedules"), countMax) } : {}),
  };
}

function overdueOf([scheduleId, taskId, kind, fireTime, dueAt, raisedAt, jobId]: OverdueRow): OverdueRecord {
  return { scheduleId, taskId, fireTime, kind, dueAt, raisedAt, jobId };
}

function backlogOf([taskId, ready, delayed, blocked, running]: CountRow, countMax: number): TaskBacklog {
  return {
    taskId,
    waiting: ready + delayed + blocked,
    running,
    ...(blocked === 0 ? {} : { blocked }),
    ...(ready >= countMax || delayed >= countMax ? { isQueuedCapped: true } : {}),
    ...(blocked >= countMax ? { isBlockedCapped: true } : {}),
  };
}

function openCount(count: number): { count: number; isCapped?: true } {
  return { count, ...(count >= OVERDUE_COUNTED_MAX ? { isCapped: true } : {}) };
}

function countsOf([row = [0, 0, 0, 0]]: readonly ScheduleCountRow[], countMax: number): ScheduleCounts {
  const [active, paused, ended, overdue] = row;
  const isCapped = row.some((count) => count >= countMax);
  return { active, paused, ended, overdue, ...(isCapped ? { isCapped } : {}) };
}
