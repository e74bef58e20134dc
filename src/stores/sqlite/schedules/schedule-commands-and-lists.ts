import { systemClock } from "../../../core/clock.ts";
import { IdGenerator } from "../../../core/ids.ts";
import type { AuditRecord } from "../../../records/ledger.ts";
import type { ScheduleRecord } from "../../../records/schedule.ts";
import type {
  RecordPage,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleChanges,
  ScheduleFilter,
} from "../../data-store.ts";
import { readScheduleCursor, scheduleCursor } from "../../shared/cursors-and-search.ts";
import { additionChange, keptDeclaration, type StoredDeclaration } from "../../shared/declarations.ts";
import type { Statements } from "../all-statements.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS } from "../bounds.ts";
import type { Connection } from "../driver/connection.ts";
import { type Answers, Batch, type SqlStatement, type SqlValue, statement } from "../driver/driver-and-failures.ts";
import { recordAdditions, recordRemoval, recordUpdate } from "../ledger/audit-of-changes.ts";
import { readPage } from "../list-scans.ts";
import { idsOf, jsonArray, jsonRecords, rowParameters } from "../sql-and-json.ts";
import { newScheduleRow, type ScheduleRow, scheduleDetails, toSchedule } from "./schedule-rows.ts";
import { type ReplacementStatements, scheduleScanOf } from "./schedule-statements.ts";

/** The schedules of a `SqlDataStore`. */
export class SqliteSchedules {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #ids = new IdGenerator();

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async add(additions: readonly ScheduleAddition[], note?: AuditRecord): Promise<ScheduleAdditionReport> {
    const sorted = sortAdditions(additions);
    const { unique, certainConflictId } = sorted;
    for (let tries = 1; ; tries++) {
      if (certainConflictId === null) {
        try {
          return await this.#write(additions, sorted, note);
        } catch (error) {
          if (this.#connection.failureKind(error) !== "guard" || tries === CONFLICT_TRIES_MAX) throw error;
        }
      }
      const conflictId = (await this.#findConflict(unique)) ?? certainConflictId;
      if (conflictId !== null) return { conflictId };
      // The schedule that had the id is gone in the meantime: try again.
    }
  }

  async #findConflict(unique: readonly ScheduleRecord[]): Promise<string | null> {
    for (const rows of conflictRows(unique)) {
      const [id] = idsOf(await this.#connection.read(statement(this.#statements.findConflict, rows, 0)));
      if (id !== undefined) return id;
    }
    return null;
  }

  async #write(
    additions: readonly ScheduleAddition[],
    { rounds, unique }: SortedAdditions,
    note: AuditRecord | undefined,
  ): Promise<ScheduleAdditionReport> {
    const { guardConflicts, findExisting, insertSchedules, getSchedulesById } = this.#statements;
    const { replaceSchedules, updateDeclared, raiseVersions, makeLimiters } = this.#statements;
    const { keepsLedger, openHistories } = this.#statements;
    const ids = rowParameters(additions.map(({ schedule }) => schedule.id));
    const insert = (sql: string, schedules: readonly ScheduleRecord[], ...args: readonly SqlValue[]): SqlStatement[] =>
      rowParameters(schedules.map(newScheduleRow)).map(({ text }) => statement(sql, text, ...args));
    const replace = (
      { keepingPause, settingPause }: ReplacementStatements,
      replacing: readonly ScheduleAddition[],
    ): SqlStatement[] => [
      ...insert(keepingPause, replacing.filter((one) => one.setsPaused !== true).map(scheduleOf)),
      ...insert(settingPause, replacing.filter((one) => one.setsPaused === true).map(scheduleOf), note?.at ?? null),
    ];
    const versions = additions.flatMap(({ conflictPolicy, schedule: { id, declaration, version } }) =>
      conflictPolicy !== "update" || declaration === undefined || version === undefined
        ? []
        : [[id, declaration, version]],
    );
    const keyed = additions
      .map(scheduleOf)
      .flatMap(({ id, concurrencyKey }) => (concurrencyKey === undefined ? [] : id));
    const writeRound = ({ inserts, replacements, updates }: RoundOfAdditions): SqlStatement[] => {
      const recorded = recordAdditions(this.#statements, inserts, [...replacements, ...updates], note);
      return [
        ...recorded.before,
        ...insert(insertSchedules, inserts),
        ...replace(replaceSchedules, replacements),
        ...replace(updateDeclared, updates),
        ...recorded.after,
      ];
    };
    const build = (isRepetition: boolean): BatchOfAdditions => {
      const batch = new Batch();
      const existing = batch.add(ids.map(({ text }) => statement(findExisting, text)));
      batch.add(conflictRows(unique).map((rows) => statement(guardConflicts, rows, isRepetition ? 1 : 0)));
      batch.add(rounds.flatMap(writeRound));
      batch.add([
        ...rowParameters(versions).map(({ text }) => statement(raiseVersions, text)),
        ...rowParameters(keyed).map(({ text }) => statement(makeLimiters, text)),
        ...(keepsLedger ? ids : []).map(({ text }) => statement(openHistories, text)),
      ]);
      return { batch, existing, stored: batch.add(ids.map(({ text }) => statement(getSchedulesById, text))) };
    };
    let built = build(false);
    let mayHaveWritten = false;
    const answers = await this.#connection.write((isRepetition) => {
      mayHaveWritten = isRepetition;
      if (isRepetition) built = build(true);
      return built.batch.statements;
    });
    const seen = new Map(
      built.existing.of(answers).flatMap((rows) => jsonArray<ExistingRow>(rows, "existing").map(declaredEntry)),
    );
    const stored = built.stored.of(answers).flatMap((rows) => jsonArray<ScheduleRow>(rows, "records").map(toSchedule));
    const results: AddedSchedule[] = additions.map((addition, index) => {
      const { schedule } = addition;
      const before = seen.get(schedule.id);
      const change = additionChange(before, addition);
      seen.set(schedule.id, before === undefined ? schedule : keptDeclaration(before, addition, change));
      const result = { change, schedule: stored[index] ?? schedule };
      return mayHaveWritten ? asFirstTried(result, addition) : result;
    });
    return { conflictId: null, results };
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    const rows = await this.#connection.read(statement(this.#statements.getSchedule, id));
    const [row] = jsonRecords<ScheduleRow>(rows);
    return row === undefined ? null : toSchedule(row);
  }

  async getPage(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>> {
    const { taskId = null, paused, state = null, search = null } = filter;
    const [scan, takesAll] = scheduleScanOf(filter);
    const sql = this.#statements.getSchedules[scan] ?? "";
    const selection = [taskId, paused === undefined ? null : Number(paused), state, search];
    const isByTime = filter.sort === "nextFireTime";
    if (isByTime && filter.cursor !== null) readScheduleCursor(filter.cursor);
    return readPage<ScheduleRow, ScheduleRecord>(this.#connection, filter, {
      statement: (cursor, limit, scanned) => {
        if (!isByTime) return statement(sql, limit, scanned, cursor, ...selection);
        const start = cursor === null ? { id: null, nextFireTime: FAR_PAST_MS } : readScheduleCursor(cursor);
        return statement(sql, limit, scanned, start.id, ...selection, start.nextFireTime ?? FAR_FUTURE_MS);
      },
      takesAll,
      toRecord: toSchedule,
      cursorOf: isByTime ? scheduleCursor : ({ id }) => id,
      cursorAt: isByTime ? timeCursorAt : ([id = ""]) => id,
    });
  }

  async update(
    id: string,
    changes: ScheduleChanges,
    expectedFence: number | undefined,
    note?: AuditRecord,
  ): Promise<ScheduleRecord | null> {
    const { payload: _, ...columns } = changes;
    const text = JSON.stringify({ ...columns, details: scheduleDetails(changes) });
    // Others change schedules too, so that no count of the fence tells whose change it is.
    const stamp = this.#ids.next(systemClock.now());
    const { updateSchedule, getStampedSchedule, makeLimiters } = this.#statements;
    const recorded = recordUpdate(this.#statements, { id, changes, expectedFence, stamp }, note);
    const answers = await this.#connection.write(() => [
      ...recorded.before,
      statement(updateSchedule, id, text, expectedFence ?? null, stamp, note?.at ?? null),
      statement(getStampedSchedule, id, stamp),
      ...(changes.concurrencyKey === undefined ? [] : [statement(makeLimiters, JSON.stringify([id]))]),
      ...recorded.after,
    ]);
    const [row] = jsonRecords<ScheduleRow>(answers[recorded.before.length + 1]);
    return row === undefined ? null : toSchedule(row);
  }

  async remove(id: string, note?: AuditRecord, expectedFence?: number): Promise<boolean> {
    const recorded = recordRemoval(this.#statements, id, expectedFence, note);
    let mayHaveRemoved = false;
    const answers = await this.#connection.write((isRepetition) => {
      mayHaveRemoved = isRepetition;
      return [...recorded, statement(this.#statements.removeSchedule, id, expectedFence ?? null)];
    });
    if (answers.at(-1)?.length === 1) return true;
    return mayHaveRemoved && (expectedFence === undefined || (await this.get(id)) === null);
  }
}

function timeCursorAt([time, id = ""]: readonly string[]): string {
  const at = Number(time);
  return scheduleCursor({ nextFireTime: at >= FAR_FUTURE_MS ? null : at, id });
}

/** One try to add schedules. */
interface BatchOfAdditions {
  readonly batch: Batch;
  readonly existing: Answers;
  readonly stored: Answers;
}

type AddedSchedule = { readonly change: ScheduleAdditionChange; readonly schedule: ScheduleRecord };

/** A row of `findExisting`. */
type ExistingRow = [id: string, declaration: string | null, version: number | null];

function declaredEntry([id, declaration, version]: ExistingRow): [string, StoredDeclaration] {
  return [id, { ...(declaration === null ? {} : { declaration }), ...(version === null ? {} : { version }) }];
}

/** What became of an addition that an earlier try may have written: a first fence is never used twice, and what is
 *  declared as stored counts as a change, because nobody would tell of it otherwise. */
function asFirstTried(result: AddedSchedule, { schedule, conflictPolicy }: ScheduleAddition): AddedSchedule {
  if (result.change !== "kept") return result;
  if (result.schedule.fence === schedule.fence && result.schedule.createdAt === schedule.createdAt) {
    return { ...result, change: "added" };
  }
  return conflictPolicy === "update" ? { ...result, change: "updated" } : result;
}

function scheduleOf({ schedule }: ScheduleAddition): ScheduleRecord {
  return schedule;
}

/** Most tries of an addition that finds its id in use, and then free again. */
const CONFLICT_TRIES_MAX = 5;

/** Additions that are written together, none of which has the id of another. */
interface RoundOfAdditions {
  /** Schedules that are written when their id is free. */
  readonly inserts: ScheduleRecord[];
  /** Schedules that replace the stored schedule with their id. */
  readonly replacements: ScheduleAddition[];
  /** Schedules that replace it if they are declared anew. */
  readonly updates: ScheduleAddition[];
}

interface SortedAdditions {
  /** An id that comes twice in the call comes in two of them. */
  readonly rounds: readonly RoundOfAdditions[];
  /** Schedules whose id must be free. */
  readonly unique: readonly ScheduleRecord[];
  /** An id that comes twice in the call, the second time with the policy `error`; null when there is none. */
  readonly certainConflictId: string | null;
}

/** Sorts additions by the statement that writes them: one statement adds, the next replaces. An id that comes twice in
 *  a call counts as existing the second time. */
function sortAdditions(additions: readonly ScheduleAddition[]): SortedAdditions {
  const seen = new Map<string, number>();
  const rounds: RoundOfAdditions[] = [];
  const unique: ScheduleRecord[] = [];
  for (const addition of additions) {
    const { schedule, conflictPolicy } = addition;
    const earlier = seen.get(schedule.id) ?? 0;
    seen.set(schedule.id, earlier + 1);
    if (conflictPolicy === "error") {
      if (earlier > 0) return { rounds, unique, certainConflictId: schedule.id };
      unique.push(schedule);
    }
    rounds[earlier] ??= { inserts: [], replacements: [], updates: [] };
    const round = rounds[earlier];
    if (conflictPolicy === "replace") round.replacements.push(addition);
    else if (conflictPolicy === "update") round.updates.push(addition);
    else if (earlier === 0) round.inserts.push(schedule);
  }
  return { rounds, unique, certainConflictId: null };
}

/** The rows that `findConflict` and `guardConflicts` read. */
function conflictRows(unique: readonly ScheduleRecord[]): string[] {
  return rowParameters(unique.map((schedule) => [schedule.id, schedule.trigger, schedule.createdAt])).map(
    ({ text }) => text,
  );
}
