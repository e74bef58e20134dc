import { CLOCK_TOLERANCE_MS, LEDGER_SCAN_MAX, UPTIMES_PER_ANSWER_MAX } from "../../../core/limits.ts";
import { INSTANT_MS_MAX, nearestInstantMs } from "../../../core/temporal.ts";
import type { JobRecord } from "../../../records/job.ts";
import {
  type OccurrenceRecord,
  type OccurrenceRunRecord,
  type ScheduleChangeRecord,
  SKIP_VERDICTS,
  type Skip,
  type TaskPauseRecord,
  type UptimeRecord,
} from "../../../records/ledger.ts";
import { JOB_OUTCOMES } from "../../../records/policies.ts";
import type { SchedulerRole } from "../../../records/scheduler.ts";
import type {
  AskedFireTimes,
  ChangeRecordFilter,
  FireTimeRecord,
  Ledger,
  LedgerLimits,
  OccurrenceRecordFilter,
} from "../../contract/ledger-types.ts";
import type { StatsCounts, StatsFilter } from "../../contract/stats-types.ts";
import type { RecordPage } from "../../data-store.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../../shared/cursors-and-search.ts";
import { entriesOf } from "../../shared/runs-over-skips.ts";
import { FAR_FUTURE_MS, SCANNED_ROWS_FIRST } from "../bounds.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { isMadeByPlan, type JobRow, jobAsJson, toJob } from "../jobs/job-rows.ts";
import { readPage } from "../list-scans.ts";
import { JOB_STATE, type TableNames } from "../schema/tables.ts";
import {
  detail,
  instant,
  jsonArray,
  jsonRecords,
  lazily,
  numberOrNull,
  rowAsJson,
  validJson,
} from "../sql-and-json.ts";
import { type ByOrder, type ChangeRow, type PauseRow, toChange, toTaskPause } from "./audit-of-changes.ts";
import { isOf, lastSkipFrom } from "./history-writes.ts";
import { readStats, type StatsStatements } from "./stats.ts";

/** A store that is open, as the ledger uses it. */
export interface OpenLedger {
  readonly connection: Connection;
  readonly statements: LedgerStatements & Pick<StatsStatements, "readCounts">;
}

/** What a `SqlDataStore` remembers: a *history* of the fire times of each schedule, *changes*, and the *uptimes* of
 *  schedulers. The store itself writes them, in the commits that it makes anyway. */
export class SqliteLedger implements Ledger {
  readonly limits: LedgerLimits;
  /** Calls a function once the store is open and its schema up to date. */
  readonly #use: <T>(call: (open: OpenLedger) => Promise<T>) => Promise<T>;

  constructor(limits: LedgerLimits, use: <T>(call: (open: OpenLedger) => Promise<T>) => Promise<T>) {
    this.limits = Object.freeze({ ...limits });
    this.#use = use;
  }

  getLedgerStart(scheduleId: string): Promise<number | null> {
    return this.#use(async ({ connection, statements }) => {
      return numberOrNull(await connection.read(statement(statements.getLedgerStart, scheduleId)), "since");
    });
  }

  getOccurrences(filter: OccurrenceRecordFilter): Promise<RecordPage<OccurrenceRecord>> {
    return this.#use((open) => readOccurrences(open, filter));
  }

  getFireTimes(asked: readonly AskedFireTimes[]): Promise<(FireTimeRecord | null)[][]> {
    return this.#use(async ({ connection, statements }) => {
      const text = JSON.stringify(asked.map(({ scheduleId, fireTimes }) => [scheduleId, fireTimes]));
      const rows = jsonArray<FireTimeRow>(await connection.read(statement(statements.getFireTimes, text)), "found");
      const found = new Map(rows.map((row) => [`${row[0]} ${row[1]}`, toFireTime(row)]));
      return asked.map(({ fireTimes }, place) => fireTimes.map((time) => found.get(`${place} ${time}`) ?? null));
    });
  }

  getJobOfFireTime(scheduleId: string, fireTime: number): Promise<JobRecord | null> {
    return this.#use(async ({ connection, statements }) => {
      const rows = await connection.read(statement(statements.getJobOfFireTime, scheduleId, fireTime));
      const [row] = jsonRecords<JobRow>(rows);
      return row === undefined ? null : toJob(row);
    });
  }

  getScheduleChanges(
    filter: ChangeRecordFilter & { readonly scheduleId: string },
  ): Promise<{ items: ScheduleChangeRecord[]; hasMore: boolean }> {
    const { scheduleId, order, limit } = filter;
    return this.#use(async ({ connection, statements }) => {
      const page = { limit, cursor: String(startAfter(filter)) };
      const { items, cursor } = await readPage<ChangeRow, ScheduleChangeRecord>(connection, page, {
        statement: (after, most, scanned) =>
          statement(statements.getScheduleChanges[order], most, scanned, Number(after), scheduleId),
        takesAll: true,
        toRecord: toChange,
        cursorOf: ({ seq }) => String(seq),
        cursorAt: ([seq = ""]) => seq,
      });
      return { items, hasMore: cursor !== null };
    });
  }

  getTaskPauseHistory(filter: ChangeRecordFilter & { readonly taskId: string }): Promise<TaskPauseRecord[]> {
    return this.#use(async ({ connection, statements }) => {
      const sql = statements.getTaskPauseHistory[filter.order];
      const rows = await connection.read(statement(sql, filter.limit, null, startAfter(filter), filter.taskId));
      return jsonRecords<PauseRow>(rows).map(toTaskPause);
    });
  }

  getUptimes({ from, until }: { readonly from: number; readonly until: number }): Promise<UptimeRecord[]> {
    return this.#use(async ({ connection, statements }) => {
      const rows = await connection.read(statement(statements.getUptimes, from, until));
      return jsonRecords<UptimeRow>(rows).map(toUptime);
    });
  }

  takeBackAfter(instant: number, hasUptimes: boolean): Promise<void> {
    return this.#use(async ({ connection, statements }) => {
      const { takeBackAfter, removeUptimesAfter } = statements;
      const all = hasUptimes ? [...takeBackAfter, removeUptimesAfter] : takeBackAfter;
      await connection.write(() => all.map((sql) => statement(sql, instant)));
    });
  }

  getStats(filter: StatsFilter): Promise<StatsCounts> {
    return this.#use(({ connection, statements }) => readStats(connection, statements, filter));
  }
}

/** The `seq` after which a list of changes begins. */
function startAfter({ order, after }: ChangeRecordFilter): number {
  return after ?? (order === "oldest" ? 0 : FAR_FUTURE_MS);
}

/** A page of entries. Where verdicts are asked for, few rows are read at first, and as many as may be after that. */
async function readOccurrences(
  open: OpenLedger,
  filter: OccurrenceRecordFilter,
): Promise<RecordPage<OccurrenceRecord>> {
  const { limit, verdicts } = filter;
  // A stretch has an entry that goes on after it, and one that the page before ended with.
  const first = Math.max(3, limit + 2, verdicts === undefined ? 0 : SCANNED_ROWS_FIRST);
  const items: OccurrenceRecord[] = [];
  let cursor = filter.cursor === null ? null : readOccurrenceCursor(filter.cursor);
  for (const rows of [first, LEDGER_SCAN_MAX - first]) {
    if (rows <= 0) break;
    const stretch = await readStretch(open, filter, cursor, rows);
    items.push(...stretch.entries);
    if (items.length > limit) {
      const page = items.slice(0, limit);
      return { items: page, cursor: occurrenceCursor(startOf(page.at(-1) as OccurrenceRecord)) };
    }
    cursor = stretch.end;
    if (cursor === null) return { items, cursor: null };
  }
  return { items, cursor: cursor === null ? null : occurrenceCursor(cursor) };
}

/** A run that the filter does not take, or outside of the stretch: it cuts skips. */
interface OtherRun {
  readonly kind: "other";
  readonly fireTime: number;
}

/** The entries of a filter after a cursor, as far as `rows` runs and `rows` skips tell. `end` is where to go on; null
 *  at the end. */
async function readStretch(
  { connection, statements }: OpenLedger,
  { scheduleId, from, until, verdicts, order }: OccurrenceRecordFilter,
  cursor: number | null,
  rows: number,
): Promise<{ readonly entries: OccurrenceRecord[]; readonly end: number | null }> {
  const isNewest = order === "newest";
  // The entry of the cursor counts too, because the next one may begin where that one ends.
  const first = isNewest ? from : Math.max(from, cursor ?? from);
  const last = isNewest ? Math.min(until, (cursor ?? until + 1) - 1) : until;
  const wanted = verdicts === undefined ? null : JSON.stringify(verdicts);
  const sql = statements.getOccurrences[order];
  const [row] = await connection.read(statement(sql, scheduleId, first, last, wanted, rows));
  const runs = jsonArray<RunRow>([row ?? {}], "runs");
  const skips = jsonArray<SkipRow>([row ?? {}], "skips").map(toSkip);
  // Rows beyond the last one that was read may change all entries there.
  const ends = [
    ...(runs.length < rows ? [] : [runs.at(-1)?.[0] ?? first]),
    ...(skips.length < rows ? [] : [skips.at(-1)?.from ?? first]),
  ];
  const bound = ends.length === 0 ? null : isNewest ? Math.max(...ends) : Math.min(...ends);
  const others = [row?.before, row?.after].flatMap((time) => (typeof time === "number" ? [otherRun(time)] : []));
  const byTime = [...runs.map(toRun), ...others].sort((a, b) => a.fireTime - b.fireTime);
  const all = [
    ...entriesOf(
      byTime,
      skips.sort((a, b) => a.from - b.from),
    ),
  ];
  if (isNewest) all.reverse();
  const isNext = (start: number): boolean => (isNewest ? start <= last : cursor === null || start > cursor);
  const found = all.filter((entry) => entry.kind !== "other" && endOf(entry) >= from && startOf(entry) <= until);
  const next = (found as OccurrenceRecord[]).filter((entry) => isNext(startOf(entry)));
  if (bound === null) return { entries: next.filter(isWanted), end: null };
  const isKnown = (entry: OccurrenceRecord): boolean => (isNewest ? startOf(entry) >= bound : endOf(entry) <= bound);
  const unknown = next.find((entry) => !isKnown(entry));
  const end = isNewest || unknown === undefined ? bound : Math.min(bound, startOf(unknown) - 1);
  return { entries: next.filter(isKnown).filter(isWanted), end };

  function isWanted(entry: OccurrenceRecord): boolean {
    return verdicts?.includes(entry.kind === "run" ? entry.outcome : entry.verdict) !== false;
  }
}

function startOf(entry: OccurrenceRecord | OtherRun): number {
  return entry.kind === "skip" ? entry.from : entry.fireTime;
}

function endOf(entry: OccurrenceRecord | OtherRun): number {
  return entry.kind === "skip" ? entry.until : entry.fireTime;
}

// What the statements yield, and how a damaged row reads.

/** `outcome` and `text` are null for a run that the filter does not take. */
type RunRow = [fireTime: number, outcome: string | null, text: string | null];

type SkipRow = [from: number, until: number, verdict: string, count: number | null, into: number | null];

/** Of what there is, each as the tables have it. */
type FireTimeRow = [
  place: number,
  fireTime: number,
  run: RunRow | null,
  skip: SkipRow | null,
  job: [id: string, scheduledFireTime: number | null, createdAt: number | null, attempts: number] | null,
];

type UptimeRow = [
  [identity: string, role: SchedulerRole, isResident: number, since: number, until: number],
  tasks: unknown,
];

function otherRun(fireTime: number): OtherRun {
  return { kind: "other", fireTime };
}

function toRun([time, outcome, text]: RunRow): ({ readonly kind: "run" } & OccurrenceRunRecord) | OtherRun {
  if (text === null) return otherRun(time);
  const fireTime = nearestInstantMs(time);
  const known = JOB_OUTCOMES.find((one) => one === outcome) ?? "error";
  return { kind: "run", fireTime, outcome: known, ...readRun(text, fireTime, known === "skipped") };
}

function toFireTime([, fireTime, run, skip, job]: FireTimeRow): FireTimeRecord | null {
  const ended = run === null ? null : toRun(run);
  if (ended?.kind === "run") return ended;
  if (skip !== null) return { kind: "skip", ...toSkip(skip) };
  if (job === null) return null;
  const [jobId, scheduledFireTime, createdAt, attempts] = job;
  const times = { scheduledFireTime: scheduledFireTime ?? fireTime, createdAt: createdAt ?? fireTime };
  return { kind: "job", jobId, ...times, attempts };
}

/** What `runText` wrote. */
function readRun(
  text: string,
  fireTime: number,
  isSkipped: boolean,
): Omit<OccurrenceRunRecord, "fireTime" | "outcome"> {
  const slash = text.indexOf("/");
  const [jitter, created, started, finished, attempts, keyed, ...words] = text.slice(0, Math.max(slash, 0)).split(" ");
  const createdAt = instantAfter(fireTime, created);
  return {
    scheduledFireTime: instantAfter(fireTime, jitter),
    jobId: text.slice(slash + 1),
    createdAt,
    startedAt: started === "-" ? null : instantAfter(createdAt, started),
    finishedAt: instantAfter(createdAt, finished),
    attempts: numberOf(attempts),
    ...(isSkipped ? { reason: reasonOf(words.join(" ")) } : {}),
    isKeyed: keyed === "1",
  };
}

/** The text itself in a damaged row. */
function reasonOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** In a damaged row the instant itself, where the sum would be none. */
function instantAfter(instant: number, difference: string | undefined): number {
  const sum = instant + numberOf(difference);
  return Math.abs(sum) <= INSTANT_MS_MAX ? sum : instant;
}

/** 0 in a damaged row. */
function numberOf(text: string | undefined): number {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : 0;
}

function toSkip([start, end, name, count, into]: SkipRow): Skip {
  const from = nearestInstantMs(start);
  const until = Math.max(from, nearestInstantMs(end));
  const verdict = SKIP_VERDICTS.find((one) => one === name) ?? "replaced";
  return { from, until, verdict, count, into: into === null ? null : nearestInstantMs(into) };
}

function toUptime([[identity, role, isResident, since, until], stored]: UptimeRow): UptimeRecord {
  const tasks = Array.isArray(stored) ? stored.map(String) : [];
  const [begin, end] = [nearestInstantMs(since), nearestInstantMs(until)];
  return { identity, role, isResident: isResident === 1, tasks, since: begin, until: end };
}

/** The statements that read histories, and those about uptimes. */
export interface ReadStatements {
  readonly getLedgerStart: string;
  readonly getJobOfFireTime: string;
  readonly getOccurrences: ByOrder;
  readonly getFireTimes: string;
  readonly extendUptime: string;
  readonly getUptimes: string;
  readonly removeUptimes: string;
  readonly takeBackAfter: readonly string[];
  readonly removeUptimesAfter: string;
}

/** The statements that the ledger's questions need. */
type LedgerStatements = ReadStatements & Readonly<Record<"getScheduleChanges" | "getTaskPauseHistory", ByOrder>>;

/** When a job was put off: it was added, or its last attempt ended, or its sleep began. */
function putOffAt({ jobSteps }: TableNames): string {
  const failedAt = `${validJson("attempt_history", "[]")} ->> '$[#-1].finishedAt'`;
  const isOpen = "wake_at IS NOT NULL AND ended_at IS NULL";
  const sleeping = `SELECT max(started_at) FROM ${jobSteps} WHERE job_id = id AND ${isOpen}`;
  return `max(${[detail("createdAt"), failedAt, `(${sleeping})`].map((at) => `coalesce(${at}, 0)`).join(", ")})`;
}

/** What takes back the marks of a clock that was ahead, but for its uptimes. ?1 the time after which it wrote */
export function takingBack(names: TableNames, putOff: string): string[] {
  const { jobs, jobSteps, histories } = names;
  const isPutOff = `state = ${JOB_STATE.delayed} AND run_at > ?1`;
  return [
    `UPDATE ${jobs} SET run_at = ?1 + run_at - ${putOff} ` +
      `WHERE ${isPutOff} AND ${putOff} > ?1 AND run_at >= ${putOff}`,
    `UPDATE ${jobSteps} SET wake_at = ?1 + wake_at - started_at, started_at = ?1 ` +
      `WHERE job_id IN (SELECT id FROM ${jobs} WHERE ${isPutOff}) ` +
      "AND started_at > ?1 AND wake_at IS NOT NULL AND ended_at IS NULL",
    `UPDATE ${jobSteps} SET check_at = ?1 WHERE check_at > ?1`,
    `UPDATE ${histories} SET next_trim_at = ?1 WHERE next_trim_at > ?1`,
  ];
}

/** ?1 the time after which a wrong clock wrote */
export const removingUptimes = ({ uptimes }: TableNames): string =>
  `DELETE FROM ${uptimes} WHERE until > ?1 AND since > ?1`;

/** A comment before each statement lists its arguments. */
export function readStatements(names: TableNames): ReadStatements {
  const { jobs, histories, uptimes, schedulers } = names;
  const uptime = ["CAST(identity AS TEXT)", "CAST(role AS TEXT)", "resident = 1", "since + 0", "until + 0"];
  return lazily<ReadStatements>({
    // ?1 id of a schedule
    getLedgerStart: () => `SELECT ${instant("since")} AS since FROM ${histories} WHERE schedule_id = ?1`,
    // ?1 id of a schedule, ?2 fire time
    getJobOfFireTime: () =>
      `SELECT ${jobAsJson("j")} AS record FROM ${jobs} j WHERE schedule_id = ?1 AND fire_time = ?2 ` +
      `AND ${isMadeByPlan("j")}`,
    // ?1 rows [scheduleId, fire times]. One row, see {@link FireTimeRow}.
    getFireTimes: () => fireTimes(names),
    getOccurrences: () => ({ oldest: stretch(names, "ASC"), newest: stretch(names, "DESC") }),

    // Follows keepAlive. ?1 identity, ?2 now, ?3 aliveUntil, ?4 role, ?5 whether it is resident, ?6 task ids, ?7 how
    // long ago the last uptime may have ended that goes on, if it was one of ticks. It ends with the last instance of
    // the identity, and earlier than it seemed if that instance signs off.
    extendUptime: () =>
      `INSERT INTO ${uptimes} (identity, since, until, role, resident, tasks) SELECT ?1, coalesce(since, ?2), ` +
      "max(coalesce(since, ?2), ?2, " +
      `coalesce((SELECT max(alive_until) FROM ${schedulers} WHERE identity = ?1), ?3)), ` +
      "?4, ?5, ?6 FROM (SELECT (SELECT " +
      "CASE WHEN until >= ?2 - CASE WHEN resident = 0 AND ?3 > ?2 THEN ?7 ELSE 0 END THEN since END " +
      `FROM ${uptimes} WHERE identity = ?1 AND since <= ?2 + ${CLOCK_TOLERANCE_MS} ` +
      "ORDER BY since DESC LIMIT 1) AS since) " +
      "WHERE since IS NOT NULL OR ?3 > ?2 " +
      "ON CONFLICT (identity, since) DO UPDATE SET until = excluded.until, role = excluded.role, " +
      "resident = excluded.resident, tasks = excluded.tasks",
    // ?1 from, ?2 until
    getUptimes: () =>
      `SELECT ${rowAsJson(null, uptime, [validJson("tasks", "[]")])} AS record FROM (SELECT * FROM ${uptimes} ` +
      `WHERE until >= ?1 AND since <= ?2 ORDER BY since DESC, identity DESC LIMIT ${UPTIMES_PER_ANSWER_MAX}) ` +
      "ORDER BY since, identity",
    // ?1 the time after which a wrong clock wrote
    takeBackAfter: () => takingBack(names, putOffAt(names)),
    removeUptimesAfter: () => removingUptimes(names),
    // ?1 the time before which uptimes ended long ago, ?2 limit
    removeUptimes: () =>
      `DELETE FROM ${uptimes} WHERE (identity, since) IN (SELECT identity, since FROM ${uptimes} WHERE until < ?1 ` +
      "ORDER BY until LIMIT +?2)",
  });
}

/** What is no number in a damaged row reads as 0. */
const wholeOf = (column: string): string => `CAST(${column} + 0 AS INTEGER)`;
/** A BLOB, which no JSON can hold, reads as an empty text. */
const textOf = (column: string): string => `CASE WHEN ${column} < x'' THEN ${column} ELSE '' END`;
const runAsJson = (run: string): string => `json_array(${wholeOf("fire_time")}, ${textOf("outcome")}, ${run})`;
const SKIP_AS_JSON =
  `json_array(${wholeOf("from_time")}, ${wholeOf("until_time")}, ${textOf("verdict")}, ${wholeOf("count")}, ` +
  `${wholeOf("into_time")})`;

/** Each fire time is a search by key in each table. */
function fireTimes(names: TableNames): string {
  const { histories, runs, skips, jobs } = names;
  const isRun = `${isOf("h.number", "r")} AND fire_time = t.value`;
  const run = `SELECT ${runAsJson(textOf("run"))} FROM ${runs} r WHERE ${isRun}`;
  const skip =
    `SELECT ${SKIP_AS_JSON} FROM ${skips} WHERE history = h.number ` +
    `AND from_time = (${lastSkipFrom(names, "h.number", "t.value")}) AND until_time >= t.value`;
  const attempts = "failed_attempts + recoveries + (acquired_by IS NOT NULL)";
  const job =
    `SELECT json_array(id, ${detail("scheduledFireTime")}, ${detail("createdAt")}, ${attempts}) FROM ${jobs} j ` +
    `WHERE schedule_id = a.value->>0 AND fire_time = t.value AND ${isMadeByPlan("j")}`;
  const found = [run, skip, job].map((sql) => `coalesce((${sql}), 'null')`);
  const item = `'[' || ${["a.key", "t.value", ...found].join(" || ',' || ")} || ']'`;
  return (
    `SELECT '[' || group_concat(${item}) || ']' AS found FROM json_each(?1) a ` +
    `LEFT JOIN ${histories} h ON h.schedule_id = a.value->>0 CROSS JOIN json_each(a.value, '$[1]') t`
  );
}

/**
 * The rows of a stretch of a history. ?1 id of the schedule, ?2 and ?3 its first and last fire time, ?4 the outcomes
 * whose runs are asked for, or null, ?5 limit of runs and of skips. Columns: `runs` and `skips`, as JSON, in the order;
 * `before` and `after`, the runs next to the stretch that are within a skip which reaches into the stretch.
 */
function stretch(names: TableNames, order: "ASC" | "DESC"): string {
  const { histories, runs, skips } = names;
  const history = `(SELECT number FROM ${histories} WHERE schedule_id = ?1)`;
  const runsIn = (from: string, until: string): string =>
    `FROM ${runs} r WHERE ${isOf(history, "r")} AND fire_time >= ${from} AND fire_time <= ${until}`;
  const begin = `coalesce((${lastSkipFrom(names, history, "?2")}), ?2)`;
  const reaching = (time: string, end: string): string =>
    `(SELECT ${end} FROM ${skips} WHERE history = ${history} ` +
    `AND from_time = (${lastSkipFrom(names, history, time)}) AND until_time >= ${time})`;
  const isAsked = "(?4 IS NULL OR outcome IN (SELECT value FROM json_each(?4)))";
  const run = runAsJson(`CASE WHEN ${isAsked} THEN ${textOf("run")} END`);
  const skip = SKIP_AS_JSON;
  const asArray = "'[' || group_concat(item) || ']'";
  return (
    `SELECT (SELECT ${asArray} FROM (SELECT ${run} AS item ${runsIn("?2", "?3")} ` +
    `ORDER BY fire_time ${order} LIMIT +?5)) AS runs, ` +
    `(SELECT ${asArray} FROM (SELECT ${skip} AS item FROM ${skips} WHERE history = ${history} ` +
    `AND from_time >= ${begin} AND from_time <= ?3 AND until_time >= ?2 ` +
    `ORDER BY from_time ${order} LIMIT +?5)) AS skips, ` +
    `(SELECT fire_time ${runsIn(reaching("?2", "from_time"), "?2 - 1")} ORDER BY fire_time DESC LIMIT 1) AS before, ` +
    `(SELECT fire_time ${runsIn("?3 + 1", reaching("?3", "until_time"))} ORDER BY fire_time LIMIT 1) AS after`
  );
}
