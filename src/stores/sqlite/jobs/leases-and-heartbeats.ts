import { HEARTBEATS_MAX, TICK_GAP_MS_MAX } from "../../../core/limits.ts";
import {
  type SchedulerProfile,
  type SchedulerRecord,
  type SchedulerRole,
  UNKNOWN_PROFILE,
} from "../../../records/scheduler.ts";
import type {
  Heartbeat,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  LeaseSurrenderReport,
} from "../../data-store.ts";
import { FAR_FUTURE_MS, RECOVERIES_PER_COMMIT_MAX } from "../bounds.ts";
import type { Connection } from "../driver/connection.ts";
import { Batch, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { LedgerSwitch } from "../ledger/history-writes.ts";
import type { ReadStatements } from "../ledger/ledger-reads.ts";
import { JOB_STATE, type TableNames } from "../schema/tables.ts";
import { lazily, rowParameters } from "../sql-and-json.ts";
import { type DependencyStatements, resolved, resolving } from "./dependencies.ts";
import { type LogStatements, logsOfLeased } from "./logs-of-jobs.ts";
import { type RecoveryStatements, recovery, recoveryReport } from "./recovery-and-cancellation.ts";

type StatementsOfLeases = LogStatements &
  LeaseStatements &
  RecoveryStatements &
  DependencyStatements &
  LedgerSwitch &
  Pick<ReadStatements, "extendUptime">;

/** The leases that a scheduler keeps or gives up, and its heartbeat, in a `SqlDataStore`. */
export class SqliteLeases {
  readonly #connection: Connection;
  readonly #statements: StatementsOfLeases;

  constructor(connection: Connection, statements: StatementsOfLeases) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async extend(extension: LeaseExtension): Promise<LeaseExtensionReport> {
    const { now, schedulerId, until, jobs, instanceId, settledCommitId } = extension;
    const { extend, giveUpStrays } = this.#statements;
    const rows = jobs.map(({ jobId, fence, hasStarted, progress }) =>
      progress === undefined
        ? [jobId, fence, hasStarted === true]
        : [jobId, fence, hasStarted === true, JSON.stringify(progress)],
    );
    const batch = new Batch();
    batch.add(logsOfLeased(this.#statements, jobs, schedulerId));
    const extensions = batch.add(rowParameters(rows).map(({ text }) => statement(extend, text, schedulerId, until)));
    batch.add([statement(giveUpStrays, JSON.stringify(rows), schedulerId, now, instanceId, settledCommitId)]);
    batch.add(heartbeatStatements(this.#statements, extension));
    const { getHeartbeats } = this.#statements;
    const heartbeats = batch.add(extension.aliveUntil === null ? [] : [statement(getHeartbeats, instanceId)]);
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
      if (report.recovered.length + report.ended.length < RECOVERIES_PER_COMMIT_MAX) break;
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
      batch.add([statement(this.#statements.forgetOthers, schedulerId, surrender.instanceId)]);
    }
    const recovered = batch.add(
      recovery(this.#statements, {
        now,
        endedBy: FAR_FUTURE_MS,
        holder: schedulerId,
        putBackBy: null,
        commitId: null,
        spares: surrender.instanceId,
        hasParents,
        limit: RECOVERIES_PER_COMMIT_MAX,
      }),
    );
    batch.add(heartbeatStatements(this.#statements, surrender));
    const resolution = batch.add(hasParents ? resolving(this.#statements, now) : []);
    const heartbeats = batch.add([statement(this.#statements.getHeartbeats, surrender.instanceId)]);
    const results = await this.#connection.write(() => batch.statements);
    const report = recoveryReport(recovered.of(results), now);
    const ended = [...report.ended, ...resolved(resolution.of(results), now).ended];
    return { ...report, ended, ...heartbeatsIn(heartbeats.of(results)) };
  }

  async getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return (await this.#connection.read(statement(this.#statements.getSchedulers, now))).map(toScheduler);
  }
}

/** The statements that say that a run of a scheduler is alive, if there is something to say. */
export function heartbeatStatements(
  { keepAlive, extendUptime, keepsLedger }: StatementsOfLeases,
  heartbeat: Pick<LeaseSurrender, "now" | "schedulerId" | "instanceId" | "aliveUntil"> & {
    readonly profile?: SchedulerProfile;
  },
): SqlStatement[] {
  const { now, schedulerId, instanceId, aliveUntil, profile = UNKNOWN_PROFILE } = heartbeat;
  if (aliveUntil === null) return [];
  const { role, isResident, tasks, executors } = profile;
  const [taskIds, executorNames] = [JSON.stringify(tasks), JSON.stringify(executors)];
  const [resident, gapMs] = isResident ? [1, 0] : [0, TICK_GAP_MS_MAX];
  return [
    statement(keepAlive, schedulerId, instanceId, role, resident, taskIds, executorNames, aliveUntil, now),
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
    instanceId: String(row.instance_id),
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

const { delayed, ready, leased } = JOB_STATE;

/** The statements about leases that go on or are given up, and about heartbeats. */
export interface LeaseStatements {
  readonly extend: string;
  readonly giveUpStrays: string;
  readonly keepAlive: string;
  readonly getHeartbeats: string;
  readonly forgetOthers: string;
  readonly getSchedulers: string;
  readonly removeDead: string;
}

/** A comment before each statement lists its arguments. */
export function leaseStatements({ jobs, schedulers }: TableNames): LeaseStatements {
  return lazily<LeaseStatements>({
    // ?1 rows [jobId, fence, whether the job has started, progress as JSON or nothing], ?2 schedulerId, ?3 until. An
    // extension that arrives late shortens no lease.
    extend: () =>
      `UPDATE ${jobs} SET acquired_until = max(acquired_until, ?3), ` +
      "started_fence = CASE WHEN r.value->>2 THEN fence ELSE started_fence END, " +
      `progress = coalesce(r.value->>3, progress) FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2 RETURNING id, cancel_requested`,
    // ?1 rows [jobId, fence, ...] of the jobs that run, ?2 schedulerId, ?3 now, ?4 instance id, ?5 the last commit
    // whose answer is known, or null. A job that is to be cancelled does not go back to the queue: its lease ends at
    // ?3, so that recovery ends the job.
    // A job with a key is delayed, so that a commit with flow control blocks it, and marks its limiter.
    giveUpStrays: () =>
      `UPDATE ${jobs} SET state = CASE WHEN cancel_requested THEN ${leased} ` +
      `WHEN concurrency_key IS NULL THEN ${ready} ELSE ${delayed} END, ` +
      "virtual_time = NULL, " +
      "acquired_by = CASE WHEN cancel_requested THEN acquired_by END, " +
      "acquired_until = CASE WHEN cancel_requested THEN ?3 END, acquisition_id = NULL " +
      `WHERE seq IN (SELECT seq FROM ${jobs} WHERE state = ${leased} AND acquired_until > 0 ` +
      "AND substr(acquisition_id, 1, length(?4)) = ?4 AND acquisition_id <= ?5 AND acquired_by = ?2 " +
      "AND (id, fence) NOT IN (SELECT value->>0, value->>1 FROM json_each(?1)))",
    // ?1 identity, ?2 instance id, ?3 role, ?4 whether resident, ?5 tasks, ?6 executors, ?7 until when it counts as
    // alive, ?8 now
    keepAlive: () =>
      `INSERT OR REPLACE INTO ${schedulers} (identity, instance_id, role, resident, tasks, executors, alive_until, ` +
      "heartbeat_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    // ?1 instance id. Whoever signs off says that it is alive until now.
    getHeartbeats: () =>
      `SELECT identity, instance_id, resident, heartbeat_at, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > 0 AND instance_id <> ?1 AND alive_until > heartbeat_at " +
      `ORDER BY alive_until DESC LIMIT ${HEARTBEATS_MAX}`,
    // ?1 identity, ?2 instance id
    forgetOthers: () => `DELETE FROM ${schedulers} WHERE identity = ?1 AND instance_id <> ?2`,
    // ?1 now
    getSchedulers: () =>
      `SELECT identity, instance_id, role, resident, tasks, executors, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > ?1 ORDER BY +identity, instance_id",
    // ?1 the instant up to which resident schedulers are removed, ?2 now
    removeDead: () => `DELETE FROM ${schedulers} WHERE alive_until <= ?2 AND (resident = 0 OR alive_until <= ?1)`,
  });
}
