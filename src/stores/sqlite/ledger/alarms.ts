import {
  ALARM_KEPT_MS,
  ALARMS_CHECKED_PER_STEP_MAX,
  ALARMS_COUNTED_MAX,
  ALARMS_PER_STEP_MAX,
  ALARMS_SHOWN_MAX,
} from "../../../core/limits.ts";
import type { AlarmEnd, AlarmKind, AlarmRecord, ResolvedAlarmRecord } from "../../../records/alarm.ts";
import type { AlarmReport } from "../../alarms.ts";
import type { StepRequest } from "../../data-store.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { statement } from "../driver/parameters.ts";
import { lazily } from "../lazily.ts";
import { ALARMS_FORGOTTEN_PER_STEP_MAX, FAR_FUTURE_MS } from "../limits.ts";
import { detail } from "../rows.ts";
import { MAY_ALARM, UNMADE_ALARM_AT } from "../schema/ledger-tables.ts";
import { hasMissedStart, JOB_STATE, type TableNames } from "../schema/schema.ts";
import type { LedgerSwitch } from "./entries.ts";

import { isOf, skipVerdict } from "./entries.ts";

type Statements = AlarmStatements & LedgerSwitch;

/** The alarms of one step, as statements. */
export class StepAlarms {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  readonly #isRepetition: boolean;
  readonly #leftOut: number;
  readonly #isNeeded: boolean;

  /** @param leftOut how many open alarms the step does not look at, because other steps do */
  constructor(statements: Statements, request: StepRequest, isRepetition: boolean, leftOut: number) {
    this.#statements = statements;
    this.#request = request;
    this.#isRepetition = isRepetition;
    this.#leftOut = leftOut;
    this.#isNeeded = request.alarms === true && statements.keepsLedger;
  }

  raising(): SqlStatement[] {
    if (!this.#isNeeded) return [];
    const { now, stepId } = this.#request;
    const { raiseUnmade, markUnmade, raiseLate, markLate } = this.#statements;
    return [
      statement(raiseUnmade, now, stepId),
      statement(markUnmade, now),
      statement(raiseLate, now, stepId),
      statement(markLate, now),
    ];
  }

  resolving(): SqlStatement[] {
    if (!this.#isNeeded) return [];
    const { now, stepId } = this.#request;
    const { followSkips, resolveAlarms, forgetAlarms, getAlarmsOfStep } = this.#statements;
    return [
      statement(followSkips, this.#leftOut),
      statement(resolveAlarms, this.#leftOut, now, stepId),
      statement(forgetAlarms, now - ALARM_KEPT_MS),
      ...(this.#isRepetition ? [statement(getAlarmsOfStep, stepId)] : []),
    ];
  }

  /** What the answers of both tell; undefined for nothing. */
  report(raising: readonly Row[][], resolving: readonly Row[][]): AlarmReport | undefined {
    if (!this.#isNeeded) return undefined;
    const ofStep = resolving[3] ?? [];
    const raised = this.#isRepetition ? ofStep.filter(({ is_raised }) => is_raised === 1) : raising.flat();
    const resolved = this.#isRepetition ? ofStep.filter(({ is_resolved }) => is_resolved === 1) : (resolving[1] ?? []);
    if (raised.length === 0 && resolved.length === 0) return undefined;
    return { raised: raised.map(toAlarm), resolved: resolved.map(toResolvedAlarm) };
  }
}

/** How many open alarms each step leaves out, so that all of them are looked at in turn. */
export class AlarmTurns {
  #open = 0;
  #turn = 0;

  /** A look told how many are open. */
  heed(open: number): void {
    this.#open = open;
  }

  next(): number {
    if (this.#open <= ALARMS_CHECKED_PER_STEP_MAX) return 0;
    const start = this.#turn * ALARMS_CHECKED_PER_STEP_MAX;
    this.#turn = start + ALARMS_CHECKED_PER_STEP_MAX < this.#open ? this.#turn + 1 : 0;
    return start;
  }
}

function toAlarm(row: Row): AlarmRecord {
  return {
    scheduleId: String(row.schedule_id),
    taskId: String(row.task_id),
    fireTime: Number(row.at),
    kind: row.kind as AlarmKind,
    dueAt: Number(row.due_at),
    raisedAt: Number(row.raised_at),
    jobId: row.job_id === null ? null : String(row.job_id),
  };
}

function toResolvedAlarm(row: Row): ResolvedAlarmRecord {
  return { ...toAlarm(row), reason: row.reason as AlarmEnd };
}

/** The statements that raise and resolve alarms. A comment before each lists its arguments. */
export interface AlarmStatements {
  readonly raiseUnmade: string;
  readonly markUnmade: string;
  readonly raiseLate: string;
  readonly markLate: string;
  readonly followSkips: string;
  readonly resolveAlarms: string;
  readonly forgetAlarms: string;
  readonly getAlarmsOfStep: string;
}

/** What the answers of the statements show of an alarm. */
const COLUMNS =
  "CAST(schedule_id AS TEXT) AS schedule_id, CAST(task_id AS TEXT) AS task_id, at + 0 AS at, " +
  "CAST(kind AS TEXT) AS kind, due_at + 0 AS due_at, raised_at + 0 AS raised_at, CAST(job_id AS TEXT) AS job_id";

/** With a range, because a statement without one would read like a scan of the whole table. */
const IS_OPEN = "resolved_at IS NULL AND schedule_id > ''";

export function alarmStatements(names: TableNames): AlarmStatements {
  const { schedules, jobs, books, occurrences, alarms } = names;
  const columns = "schedule_id, task_id, at, follows, kind, job_id, due_at, raised_at, raised_by";
  /** The alarms of two kinds that `rows` can have. */
  const raise = (rows: string, fireTime: string, job: string, mayStart: string): string => {
    const kind = (name: string, within: string, condition: string): string =>
      `SELECT s.id AS id, s.task_id AS task_id, ${fireTime} AS at, '${name}' AS kind, ${job} AS job, ` +
      `${fireTime} + s.${within} AS due ${rows}${condition}`;
    return (
      `INSERT OR IGNORE INTO ${alarms} (${columns}) SELECT id, task_id, at, at, kind, job, due, ?1, ?2 FROM (` +
      `${kind("start", "expect_start", mayStart)} UNION ALL ${kind("finish", "expect_finish", "")}) ` +
      `WHERE due <= ?1 RETURNING ${COLUMNS}`
    );
  };
  const unmade =
    `SELECT * FROM ${schedules} WHERE ${MAY_ALARM} AND +next_fire_time <= ${FAR_FUTURE_MS} ` +
    `AND ${UNMADE_ALARM_AT} <= ?1 ORDER BY ${UNMADE_ALARM_AT} LIMIT ${ALARMS_PER_STEP_MAX}`;
  const late = `SELECT * FROM ${jobs} WHERE alarm_at <= ?1 ORDER BY alarm_at LIMIT ${ALARMS_PER_STEP_MAX}`;
  const hasStarted = `(j.state = ${JOB_STATE.leased} OR j.failed_attempts > 0 OR j.recoveries > 0)`;
  const later = (within: string): string => `WHEN fire_time + s.${within} > ?1 THEN fire_time + s.${within}`;
  const open =
    `(SELECT schedule_id, at, kind, follows FROM ${alarms} WHERE ${IS_OPEN} ` +
    `ORDER BY schedule_id, at, kind LIMIT ${ALARMS_CHECKED_PER_STEP_MAX} OFFSET +?1)`;
  const isSame = ["schedule_id", "at", "kind"].map((column) => `${alarms}.${column} = v.${column}`).join(" AND ");
  // The entry of the fire time, or the skip in which it is.
  const hasEntry =
    `${isOf("b.seq", "o")} AND o.at = coalesce(` +
    `(SELECT e.at FROM ${occurrences} e WHERE ${isOf("b.seq", "e")} AND e.at = a.follows), ` +
    `(SELECT max(e.at) FROM ${occurrences} e WHERE e.book = b.seq AND e.at < a.follows AND e.run IS NULL)) ` +
    "AND coalesce(o.until, o.at) >= a.follows";
  const verdict = (name: "paused" | "removed"): string => `WHEN o.verdict = ${skipVerdict(name)} THEN '${name}'`;
  // Without a schedule, or where it is past the fire time, the occurrence has been processed.
  const reason =
    "CASE WHEN s.next_fire_time <= a.at THEN CASE WHEN s.paused = 1 THEN 'paused' END " +
    `WHEN j.id IS NOT NULL THEN CASE WHEN a.kind = 'start' AND ${hasStarted} THEN 'started' END ` +
    "WHEN o.at IS NULL THEN CASE WHEN s.id IS NULL THEN 'removed' ELSE 'finished' END " +
    "WHEN o.run IS NOT NULL THEN CASE WHEN a.kind = 'start' " +
    // An instant that is missing is a hyphen.
    "AND substr(o.run, 1, instr(o.run, '/')) NOT LIKE '% - %' THEN 'started' " +
    "ELSE 'finished' END " +
    `${verdict("paused")} ${verdict("removed")} WHEN o.target > a.follows THEN NULL ELSE 'skipped' END`;

  return lazily<AlarmStatements>({
    // These four raise alarms, and run one after the other. ?1 now, ?2 stepId. Of fire times without a job.
    raiseUnmade: () =>
      raise(`FROM (${unmade}) s`, "s.next_fire_time", "NULL", " WHERE s.alarmed IS NOT 2 * s.next_fire_time"),
    // ?1 now
    markUnmade: () =>
      `UPDATE ${schedules} SET alarmed = 2 * next_fire_time + coalesce(next_fire_time + expect_finish <= ?1, 1) ` +
      `WHERE seq IN (SELECT seq FROM (${unmade}))`,
    // The arguments of raiseUnmade. Of jobs.
    raiseLate: () =>
      raise(
        `FROM (${late}) j CROSS JOIN ${schedules} s ON s.id = j.schedule_id ` +
          `AND (${hasMissedStart("?1", "j")}) IS NOT TRUE`,
        "j.fire_time",
        "j.id",
        ` AND NOT ${hasStarted}`,
      ),
    // ?1 now
    markLate: () =>
      `UPDATE ${jobs} SET alarm_at = (SELECT CASE ${later("expect_start")} ${later("expect_finish")} END ` +
      `FROM ${schedules} s WHERE s.id = schedule_id) WHERE seq IN (SELECT seq FROM (${late}))`,

    // The next two resolve alarms, and run one after the other. ?1 how many open alarms to leave out. Where another
    // job stands for an occurrence, the alarm follows that job.
    followSkips: () =>
      `UPDATE ${alarms} SET follows = v.target FROM (SELECT a.schedule_id, a.at, a.kind, o.target FROM ${open} a ` +
      `CROSS JOIN ${books} b ON b.schedule_id = a.schedule_id CROSS JOIN ${occurrences} o ON ${hasEntry} ` +
      `WHERE o.target > a.follows) v WHERE ${isSame}`,
    // ?1 as above, ?2 now, ?3 stepId
    resolveAlarms: () =>
      `UPDATE ${alarms} SET resolved_at = ?2, resolved_by = ?3, reason = v.reason, job_id = coalesce(v.job, job_id) ` +
      "FROM (SELECT a.schedule_id, a.at, a.kind, coalesce(j.id, substr(o.run, instr(o.run, '/') + 1)) AS job, " +
      `${reason} AS reason FROM ${open} a ` +
      `LEFT JOIN ${schedules} s ON s.id = a.schedule_id ` +
      `LEFT JOIN ${jobs} j ON j.schedule_id = a.schedule_id AND j.fire_time = a.follows ` +
      `AND ${detail("retryOf", "j")} IS NULL ` +
      `LEFT JOIN ${books} b ON b.schedule_id = a.schedule_id LEFT JOIN ${occurrences} o ON ${hasEntry}) v ` +
      `WHERE ${isSame} AND v.reason IS NOT NULL ` +
      `RETURNING ${COLUMNS}, reason`,
    // ?1 the instant up to which resolved alarms are forgotten
    forgetAlarms: () =>
      `DELETE FROM ${alarms} WHERE (schedule_id, at, kind) IN (SELECT schedule_id, at, kind FROM ${alarms} ` +
      `WHERE resolved_at IS NOT NULL AND resolved_at <= ?1 LIMIT ${ALARMS_FORGOTTEN_PER_STEP_MAX})`,
    // ?1 stepId. For repetitions. Columns besides those of the statements above: whether the step raised the alarm, and
    // whether it resolved it.
    getAlarmsOfStep: () =>
      `SELECT ${COLUMNS}, reason, raised_by = ?1 AS is_raised, coalesce(resolved_by = ?1, 0) AS is_resolved ` +
      `FROM ${alarms} WHERE schedule_id > '' AND (raised_by = ?1 OR resolved_by = ?1)`,
  });
}

/** The columns of a look that tell of alarms: `alarm_at`, the earliest instant at which one may be to raise, and that
 *  of {@link openAlarmsColumn}. */
export function alarmColumns(names: TableNames): string[] {
  const { schedules, jobs } = names;
  return [
    // The plus sign keeps SQLite from using the index of due schedules.
    `(SELECT min(at) FROM (SELECT * FROM (SELECT ${UNMADE_ALARM_AT} AS at FROM ${schedules} WHERE ${MAY_ALARM} ` +
      `AND ${UNMADE_ALARM_AT} <= ${FAR_FUTURE_MS} AND +next_fire_time <= ${FAR_FUTURE_MS} ` +
      `ORDER BY ${UNMADE_ALARM_AT} LIMIT 1) ` +
      `UNION ALL SELECT min(alarm_at) FROM ${jobs} WHERE alarm_at <= ${FAR_FUTURE_MS})) AS alarm_at`,
    openAlarmsColumn(names),
  ];
}

/** The column `open_alarms`: how many alarms are open. */
export function openAlarmsColumn({ alarms }: TableNames): string {
  return `(SELECT count(*) FROM (SELECT 1 FROM ${alarms} WHERE ${IS_OPEN} LIMIT ${ALARMS_COUNTED_MAX})) AS open_alarms`;
}

/** SQL of the open alarms, as a JSON array, for people. Their jobs are those of now. */
export function openAlarmsAsJson({ jobs, alarms }: TableNames): string {
  const job =
    `(SELECT j.id FROM ${jobs} j WHERE j.schedule_id = a.schedule_id AND j.fire_time = a.follows ` +
    `AND ${detail("retryOf", "j")} IS NULL)`;
  const texts = ["schedule_id", "task_id", "kind"].map((column) => `CAST(a.${column} AS TEXT)`).join(", ");
  return (
    `SELECT json_group_array(json_array(${texts}, at + 0, due_at + 0, raised_at + 0, CAST(job AS TEXT))) ` +
    `FROM (SELECT a.*, coalesce(${job}, a.job_id) AS job FROM (SELECT * FROM ${alarms} WHERE ${IS_OPEN} ` +
    `LIMIT ${ALARMS_COUNTED_MAX}) a ORDER BY a.due_at, a.schedule_id, a.kind DESC LIMIT ${ALARMS_SHOWN_MAX}) a`
  );
}
