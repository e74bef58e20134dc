import { TOMBSTONE_MS } from "../../../core/limits.ts";
import type { TaskRecord } from "../../../records/task.ts";
import type { LookedSchedule, LookRequest, ScheduleDeclaration, ScheduleWindow, Seen, View } from "../../data-store.ts";
import { NO_VERSION } from "../../shared/declarations.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS, OVERDUE_UNASKED_MS_MAX } from "../bounds.ts";
import type { Row, SqlStatement, SqlValue } from "../driver/driver-and-failures.ts";
import { type FlowMode, hasAccounts, nextToken } from "../flow-control/key-limiters.ts";
import { taskRow } from "../flow-control/tasks.ts";
import {
  acquiredJobs,
  FIRST_QUEUE_PARAMETER,
  hasReadyJobs,
  type QueueForm,
  queueParameterCount,
  queueParameters,
} from "../jobs/acquisition.ts";
import { overdueColumns } from "../ledger/overdue-occurrences.ts";
import {
  type LookedScheduleRow,
  lookedScheduleAsJson,
  scheduleAsJson,
  toLookedSchedule,
} from "../schedules/schedule-rows.ts";
import { blackoutsVersion } from "../schedules/sqlite-blackouts.ts";
import { zoneRulesTexts } from "../schedules/sqlite-zone-rules.ts";
import { firstPauseEnd } from "../schema/pause-columns.ts";
import { IS_UNSTARTED, JOB_STATE, REMOVED, type TableNames } from "../schema/tables.ts";
import { fits, jsonArray, numberOrNull, STORE_NOW } from "../sql-and-json.ts";

/** What a look shows in addition to the parts that its view asks for. */
export interface LookExtras {
  /** The commit whose leased jobs the look shows. */
  readonly commitId?: string;
  /** Tasks that the look compares with their stored rows. */
  readonly tasks?: readonly TaskRecord[];
  /** The look finds out if results have expired for so long, in milliseconds; null if it does not. */
  readonly expiredForMs?: number | null;
  /** See {@link LookRequest.zoneRules}. */
  readonly zoneRules?: LookRequest["zoneRules"] | undefined;
  /** See {@link LookRequest.asksForNow}. */
  readonly asksForNow?: boolean;
  /** See {@link LookRequest.uptimeAfter}. */
  readonly uptimeAfter?: number | undefined;
  /** See {@link LookRequest.declared}. */
  readonly declared?: readonly ScheduleDeclaration[] | undefined;
  readonly flow: FlowMode;
}

/** Makes the statements of looks, and keeps their texts for later looks. */
export class Looks {
  readonly #lookStatement: (form: LookForm) => string;
  readonly #keepsLedger: boolean;
  readonly #texts = new Map<string, string>();
  readonly #pages = new DuePages();
  /** Whether something may be overdue some time, as far as the store knows. Most databases expect nothing, and a client
   *  that prepares each statement anew would spend a quarter of a look on the question. */
  #mayBeOverdue = false;
  /** When a look last asked that, in epoch milliseconds. */
  #askedAt = Number.NEGATIVE_INFINITY;

  /** @param keepsLedger whether the store trims histories, and reports overdue occurrences */
  constructor(lookStatement: (form: LookForm) => string, keepsLedger: boolean) {
    this.#lookStatement = lookStatement;
    this.#keepsLedger = keepsLedger;
  }

  /** The statement of a look; null when there is nothing to show. Read the answer with {@link seen}. */
  statement(
    { now, schedulerId, jobs, schedules }: View,
    { commitId, tasks, expiredForMs = null, zoneRules, declared, asksForNow = false, uptimeAfter, flow }: LookExtras,
  ): SqlStatement | null {
    const args: SqlValue[] = [now];
    const queues = jobs === null ? null : queueParameters(jobs);
    const showsAcquired = queues !== null && commitId !== undefined;
    if (jobs !== null && queues !== null) args.push(jobs.limit, ...queues.args);
    if (showsAcquired) args.push(schedulerId, commitId);
    if (schedules !== null) {
      args.push(...this.#pages.parameters(schedules));
    }
    if (tasks !== undefined) args.push(JSON.stringify(tasks.map(taskRow)));
    if (expiredForMs !== null) args.push(now - expiredForMs);
    if (zoneRules !== undefined) args.push(zoneRules.after, zoneRules.limit);
    if (declared !== undefined) args.push(declaredRows(declared));
    if (uptimeAfter !== undefined) args.push(uptimeAfter);
    if (args.length === 1) {
      if (!asksForNow) return null;
      // Nothing else is asked, which needs no arguments.
      args.pop();
    }
    const form = {
      queues: queues?.form ?? null,
      acquired: showsAcquired,
      schedules: schedules !== null,
      tasks: tasks !== undefined,
      expired: expiredForMs !== null,
      ledger: this.#keepsLedger,
      zoneRules: zoneRules !== undefined,
      declared: declared !== undefined,
      uptime: uptimeAfter !== undefined,
      now: asksForNow,
      overdue: this.#keepsLedger && (this.#mayBeOverdue || Math.abs(now - this.#askedAt) >= OVERDUE_UNASKED_MS_MAX),
      flow,
    };
    return { sql: this.#text(form), args };
  }

  /** What the answer shows. No rows are the answer of a look at nothing. */
  seen({ now, schedules }: View, rows: readonly Row[]): Seen {
    const due = jsonArray<LookedScheduleRow>(rows, "due").map(toLookedSchedule);
    const nextFireAt = numberOrNull(rows, "next_fire_at");
    const nextAt = numberOrNull(rows, "overdue_at");
    const isOpen = openOverdueCount(rows) > 0;
    const pauseEndsAt = numberOrNull(rows, "pause_ends_at");
    const blackouts = numberOrNull(rows, "blackouts");
    if (rows[0]?.open_overdue !== undefined) {
      this.#askedAt = now;
      this.#mayBeOverdue = nextAt !== null || isOpen;
    }
    return {
      ...(schedules === null ? { due, nextFireAt } : this.#pages.page(due, schedules, nextFireAt)),
      nextRunAt: numberOrNull(rows, "next_run_at"),
      nextMissAt: numberOrNull(rows, "next_miss_at"),
      leaseEndsAt: numberOrNull(rows, "next_lease_end"),
      // A commit is needed to resolve dependencies, too.
      hasReady: numberOrNull(rows, "has_ready") === 1 || hasEndedDependencies(rows),
      ...(blackouts === null ? {} : { blackouts }),
      ...(pauseEndsAt === null ? {} : { pauseEndsAt }),
      ...(nextAt === null && !isOpen ? {} : { overdue: { nextAt, isOpen } }),
    };
  }

  /** A schedule was changed: the next look asks for overdue occurrences. */
  changed(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether the database needs flow control, as a look tells; null for a look that shows nothing of jobs. */
  flow(rows: readonly Row[]): FlowMode | null {
    const hasFlow = numberOrNull(rows, "has_flow");
    return hasFlow === null ? null : hasFlow === 1 ? "on" : "off";
  }

  /** The answer was larger than the database sends: the next answer has fewer schedules. False when it cannot have
   *  fewer. */
  shrink({ schedules }: View): boolean {
    return schedules !== null && this.#pages.shrink(schedules);
  }

  #text(form: LookForm): string {
    const { queues, acquired, schedules, tasks, expired, zoneRules, declared, uptime, now, overdue, flow } = form;
    const key = [queues, acquired, schedules, tasks, expired, zoneRules, declared, uptime, now, overdue, flow].join();
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = this.#lookStatement(form);
      this.#texts.set(key, text);
    }
    return text;
  }
}

/** Whether a look found jobs that wait although the jobs that they wait for have ended. Only a commit resolves these
 *  dependencies. */
export function hasEndedDependencies(rows: readonly Row[]): boolean {
  return numberOrNull(rows, "has_ended_dependencies") === 1;
}

/** How many overdue occurrences a look found to be open. */
export function openOverdueCount(rows: readonly Row[]): number {
  return numberOrNull(rows, "open_overdue") ?? 0;
}

function declaredRows(declared: readonly ScheduleDeclaration[]): string {
  return JSON.stringify(declared.map(({ id, declaration, version }) => [id, declaration ?? null, version ?? null]));
}

/** As many of the declared schedules as fit into one parameter; undefined for none. */
export function comparableSchedules(
  declared: readonly ScheduleDeclaration[] | undefined,
): readonly ScheduleDeclaration[] | undefined {
  let fitting = declared ?? [];
  while (fitting.length > 0 && !fits(declaredRows(fitting))) fitting = fitting.slice(0, fitting.length / 2);
  return fitting.length === 0 ? undefined : fitting;
}

/** Splits tasks into those whose rows fit into one parameter, and the others. */
export function comparableTasks(tasks: readonly TaskRecord[]): [fitting: TaskRecord[], others: TaskRecord[]] {
  let count = tasks.length;
  while (count > 0 && !fits(JSON.stringify(tasks.slice(0, count).map(taskRow)))) count = Math.floor(count / 2);
  return [tasks.slice(0, count), tasks.slice(count)];
}

/** What a page of schedules shows. */
export type DuePage = Pick<Seen, "due" | "nextFireAt">;

/**
 * Pages of due schedules. A page ends where its bytes reach their limit. A statement that stopped reading at that place
 * would cost more to prepare than the rest of a look. Therefore the statement reads all rows up to the limit of rows.
 * When these rows were too large, the next statements read about as many rows as fitted.
 */
export class DuePages {
  #rowsMax = Number.POSITIVE_INFINITY;

  /** The parameters of a page: dueBy, limit, and the time and id of `after`. The limit has one row more than the page,
   *  because that row tells what comes next. */
  parameters({ dueBy, limit, after }: ScheduleWindow): SqlValue[] {
    return [dueBy, this.#rowsOf(limit) + 1, ...(after ?? [FAR_PAST_MS, ""])];
  }

  /** Cuts the rows that were read to the page. `nextFireAt` is the earliest fire time that is not due. */
  page(rows: readonly LookedSchedule[], { limit, bytesMax }: ScheduleWindow, nextFireAt: number | null): DuePage {
    let bytes = 0;
    const fitting = rows.findIndex((row, place) => {
      bytes += row.bytes;
      return place > 0 && bytes > bytesMax;
    });
    const rowsMax = this.#rowsOf(limit);
    const count = Math.min(fitting === -1 ? rows.length : fitting, rowsMax);
    if (count < rowsMax && count < rows.length) this.#rowsMax = 2 * count;
    else if (rows.length > rowsMax) this.#rowsMax *= 2;
    return { due: rows.slice(0, count), nextFireAt: rows[count]?.nextFireTime ?? nextFireAt };
  }

  /** The answer was larger than the database sends: from now on, fewer rows are read. False when the answer had one row
   *  only. */
  shrink({ limit }: ScheduleWindow): boolean {
    const rowsMax = this.#rowsOf(limit);
    this.#rowsMax = Math.max(1, Math.ceil(rowsMax / 4));
    return rowsMax > 1;
  }

  #rowsOf(limit: number): number {
    return Math.min(limit, this.#rowsMax);
  }
}

/** What a look shows. */
export interface LookForm {
  /** How the queues travel; null for a look that shows nothing of jobs. */
  readonly queues: QueueForm | null;
  /** Whether the look ends a commit. The commit has made due jobs ready, and the look shows the jobs that it
   *  acquired. */
  readonly acquired: boolean;
  readonly schedules: boolean;
  readonly tasks: boolean;
  readonly expired: boolean;
  /** Whether the store trims histories. */
  readonly ledger: boolean;
  readonly zoneRules: boolean;
  readonly declared: boolean;
  /** Whether the look tells of uptimes that end after an instant. */
  readonly uptime: boolean;
  /** Whether the look tells what the store's clock says. */
  readonly now: boolean;
  /** Whether the look reports overdue occurrences. */
  readonly overdue: boolean;
  readonly flow: FlowMode;
}

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
