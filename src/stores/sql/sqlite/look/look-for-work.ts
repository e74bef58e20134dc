import { NO_VERSION } from "../../../shared/declarations.ts";
import { TOMBSTONE_MS } from "../../../shared/limits.ts";
import type { FlowMode } from "../../flow-control/key-limiters.ts";
import { FIRST_QUEUE_PARAMETER, type QueueForm, queueParameterCount } from "../../jobs/acquisition.ts";
import { FAR_FUTURE_MS } from "../../limits.ts";
import type { LookForm } from "../../look/look-for-work.ts";
import { IS_UNSTARTED, JOB_STATE, REMOVED, type TableNames } from "../../schema/tables.ts";
import { hasAccounts, nextToken } from "../flow-control/key-limiters.ts";
import { overdueColumns } from "../history/overdue-occurrences.ts";
import { acquiredJobs, hasReadyJobs } from "../jobs/acquisition.ts";
import { blackoutsVersion } from "../schedules/blackouts.ts";
import { lookedScheduleAsJson, scheduleAsJson } from "../schedules/schedule-rows.ts";
import { zoneRulesTexts } from "../schedules/zone-rules.ts";
import { firstPauseEnd } from "../schema/pause-columns.ts";
import { STORE_NOW } from "../sql-and-json.ts";

/**
 * The one statement of a look, which is the last statement of a commit too. Its columns, each only when `form` asks for
 * its part:
 * - `next_run_at`, `next_miss_at`, `next_lease_end`, `has_ready`, `has_ended_dependencies` (see
 *   `DependencyStatements`), `has_flow`, whether the database needs flow control,
 *   and with flow control `has_accounts` (see `FlowState`);
 * - `acquired`, the acquired jobs as one JSON text;
 * - `pause_ends_at`, when the first pause ends;
 * - `blackouts`, the version of the blackouts;
 * - `due`, the due schedules as one JSON text, and `next_fire_at`, the earliest fire time that is not due;
 * - the `overdueColumns`;
 * - `stale_task_ids`, a JSON array;
 * - `has_expired`, whether a clean-up would remove results or windows, or trim histories;
 * - `zone_rules`, a JSON array of the texts that schedules have;
 * - `has_uptime`, whether an uptime ends after an instant;
 * - `unchanged`, a JSON array of the schedules that are stored as they are declared.
 *
 * Arguments, in this order: ?1 now; with jobs, ?2 the limit and from ?3 on the queues; with acquired jobs, schedulerId
 * and commitId; with schedules, dueBy, limit, and the time and id of `after`; with tasks, the rows of `staleTasks`; for
 * `has_expired`, the instant at which what counts was to be removed; for `zone_rules`, the text after which to begin,
 * and the limit; for `unchanged`, the rows [id, declaration, version].
 */
export function lookStatement(names: TableNames, form: LookForm): string {
  let next = 2;
  const parameters = (count: number): string[] => Array.from({ length: count }, () => `?${next++}`);
  const columns: string[] = [];
  if (form.queues !== null) {
    next = FIRST_QUEUE_PARAMETER + queueParameterCount(form.queues);
    const [schedulerId = "", commitId = ""] = form.acquired ? parameters(2) : [];
    columns.push(...jobColumns(names, form.queues, commitId, form));
    if (form.acquired) columns.push(`(${acquiredJobs(names, schedulerId, commitId)}) AS acquired`);
  }
  if (form.schedules) {
    columns.push(...scheduleColumns(names, parameters(4)), `(${blackoutsVersion(names)}) AS blackouts`);
  }
  if (form.queues !== null || form.schedules) {
    columns.push(pauseEnd(names, form.flow));
    if (form.overdue) columns.push(...overdueColumns(names));
  }
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
  if (form.declared) {
    const [rows = ""] = parameters(1);
    columns.push(`(${unchangedSchedules(names, rows, form.ledger)}) AS unchanged`);
  }
  if (form.uptime) {
    const [at = ""] = parameters(1);
    columns.push(
      `CASE WHEN EXISTS (SELECT 1 FROM ${names.uptimes} WHERE until > ${at}) THEN 1 ELSE 0 END AS has_uptime`,
    );
  }
  if (form.now) columns.push(`${STORE_NOW} AS store_now`);
  return `SELECT ${columns.join(", ")}`;
}

/** The schedules of the rows that an addition would leave as they are. One without a history gets one when it is
 *  added. */
function unchangedSchedules({ schedules, histories }: TableNames, rows: string, keepsLedger: boolean): string {
  const hasHistory = `EXISTS (SELECT 1 FROM ${histories} h WHERE h.schedule_id = s.id)`;
  return (
    `SELECT '[' || group_concat(${scheduleAsJson("s")}) || ']' FROM json_each(${rows}) d ` +
    `CROSS JOIN ${schedules} s ON s.id = d.value->>0 WHERE s.declaration = d.value->>1 ` +
    `AND coalesce(s.version, ${NO_VERSION}) >= coalesce(d.value->>2, ${NO_VERSION})` +
    (keepsLedger ? ` AND ${hasHistory}` : "")
  );
}

/** When the first pause ends. Every task that is paused has a key limiter, which tells looks to apply flow control. */
function pauseEnd({ schedules, tasks, keyLimiters }: TableNames, flow: FlowMode): string {
  const tables = flow === "on" ? [schedules, tasks, keyLimiters] : [schedules];
  const ends = tables.map(firstPauseEnd);
  const first = ends.length === 1 ? ends[0] : `SELECT min(at) FROM (${ends.join(" UNION ALL ")})`;
  return `(${first}) AS pause_ends_at`;
}

/** See `removeExpired`, `removeWindows` and `markBooks`. */
function hasExpired({ results, windows, histories, jobSteps }: TableNames, at: string, keepsLedger: boolean): string {
  return (
    `EXISTS (SELECT 1 FROM ${results} WHERE expires_at <= ${at}) ` +
    `OR EXISTS (SELECT 1 FROM ${windows} WHERE until <= ${at} - ${TOMBSTONE_MS}) ` +
    `OR EXISTS (SELECT 1 FROM ${jobSteps} WHERE check_at <= ${at})` +
    (keepsLedger ? ` OR EXISTS (SELECT 1 FROM ${histories} WHERE next_trim_at <= ${at})` : "")
  );
}

function jobColumns(names: TableNames, form: QueueForm, commitId: string, { acquired, flow }: LookForm): string[] {
  const { jobs, keyLimiters, dependencies } = names;
  const nextRun =
    `SELECT min(run_at) AS at FROM ${jobs} WHERE state = ${JOB_STATE.delayed} AND run_at > ?1 AND ` +
    isInstant("run_at");
  const nextStart = flow === "on" ? `SELECT min(at) FROM (${nextRun} UNION ALL ${nextToken(names)})` : nextRun;
  return [
    `(${nextStart}) AS next_run_at`,
    `(SELECT min(start_deadline) FROM ${jobs} WHERE ${isInstant("start_deadline")} AND ${IS_UNSTARTED}) + 1 ` +
      "AS next_miss_at",
    `(SELECT min(acquired_until) FROM ${jobs} WHERE state = ${JOB_STATE.leased} AND ${isInstant("acquired_until")}) ` +
      "AS next_lease_end",
    `(${hasReadyJobs(names, form, { commitId: acquired ? commitId : null, flow })}) AS has_ready`,
    `EXISTS (SELECT 1 FROM ${dependencies} WHERE outcome IS NOT NULL AND parent_id > '') AS has_ended_dependencies`,
    // Every task with limits and every unfinished job with a key has a key limiter.
    `EXISTS (SELECT 1 FROM ${keyLimiters} WHERE task_id > '') AS has_flow`,
    ...(flow === "on" ? [`${hasAccounts(names)} AS has_accounts`] : []),
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
