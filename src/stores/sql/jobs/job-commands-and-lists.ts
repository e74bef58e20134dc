import { systemClock } from "../../../core/clock.ts";
import { OptionsError } from "../../../core/errors.ts";
import { IdGenerator } from "../../../core/ids.ts";
import type { JobRecord, NewJobRecord } from "../../../records/job.ts";
import { SERIALIZED_LENGTH_MAX } from "../../../records/limits.ts";
import type { CancelReport, JobAddition, JobCancellation, JobFilter, RecordPage } from "../../data-store.ts";
import { endedWithoutRun } from "../../shared/added-and-ended-jobs.ts";
import { type JobCursor, jobCursor, readJobCursor, tooManyToSort } from "../../shared/cursors-and-search.ts";
import type { Connection } from "../driver/connection.ts";
import { Batch, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { AdmissionStatements } from "../flow-control/admission.ts";
import type { FlowState } from "../flow-control/key-limiters.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS } from "../limits.ts";
import { hasLabelled, labelCount, labelsParameter } from "../lists/label-index.ts";
import { readPage } from "../lists/list-scans.ts";
import type { LateTriggers } from "../schema/late-triggers.ts";
import { idsOf, jsonArray, jsonRecords } from "../sql-and-json.ts";
import { AdditionQueue, type AdditionStamp, Additions, asAdded, isOrdinary } from "./additions.ts";
import { type DependencyStatements, resolved, resolving } from "./dependencies.ts";
import { type AdditionStatements, insertionsOf } from "./insertion-statements.ts";
import { type JobRow, toJob } from "./job-rows.ts";
import { ADDITION_LENGTH_MAX } from "./limits.ts";
import type { CancellationStatements } from "./recovery-and-cancellation.ts";
import type { StepStatements } from "./steps-of-jobs.ts";
import type { WindowStatements } from "./throttle-and-debounce.ts";

type StatementsOfJobs = JobStatements &
  AdditionStatements &
  WindowStatements &
  CancellationStatements &
  DependencyStatements &
  Pick<AdmissionStatements, "markAdded"> &
  Pick<StepStatements, "copySteps"> &
  LedgerSwitch;

/** The jobs of a `SqlDataStore`, except the commits and leases of schedulers. */
export class SqlJobs {
  readonly #connection: Connection;
  readonly #statements: StatementsOfJobs;
  readonly #flow: FlowState;
  readonly #labels: LateTriggers;
  readonly #ids = new IdGenerator();
  readonly #additions = new AdditionQueue((jobs) =>
    this.#connection.isLocal && jobs.every(isOrdinary) ? this.#addOrdinary(jobs) : this.#addOthers(jobs),
  );

  constructor(connection: Connection, statements: StatementsOfJobs, flow: FlowState, labels: LateTriggers) {
    this.#connection = connection;
    this.#statements = statements;
    this.#flow = flow;
    this.#labels = labels;
  }

  add(jobs: readonly NewJobRecord[]): Promise<JobAddition[]> {
    if (jobs.length === 0) return Promise.resolve([]);
    return this.#labels.before(
      () => hasLabelled(jobs),
      () => (jobs.length === 1 ? this.#additions.add(jobs) : this.#addInParts(jobs)),
    );
  }

  /** Adds jobs in one commit, or in several where one would be too large. */
  async #addInParts(jobs: readonly NewJobRecord[]): Promise<JobAddition[]> {
    const added: JobAddition[] = [];
    const waiting = partsOf(jobs);
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      try {
        for (const addition of await this.#additions.add(part)) added.push(addition);
      } catch (error) {
        if (part.length > 1 && this.#connection.failureKind(error) === "tooLarge") {
          const half = Math.ceil(part.length / 2);
          waiting.unshift(part.slice(0, half), part.slice(half));
          continue;
        }
        const count = added.length;
        if (error instanceof Error && count > 0)
          error.message = `the first ${count} of ${jobs.length} jobs are added, the others are not: ${error.message}`;
        throw error;
      }
    }
    return added;
  }

  /** Nearly all additions come by here, so that the way is short. */
  async #addOrdinary(jobs: readonly NewJobRecord[]): Promise<readonly JobAddition[]> {
    const { insert, insertPlainly } = this.#statements;
    const statements = insertionsOf(this.#needsNoFlow ? insertPlainly : insert, jobs, null);
    await this.#connection.write(() => statements);
    return jobs.map((job) => ({ job: asAdded(job), isNew: true }));
  }

  /** Whether the database needs no flow control, as far as the store knows. */
  get #needsNoFlow(): boolean {
    const { flow, isKnown } = this.#flow;
    return isKnown && flow === "off";
  }

  /** Nearly no key belongs to a job that has missed its start. The first batch assumes so, and is undone if one
   *  does. */
  async #addOthers(jobs: readonly NewJobRecord[]): Promise<readonly JobAddition[]> {
    try {
      return await this.#addAll(jobs, false);
    } catch (error) {
      if (this.#connection.failureKind(error) !== "guard") throw error;
    }
    return this.#addAll(jobs, true);
  }

  async #addAll(jobs: readonly NewJobRecord[], freesKeys: boolean): Promise<readonly JobAddition[]> {
    if (jobs.some(({ concurrencyKey }) => concurrencyKey !== undefined)) this.#flow.flow = "on";
    const form = { stamp: this.#newStamp(jobs), isPlain: this.#needsNoFlow, freesKeys };
    const additions = new Additions(this.#statements, jobs, form);
    const { children } = additions;
    const batch = new Batch();
    batch.add(additions.insertions());
    const existing = batch.add(additions.search());
    batch.add(children.isEmpty ? [] : resolving(this.#statements, latestOf(jobs)));
    const found = batch.add(children.search());
    try {
      const results = await this.#connection.write(() => batch.statements);
      return children.answers(additions.answers(existing.of(results)), found.of(results));
    } catch (error) {
      throw await children.refusal(this.#connection, error);
    }
  }

  /** Adds jobs, which have no windows, parents and keys to be unique, in one commit with a statement that comes first.
   *  Answers them as they are then, as far as that is known. */
  async addAfter(first: SqlStatement, jobs: readonly NewJobRecord[]): Promise<readonly JobRecord[]> {
    if (jobs.some(({ concurrencyKey }) => concurrencyKey !== undefined)) this.#flow.flow = "on";
    const form = { stamp: null, isPlain: this.#needsNoFlow, freesKeys: false };
    const additions = new Additions(this.#statements, jobs, form);
    return this.#labels.before(
      () => hasLabelled(jobs),
      async () => {
        await this.#connection.write(() => [first, ...additions.insertions()]);
        return additions.answers([]).map(({ job }) => job);
      },
    );
  }

  /** The statements that add a job in somebody else's transaction. The job's own id is their stamp, because that
   *  transaction may be repeated, whatever the database is. */
  prepare(job: NewJobRecord): SqlStatement[] {
    const stamp = { id: job.id, now: job.createdAt };
    const statements = new Additions(this.#statements, [job], { stamp, isPlain: false, freesKeys: true }).insertions();
    const triggers = job.labels === undefined ? [] : this.#labels.statements;
    return this.#connection.prepared([...triggers, ...statements]);
  }

  #newStamp(jobs: readonly NewJobRecord[]): AdditionStamp | null {
    if (this.#connection.isLocal) return null;
    return { id: this.#ids.next(systemClock.now()), now: latestOf(jobs) };
  }

  async get(id: string): Promise<JobRecord | null> {
    const [row] = jsonRecords<JobRow>(await this.#connection.read(statement(this.#statements.getJob, id)));
    return row === undefined ? null : toJob(row);
  }

  async getUnknown(ids: readonly string[], now: number): Promise<string[]> {
    return idsOf(await this.#connection.read(statement(this.#statements.findUnknown, JSON.stringify(ids), now)));
  }

  getPage(filter: JobFilter): Promise<RecordPage<JobRecord>> {
    if (filter.sort === "runAt") return this.#getPageByTime(filter);
    const [scan, takesAll] = jobScanOf(filter);
    const sql = this.#statements.getJobs[scan] ?? "";
    const { selection, rest } = selectionArgs(filter);
    return readPage<JobRow, JobRecord>(this.#connection, filter, {
      statement: (cursor, limit, scanned) => statement(sql, limit, scanned, cursor, ...selection, null, ...rest),
      takesAll,
      toRecord: toJob,
      cursorOf: ({ id }) => id,
      cursorAt: ([id = ""]) => id,
    });
  }

  async #getPageByTime(filter: JobFilter): Promise<RecordPage<JobRecord>> {
    const { taskId, scheduleId, backfillId, state, labels, cursor } = filter;
    if (cursor !== null) readJobCursor(cursor);
    if (backfillId !== undefined) return this.#scanByTime("backfill", filter);
    if (scheduleId !== undefined) return this.#scanByTime("schedule", filter);
    if (state === "running") return this.#scanByTime(state, filter);
    if (labels !== undefined) {
      try {
        return await this.#scanByTime("label", filter);
      } catch (error) {
        // More have the label than are sorted, which leaves the order that an index has.
        if (!(error instanceof OptionsError)) throw error;
      }
    }
    return this.#scanByTime(taskId === undefined ? "all" : "task", filter);
  }

  async #scanByTime(scan: string, filter: JobFilter): Promise<RecordPage<JobRecord>> {
    const sql = this.#statements.getJobs[`${scan} by time ${filter.order ?? "oldest"}`] ?? "";
    const { selection, rest } = selectionArgs(filter);
    try {
      const page = await readPage<JobRow, PlacedJob>(this.#connection, filter, {
        statement: (cursor, limit, scanned) => {
          const { seq, runAt } = startOf(cursor, filter);
          return statement(sql, limit, scanned, seq, ...selection, runAt, ...rest);
        },
        takesAll: othersOf(filter).every((part) => part === undefined),
        toRecord: (row) => ({ job: toJob(row), seq: row[21] ?? 0 }),
        cursorOf: ({ job: { runAt }, seq }) => jobCursor({ runAt, seq }),
        cursorAt: ([runAt, seq]) => jobCursor({ runAt: Number(runAt), seq: Number(seq) }),
      });
      return { items: page.items.map(({ job }) => job), cursor: page.cursor };
    } catch (error) {
      throw this.#connection.failureKind(error) === "guard" ? tooManyToSort() : error;
    }
  }

  async cancelRequests(schedulerId: string): Promise<string[]> {
    return idsOf(await this.#connection.read(statement(this.#statements.cancelRequests, schedulerId)));
  }

  /** Nearly no job has children or parents. The first batch assumes so, and is undone if one has. */
  async cancel(ids: readonly string[], now: number): Promise<CancelReport> {
    if (ids.length === 0) return { jobs: [], ended: [] };
    try {
      return await this.#cancel(ids, now, false);
    } catch (error) {
      const kind = this.#connection.failureKind(error);
      if (kind === "guard") return this.#cancel(ids, now, true);
      if (kind !== "tooLarge" || ids.length === 1) throw error;
    }
    // The names of the jobs are so long that a row has no room for what the first try found.
    const half = Math.ceil(ids.length / 2);
    const [first, second] = [await this.cancel(ids.slice(0, half), now), await this.cancel(ids.slice(half), now)];
    return { jobs: [...first.jobs, ...second.jobs], ended: [...first.ended, ...second.ended] };
  }

  async #cancel(ids: readonly string[], now: number, hasFamily: boolean): Promise<CancelReport> {
    // An answer can get lost, and then only a stamp tells what the first try found.
    const stamp = this.#connection.isLocal ? null : this.#ids.next(systemClock.now());
    const { stampCancel, readStamp, requestCancel, keepCancelled, markCancelled, removeCancelled } = this.#statements;
    const { keepsLedger, enterCancelled, addCancelled, endCancelled, forgetCancelled } = this.#statements;
    const list = JSON.stringify(ids);
    const batch = new Batch();
    batch.add(stamp === null ? [] : [statement(stampCancel, list, stamp, now)]);
    const requested = batch.add([statement(requestCancel, list)]);
    batch.add([statement(keepCancelled, list, now), statement(markCancelled, list, now)]);
    batch.add(keepsLedger ? [statement(enterCancelled, list, now), statement(addCancelled, list, now)] : []);
    batch.add(hasFamily ? [statement(endCancelled, list)] : []);
    const removed = batch.add([statement(removeCancelled, list, hasFamily ? 1 : 0)]);
    batch.add(hasFamily ? [statement(forgetCancelled, list)] : []);
    const resolution = batch.add(hasFamily ? resolving(this.#statements, now) : []);
    const found = batch.add(stamp === null ? [] : [statement(readStamp, stamp)]);
    const results = await this.#connection.write(() => batch.statements);
    const rows =
      stamp === null
        ? jsonRecords<JobRow>([...requested.of(results), ...removed.of(results)].flat())
        : jsonArray<JobRow>(found.of(results).flat(), "record");
    const jobs = new Map(rows.map((row) => [row[0], toJob(row)]));
    const cancelled = ids.map((id): JobCancellation => {
      const job = jobs.get(id);
      if (job === undefined) return { status: "missing" };
      if (job.acquiredBy !== null) return { status: "requested", taskId: job.taskId, acquiredBy: job.acquiredBy };
      // An id that comes twice is gone the second time.
      jobs.delete(id);
      return { status: "cancelled", result: endedWithoutRun(job, "cancelled", now) };
    });
    return { jobs: cancelled, ended: resolved(resolution.of(results), now).ended };
  }
}

/** Jobs in commits that a server takes, and which do not hold up the event loop for long. */
function partsOf(jobs: readonly NewJobRecord[]): (readonly NewJobRecord[])[] {
  if (2 * SERIALIZED_LENGTH_MAX * jobs.length <= ADDITION_LENGTH_MAX) return [jobs];
  const parts: NewJobRecord[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const job of jobs) {
    const own = (job.payload?.length ?? 0) + JSON.stringify(job.metadata).length;
    length += own;
    if (length > ADDITION_LENGTH_MAX) {
      parts.push([]);
      length = own;
    }
    parts.at(-1)?.push(job);
  }
  return parts;
}

interface PlacedJob {
  readonly job: JobRecord;
  readonly seq: number;
}

/** The arguments ?4 to ?9 of a list, and those from ?11 on. */
function selectionArgs(filter: JobFilter): Readonly<Record<"selection" | "rest", (string | number | null)[]>> {
  const { taskId, scheduleId, state, from, until, search, key, attemptsMin, labels, backfillId } = filter;
  const given = (parts: readonly (string | number | undefined)[]) => parts.map((part) => part ?? null);
  // A server refuses an argument that its statement does not have.
  const last = backfillId === undefined ? [] : [backfillId];
  const rest = [...given([key, attemptsMin]), labelsParameter(labels), ...last];
  return { selection: given([taskId, scheduleId, state, from, until, search]), rest };
}

/** What a filter names besides a schedule, or a backfill. */
function othersOf(filter: JobFilter): unknown[] {
  const { taskId, scheduleId, backfillId, state, from, until, search, key, attemptsMin, labels } = filter;
  const schedule = backfillId === undefined ? undefined : scheduleId;
  return [taskId, schedule, state, from, until, search, key, attemptsMin, labels];
}

/** Where a page in the order of `runAt` begins, which the filter may put off. */
function startOf(cursor: string | null, { from, until, order }: JobFilter): JobCursor {
  if (order === "newest") {
    const end = cursor === null ? { runAt: FAR_FUTURE_MS, seq: 0 } : readJobCursor(cursor);
    return until !== undefined && until <= end.runAt ? { runAt: until, seq: 0 } : end;
  }
  const end = cursor === null ? { runAt: FAR_PAST_MS, seq: 0 } : readJobCursor(cursor);
  return from !== undefined && from > end.runAt ? { runAt: from, seq: 0 } : end;
}

/** When the last of some new jobs was added. */
function latestOf(jobs: readonly NewJobRecord[]): number {
  return Math.max(...jobs.map(({ createdAt }) => createdAt));
}

/** The statements that read jobs. */
export interface JobStatements {
  readonly getJob: string;
  /** By the scan that reads a page. See {@link jobScanOf}. */
  readonly getJobs: Readonly<Record<string, string>>;
}

/** The scan that fits a filter best, and whether the filter takes every row of the scan. */
function jobScanOf(filter: JobFilter): [name: string, boolean] {
  const { state: _, ...stateless } = filter;
  const { labels, ...unlabelled } = filter;
  const name = jobScanNameOf(filter);
  const isOfLabel = name === "label" && labelCount(labels) === 1;
  const others = othersOf(name === "running" ? stateless : isOfLabel ? unlabelled : filter);
  return [`${name} ${filter.order ?? "oldest"}`, others.every((part) => part === undefined)];
}

function jobScanNameOf({ taskId, scheduleId, backfillId, state, labels }: JobFilter): string {
  if (backfillId !== undefined) return "backfill";
  if (scheduleId !== undefined) return "schedule";
  if (state === "running") return state;
  if (labels !== undefined) return "label";
  return taskId === undefined ? "all" : "task";
}
