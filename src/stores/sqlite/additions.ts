import type { JobRecord } from "../../records/job.ts";
import type { JobAddition } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { STAMPED_BY_JOB_MAX } from "./limits.ts";
import { rowParameters } from "./parameters.ts";
import { type JobRow, jobDetails, jsonRecords, newJobRow, newJobState, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

export interface AdditionStamp {
  /** No other batch has it, and every try of this one has it. */
  readonly id: string;
  /** The present, in epoch milliseconds. */
  readonly now: number;
}

/** Jobs that one batch adds, as statements. */
export class Additions {
  readonly #statements: Statements;
  readonly #jobs: readonly JobRecord[];
  readonly #stamp: AdditionStamp | null;
  /** Only these can meet another job that stands for them. */
  readonly #rivalled: readonly JobRecord[];

  /**
   * @param stamp where an answer can get lost: marks the batch, so that a repetition does not add a job again that ran
   *   meanwhile and left no result. Null where none can.
   */
  constructor(statements: Statements, jobs: readonly JobRecord[], stamp: AdditionStamp | null) {
    this.#statements = statements;
    this.#jobs = jobs;
    this.#rivalled = jobs.filter(canHaveRivals);
    this.#stamp = jobs.some((job) => job.resultExpirationMs === 0) ? stamp : null;
  }

  insertions(): SqlStatement[] {
    return [...this.#insertions(), ...this.#stamps()];
  }

  /** The statements whose answers {@link answers} reads. They come after the {@link insertions}. */
  search(): SqlStatement[] {
    const rows = this.#rivalled.map((job, place) => [job.id, job.idempotencyKey, job.scheduleId, job.fireTime, place]);
    return rowParameters(rows).map(({ text }) => statement(this.#statements.findRivals, text));
  }

  answers(found: readonly Row[][]): JobAddition[] {
    const rows = found.flat();
    const rivals = jsonRecords<JobRow>(rows).map(toJob);
    const existing = new Map(rows.map((row, index) => [this.#rivalled[Number(row.place)], rivals[index]]));
    return this.#jobs.map((job) => {
      const rival = existing.get(job);
      return rival === undefined ? { job: { ...job }, isNew: true } : { job: rival, isNew: false };
    });
  }

  /**
   * Nearly always the jobs are of one task, and set little: then what they share travels once. Reading the columns out
   * of each row is what costs SQLite most, so that halves it, and a smaller statement is prepared faster.
   */
  #insertions(): SqlStatement[] {
    const { insertJobs, insertAlikeJobs } = this.#statements;
    const jobs = this.#jobs;
    const stampId = this.#stamp?.id ?? null;
    const [first] = jobs;
    if (first === undefined || !jobs.every((job) => isPlain(job) && isAlike(job, first))) {
      return rowParameters(jobs.map(newJobRow)).map(({ text }) => statement(insertJobs, text, stampId));
    }
    const { taskId, executor, priority } = first;
    return rowParameters(jobs.map((job) => [job.id, job.runAt, jobDetails(job)])).map(({ text }) =>
      statement(insertAlikeJobs, text, taskId, executor, priority, newJobState(first), stampId),
    );
  }

  /** Few jobs are stamped one by one, so that their repetition is known in any company. Of many, all that were surely
   *  added share a stamp, and those that may have met a rival instead have one each. */
  #stamps(): SqlStatement[] {
    if (this.#stamp === null) return [];
    const { id, now } = this.#stamp;
    const leavesNothing = this.#jobs.filter((job) => job.resultExpirationMs === 0);
    const isFew = leavesNothing.length <= STAMPED_BY_JOB_MAX;
    const own = leavesNothing.filter((job) => isFew || canHaveRivals(job)).map((job) => [job.id, job.id]);
    const rows = own.length === leavesNothing.length ? own : [[id, null], ...own];
    return rowParameters(rows).map(({ text }) => statement(this.#statements.stampAdditions, text, now));
  }
}

function canHaveRivals(job: JobRecord): boolean {
  return job.idempotencyKey !== null || job.fireTime !== null;
}

/** Whether the columns that `insertAlikeJobs` leaves out are what it takes them for. */
function isPlain(job: JobRecord): boolean {
  return (
    !canHaveRivals(job) &&
    job.scheduleId === null &&
    job.fence === 0 &&
    job.failedAttempts === 0 &&
    job.recoveries === 0
  );
}

function isAlike(job: JobRecord, other: JobRecord): boolean {
  return (
    job.taskId === other.taskId &&
    job.executor === other.executor &&
    job.priority === other.priority &&
    newJobState(job) === newJobState(other)
  );
}
