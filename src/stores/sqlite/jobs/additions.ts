import { hasMissedStart, type JobRecord, type NewJobRecord } from "../../../records/job.ts";
import type { JobAddition } from "../../data-store.ts";
import { hasParents } from "../../shared/parents-of-jobs.ts";
import { ALIKE_DETAILS_LENGTH_MAX, STAMPED_BY_JOB_MAX } from "../bounds.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { instantKey, member, parametersOf, rowParameters, statement } from "../driver/parameters.ts";
import type { AdmissionStatements, HeldBy } from "../flow-control/admission.ts";
import { jsonRecords } from "../json-rows.ts";
import type { LedgerSwitch } from "../ledger/history-writes.ts";
import { JOB_STATE } from "../schema/tables.ts";
import { type DependencyStatements, NewChildren } from "./dependencies.ts";
import {
  type AdditionStatements,
  type InsertionStatements,
  jobDetails,
  newJobRow,
  newJobState,
} from "./insertion-statements.ts";
import { type JobRow, toJob } from "./job-rows.ts";
import { isWindowed, WindowedAdditions, type WindowStatements } from "./throttle-and-debounce.ts";

type Statements = AdditionStatements &
  WindowStatements &
  DependencyStatements &
  LedgerSwitch &
  Pick<AdmissionStatements, "markAdded">;

export interface AdditionStamp {
  /** The stamp's text. All tries of one batch have the same text, and no other batch has it. */
  readonly id: string;
  /** The present, in epoch milliseconds. */
  readonly now: number;
}

interface AdditionForm {
  readonly stamp: AdditionStamp | null;
  readonly isPlain: boolean;
  readonly freesKeys: boolean;
}

/** Jobs that one batch adds, as statements. */
export class Additions {
  readonly #statements: Statements;
  readonly #jobs: readonly NewJobRecord[];
  readonly #stamp: AdditionStamp | null;
  readonly #isPlain: boolean;
  readonly #freesKeys: boolean;
  /** The jobs in whose place another job may exist already. */
  readonly #withUniqueKey: readonly NewJobRecord[];
  /** The jobs that repeat others. */
  readonly #repeated: readonly NewJobRecord[];
  /** Null for jobs that are neither debounced nor added once in a time. */
  readonly #windowed: WindowedAdditions | null;
  /** The jobs that wait for others. */
  readonly children: NewChildren;

  /**
   * @param stamp marks the batch, so that a repetition does not add a job again that has run in the meantime and left
   *   no result. Null where no answer can get lost.
   * @param isPlain whether no job has a key, and none is to get the key of its task (see `JobStatements`)
   * @param freesKeys whether jobs that have missed their start leave their keys to the additions. If not, and one has
   *   the key of an addition, the batch is undone
   * @throws {StoreRefusedError} for jobs that would wait for each other
   */
  constructor(statements: Statements, jobs: readonly NewJobRecord[], { stamp, isPlain, freesKeys }: AdditionForm) {
    this.#freesKeys = freesKeys;
    this.#statements = statements;
    this.#jobs = jobs;
    this.#isPlain = isPlain;
    this.#windowed = jobs.some(isWindowed) ? new WindowedAdditions(statements, jobs, stamp) : null;
    this.#withUniqueKey = jobs.filter(hasUniqueKey);
    this.#repeated = jobs.filter(({ retryOf }) => retryOf !== undefined);
    this.children = new NewChildren(statements, jobs);
    this.#stamp = jobs.some(leavesNoTrace) ? stamp : null;
  }

  insertions(): SqlStatement[] {
    return [
      ...(this.#freesKeys ? this.#insertionsWithFreedKeys() : this.#insertions()),
      ...this.#marks(),
      ...this.#stamps(),
      ...this.children.linking(),
    ];
  }

  /** An addition of this batch, too, may have missed its start, and leaves its key to the next addition of the key. So
   *  what was not inserted for that reason is inserted in another round, which does nothing to all others. */
  #insertionsWithFreedKeys(): SqlStatement[] {
    const keyed = this.#withUniqueKey.filter(({ idempotencyKey }) => idempotencyKey !== null);
    const rows = keyed.map(({ id, taskId, idempotencyKey, createdAt }) => [id, taskId, idempotencyKey, createdAt]);
    const freeing = rowParameters(rows).map(({ text }) => statement(this.#statements.freeKeys, text));
    const latest = Math.max(...keyed.map(({ createdAt }) => createdAt));
    const missed = keyed.filter((job) => hasMissedStart(job, latest));
    const isFollowed = ({ id, taskId, idempotencyKey }: NewJobRecord): boolean =>
      keyed.some((job) => job.taskId === taskId && job.idempotencyKey === idempotencyKey && job.id !== id);
    const rounds = 1 + missed.filter(isFollowed).length;
    return Array.from({ length: rounds }, () => [...freeing, ...this.#insertions()]).flat();
  }

  /** The statements whose answers {@link answers} reads. They come after the {@link insertions}. */
  search(): SqlStatement[] {
    const rows = this.#withUniqueKey.map((job, place) => {
      const { id, idempotencyKey, scheduleId, fireTime, taskId, createdAt } = job;
      return [id, idempotencyKey, scheduleId, fireTime, place, taskId, createdAt];
    });
    const existing = rowParameters(rows).map(({ text }) => statement(this.#statements.findExistingJobs, text));
    const found = [...this.#searchOutdated(), ...existing];
    return this.#windowed === null ? found : [...found, ...this.#windowed.search()];
  }

  #searchOutdated(): SqlStatement[] {
    const rows = this.#repeated.map(({ id }, place) => [id, place]);
    return rowParameters(rows).map(({ text }) => statement(this.#statements.findOutdated, text));
  }

  /** @param held what holds the new jobs that are held, by their ids. Default: as they were inserted */
  answers(found: readonly Row[][], held: ReadonlyMap<string, HeldBy> = this.#heldAtFirst()): JobAddition[] {
    if (this.#windowed === null) return this.#answers(found, held);
    const place = found.length - this.#windowed.searchCount;
    return this.#windowed.answers(found.slice(place), this.#answers(found.slice(0, place), held));
  }

  #answers(found: readonly Row[][], held: ReadonlyMap<string, HeldBy>): JobAddition[] {
    const rows = found.flat();
    if (rows.length === 0) return this.#jobs.map((job) => ({ job: asAdded(job, held.get(job.id)), isNew: true }));
    // Rows of `findOutdated` have no record.
    const [outdatedRows, existingRows] = [
      rows.filter((row) => !("record" in row)),
      rows.filter((row) => "record" in row),
    ];
    const outdated = new Set(outdatedRows.map((row) => this.#repeated[Number(row.place)]));
    const records = jsonRecords<JobRow>(existingRows).map(toJob);
    const existing = new Map(
      existingRows.map((row, index) => [this.#withUniqueKey[Number(row.place)], records[index]]),
    );
    return this.#jobs.map((job) => {
      const other = existing.get(job);
      if (other !== undefined) return { job: other, isNew: false };
      if (outdated.has(job)) return { job, isNew: false, isOutdated: true };
      return { job: asAdded(job, held.get(job.id)), isNew: true };
    });
  }

  #heldAtFirst(): ReadonlyMap<string, HeldBy> {
    if (this.#isPlain) return NOTHING_HELD;
    return new Map(this.#jobs.filter((job) => newJobState(job) === JOB_STATE.blocked).map(({ id }) => [id, "limit"]));
  }

  /** The limiters that these statements make tell looks that there is flow control. */
  #marks(): SqlStatement[] {
    if (this.#isPlain) return [];
    const keyed = this.#jobs.flatMap(({ taskId, concurrencyKey, createdAt }) =>
      concurrencyKey === undefined ? [] : [{ limiter: [taskId, concurrencyKey], createdAt }],
    );
    const [first] = keyed;
    if (first === undefined) return [];
    return rowParameters(keyed.map(({ limiter }) => limiter)).map(({ text }) =>
      statement(this.#statements.markAdded, text, first.createdAt),
    );
  }

  #insertions(): SqlStatement[] {
    if (this.#windowed !== null) return this.#windowed.insertions();
    const { insert, insertPlainly } = this.#statements;
    return insertionsOf(this.#isPlain ? insertPlainly : insert, this.#jobs, this.#stamp?.id ?? null);
  }

  /** Few jobs get a stamp each, so that a repetition of any of them is recognized, even in another batch. Of many jobs,
   *  those that were surely added share one stamp, and those in whose place another may exist get a stamp each. */
  #stamps(): SqlStatement[] {
    if (this.#stamp === null) return [];
    const { id, now } = this.#stamp;
    const leavesNothing = this.#jobs.filter(leavesNoTrace);
    const isFew = leavesNothing.length <= STAMPED_BY_JOB_MAX || this.#windowed !== null;
    const own = leavesNothing.filter((job) => isFew || hasUniqueKey(job)).map((job) => [job.id, job.id]);
    const rows = own.length === leavesNothing.length ? own : [[id, null], ...own];
    return rowParameters(rows).map(({ text }) => statement(this.#statements.stampAdditions, text, now));
  }
}

/**
 * The statements that insert jobs. Nearly always the jobs are of one task, and set few fields. Then the values that
 * they share travel once. This halves the cost, because reading columns out of rows is what costs SQLite most, and a
 * smaller statement is prepared faster.
 *
 * @param stampId the stamp of the batch, or null for none
 */
export function insertionsOf(
  insert: InsertionStatements,
  jobs: readonly NewJobRecord[],
  stampId: string | null,
): SqlStatement[] {
  const [first] = jobs;
  if (first === undefined) return [];
  const state = newJobState(first);
  if (!jobs.every((job) => isPlain(job) && isAlike(job, first, state))) return insertionsOfRows(insert, jobs, stampId);
  const { taskId, executor, priority } = first;
  if (stampId === null && jobs.length === 1) {
    const details = jobDetails(first);
    if (details.length > ALIKE_DETAILS_LENGTH_MAX) return insertionsOfRows(insert, jobs, stampId);
    return [statement(insert.oneJob, first.id, taskId, executor, priority, state, first.runAt, details)];
  }
  const rows = jobs.map((job) => member(instantKey(job.runAt, job.id), jobDetails(job)));
  if (rows.some(({ length }) => length > ALIKE_DETAILS_LENGTH_MAX)) return insertionsOfRows(insert, jobs, stampId);
  return parametersOf(rows).map(({ text }) =>
    stampId === null
      ? statement(insert.alikeJobs, text, taskId, executor, priority, state)
      : statement(insert.stampedAlikeJobs, text, taskId, executor, priority, state, stampId),
  );
}

function insertionsOfRows(
  insert: InsertionStatements,
  jobs: readonly NewJobRecord[],
  stampId: string | null,
): SqlStatement[] {
  return rowParameters(jobs.map(newJobRow)).map(({ text }) =>
    stampId === null ? statement(insert.jobs, text) : statement(insert.stampedJobs, text, stampId),
  );
}

/** Whether nothing tells of the job once it has ended. The stamps of bursts tell of debounced jobs. */
function leavesNoTrace({ resultExpirationMs, debounce }: NewJobRecord): boolean {
  return resultExpirationMs === 0 && debounce === undefined;
}

const NOTHING_HELD: ReadonlyMap<string, HeldBy> = new Map();

/** A new job, as the store has it. */
export function asAdded(job: JobRecord, heldBy?: HeldBy): JobRecord {
  // Nearly no job has either. The store keeps no record, so that the caller's own may be returned.
  if (job.heldBy === undefined && heldBy === undefined) return job;
  const { heldBy: _, ...added } = job;
  return heldBy === undefined ? added : { ...added, heldBy };
}

function hasUniqueKey(job: JobRecord): boolean {
  return job.idempotencyKey !== null || job.fireTime !== null;
}

/** Whether the addition of a job is its insertion and nothing else, where no answer can get lost. */
export function isOrdinary(job: NewJobRecord): boolean {
  return isPlain(job) && job.retryOf === undefined && !isWindowed(job) && !hasParents(job);
}

/** Whether the columns that `alikeJobs` leaves out have the values that this statement gives them. */
function isPlain(job: JobRecord): boolean {
  return (
    !hasUniqueKey(job) &&
    job.startDeadline === null &&
    job.concurrencyKey === undefined &&
    job.scheduleId === null &&
    job.fence === 0 &&
    job.failedAttempts === 0 &&
    job.recoveries === 0
  );
}

/** @param state of the other job */
function isAlike(job: JobRecord, other: JobRecord, state: number): boolean {
  return (
    job.taskId === other.taskId &&
    job.executor === other.executor &&
    job.priority === other.priority &&
    newJobState(job) === state
  );
}
