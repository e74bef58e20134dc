import { LEDGER_MEMORY_COUNT_MAX, LEDGER_SCAN_MAX } from "../../core/limits.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type {
  ChangeNote,
  LifeRecord,
  OccurrenceRecord,
  ScheduleChangeRecord,
  Skip,
  TaskPauseRecord,
} from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { OverlapReport, TaskPauseRequest } from "../data-store.ts";
import type { ChangeRecordFilter, Ledger, LedgerLimits, OccurrenceRecordFilter } from "../ledger.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../occurrence-cursor.ts";
import { changeOf } from "../schedule-change.ts";
import { Book } from "./book.ts";
import { Changes } from "./changes.ts";
import { Lives } from "./lives.ts";

interface UnfinishedJobs {
  readonly ofFireTime: (scheduleId: string, fireTime: number) => JobRecord | null;
  /** The fire times of all of a schedule. */
  readonly fireTimesOf: (scheduleId: string) => number[];
}

/** What a `MemoryDataStore` remembers. */
export class MemoryLedger implements Ledger {
  readonly limits: LedgerLimits;
  readonly lives: Lives = new Lives();
  readonly #books = new Map<string, Book>();
  readonly #changes = new Changes<ScheduleChangeRecord>();
  readonly #taskPauses = new Changes<TaskPauseRecord>();
  readonly #jobs: UnfinishedJobs;
  #seq = 0;

  constructor(limits: LedgerLimits, jobs: UnfinishedJobs) {
    this.limits = Object.freeze(limits);
    this.#jobs = jobs;
  }

  /** A schedule was added. */
  begin({ id, createdAt }: ScheduleRecord): void {
    const book = this.#books.get(id);
    if (book === undefined) this.#books.set(id, new Book(createdAt));
    else book.isReopened = true;
  }

  /** A job has ended. */
  ended(job: JobRecord, result: JobResultRecord, isKeyed: boolean): void {
    if (job.scheduleId === null || job.fireTime === null) return;
    const book = this.#books.get(job.scheduleId);
    book?.addRun(job.fireTime, job, result, isKeyed);
    book?.trimRoughly(this.#countMax);
  }

  /** A job that has ended is to run again. Its fire time may be in a skip of a later life of its schedule, where the
   *  run was removed because of its age or of the count. */
  repeats({ scheduleId, fireTime }: JobRecord): void {
    if (scheduleId !== null && fireTime !== null) this.#books.get(scheduleId)?.isolate(fireTime);
  }

  /** Fire times made no job. Those that have a run or an unfinished job of an earlier life of the schedule keep it. */
  skip(scheduleId: string, skips: readonly Skip[]): void {
    const taken = this.#books.get(scheduleId)?.isReopened === true ? this.#jobs.fireTimesOf(scheduleId) : [];
    this.#enter(scheduleId, skips, taken);
  }

  #enter(scheduleId: string, skips: readonly Skip[], taken: readonly number[] = []): void {
    const book = this.#books.get(scheduleId);
    for (const skip of skips) book?.addSkip(skip, taken);
    book?.trimRoughly(this.#countMax);
  }

  /** A plan did something because of its schedule's `overlap`. @param fireTime that of its fire; null for none */
  gaveWay(scheduleId: string, fireTime: number | null, { isSkipped, replaced }: OverlapReport): void {
    const one = (from: number): Pick<Skip, "from" | "until" | "count"> => ({ from, until: from, count: 1 });
    const into = fireTime;
    // A fire time that takes the place of its own job, of an earlier life of the schedule, is not replaced.
    const others = replaced.filter((job) => job.fireTime !== fireTime);
    this.#enter(
      scheduleId,
      others.map((job) => ({ ...one(job.fireTime), verdict: "replaced", into })),
    );
    if (!isSkipped || fireTime === null) return;
    this.skip(scheduleId, [{ ...one(fireTime), verdict: "overlapSkipped", into: null }]);
  }

  /** A schedule was added, changed or removed. */
  changed(before: ScheduleRecord | null, after: ScheduleRecord | null, note: ChangeNote): void {
    const found = changeOf(before, after, note);
    if (found === null) return;
    const { record, skip, movesFireTimes } = found;
    this.#changes.add(record.scheduleId, { ...record, seq: ++this.#seq });
    if (movesFireTimes) this.#books.get(record.scheduleId)?.cut(record.effectiveFrom);
    if (skip !== null) this.skip(record.scheduleId, [skip]);
  }

  /** A plan paused a schedule, because its trigger failed. The plan itself tells which fire times it passes over. */
  failed(before: ScheduleRecord, after: ScheduleRecord, note: ChangeNote): void {
    const found = changeOf(before, after, note);
    if (found !== null) this.#changes.add(before.id, { ...found.record, kind: "failed", seq: ++this.#seq });
  }

  /** A task or a key of it was paused, or goes on. */
  taskPaused({ taskId, key, paused, now, by }: TaskPauseRequest): void {
    if (by === undefined) return;
    const kind = paused ? "taskPaused" : "taskUnpaused";
    this.#taskPauses.add(taskId, { seq: ++this.#seq, at: now, by, taskId, key, kind });
  }

  /** The entry in which a fire time is; undefined for none. */
  entryOf(scheduleId: string, fireTime: number): OccurrenceRecord | undefined {
    return this.#books.get(scheduleId)?.find(fireTime);
  }

  /** Removes what is old or too much. Returns how many entries were removed.
   *  @param isNeeded whether there is such a schedule, or an unfinished job of one */
  cleanup(now: number, isNeeded: (scheduleId: string) => boolean): number {
    const keptFrom = now - this.limits.ageMsMax;
    this.lives.cleanup(keptFrom);
    let removed = 0;
    for (const [id, book] of this.#books) {
      removed += book.trim(keptFrom, this.#countMax);
      this.#changes.trim(id, keptFrom);
      const isEmpty = book.length === 0 && (this.#changes.lastAt(id) ?? keptFrom - 1) < keptFrom;
      if (!isEmpty || isNeeded(id)) continue;
      this.#books.delete(id);
      this.#changes.forget(id);
    }
    // A pause that holds stays, however old it is.
    this.#taskPauses.keep(
      ({ at, kind, key }, later) =>
        at >= keptFrom || (kind === "taskPaused" && later.every((pause) => pause.key !== key)),
    );
    return removed;
  }

  async getLedgerStart(scheduleId: string): Promise<number | null> {
    return this.#books.get(scheduleId)?.since ?? null;
  }

  async getOccurrences(filter: OccurrenceRecordFilter): Promise<{ items: OccurrenceRecord[]; cursor: string | null }> {
    const { limit, cursor, verdicts } = filter;
    const after = cursor === null ? null : readOccurrenceCursor(cursor);
    const items: OccurrenceRecord[] = [];
    let seen = 0;
    let last = 0;
    for (const entry of this.#books.get(filter.scheduleId)?.read(filter, after) ?? []) {
      if (items.length === limit || seen++ === LEDGER_SCAN_MAX) return { items, cursor: occurrenceCursor(last) };
      last = entry.kind === "run" ? entry.fireTime : entry.from;
      const verdict = entry.kind === "run" ? entry.outcome : entry.verdict;
      if (verdicts === undefined || verdicts.includes(verdict)) items.push(entry);
    }
    return { items, cursor: null };
  }

  async getJobOfFireTime(scheduleId: string, fireTime: number): Promise<JobRecord | null> {
    return this.#jobs.ofFireTime(scheduleId, fireTime);
  }

  async getScheduleChanges(filter: ChangeRecordFilter & { scheduleId: string }): Promise<ScheduleChangeRecord[]> {
    return this.#changes.read(filter.scheduleId, filter);
  }

  async getTaskPauseHistory(filter: ChangeRecordFilter & { taskId: string }): Promise<TaskPauseRecord[]> {
    return this.#taskPauses.read(filter.taskId, filter);
  }

  async getLives(filter: { from: number; until: number }): Promise<LifeRecord[]> {
    return this.lives.read(filter);
  }

  /** Most entries of one schedule. With very many schedules there are fewer, so that memory stays bounded. */
  get #countMax(): number {
    return Math.min(this.limits.countMax, Math.ceil(LEDGER_MEMORY_COUNT_MAX / this.#books.size));
  }
}
