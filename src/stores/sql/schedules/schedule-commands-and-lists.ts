import { systemClock } from "../../../core/clock.ts";
import { IdGenerator } from "../../../core/ids.ts";
import type { AuditRecord } from "../../../records/ledger.ts";
import type { ScheduleRecord } from "../../../records/schedule.ts";
import type {
  RecordPage,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleCommit,
  ScheduleCommitReport,
  ScheduleFilter,
  ScheduleRemovalRequest,
  ScheduleUpdateRequest,
} from "../../data-store.ts";
import { readScheduleCursor, scheduleCursor } from "../../shared/cursors-and-search.ts";
import { additionChange, keptDeclaration, type StoredDeclaration } from "../../shared/declarations.ts";
import type { Statements } from "../all-statements.ts";
import type { Connection } from "../driver/connection.ts";
import { type Answers, Batch, type SqlStatement, type SqlValue, statement } from "../driver/driver-and-failures.ts";
import { fencedRows, recordAdditions, recordRemovals, recordUpdates } from "../history/audit-of-changes.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS } from "../limits.ts";
import { hasLabelled, labelsParameter } from "../lists/label-index.ts";
import { readPage } from "../lists/list-scans.ts";
import type { LateTriggers } from "../schema/late-triggers.ts";
import { idsOf, jsonArray, jsonRecords, type RowsParameter, rowParameters } from "../sql-and-json.ts";
import { newScheduleRow, type ScheduleRow, scheduleDetails, toSchedule } from "./schedule-rows.ts";
import { type ReplacementStatements, scheduleScanOf } from "./schedule-statements.ts";

/** The schedules of a `SqlDataStore`. */
export class SqlSchedules {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #labels: LateTriggers;
  readonly #ids = new IdGenerator();

  constructor(connection: Connection, statements: Statements, labels: LateTriggers) {
    this.#connection = connection;
    this.#statements = statements;
    this.#labels = labels;
  }

  add(additions: readonly ScheduleAddition[], note?: AuditRecord): Promise<ScheduleAdditionReport> {
    const areLabelled = (): boolean => hasLabelled(additions.map(scheduleOf));
    return this.#labels.before(areLabelled, () => this.#add(additions, note));
  }

  async #add(additions: readonly ScheduleAddition[], note?: AuditRecord): Promise<ScheduleAdditionReport> {
    const sorted = sortAdditions(additions);
    const { unique, certainConflicts } = sorted;
    for (let tries = 1; ; tries++) {
      if (certainConflicts.length === 0) {
        try {
          return await this.#write(additions, sorted, note);
        } catch (error) {
          if (this.#connection.failureKind(error) !== "guard" || tries === CONFLICT_TRIES_MAX) throw error;
        }
      }
      const conflicts = [...(await this.#findConflicts(unique)), ...certainConflicts];
      if (conflicts.length > 0) return { conflicts: conflicts.sort((a, b) => a - b) };
      // The schedule that had the id is gone in the meantime: try again.
    }
  }

  async #findConflicts(unique: readonly UniqueAddition[]): Promise<number[]> {
    const conflicts: number[] = [];
    let start = 0;
    for (const { text, count } of conflictRows(unique)) {
      for (const row of await this.#connection.read(statement(this.#statements.findConflicts, text, 0))) {
        const place = unique[start + Number(row.place)]?.place;
        if (place !== undefined) conflicts.push(place);
      }
      start += count;
    }
    return conflicts;
  }

  async #write(
    additions: readonly ScheduleAddition[],
    { rounds, unique }: SortedAdditions,
    note: AuditRecord | undefined,
    before: (isRepetition: boolean) => readonly SqlStatement[] = () => [],
  ): Promise<Extract<ScheduleAdditionReport, { conflicts: null }>> {
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
      batch.add(before(isRepetition));
      const existing = batch.add(ids.map(({ text }) => statement(findExisting, text)));
      batch.add(conflictRows(unique).map(({ text }) => statement(guardConflicts, text, isRepetition ? 1 : 0)));
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
    const results: AdditionResult[] = additions.map((addition, index) => {
      const { schedule } = addition;
      const before = seen.get(schedule.id);
      const change = additionChange(before, addition);
      seen.set(schedule.id, before === undefined ? schedule : keptDeclaration(before, addition, change));
      const result = { change, schedule: stored[index] ?? schedule };
      return mayHaveWritten ? asFirstTried(result, addition) : result;
    });
    return { conflicts: null, results };
  }

  /** Renames, removes and adds schedules, if all of them are as expected. */
  commit(commit: ScheduleCommit, note?: AuditRecord): Promise<ScheduleCommitReport> {
    const areLabelled = (): boolean => hasLabelled(commit.additions.map(scheduleOf));
    return this.#labels.before(areLabelled, () => this.#commit(commit, note));
  }

  async #commit(
    { expected, renames, removals, additions }: ScheduleCommit,
    note?: AuditRecord,
  ): Promise<ScheduleCommitReport> {
    const { guardRevisions, findMoved, renameSchedules, removeSchedules } = this.#statements;
    const declared = new Map(additions.map(({ schedule: { id, declaration } }) => [id, declaration]));
    const rows = rowParameters(expected.map(({ id, revision }) => [id, revision, declared.get(id) ?? null]));
    const removing = removals.map((id) => ({ id }));
    const before = (isRepetition: boolean): SqlStatement[] => [
      ...rows.map(({ text }) => statement(guardRevisions, text, isRepetition ? 1 : 0)),
      ...rowParameters(renames.map(({ from, to }) => [from, to])).flatMap(({ text }) =>
        Object.values(renameSchedules).map((sql) => statement(sql, text)),
      ),
      ...recordRemovals(this.#statements, removing, note),
      ...fencedRows(removing).map((fenced) => statement(removeSchedules, fenced)),
    ];
    for (let tries = 1; ; tries++) {
      try {
        const { results } = await this.#write(additions, sortAdditions(additions), note, before);
        return { moved: [], schedules: results.map(({ schedule }) => schedule) };
      } catch (error) {
        if (this.#connection.failureKind(error) !== "guard" || tries === CONFLICT_TRIES_MAX) throw error;
      }
      const moved: string[] = [];
      for (const { text } of rows) moved.push(...idsOf(await this.#connection.read(statement(findMoved, text, 0))));
      if (moved.length > 0) return { moved, schedules: [] };
      // They are as expected again in the meantime: try again.
    }
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    const rows = await this.#connection.read(statement(this.#statements.getSchedule, id));
    const [row] = jsonRecords<ScheduleRow>(rows);
    return row === undefined ? null : toSchedule(row);
  }

  async getPage(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>> {
    const { ids, taskId = null, paused, state = null, search = null, labels } = filter;
    const [scan, takesAll] = scheduleScanOf(filter);
    const sql = this.#statements.getSchedules[scan] ?? "";
    const selection = [taskId, paused === undefined ? null : Number(paused), state, search, labelsParameter(labels)];
    const isByTime = ids === undefined && filter.sort === "nextFireTime";
    const named = ids === undefined ? [] : [JSON.stringify(ids)];
    if (isByTime && filter.cursor !== null) readScheduleCursor(filter.cursor);
    return readPage<ScheduleRow, ScheduleRecord>(this.#connection, filter, {
      statement: (cursor, limit, scanned) => {
        if (!isByTime) return statement(sql, limit, scanned, cursor, ...selection, ...named);
        const start = cursor === null ? { id: null, nextFireTime: FAR_PAST_MS } : readScheduleCursor(cursor);
        return statement(sql, limit, scanned, start.id, ...selection, start.nextFireTime ?? FAR_FUTURE_MS);
      },
      takesAll,
      toRecord: toSchedule,
      cursorOf: isByTime ? scheduleCursor : ({ id }) => id,
      cursorAt: isByTime ? timeCursorAt : ([id = ""]) => id,
    });
  }

  update(updates: readonly ScheduleUpdateRequest[], note?: AuditRecord): Promise<(ScheduleRecord | null)[]> {
    const areLabelled = (): boolean => hasLabelled(updates.map(({ changes }) => changes));
    return this.#labels.before(areLabelled, () => this.#update(updates, note));
  }

  async #update(updates: readonly ScheduleUpdateRequest[], note?: AuditRecord): Promise<(ScheduleRecord | null)[]> {
    // Others change schedules too, so that no count of the fence tells whose change it is.
    const stamp = this.#ids.next(systemClock.now());
    const { updateSchedules, getStampedSchedules, makeLimiters } = this.#statements;
    const recorded = recordUpdates(this.#statements, updates, stamp, note);
    const keyed = updates.filter(({ changes }) => changes.concurrencyKey !== undefined);
    const idParameters = (of: readonly ScheduleUpdateRequest[]): RowsParameter[] =>
      rowParameters(of.map(({ id }) => id));
    const batch = new Batch();
    batch.add(recorded.before);
    batch.add(
      rowParameters(updates.map(updateRow)).map(({ text }) =>
        statement(updateSchedules, text, stamp, note?.at ?? null),
      ),
    );
    const stamped = batch.add(idParameters(updates).map(({ text }) => statement(getStampedSchedules, text, stamp)));
    batch.add(idParameters(keyed).map(({ text }) => statement(makeLimiters, text)));
    batch.add(recorded.after);
    const answers = await this.#connection.write(() => batch.statements);
    const records = stamped.of(answers).flatMap((rows) => jsonRecords<ScheduleRow>(rows).map(toSchedule));
    const byId = new Map(records.map((record) => [record.id, record]));
    return updates.map(({ id }) => byId.get(id) ?? null);
  }

  async remove(removals: readonly ScheduleRemovalRequest[], note?: AuditRecord): Promise<boolean[]> {
    const { removeSchedules, findExisting } = this.#statements;
    const batch = new Batch();
    batch.add(recordRemovals(this.#statements, removals, note));
    const removing = batch.add(fencedRows(removals).map((rows) => statement(removeSchedules, rows)));
    let mayHaveRemoved = false;
    const answers = await this.#connection.write((isRepetition) => {
      mayHaveRemoved = isRepetition;
      return batch.statements;
    });
    const removed = new Set(removing.of(answers).flatMap(idsOf));
    if (!mayHaveRemoved) return removals.map(({ id }) => removed.has(id));
    const left = new Set<string>();
    for (const { text } of rowParameters(removals.map(({ id }) => id))) {
      const rows = await this.#connection.read(statement(findExisting, text));
      for (const [id] of jsonArray<ExistingRow>(rows, "existing")) left.add(id);
    }
    return removals.map(({ id, expectedFence }) => expectedFence === undefined || !left.has(id));
  }
}

/** A row of `updateSchedules`. */
function updateRow({ id, changes, expectedFence }: ScheduleUpdateRequest): unknown[] {
  const { payload: _, ...columns } = changes;
  return [id, expectedFence ?? null, { ...columns, details: scheduleDetails(changes) }];
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

type AdditionResult = { readonly change: ScheduleAdditionChange; readonly schedule: ScheduleRecord };

/** A row of `findExisting`. */
type ExistingRow = [id: string, declaration: string | null, version: number | null];

function declaredEntry([id, declaration, version]: ExistingRow): [string, StoredDeclaration] {
  return [id, { ...(declaration === null ? {} : { declaration }), ...(version === null ? {} : { version }) }];
}

/** What became of an addition that an earlier try may have written: a first fence is never used twice, and what is
 *  declared as stored counts as a change, because nobody would tell of it otherwise. */
function asFirstTried(result: AdditionResult, { schedule, conflictPolicy }: ScheduleAddition): AdditionResult {
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
  readonly unique: readonly UniqueAddition[];
  /** The places of additions with the policy `error` whose id came before in the call. */
  readonly certainConflicts: readonly number[];
}

interface UniqueAddition {
  readonly schedule: ScheduleRecord;
  /** In the call. */
  readonly place: number;
}

/** Sorts additions by the statement that writes them: one statement adds, the next replaces. An id that comes twice in
 *  a call counts as existing the second time. */
function sortAdditions(additions: readonly ScheduleAddition[]): SortedAdditions {
  const seen = new Map<string, number>();
  const rounds: RoundOfAdditions[] = [];
  const unique: UniqueAddition[] = [];
  const certainConflicts: number[] = [];
  for (const [place, addition] of additions.entries()) {
    const { schedule, conflictPolicy } = addition;
    const earlier = seen.get(schedule.id) ?? 0;
    seen.set(schedule.id, earlier + 1);
    if (conflictPolicy === "error") {
      if (earlier > 0) certainConflicts.push(place);
      else unique.push({ schedule, place });
    }
    rounds[earlier] ??= { inserts: [], replacements: [], updates: [] };
    const round = rounds[earlier];
    if (conflictPolicy === "replace") round.replacements.push(addition);
    else if (conflictPolicy === "update") round.updates.push(addition);
    else if (earlier === 0) round.inserts.push(schedule);
  }
  return { rounds, unique, certainConflicts };
}

/** The rows that `findConflicts` and `guardConflicts` read. */
function conflictRows(unique: readonly UniqueAddition[]): RowsParameter[] {
  return rowParameters(unique.map(({ schedule: { id, trigger, createdAt } }) => [id, trigger, createdAt]));
}
