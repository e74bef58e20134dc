import { TICK_GAP_MS_MAX } from "../../../core/limits.ts";
import type { JobResultRecord } from "../../../records/job-result.ts";
import {
  type SchedulerProfile,
  type SchedulerRecord,
  type SchedulerRole,
  UNKNOWN_PROFILE,
} from "../../../records/scheduler.ts";
import type {
  Heartbeat,
  LeaseEnd,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  LeaseSurrenderReport,
  RecoveryReport,
} from "../../data-store.ts";
import { endedWithoutRun } from "../../ended-without-run.ts";
import type { Connection } from "../driver/connection.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { Batch, rowParameters, statement } from "../driver/parameters.ts";
import { FAR_FUTURE_MS, RECOVERIES_PER_STEP_MAX } from "../limits.ts";
import { type JobRow, jsonRecords, toJob } from "../rows.ts";
import type { Statements } from "../statements.ts";
import { settlement, settling } from "./chains.ts";

/** The leases that a scheduler keeps or gives up, and its sign of life, in a `SqlDataStore`. */
export class SqliteLeases {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async extend(extension: LeaseExtension): Promise<LeaseExtensionReport> {
    const { now, schedulerId, until, jobs, incarnation, settledStepId } = extension;
    const { extend, giveUpStrays } = this.#statements;
    const rows = jobs.map(({ jobId, fence, hasStarted, progress }) =>
      progress === undefined
        ? [jobId, fence, hasStarted === true]
        : [jobId, fence, hasStarted === true, JSON.stringify(progress)],
    );
    const batch = new Batch();
    const extensions = batch.add(rowParameters(rows).map(({ text }) => statement(extend, text, schedulerId, until)));
    batch.add([statement(giveUpStrays, JSON.stringify(rows), schedulerId, now, incarnation, settledStepId)]);
    batch.add(signOfLife(this.#statements, extension));
    const { getHeartbeats } = this.#statements;
    const heartbeats = batch.add(extension.aliveUntil === null ? [] : [statement(getHeartbeats, incarnation)]);
    const results = await this.#connection.write(() => batch.statements);
    const answer = extensions.of(results).flat();
    const extended = new Map(answer.map((row) => [String(row.id), Number(row.cancel_requested) === 1]));
    const ids = jobs.map(({ jobId }) => jobId);
    return {
      lost: ids.filter((id) => !extended.has(id)),
      cancelRequested: ids.filter((id) => extended.get(id) === true),
      ...heartbeatsIn(heartbeats.of(results)),
    };
  }

  /** In as many writes as it takes, so that no write and no answer becomes too large. */
  async giveUp(surrender: LeaseSurrender): Promise<LeaseSurrenderReport> {
    const reports: LeaseSurrenderReport[] = [];
    for (;;) {
      const report = await this.#giveUpSome(surrender);
      reports.push(report);
      if (report.recovered.length + report.ended.length < RECOVERIES_PER_STEP_MAX) break;
    }
    return {
      ...reports.at(-1),
      recovered: reports.flatMap(({ recovered }) => recovered),
      ended: reports.flatMap(({ ended }) => ended),
    };
  }

  /** Nearly no lost job has children. The first batch assumes so, and is undone if one has. */
  async #giveUpSome(surrender: LeaseSurrender): Promise<LeaseSurrenderReport> {
    try {
      return await this.#writeSurrender(surrender, false);
    } catch (error) {
      if (this.#connection.failureKind(error) !== "guard") throw error;
    }
    return this.#writeSurrender(surrender, true);
  }

  async #writeSurrender(surrender: LeaseSurrender, hasParents: boolean): Promise<LeaseSurrenderReport> {
    const { now, schedulerId } = surrender;
    const batch = new Batch();
    if (surrender.isAlone === true) {
      batch.add([statement(this.#statements.forgetOthers, schedulerId, surrender.incarnation)]);
    }
    const recovered = batch.add(
      recovery(this.#statements, {
        now,
        endedBy: FAR_FUTURE_MS,
        holder: schedulerId,
        putBackBy: null,
        stepId: null,
        spares: surrender.incarnation,
        hasParents,
        limit: RECOVERIES_PER_STEP_MAX,
        // A scheduler that starts has not seen yet what its database needs.
        isAware: true,
      }),
    );
    batch.add(signOfLife(this.#statements, surrender));
    const settled = batch.add(hasParents ? settling(this.#statements, now) : []);
    const heartbeats = batch.add([statement(this.#statements.getHeartbeats, surrender.incarnation)]);
    const results = await this.#connection.write(() => batch.statements);
    const report = recoveryReport(recovered.of(results), now);
    const ended = [...report.ended, ...settlement(settled.of(results), now).ended];
    return { ...report, ended, ...heartbeatsIn(heartbeats.of(results)) };
  }

  async getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return (await this.#connection.read(statement(this.#statements.getSchedulers, now))).map(toScheduler);
  }
}

/** The statements that say that a run of a scheduler is alive, if there is something to say. */
export function signOfLife(
  { keepAlive, extendUptime, keepsLedger }: Statements,
  sign: Pick<LeaseSurrender, "now" | "schedulerId" | "incarnation" | "aliveUntil"> & {
    readonly profile?: SchedulerProfile;
  },
): SqlStatement[] {
  const { now, schedulerId, incarnation, aliveUntil, profile = UNKNOWN_PROFILE } = sign;
  if (aliveUntil === null) return [];
  const { role, isResident, tasks, executors } = profile;
  const [taskIds, executorNames] = [JSON.stringify(tasks), JSON.stringify(executors)];
  const [resident, gapMs] = isResident ? [1, 0] : [0, TICK_GAP_MS_MAX];
  return [
    statement(keepAlive, schedulerId, incarnation, role, resident, taskIds, executorNames, aliveUntil, now),
    ...(keepsLedger ? [statement(extendUptime, schedulerId, now, aliveUntil, role, resident, taskIds, gapMs)] : []),
  ];
}

function heartbeatsIn(answers: readonly Row[][]): { heartbeats?: readonly Heartbeat[] } {
  const heartbeats = answers.flat().map((row) => ({ ...runOf(row), at: Number(row.heartbeat_at) }));
  return heartbeats.length === 0 ? {} : { heartbeats };
}

function runOf(row: Row): Omit<Heartbeat, "at"> {
  return {
    identity: String(row.identity),
    incarnation: String(row.incarnation),
    isResident: Number(row.resident) === 1,
    aliveUntil: Number(row.alive_until),
  };
}

function toScheduler(row: Row): SchedulerRecord {
  return {
    ...runOf(row),
    // Our own statements wrote these.
    role: String(row.role) as SchedulerRole,
    tasks: JSON.parse(String(row.tasks)) as string[],
    executors: JSON.parse(String(row.executors)) as string[],
  };
}

/** Which leases to take back. Instants are in epoch milliseconds. */
export interface Recovery {
  readonly now: number;
  /** Only leases that end at this instant or earlier. */
  readonly endedBy: number;
  /** Only leases of this holder; null for all holders. */
  readonly holder: string | null;
  /** Only leases of jobs that this step put back although recovery has to end them or to take them back; null for all
   *  jobs. */
  readonly putBackBy: string | null;
  /** The step that takes the leases back; null outside of steps. */
  readonly stepId: string | null;
  /** The incarnation whose leases are left alone, besides those of others that are alive; null for none. */
  readonly spares: string | null;
  /** Whether jobs among them may have children; goes with `isAware`. If not, and one has, the whole batch is undone. */
  readonly hasParents: boolean;
  readonly limit: number;
  /** Whether to heed flow control, see `Awareness`. */
  readonly isAware: boolean;
}

/** Moves the ends of leases that are not as somebody judges who has watched the heartbeats of their holders. */
export function leaseMoves({ moveLeases }: Statements, leaseEnds: readonly LeaseEnd[], now: number): SqlStatement[] {
  const move = (isAlive: boolean, after: number, upTo: number): SqlStatement[] => {
    const ends = leaseEnds.filter(({ until }) => until > now === isAlive);
    const pairs = JSON.stringify(ends.map(({ incarnation, until }) => [incarnation, until]));
    return ends.length === 0 ? [] : [statement(moveLeases, pairs, after, upTo)];
  };
  return [...move(true, 0, now), ...move(false, now, FAR_FUTURE_MS)];
}

/** Takes back leases. Read the answers with {@link recoveryReport}. */
export function recovery(
  statements: Statements,
  { now, endedBy, holder, putBackBy, spares, limit, stepId, isAware, hasParents }: Recovery,
): SqlStatement[] {
  const args = [endedBy, holder, now, putBackBy, limit, spares] as const;
  const { keepsLedger, wakeLost, keepLost, enterLost, removeLost, putBackLost } = statements;
  const { keepLostAware, enterLostAware, noteLost, removeLostAware, removeLostParents, putBackLostAware } = statements;
  // A server refuses a parameter that a statement does not use.
  if (!isAware) {
    return [
      statement(keepLost, ...args),
      ...(keepsLedger ? [statement(enterLost, ...args)] : []),
      statement(removeLost, ...args),
      statement(putBackLost, ...args, stepId),
    ];
  }
  return [
    statement(wakeLost, ...args),
    statement(keepLostAware, ...args),
    ...(keepsLedger ? [statement(enterLostAware, ...args)] : []),
    ...(hasParents ? [statement(noteLost, ...args)] : []),
    statement(hasParents ? removeLostParents : removeLostAware, ...args),
    statement(putBackLostAware, ...args, stepId),
  ];
}

/** Ends jobs that have missed their start. The children of those that end are left to `settling`. Read the answers with
 *  {@link missedResults}. */
export function endingMissed(statements: Statements, now: number): SqlStatement[] {
  const { keepsLedger, keepMissed, enterMissed, wakeMissed, noteMissed, unlinkMissed, removeMissed } = statements;
  const entering = keepsLedger ? [enterMissed] : [];
  return [keepMissed, ...entering, wakeMissed, noteMissed, unlinkMissed, removeMissed].map((sql) =>
    statement(sql, now),
  );
}

export function missedResults(answers: readonly Row[][], now: number): JobResultRecord[] {
  return jsonRecords<JobRow>(answers.at(-1)).map((row) => endedWithoutRun(toJob(row), "missedStartDeadline", now));
}

export function recoveryReport(answers: readonly Row[][], now: number): RecoveryReport {
  const [removed, putBack] = answers.slice(-2);
  const ended: JobResultRecord[] = jsonRecords<JobRow>(removed).map((row) => {
    const job = toJob(row);
    return endedWithoutRun(job, job.cancelRequested ? "cancelled" : "abandoned", now);
  });
  const recovered = putBack?.map((row) => ({
    jobId: String(row.id),
    taskId: String(row.task_id),
    scheduleId: typeof row.schedule_id === "string" ? row.schedule_id : null,
    attempt: Number(row.attempt),
  }));
  return { recovered: recovered ?? [], ended };
}
