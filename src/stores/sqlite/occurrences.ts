import { INSTANT_MS_MAX } from "../../core/temporal.ts";
import type { JobRecord } from "../../records/job.ts";
import { type OccurrenceRecord, SKIP_VERDICTS } from "../../records/ledger.ts";
import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { RecordPage } from "../data-store.ts";
import type { OccurrenceRecordFilter } from "../ledger.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../occurrence-cursor.ts";
import { statement } from "./batch.ts";
import { SKIP_CODE } from "./book-statements.ts";
import type { Connection } from "./connection.ts";
import { readPage } from "./pages.ts";
import { type JobRow, jsonRecords, numberOrNull, toJob } from "./rows.ts";
import { readRun } from "./runs.ts";
import type { Statements } from "./statements.ts";

/** What became of the fire times of schedules, in a `SqlDataStore`. */
export class SqliteOccurrences {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async getStart(scheduleId: string): Promise<number | null> {
    const rows = await this.#connection.read(statement(this.#statements.getLedgerStart, scheduleId));
    return numberOrNull(rows, "since");
  }

  async getJob(scheduleId: string, fireTime: number): Promise<JobRecord | null> {
    const sql = this.#statements.getJobOfFireTime;
    const [row] = jsonRecords<JobRow>(await this.#connection.read(statement(sql, scheduleId, fireTime)));
    return row === undefined ? null : toJob(row);
  }

  async getPage(filter: OccurrenceRecordFilter): Promise<RecordPage<OccurrenceRecord>> {
    const { scheduleId, from, until, verdicts, order } = filter;
    if (filter.cursor !== null) readOccurrenceCursor(filter.cursor);
    const codes = verdicts === undefined ? null : JSON.stringify(verdicts.map(codeOf));
    const sql = this.#statements.getOccurrences[order];
    return readPage<EntryRow, OccurrenceRecord>(this.#connection, filter, {
      statement: (cursor, limit, walked) => {
        const after = cursor === null ? null : readOccurrenceCursor(cursor);
        return statement(sql, limit, walked, scheduleId, from, until, after, codes);
      },
      takesAll: verdicts === undefined,
      toRecord: toEntry,
      cursorOf: (entry) => occurrenceCursor(entry.kind === "run" ? entry.fireTime : entry.from),
      cursorAt: ([at]) => occurrenceCursor(Number(at)),
    });
  }
}

/** What `getOccurrences` yields. */
type EntryRow = [
  at: number,
  verdict: number,
  until: number | null,
  count: number | null,
  target: number | null,
  run: string | null,
];

function toEntry([place, verdict, end, count, target, run]: EntryRow): OccurrenceRecord {
  const at = instantOf(place);
  if (run !== null)
    return { kind: "run", fireTime: at, outcome: JOB_OUTCOMES[verdict] ?? "error", ...readRun(run, at) };
  const [until, into] = [end === null ? at : instantOf(end), target === null ? null : instantOf(target)];
  return { kind: "skip", from: at, until, verdict: SKIP_VERDICTS[verdict] ?? "replaced", count, into };
}

/** The nearest number that is an instant, in a damaged row. */
function instantOf(number: number): number {
  return Math.min(Math.max(number, -INSTANT_MS_MAX), INSTANT_MS_MAX);
}

/** An outcome or a verdict as `getOccurrences` compares it. */
function codeOf(name: NonNullable<OccurrenceRecordFilter["verdicts"]>[number]): number {
  const outcome = (JOB_OUTCOMES as readonly string[]).indexOf(name);
  return outcome >= 0 ? outcome : SKIP_CODE + (SKIP_VERDICTS as readonly string[]).indexOf(name);
}
