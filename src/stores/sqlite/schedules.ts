import type { ScheduleRecord } from "../../records/schedule.ts";
import type {
  PlanCommit,
  PlanCommitReport,
  RecordPage,
  ScheduleAcquisition,
  ScheduleAcquisitionReport,
  ScheduleAddition,
  ScheduleAdditionReport,
  ScheduleChanges,
  ScheduleFilter,
} from "../data-store.ts";
import type { Connection } from "./connection.ts";
import type { SqlStatement } from "./driver.ts";
import { readPage } from "./pages.ts";
import {
  idsOf,
  jsonArray,
  jsonRecords,
  newJobRow,
  newScheduleRow,
  numberOrNull,
  type ScheduleRow,
  scheduleDetails,
  toSchedule,
} from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The schedules of a `SqlDataStore`. */
export class SqliteSchedules {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async add(additions: readonly ScheduleAddition[]): Promise<ScheduleAdditionReport> {
    const { inserts, replacements, unique, certainConflictId } = sortAdditions(additions);
    for (let tries = 1; ; tries++) {
      if (certainConflictId === null) {
        try {
          return await this.#write(additions, inserts, replacements, unique);
        } catch (error) {
          if (this.#connection.failureKind(error) !== "guard" || tries === CONFLICT_TRIES_MAX) throw error;
        }
      }
      const conflict = await this.#connection.read({
        sql: this.#statements.findConflict,
        args: [conflictRows(unique), 0],
      });
      const conflictId = idsOf(conflict)[0] ?? certainConflictId;
      if (conflictId !== null) return { conflictId };
      // What was in the way is gone already.
    }
  }

  async #write(
    additions: readonly ScheduleAddition[],
    inserts: readonly ScheduleRecord[],
    replacements: readonly ScheduleRecord[],
    unique: readonly ScheduleRecord[],
  ): Promise<ScheduleAdditionReport> {
    const ids = JSON.stringify(additions.map(({ schedule }) => schedule.id));
    const { guardConflicts, findExisting, insertSchedules, replaceSchedules, getSchedulesById } = this.#statements;
    const insert = (sql: string, schedules: readonly ScheduleRecord[]): SqlStatement[] =>
      schedules.length === 0 ? [] : [{ sql, args: [JSON.stringify(schedules.map(newScheduleRow))] }];
    const answers = await this.#connection.write((isRepetition) => [
      { sql: findExisting, args: [ids] },
      ...(unique.length === 0 ? [] : [{ sql: guardConflicts, args: [conflictRows(unique), isRepetition ? 1 : 0] }]),
      ...insert(insertSchedules, inserts),
      ...insert(replaceSchedules, replacements),
      { sql: getSchedulesById, args: [ids] },
    ]);
    const seen = new Set(jsonArray<string>(answers[0], "ids"));
    const stored = jsonArray<ScheduleRow>(answers.at(-1), "records").map(toSchedule);
    const results: AddedSchedule[] = additions.map(({ schedule, conflictPolicy }, index) => {
      const isNew = !seen.has(schedule.id);
      seen.add(schedule.id);
      const change = isNew ? "added" : conflictPolicy === "replace" ? "replaced" : "kept";
      return { change, schedule: stored[index] ?? schedule };
    });
    return { conflictId: null, results };
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    const rows = await this.#connection.read({ sql: this.#statements.getSchedule, args: [id] });
    const [row] = jsonRecords<ScheduleRow>(rows);
    return row === undefined ? null : toSchedule(row);
  }

  getPage(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>> {
    const { taskId, paused } = filter;
    const { getSchedulesOfTask, getPausedSchedules, getSchedules } = this.#statements;
    const pausedArg = paused === undefined ? null : paused ? 1 : 0;
    return readPage(this.#connection, filter, {
      statement: (after, limit) => {
        if (taskId !== undefined) return { sql: getSchedulesOfTask, args: [after, limit, pausedArg, taskId] };
        if (paused === true) return { sql: getPausedSchedules, args: [after, limit] };
        return { sql: getSchedules, args: [after, limit, pausedArg] };
      },
      toRecord: toSchedule,
      idOf: (schedule) => schedule.id,
    });
  }

  async update(
    id: string,
    changes: ScheduleChanges,
    expectedFence: number | undefined,
  ): Promise<ScheduleRecord | null> {
    const { taskId, trigger, triggerRule, paused, nextFireTime, lastFireTime, metadata } = changes;
    const columns = { taskId, trigger, triggerRule, paused, nextFireTime, lastFireTime, metadata };
    const text = JSON.stringify({ ...columns, details: scheduleDetails(changes) });
    const [updated, now] = await this.#connection.write((isRepetition) => [
      { sql: this.#statements.updateSchedule, args: [id, text, expectedFence ?? null] },
      ...(isRepetition ? [{ sql: this.#statements.getSchedule, args: [id] }] : []),
    ]);
    const [row] = jsonRecords<ScheduleRow>(updated);
    if (row !== undefined) return toSchedule(row);
    // A try of unknown fate may have updated it already, which raised its fence by one.
    const [current] = jsonRecords<ScheduleRow>(now).map(toSchedule);
    return current !== undefined && expectedFence !== undefined && current.fence === expectedFence + 1 ? current : null;
  }

  async remove(id: string): Promise<boolean> {
    let mayHaveRemoved = false;
    const [removed] = await this.#connection.write((isRepetition) => {
      mayHaveRemoved = isRepetition;
      return [{ sql: this.#statements.removeSchedule, args: [id] }];
    });
    return mayHaveRemoved || removed?.length === 1;
  }

  async acquire(request: ScheduleAcquisition): Promise<ScheduleAcquisitionReport> {
    const { now, limit, schedulerId, until, acquisitionId } = request;
    const args = [now, limit, schedulerId, until, acquisitionId];
    const { acquireSchedules, lookAtSchedules } = this.#statements;
    const [, look] = await this.#connection.write(() => [
      { sql: acquireSchedules, args },
      { sql: lookAtSchedules, args },
    ]);
    const instants = [numberOrNull(look, "next_fire_time"), numberOrNull(look, "next_free_at")].filter(
      (instant) => instant !== null,
    );
    return {
      schedules: jsonArray<ScheduleRow>(look, "records").map(toSchedule),
      nextDueAt: instants.length === 0 ? null : Math.min(...instants),
    };
  }

  async commit({ plans, schedulerId }: PlanCommit): Promise<PlanCommitReport> {
    // A schedule's lease ends with its first plan, so further ones in the same call cannot count.
    const counted = new Map(plans.toReversed().map((plan) => [plan.scheduleId, plan]));
    const jobRows: (string | number | null)[][] = [];
    const planRows: (string | number | boolean | null)[][] = [];
    for (const plan of counted.values()) {
      for (const job of plan.jobs) jobRows.push([...newJobRow(job), plan.fence, plan.scheduleId]);
      planRows.push([plan.scheduleId, plan.fence, plan.nextFireTime, plan.lastFireTime, plan.paused]);
    }
    if (planRows.length === 0) return { plans: [] };
    const { insertPlannedJobs, commitPlans } = this.#statements;
    const results = await this.#connection.write(() => [
      ...(jobRows.length === 0 ? [] : [{ sql: insertPlannedJobs, args: [JSON.stringify(jobRows), schedulerId] }]),
      { sql: commitPlans, args: [JSON.stringify(planRows), schedulerId] },
    ]);
    const committed = new Set(idsOf(results.at(-1)));
    const added = new Set(jobRows.length === 0 ? [] : idsOf(results[0]));
    return {
      plans: plans.map((plan) =>
        committed.has(plan.scheduleId) && counted.get(plan.scheduleId) === plan
          ? { committed: true, addedJobIds: plan.jobs.map((job) => job.id).filter((id) => added.has(id)) }
          : { committed: false, addedJobIds: [] },
      ),
    };
  }
}

type AddedSchedule = { readonly change: "added" | "replaced" | "kept"; readonly schedule: ScheduleRecord };

/** Most times that an addition finds its id in use, and then free again. */
const CONFLICT_TRIES_MAX = 5;

interface SortedAdditions {
  /** Written when their id is free. */
  readonly inserts: readonly ScheduleRecord[];
  /** Written over what has their id. */
  readonly replacements: readonly ScheduleRecord[];
  /** Must find their id free. */
  readonly unique: readonly ScheduleRecord[];
  /** An id that comes again, with the policy `error`. */
  readonly certainConflictId: string | null;
}

/** One statement adds, the next replaces. An id that comes again counts as existing, so its earlier addition decides.
 *  */
function sortAdditions(additions: readonly ScheduleAddition[]): SortedAdditions {
  const seen = new Set<string>();
  const inserts: ScheduleRecord[] = [];
  const replacements: ScheduleRecord[] = [];
  const unique: ScheduleRecord[] = [];
  for (const { schedule, conflictPolicy } of additions) {
    const isRepeated = seen.has(schedule.id);
    seen.add(schedule.id);
    if (conflictPolicy === "error") {
      if (isRepeated) return { inserts, replacements, unique, certainConflictId: schedule.id };
      unique.push(schedule);
    }
    if (conflictPolicy === "replace") replacements.push(schedule);
    else if (!isRepeated) inserts.push(schedule);
  }
  return { inserts, replacements, unique, certainConflictId: null };
}

/** The rows that `findConflict` and `guardConflicts` read. */
function conflictRows(unique: readonly ScheduleRecord[]): string {
  return JSON.stringify(unique.map((schedule) => [schedule.id, schedule.trigger, schedule.createdAt]));
}
