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
import { LEDGER_SCAN_MAX } from "../../shared/limits.ts";
import { entriesOf } from "../../shared/runs-over-skips.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { type JobRow, toJob } from "../jobs/job-rows.ts";
import { FAR_FUTURE_MS, SCANNED_ROWS_FIRST } from "../limits.ts";
import { readPage } from "../lists/list-scans.ts";
import { JOB_STATE, type TableNames } from "../schema/tables.ts";
import { jsonArray, jsonRecords, numberOrNull } from "../sql-and-json.ts";
import { type ByOrder, type ChangeRow, type PauseRow, toChange, toTaskPause } from "./audit-of-changes.ts";
import { readStats, type StatsStatements } from "./stats.ts";

/** A store that is open, as the ledger uses it. */
export interface OpenLedger {
  readonly connection: Connection;
  readonly statements: LedgerStatements & Pick<StatsStatements, "readCounts">;
}

/** What a `SqlDataStore` remembers: a *history* of the fire times of each schedule, *changes*, and the *uptimes* of
 *  schedulers. The store itself writes them, in the commits that it makes anyway. */
export class SqlLedger implements Ledger {
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
