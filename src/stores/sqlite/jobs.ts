import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type {
  CancelReport,
  JobAddition,
  JobFilter,
  LeaseExtension,
  LeaseExtensionReport,
  RecordPage,
  RecoveryReport,
} from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { AdditionQueue } from "./addition-queue.ts";
import type { Connection } from "./connection.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { jobInsertion } from "./job-insertion.ts";
import { FAR_FUTURE_MS } from "./limits.ts";
import { readPage } from "./pages.ts";
import { type JobRow, jsonRecords, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The jobs of a `SqlDataStore`, but for a worker's turn. */
export class SqliteJobs {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #additions = new AdditionQueue((jobs) => this.#addNow(jobs));

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async add(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
    return jobs.length === 0 ? [] : this.#additions.add(jobs);
  }

  async #addNow(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
    const insertion = jobInsertion(this.#statements, jobs);
    // Only these can meet another job that stands for them.
    const rivalled = jobs.filter((job) => job.idempotencyKey !== null || job.fireTime !== null);
    const rivalRows = JSON.stringify(rivalled.map((job) => [job.id, job.idempotencyKey, job.scheduleId, job.fireTime]));
    const [, rivals] = await this.#connection.write(() => [
      insertion,
      ...(rivalled.length === 0 ? [] : [{ sql: this.#statements.findRivals, args: [rivalRows] }]),
    ]);
    const existing = new Map<JobRecord | undefined, JobRecord>();
    const records = jsonRecords<JobRow>(rivals).map(toJob);
    for (const [index, row] of (rivals ?? []).entries()) {
      const record = records[index];
      if (record !== undefined) existing.set(rivalled[Number(row.place)], record);
    }
    return jobs.map((job) => {
      const rival = existing.get(job);
      return rival === undefined ? { job: { ...job }, isNew: true } : { job: rival, isNew: false };
    });
  }

  async get(id: string): Promise<JobRecord | null> {
    const [row] = jsonRecords<JobRow>(await this.#connection.read({ sql: this.#statements.getJob, args: [id] }));
    return row === undefined ? null : toJob(row);
  }

  getPage(filter: JobFilter): Promise<RecordPage<JobRecord>> {
    const { taskId = null, scheduleId } = filter;
    const { getJobs, getJobsOfSchedule } = this.#statements;
    return readPage(this.#connection, filter, {
      statement: (after, limit) =>
        scheduleId === undefined
          ? { sql: getJobs, args: [after, limit, taskId] }
          : { sql: getJobsOfSchedule, args: [after, limit, taskId, scheduleId] },
      toRecord: toJob,
      idOf: (job) => job.id,
    });
  }

  async extendLeases({ schedulerId, until, jobs }: LeaseExtension): Promise<LeaseExtensionReport> {
    if (jobs.length === 0) return { lost: [], cancelRequested: [] };
    const rows = JSON.stringify(jobs.map(({ jobId, fence }) => [jobId, fence]));
    const [answer] = await this.#connection.write(() => [
      { sql: this.#statements.extend, args: [rows, schedulerId, until] },
    ]);
    const extended = new Map(answer?.map((row) => [String(row.id), Number(row.cancel_requested) === 1]));
    const ids = jobs.map(({ jobId }) => jobId);
    return {
      lost: ids.filter((id) => !extended.has(id)),
      cancelRequested: ids.filter((id) => extended.get(id) === true),
    };
  }

  async giveUpLeases({ now, schedulerId }: { now: number; schedulerId: string }): Promise<RecoveryReport> {
    const [, ...recovery] = await this.#connection.write(() => [
      { sql: this.#statements.giveUpSchedules, args: [schedulerId] },
      ...recoveryStatements(this.#statements, FAR_FUTURE_MS, schedulerId, now),
    ]);
    return recoveryReport(recovery, now);
  }

  async cancel(id: string, now: number): Promise<CancelReport> {
    const [requested, , removed] = await this.#connection.write(() => [
      { sql: this.#statements.requestCancel, args: [id] },
      { sql: this.#statements.keepCancelled, args: [id, now] },
      { sql: this.#statements.removeCancelled, args: [id] },
    ]);
    const lease = requested?.[0];
    if (lease !== undefined) {
      return { status: "requested", taskId: String(lease.task_id), acquiredBy: String(lease.acquired_by) };
    }
    const [row] = jsonRecords<JobRow>(removed);
    if (row === undefined) return { status: "missing" };
    return { status: "cancelled", result: endedWithoutRun(toJob(row), "cancelled", now) };
  }
}

/** Takes back leases that ended by `endedBy`, of one holder or of all. Read their answers with {@link recoveryReport}.
 *  */
export function recoveryStatements(
  statements: Statements,
  endedBy: number,
  holder: string | null,
  now: number,
): SqlStatement[] {
  return [
    { sql: statements.keepLost, args: [endedBy, holder, now] },
    { sql: statements.removeLost, args: [endedBy, holder] },
    { sql: statements.putBackLost, args: [endedBy, holder, now] },
  ];
}

export function recoveryReport([, removed, putBack]: readonly Row[][], now: number): RecoveryReport {
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
