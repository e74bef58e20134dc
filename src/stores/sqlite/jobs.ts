import { systemClock } from "../../core/clock.ts";
import { IdGenerator } from "../../core/ids.ts";
import type { JobRecord } from "../../records/job.ts";
import type { CancelReport, JobAddition, JobFilter, RecordPage } from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { AdditionQueue } from "./addition-queue.ts";
import { type AdditionStamp, Additions } from "./additions.ts";
import { statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { readPage } from "./pages.ts";
import { type JobRow, jsonRecords, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The jobs of a `SqlDataStore`, except the steps and leases of schedulers. */
export class SqliteJobs {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #ids = new IdGenerator();
  readonly #additions = new AdditionQueue((jobs) => this.#addNow(jobs));

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async add(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
    return jobs.length === 0 ? [] : this.#additions.add(jobs);
  }

  async #addNow(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
    const additions = new Additions(this.#statements, jobs, this.#newStamp(jobs));
    const insertions = additions.insertions();
    const search = additions.search();
    const results = await this.#connection.write(() => [...insertions, ...search]);
    return additions.answers(results.slice(insertions.length));
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
    const { taskId = null, scheduleId } = filter;
    const { getJobs, getJobsOfSchedule } = this.#statements;
    return readPage(this.#connection, filter, {
      statement: (after, limit) =>
        scheduleId === undefined
          ? statement(getJobs, after, limit, taskId)
          : statement(getJobsOfSchedule, after, limit, taskId, scheduleId),
      toRecord: toJob,
      idOf: (job) => job.id,
    });
  }

  async cancel(id: string, now: number): Promise<CancelReport> {
    const { requestCancel, keepCancelled, removeCancelled } = this.#statements;
    const [requested, , removed] = await this.#connection.write(() => [
      statement(requestCancel, id),
      statement(keepCancelled, id, now),
      statement(removeCancelled, id),
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
