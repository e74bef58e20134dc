import { TOMBSTONE_MS } from "../../../core/limits.ts";
import { NO_VERSION } from "../../task-declarations.ts";
import type { FlowControl } from "../flow/awareness.ts";
import {
  acquiredJobs,
  FIRST_QUEUE_PARAMETER,
  hasReadyJobs,
  type QueueForm,
  queueParameterCount,
} from "../jobs/acquisition.ts";
import { overdueColumns } from "../ledger/overdue.ts";
import { FAR_FUTURE_MS } from "../limits.ts";
import { lookedScheduleAsJson } from "../schedules/schedule-rows.ts";
import { zoneRulesTexts } from "../schedules/zone-rules.ts";
import { IS_UNSTARTED, JOB_STATE, REMOVED, type TableNames } from "../schema/schema.ts";

/** What a look shows. */
export interface LookForm {
  /** How the queues travel; null for a look that shows nothing of jobs. */
  readonly queues: QueueForm | null;
  /** Whether the look ends a step. The step has made due jobs ready, and the look shows the jobs that it acquired. */
  readonly acquired: boolean;
  readonly schedules: boolean;
  readonly tasks: boolean;
  readonly expired: boolean;
  /** Whether the store trims histories. */
  readonly ledger: boolean;
  readonly zoneRules: boolean;
  /** Whether the look reports overdue occurrences. */
  readonly alarms: boolean;
  /** What the look heeds of flow control. */
  readonly flow: FlowControl;
}

/**
 * The one statement of a look, which is the last statement of a step too. Its columns, each only when `form` asks for
 * its part:
 * - `next_run_at`, `next_miss_at`, `next_lease_end`, `has_ready`, `has_settled_links` (see `ChainStatements`), and
 *   `has_flow`, what flow control the database needs (see `flowOf`);
 * - `acquired`, the acquired jobs as one JSON text;
 * - `due`, the due schedules as one JSON text, and `next_fire_at`, the earliest fire time that is not due;
 * - the `overdueColumns`;
 * - `stale_task_ids`, a JSON array;
 * - `has_expired`, whether a clean-up would remove results or windows, or trim histories;
 * - `zone_rules`, a JSON array of the texts that schedules have.
 *
 * Arguments, in this order: ?1 now; with jobs, ?2 the limit and from ?3 on the queues; with acquired jobs, schedulerId
 * and stepId; with schedules, dueBy, limit, and the time and id of `after`; with tasks, the rows of `staleTasks`; for
 * `has_expired`, the instant at which what counts was to be removed; for `zone_rules`, the text after which to begin,
 * and the limit.
 */
export function lookStatement(names: TableNames, form: LookForm): string {
  let next = 2;
  const parameters = (count: number): string[] => Array.from({ length: count }, () => `?${next++}`);
  const columns: string[] = [];
  if (form.queues !== null) {
    next = FIRST_QUEUE_PARAMETER + queueParameterCount(form.queues);
    const [schedulerId = "", stepId = ""] = form.acquired ? parameters(2) : [];
    columns.push(...jobColumns(names, form.queues, stepId, form));
    if (form.acquired) columns.push(`(${acquiredJobs(names, schedulerId, stepId)}) AS acquired`);
  }
  if (form.schedules) {
    columns.push(...scheduleColumns(names, parameters(4)));
  }
  if (form.alarms && (form.queues !== null || form.schedules)) columns.push(...overdueColumns(names));
  if (form.tasks) {
    const [rows = ""] = parameters(1);
    columns.push(`(${staleTasks(names, rows)}) AS stale_task_ids`);
  }
  if (form.expired) {
    const [at = ""] = parameters(1);
    columns.push(`(${hasExpired(names, at, form.ledger)}) AS has_expired`);
  }
  if (form.zoneRules) {
    const [after = "", limit = ""] = parameters(2);
    columns.push(`(${zoneRulesTexts(names, after, limit)}) AS zone_rules`);
  }
  return `SELECT ${columns.join(", ")}`;
}

/** See `removeExpired`, `removeWindows` and `hasMoreToTrim`. */
function hasExpired({ results, windows, histories }: TableNames, at: string, keepsLedger: boolean): string {
  return (
    `EXISTS (SELECT 1 FROM ${results} WHERE expires_at <= ${at}) ` +
    `OR EXISTS (SELECT 1 FROM ${windows} WHERE until <= ${at} - ${TOMBSTONE_MS})` +
    (keepsLedger ? ` OR EXISTS (SELECT 1 FROM ${histories} WHERE next_trim_at <= ${at})` : "")
  );
}

function jobColumns(names: TableNames, form: QueueForm, stepId: string, { acquired, flow }: LookForm): string[] {
  const { jobs, tasks, gates } = names;
  const nextRun =
    `SELECT min(run_at) AS at FROM ${jobs} WHERE state = ${JOB_STATE.delayed} AND run_at > ?1 AND ` +
    isInstant("run_at");
  // Every task with limits and every unfinished job with a key has a gate. A look that knows of none asks no further:
  // whoever finds one heeds everything in the next look, which tells what is needed.
  const hasGates = `EXISTS (SELECT 1 FROM ${gates} WHERE task_id > '')`;
  const needsMore =
    `EXISTS (SELECT 1 FROM ${tasks} WHERE (paused = 1 OR own_key IS NOT NULL) AND id > '') ` +
    `OR EXISTS (SELECT 1 FROM ${gates} WHERE paused = 1 AND task_id > '')`;
  const nextToken = `SELECT min(wake_at) FROM ${gates} WHERE wake_at > ?1 AND ${isInstant("wake_at")}`;
  return [
    `(${flow === "all" ? `SELECT min(at) FROM (${nextRun} UNION ALL ${nextToken})` : nextRun}) AS next_run_at`,
    `(SELECT min(start_deadline) FROM ${jobs} WHERE ${isInstant("start_deadline")} AND ${IS_UNSTARTED}) + 1 ` +
      "AS next_miss_at",
    `(SELECT min(acquired_until) FROM ${jobs} WHERE state = ${JOB_STATE.leased} AND ${isInstant("acquired_until")}) ` +
      "AS next_lease_end",
    `(${hasReadyJobs(names, form, { stepId: acquired ? stepId : null, flow })}) AS has_ready`,
    `EXISTS (SELECT 1 FROM ${names.links} WHERE outcome IS NOT NULL AND parent_id > '') AS has_settled_links`,
    `${flow === "none" ? `2 * ${hasGates}` : `${hasGates} + (${needsMore})`} AS has_flow`,
  ];
}

/** False for what is no instant in a damaged row. A text or a BLOB is greater than every number, and clients refuse
 *  integers that are too large for JavaScript. */
function isInstant(column: string): string {
  return `${column} <= ${FAR_FUTURE_MS}`;
}

const IS_WAITING = "paused = 0 AND next_fire_time IS NOT NULL";

/** The page of schedules that begins after `afterTime` and `afterId`, and the first fire time later than `dueBy`. */
function scheduleColumns(names: TableNames, window: readonly string[]): string[] {
  const { schedules } = names;
  const [dueBy, limit, afterTime, afterId] = window;
  const isAfter = `(next_fire_time, id) > (${afterTime}, ${afterId})`;
  const inOrder = "ORDER BY next_fire_time, id LIMIT";
  return [
    `(SELECT '[' || group_concat(schedule) || ']' FROM (SELECT ${lookedScheduleAsJson(names, "s", "?1")} AS schedule ` +
      `FROM ${schedules} s WHERE ${IS_WAITING} AND next_fire_time <= ${dueBy} AND ${isAfter} ` +
      `${inOrder} +${limit})) AS due`,
    `(SELECT next_fire_time FROM ${schedules} WHERE ${IS_WAITING} AND next_fire_time > ${dueBy} ` +
      `AND ${isInstant("next_fire_time")} AND ${isAfter} ` +
      `${inOrder} 1) AS next_fire_at`,
  ];
}

/** Of the tasks in the rows of `taskRow`, the ids of those that are stale, see `isStaleTask`. */
function staleTasks({ tasks }: TableNames, rows: string): string {
  return (
    `SELECT json_group_array(e.value->>0) FROM json_each(${rows}) e LEFT JOIN ${tasks} t ON t.id = e.value->>0 ` +
    `WHERE t.id IS NULL OR t.declaration IS ${REMOVED} OR CASE WHEN e.value->>3 IS NULL ` +
    `THEN t.max_running_jobs IS NOT e.value->>1 OR t.details IS NOT e.value->>2 ` +
    "ELSE t.declaration IS NOT e.value->>3 " +
    `OR coalesce(t.version, ${NO_VERSION}) < coalesce(e.value->>4, ${NO_VERSION}) END`
  );
}
