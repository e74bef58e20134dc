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
import { TICK_GAP_MS_MAX } from "../../shared/limits.ts";
import type { Connection } from "../driver/connection.ts";
import { Batch, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import type { ReadStatements } from "../history/ledger-reads.ts";
import { FAR_FUTURE_MS, RECOVERIES_PER_COMMIT_MAX } from "../limits.ts";
import { rowParameters } from "../sql-and-json.ts";
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
export class SqlLeases {
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
