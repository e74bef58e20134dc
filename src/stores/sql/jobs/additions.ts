import { StoreRefusedError, StoreUnavailableError } from "../../../core/errors.ts";
import { endsWorkWithRequests } from "../../../core/host.ts";
import { hasMissedStart, type JobRecord, type NewJobRecord } from "../../../records/job.ts";
import type { JobAddition } from "../../data-store.ts";
import { hasParents, unknownParents, unknownParentsIn } from "../../shared/parents-of-jobs.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { AdmissionStatements, BlockedBy } from "../flow-control/admission.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import { COALESCED_JOBS_MAX, COALESCED_LENGTH_MAX, STAMPED_BY_JOB_MAX } from "../limits.ts";
import { JOB_STATE } from "../schema/tables.ts";
import { jsonRecords, rowParameters } from "../sql-and-json.ts";
import { type DependencyStatements, NewChildren } from "./dependencies.ts";
import { type AdditionStatements, hasUniqueKey, insertionsOf, isPlain, newJobState } from "./insertion-statements.ts";
import { type JobRow, toJob } from "./job-rows.ts";
import type { StepStatements } from "./steps-of-jobs.ts";
import { isWindowed, WindowedAdditions, type WindowStatements } from "./throttle-and-debounce.ts";

type StatementsOfAdditions = AdditionStatements &
  WindowStatements &
  DependencyStatements &
  LedgerSwitch &
  Pick<AdmissionStatements, "markAdded"> &
  Pick<StepStatements, "copySteps">;

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
  readonly #statements: StatementsOfAdditions;
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
  constructor(
    statements: StatementsOfAdditions,
    jobs: readonly NewJobRecord[],
    { stamp, isPlain, freesKeys }: AdditionForm,
  ) {
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
      ...this.#copies(),
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

  /** @param blocked what holds the new jobs that are blocked, by their ids. Default: as they were inserted */
  answers(found: readonly Row[][], blocked: ReadonlyMap<string, BlockedBy> = this.#blockedAtFirst()): JobAddition[] {
    if (this.#windowed === null) return this.#answers(found, blocked);
    const place = found.length - this.#windowed.searchCount;
    return this.#windowed.answers(found.slice(place), this.#answers(found.slice(0, place), blocked));
  }

  #answers(found: readonly Row[][], blocked: ReadonlyMap<string, BlockedBy>): JobAddition[] {
    const rows = found.flat();
    if (rows.length === 0) return this.#jobs.map((job) => ({ job: asAdded(job, blocked.get(job.id)), isNew: true }));
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
      return { job: asAdded(job, blocked.get(job.id)), isNew: true };
    });
  }

  #blockedAtFirst(): ReadonlyMap<string, BlockedBy> {
    if (this.#isPlain) return NOTHING_BLOCKED;
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

  /** The steps of the jobs that jobs of this batch repeat. */
  #copies(): SqlStatement[] {
    const rows = this.#repeated.flatMap(({ id, retryOf, copiesSteps }) =>
      copiesSteps === true ? [[id, retryOf]] : [],
    );
    return rowParameters(rows).map(({ text }) => statement(this.#statements.copySteps, text));
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

/** Whether nothing tells of the job once it has ended. The stamps of bursts tell of debounced jobs. */
function leavesNoTrace(job: NewJobRecord): boolean {
  return job.resultExpirationMs === 0 && job.debounce === undefined;
}

/** Whether the addition of a job is its insertion and nothing else, where no answer can get lost. */
export function isOrdinary(job: NewJobRecord): boolean {
  return isPlain(job) && job.retryOf === undefined && !isWindowed(job) && !hasParents(job);
}

const NOTHING_BLOCKED: ReadonlyMap<string, BlockedBy> = new Map();

/** A new job, as the store has it. */
export function asAdded(job: JobRecord, blockedBy?: BlockedBy): JobRecord {
  // Nearly no job has either. The store keeps no record, so that the caller's own may be returned.
  if (job.blockedBy === undefined && blockedBy === undefined) return job;
  const { blockedBy: _, ...added } = job;
  return blockedBy === undefined ? added : { ...added, blockedBy };
}

interface WaitingCall {
  readonly jobs: readonly NewJobRecord[];
  readonly resolve: (additions: JobAddition[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers the calls that come while an insert is in flight. The next insert takes them all, in one commit and one
 *  round trip. Where a request may end in the middle of an insert, only the calls of one turn are gathered, because
 *  these calls belong to one request. */
export class AdditionQueue {
  readonly #insert: (jobs: readonly NewJobRecord[]) => Promise<readonly JobAddition[]>;
  readonly #joins: boolean;
  readonly #waiting: WaitingCall[] = [];
  #isInserting = false;

  /** @param joins whether calls wait for an insert of others. Default: unless the runtime ends work with requests */
  constructor(
    insert: (jobs: readonly NewJobRecord[]) => Promise<readonly JobAddition[]>,
    joins: boolean = !endsWorkWithRequests(),
  ) {
    this.#insert = insert;
    this.#joins = joins;
  }

  add(jobs: readonly NewJobRecord[]): Promise<JobAddition[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ jobs, resolve, reject });
      if (this.#isInserting) return;
      this.#isInserting = true;
      // In a microtask, so that calls from the same turn are gathered already. The promise never rejects.
      queueMicrotask(() => void this.#insertWaiting());
    });
  }

  async #insertWaiting(): Promise<void> {
    if (!this.#joins) return this.#insertTurn();
    while (this.#waiting.length > 0) {
      await this.#insertCalls(this.#takeCalls());
      // Callers may add more jobs as soon as they get their answers. These additions join those that wait already.
      for (let turn = 0; turn < 4 && this.#waiting.length > 0; turn++) await null;
    }
    this.#isInserting = false;
  }

  /** Inserts the calls of one turn. Others do not wait for it. */
  async #insertTurn(): Promise<void> {
    const parts: WaitingCall[][] = [];
    while (this.#waiting.length > 0) parts.push(this.#takeCalls());
    this.#isInserting = false;
    for (const calls of parts) await this.#insertCalls(calls);
  }

  #takeCalls(): WaitingCall[] {
    let jobCount = 0;
    let length = 0;
    let callCount = 0;
    for (const { jobs } of this.#waiting) {
      jobCount += jobs.length;
      for (const { payload } of jobs) length += payload?.length ?? 0;
      if (callCount > 0 && (jobCount > COALESCED_JOBS_MAX || length > COALESCED_LENGTH_MAX)) break;
      callCount++;
    }
    return this.#waiting.splice(0, callCount);
  }

  async #insertCalls(calls: readonly WaitingCall[]): Promise<void> {
    try {
      const additions = await this.#insert(calls.flatMap(({ jobs }) => jobs));
      let start = 0;
      for (const { jobs, resolve } of calls) {
        resolve(additions.slice(start, start + jobs.length));
        start += jobs.length;
      }
    } catch (error) {
      if (calls.length > 1 && error instanceof StoreRefusedError) return this.#insertWithout(error, calls);
      for (const { reject } of calls) reject(error);
      // In an outage the calls that wait would fail one after the other, each after the same time.
      if (this.#joins && error instanceof StoreUnavailableError)
        for (const { reject } of this.#waiting.splice(0)) reject(error);
    }
  }

  /** One bad call must not fail the others. Those with unknown parents are known from the error. What else the store
   *  refuses is halved until it is known which call is refused. */
  async #insertWithout(error: StoreRefusedError, calls: readonly WaitingCall[]): Promise<void> {
    const unknown = new Set(unknownParentsIn(error));
    const left = calls.filter(({ jobs, reject }) => {
      const parents = jobs.flatMap(({ after = [], retryOf }) => (retryOf === undefined ? after : []));
      const missing = [...new Set(parents)].filter((id) => unknown.has(id));
      if (missing.length > 0) reject(unknownParents(missing));
      return missing.length === 0;
    });
    const half = left.length < calls.length ? left.length : Math.ceil(left.length / 2);
    for (const part of [left.slice(0, half), left.slice(half)]) if (part.length > 0) await this.#insertCalls(part);
  }
}
