import { NO_VERSION } from "../../../shared/declarations.ts";
import { TOMBSTONE_MS } from "../../../shared/limits.ts";
import type { FlowMode } from "../../flow-control/key-limiters.ts";
import { FIRST_QUEUE_PARAMETER, queueParameterCount } from "../../jobs/acquisition.ts";
import { FAR_FUTURE_MS } from "../../limits.ts";
import type { LookForm } from "../../look/look-for-work.ts";
import { IS_UNSTARTED, JOB_STATE, REMOVED } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { hasAccounts, nextToken } from "../flow-control/key-limiters.ts";
import { overdueColumns } from "../history/overdue-occurrences.ts";
import { acquiredJobs, hasReadyJobs, nextLeaseEnd, nextLeaseEndAfter } from "../jobs/acquisition.ts";
import { blackoutsVersion, zoneRulesTexts } from "../schedules/blackouts-and-zones.ts";
import { lookedScheduleAsJson, scheduleAsJson } from "../schedules/schedule-conditions.ts";
import type { PostgresNames } from "../schema/names.ts";
import { type Stored, storedRead } from "../schema/stored.ts";
import { joinedJson, keptJson, rowsOf, STORE_NOW } from "../sql-and-json.ts";

/** The one statement of a look, with the columns and arguments of the function of this name on SQLite's SQL. */
export function lookStatement(names: PostgresNames, form: LookForm): string {
  let next = 2;
  const parameters = (count: number): string[] => Array.from({ length: count }, () => `?${next++}`);
  const columns: string[] = [];
  if (form.queues !== null) {
    next = FIRST_QUEUE_PARAMETER + queueParameterCount(form.queues);
    const [schedulerId = "", commitId = ""] = form.acquired ? parameters(2) : [];
    columns.push(...jobColumns(names, form, form.acquired ? commitId : null));
    if (form.acquired) columns.push(`(${acquiredJobs(names, schedulerId, commitId)}) AS acquired`);
  }
  const stored = storedLooks(names);
  if (form.schedules) {
    const window = parameters(4);
    columns.push(
      `${stored.due.call("?1", ...window)} AS due`,
      `${stored.nextFireAt.call(window[0] ?? "", ...window.slice(2))} AS next_fire_at`,
      `(${blackoutsVersion(names)}) AS blackouts`,
    );
  }
  if (form.queues !== null || form.schedules) {
    columns.push(`${stored.pauseEnds[form.flow].call()} AS pause_ends_at`);
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
function unchangedSchedules(names: PostgresNames, rows: string, keepsLedger: boolean): string {
  const { schedules, histories } = names;
  const hasHistory = `EXISTS (SELECT 1 FROM ${histories} h WHERE h.schedule_id = s.id)`;
  return (
    `SELECT ${joinedJson(scheduleAsJson(names, "s"), "d.key")} ` +
    `FROM ${rowsOf(rows, "d", "id text, declaration text, version bigint")} ` +
    `JOIN ${schedules} s ON s.id = d.id WHERE s.declaration = d.declaration ` +
    `AND coalesce(s.version, ${NO_VERSION}) >= coalesce(d.version, ${NO_VERSION})` +
    (keepsLedger ? ` AND ${hasHistory}` : "")
  );
}

/** See `removeExpired`, `removeWindows` and `removeHistories`. */
function hasExpired(
  { results, windows, histories, jobSteps }: PostgresNames,
  at: string,
  keepsLedger: boolean,
): string {
  return (
    `EXISTS (SELECT 1 FROM ${results} WHERE expires_at <= ${at}) ` +
    `OR EXISTS (SELECT 1 FROM ${windows} WHERE until <= ${at} - ${TOMBSTONE_MS}) ` +
    `OR EXISTS (SELECT 1 FROM ${jobSteps} WHERE check_at <= ${at})` +
    (keepsLedger ? ` OR EXISTS (SELECT 1 FROM ${histories} WHERE next_trim_at <= ${at})` : "")
  );
}

function jobColumns(names: PostgresNames, form: LookForm, commitId: string | null): string[] {
  const { flow, queues } = form;
  const stored = storedLooks(names);
  return [
    `${stored.nextRunAt[flow].call("?1")} AS next_run_at`,
    `${stored.nextMissAt.call()} AS next_miss_at`,
    `${commitId === null ? stored.nextLeaseEnd.call() : stored.nextLeaseEndAfter.call(commitId)} AS next_lease_end`,
    `${hasReadyJobs(names, queues ?? 0, { commitId, flow })} AS has_ready`,
    `${stored.hasEndedDependencies.call()} AS has_ended_dependencies`,
    `${stored.hasFlow.call()} AS has_flow`,
    ...(flow === "on" ? [`${hasAccounts(names)} AS has_accounts`] : []),
  ];
}

const IS_WAITING = "s.paused = 0 AND s.next_fire_time IS NOT NULL";

interface StoredLooks {
  readonly nextRunAt: Readonly<Record<FlowMode, Stored>>;
  readonly nextMissAt: Stored;
  readonly nextLeaseEnd: Stored;
  /** The same at the end of a commit, of which it takes the id. */
  readonly nextLeaseEndAfter: Stored;
  readonly hasEndedDependencies: Stored;
  /** Every task with limits and every unfinished job with a key has a key limiter. */
  readonly hasFlow: Stored;
  /** The page of schedules that begins after a fire time and an id: now, until when, limit, time, id. */
  readonly due: Stored;
  /** The first fire time later than that: until when, time, id. */
  readonly nextFireAt: Stored;
  /** When the first pause ends. Every task that is paused has a key limiter, which tells looks to apply flow
   *  control. */
  readonly pauseEnds: Readonly<Record<FlowMode, Stored>>;
}

/** The columns of the looks of every day. Others are asked for at starts and now and then. */
export function storedLooks(names: PostgresNames): StoredLooks {
  const { jobs, keyLimiters, dependencies, schedules, tasks } = names;
  const nextRun = `SELECT min(run_at) AS at FROM ${jobs} WHERE state = ${JOB_STATE.delayed} AND run_at > ?1`;
  const read = (name: string, types: readonly string[], returns: string, sql: string): Stored =>
    storedRead(names, { name, types, sql }, returns);
  const pauseEnd = (tables: readonly string[]): string => {
    const ends = tables.map(
      (table) => `SELECT min(paused_until) AS at FROM ${table} WHERE paused_until <= ${FAR_FUTURE_MS}`,
    );
    return `SELECT min(p.at) FROM (${ends.join(" UNION ALL ")}) p`;
  };
  const isAfter = (time: string, id: string): string => `(s.next_fire_time, s.id) > (${time}, ${id})`;
  const inOrder = "ORDER BY s.next_fire_time, s.id LIMIT";
  return lazily<StoredLooks>({
    nextRunAt: () => ({
      off: read("next_run_at", ["bigint"], "bigint", nextRun),
      on: read(
        "next_start_at",
        ["bigint"],
        "bigint",
        `SELECT min(n.at) FROM (${nextRun} UNION ALL ${nextToken(names)}) n`,
      ),
    }),
    nextMissAt: () =>
      read(
        "next_miss_at",
        [],
        "bigint",
        `SELECT min(start_deadline) + 1 FROM ${jobs} WHERE start_deadline IS NOT NULL AND ${IS_UNSTARTED}`,
      ),
    nextLeaseEnd: () => read("next_lease_end", [], "bigint", nextLeaseEnd(names)),
    nextLeaseEndAfter: () => read("next_lease_end_after_commit", ["text"], "bigint", nextLeaseEndAfter(names, "?1")),
    hasEndedDependencies: () =>
      read("has_ended_dependencies", [], "boolean", `EXISTS (SELECT 1 FROM ${dependencies} WHERE outcome IS NOT NULL)`),
    hasFlow: () => read("has_flow", [], "boolean", `EXISTS (SELECT 1 FROM ${keyLimiters})`),
    due: () =>
      read(
        "due_schedules",
        ["bigint", "bigint", "bigint", "bigint", "text"],
        "text",
        `SELECT ${joinedJson("d.schedule", "d.at, d.id")} FROM (SELECT s.next_fire_time AS at, s.id, ` +
          `${lookedScheduleAsJson(names, "s", "?1")} AS schedule ` +
          `FROM ${schedules} s WHERE ${IS_WAITING} AND s.next_fire_time <= ?2 AND ${isAfter("?4", "?5")} ` +
          `${inOrder} ?3) d`,
      ),
    nextFireAt: () =>
      read(
        "next_fire_at",
        ["bigint", "bigint", "text"],
        "bigint",
        `SELECT s.next_fire_time FROM ${schedules} s WHERE ${IS_WAITING} AND s.next_fire_time > ?1 ` +
          `AND ${isAfter("?2", "?3")} ${inOrder} 1`,
      ),
    pauseEnds: () => ({
      off: read("pause_of_schedule_ends_at", [], "bigint", pauseEnd([schedules])),
      on: read("pause_ends_at", [], "bigint", pauseEnd([schedules, tasks, keyLimiters])),
    }),
  });
}

/** Of the tasks in the rows of `taskRow`, the ids of those that are stale, see `isStaleTask`. */
function staleTasks(names: PostgresNames, rows: string): string {
  const { tasks } = names;
  return (
    "SELECT json_agg(e.id ORDER BY e.key)::text FROM " +
    `${rowsOf(rows, "e", "id text, max_running_jobs bigint, details text, declaration text, version bigint")} ` +
    `LEFT JOIN ${tasks} t ON t.id = e.id WHERE t.id IS NULL OR t.declaration IS NOT DISTINCT FROM ${REMOVED} ` +
    "OR CASE WHEN e.declaration IS NULL THEN t.max_running_jobs IS DISTINCT FROM e.max_running_jobs " +
    `OR t.details::text IS DISTINCT FROM ${keptJson(names, "e.details")}::text ELSE t.declaration IS DISTINCT ` +
    `FROM e.declaration ` +
    `OR coalesce(t.version, ${NO_VERSION}) < coalesce(e.version, ${NO_VERSION}) END`
  );
}
