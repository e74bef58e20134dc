import { systemClock } from "../../core/clock.ts";
import { IdGenerator } from "../../core/ids.ts";
import type { JobRecord } from "../../records/job.ts";
import type { CancelReport, JobAddition, JobFilter, RecordPage } from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { AdditionQueue } from "./addition-queue.ts";
import { type AdditionStamp, Additions } from "./additions.ts";
import type { Awareness } from "./awareness.ts";
import { Batch, statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import type { SqlStatement } from "./driver.ts";
import { readPage } from "./pages.ts";
import { positional } from "./positional.ts";
import { type JobRow, jsonRecords, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The jobs of a `SqlDataStore`, except the steps and leases of schedulers. */
export class SqliteJobs {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #awareness: Awareness;
  readonly #ids = new IdGenerator();
  readonly #additions = new AdditionQueue((jobs) => this.#addNow(jobs));

  constructor(connection: Connection, statements: Statements, awareness: Awareness) {
    this.#connection = connection;
    this.#statements = statements;
    this.#awareness = awareness;
  }

  async add(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
    return jobs.length === 0 ? [] : this.#additions.add(jobs);
  }

  async #addNow(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
    if (jobs.some(({ concurrencyKey }) => concurrencyKey !== undefined)) this.#awareness.isAware = true;
    const additions = new Additions(this.#statements, jobs, this.#newStamp(jobs));
    const insertions = additions.insertions();
    const search = additions.search();
    const results = await this.#connection.write(() => [...insertions, ...search]);
    return additions.answers(results.slice(insertions.length));
  }

  /** The statements that add a job in somebody else's transaction. The job's own id is their stamp, because that
   *  transaction may be repeated, whatever the database is. */
  prepare(job: JobRecord): SqlStatement[] {
    const stamp = { id: job.id, now: job.createdAt };
    return new Additions(this.#statements, [job], stamp).insertions().map(positional);
  }

  #newStamp(jobs: readonly JobRecord[]): AdditionStamp | null {
    if (this.#connection.isLocal) return null;
    return { id: this.#ids.next(systemClock.now()), now: Math.max(...jobs.map(({ createdAt }) => createdAt)) };
  }

  async get(id: string): Promise<JobRecord | null> {
    const [row] = jsonRecords<JobRow>(await this.#connection.read(statement(this.#statements.getJob, id)));
    return row === undefined ? null : toJob(row);
  }

  getPage(filter: JobFilter): Promise<RecordPage<JobRecord>> {
    const { taskId, scheduleId } = filter;
    const { getJobs, getJobsOfTask, getJobsOfSchedule } = this.#statements;
    return readPage(this.#connection, filter, {
      statement: (after, limit) => {
        if (scheduleId !== undefined) return statement(getJobsOfSchedule, after, limit, taskId ?? null, scheduleId);
        return taskId === undefined ? statement(getJobs, after, limit) : statement(getJobsOfTask, after, limit, taskId);
      },
      toRecord: toJob,
      idOf: (job) => job.id,
    });
  }

  async cancel(id: string, now: number): Promise<CancelReport> {
    // An answer can get lost, and then only a stamp tells what the first try found.
    const stamp = this.#connection.isLocal ? null : this.#ids.next(systemClock.now());
    const { stampCancel, readStamp, requestCancel, keepCancelled, removeCancelled, wakeCancelled } = this.#statements;
    const batch = new Batch();
    batch.add(stamp === null ? [] : [statement(stampCancel, id, stamp, now)]);
    const requested = batch.add([statement(requestCancel, id)]);
    batch.add([statement(keepCancelled, id, now), statement(wakeCancelled, id, now)]);
    const removed = batch.add([statement(removeCancelled, id)]);
    const found = batch.add(stamp === null ? [] : [statement(readStamp, stamp)]);
    const results = await this.#connection.write(() => batch.statements);
    if (stamp === null) {
      const lease = requested.of(results).flat()[0];
      if (lease !== undefined) {
        return { status: "requested", taskId: String(lease.task_id), acquiredBy: String(lease.acquired_by) };
      }
    }
    const [row] = jsonRecords<JobRow>((stamp === null ? removed : found).of(results).flat());
    if (row === undefined) return { status: "missing" };
    const job = toJob(row);
    if (job.acquiredBy !== null) return { status: "requested", taskId: job.taskId, acquiredBy: job.acquiredBy };
    return { status: "cancelled", result: endedWithoutRun(job, "cancelled", now) };
  }
}
