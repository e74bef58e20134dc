import { acquiredJobs, FIRST_QUEUE_PARAMETER, hasReadyJobs } from "./acquisition-statements.ts";
import { type QueueForm, queueParameterCount } from "./queues.ts";
import { lookedScheduleAsJson, scheduleSize } from "./schedule-rows.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

/** What a look shows. */
export interface LookForm {
  /** How the queues travel; null shows nothing of jobs. */
  readonly queues: QueueForm | null;
  /** Whether it shows what the step acquired. */
  readonly acquired: boolean;
  readonly schedules: boolean;
  readonly tasks: boolean;
}

/**
 * The one statement of a look, which is the last of a step as well. Its columns, those of each part where it shows it:
 * - `next_run_at`, `next_lease_end`, `has_ready`;
 * - `acquired`, the text of jobs;
 * - `due`, the text of schedules, and `next_fire_at`;
 * - `free_at`, the earliest end of a lease that a process of version 1 took on a schedule;
 * - `stale_task_ids`, a JSON array.
 *
 * Arguments: ?1 now; where it shows jobs ?2 the limit, from ?3 on the queues, and where it shows what was acquired
 * schedulerId and stepId; then dueBy, limit, bytesMax, and the time and id of `after`; then rows of `staleTasks`.
 */
export function lookStatement(names: TableNames, form: LookForm): string {
  let next = 2;
  const parameters = (count: number): string[] => Array.from({ length: count }, () => `?${next++}`);
  const ctes: string[] = [];
  const columns: string[] = [];
  if (form.queues !== null) {
    next = FIRST_QUEUE_PARAMETER + queueParameterCount(form.queues);
    columns.push(...jobColumns(names, form.queues));
    const [schedulerId = "", stepId = ""] = form.acquired ? parameters(2) : [];
    if (form.acquired) columns.push(`(${acquiredJobs(names, schedulerId, stepId)}) AS acquired`);
  }
  if (form.schedules) {
    const [dueBy = "", limit = "", bytesMax = "", afterTime = "", afterId = ""] = parameters(5);
    ctes.push(...duePage(names, { dueBy, limit, bytesMax, afterTime, afterId }));
    columns.push(...scheduleColumns(names));
  }
  if (form.queues !== null || form.schedules) columns.push(`(${earliestScheduleLease(names)}) AS free_at`);
  if (form.tasks) {
    const [rows = ""] = parameters(1);
    columns.push(`(${staleTasks(names, rows)}) AS stale_task_ids`);
  }
  return `${ctes.length === 0 ? "" : `WITH RECURSIVE ${ctes.join(", ")} `}SELECT ${columns.join(", ")}`;
}

function jobColumns(names: TableNames, form: QueueForm): string[] {
  const { jobs } = names;
  return [
    `(SELECT min(run_at) FROM ${jobs} WHERE state = ${JOB_STATE.delayed} AND run_at > ?1) AS next_run_at`,
    `(SELECT min(acquired_until) FROM ${jobs} WHERE state = ${JOB_STATE.leased}) AS next_lease_end`,
    `(${hasReadyJobs(names, form)}) AS has_ready`,
  ];
}

const IS_WAITING = "d.paused = 0 AND d.acquired_until IS NULL AND d.next_fire_time IS NOT NULL";

interface WindowParameters {
  readonly dueBy: string;
  readonly limit: string;
  readonly bytesMax: string;
  readonly afterTime: string;
  readonly afterId: string;
}

/**
 * The table `page`: row 0 is where the page begins, the others are its schedules. Each row asks the index for the one
 * that comes after it, so that no more is read than is shown, but for one row: a window over all that is due would read
 * every payload first.
 */
function duePage(
  { schedules }: TableNames,
  { dueBy, limit, bytesMax, afterTime, afterId }: WindowParameters,
): string[] {
  return [
    "walk (place, seq, at, id, bytes_before, bytes) AS (" +
      `SELECT 0, NULL, ${afterTime}, ${afterId}, 0, 0 UNION ALL ` +
      "SELECT p.place + 1, s.seq, s.next_fire_time, s.id, p.bytes_before + p.bytes, " +
      `${scheduleSize("s")} FROM walk p CROSS JOIN ${schedules} s ` +
      `WHERE p.place < ${limit} AND p.bytes_before + p.bytes <= ${bytesMax} AND s.seq = (` +
      `SELECT d.seq FROM ${schedules} d WHERE ${IS_WAITING} AND d.next_fire_time <= ${dueBy} ` +
      "AND (d.next_fire_time, d.id) > (p.at, p.id) ORDER BY d.next_fire_time, d.id LIMIT 1))",
    `page AS MATERIALIZED (SELECT * FROM walk WHERE place <= 1 OR bytes_before + bytes <= ${bytesMax})`,
  ];
}

function scheduleColumns(names: TableNames): string[] {
  const { schedules } = names;
  return [
    `(SELECT '[' || group_concat(schedule) || ']' FROM (SELECT ${lookedScheduleAsJson(names, "s", "p.bytes", "?1")} ` +
      `AS schedule FROM page p CROSS JOIN ${schedules} s ON s.seq = p.seq ORDER BY p.place)) AS due`,
    `(SELECT d.next_fire_time FROM ${schedules} d WHERE ${IS_WAITING} AND (d.next_fire_time, d.id) > ` +
      "(SELECT at, id FROM page ORDER BY place DESC LIMIT 1) ORDER BY d.next_fire_time, d.id LIMIT 1) AS next_fire_at",
  ];
}

function earliestScheduleLease({ schedules }: TableNames): string {
  return `SELECT min(acquired_until) FROM ${schedules} WHERE acquired_until IS NOT NULL`;
}

/** Ids of those tasks of the rows [id, maxRunningJobs, details] whose stored row is missing or another. */
function staleTasks({ tasks }: TableNames, rows: string): string {
  return (
    `SELECT json_group_array(e.value->>0) FROM json_each(${rows}) e LEFT JOIN ${tasks} t ON t.id = e.value->>0 ` +
    "WHERE t.id IS NULL OR t.max_running_jobs IS NOT e.value->>1 OR t.details IS NOT e.value->>2"
  );
}
