import { withoutUndefined } from "../../core/without-undefined.ts";
import type { JobRecord } from "../../records/job.ts";
import { type JobResultRecord, skipReasonOf } from "../../records/job-result.ts";
import type {
  AuditRecord,
  OccurrenceRecord,
  ScheduleChangeRecord,
  Skip,
  TaskPauseRecord,
  UptimeRecord,
} from "../../records/ledger.ts";
import { NEUTRAL_OUTCOMES } from "../../records/notice.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type {
  AskedFireTimes,
  ChangeRecordFilter,
  FireTimeRecord,
  Ledger,
  LedgerLimits,
  OccurrenceRecordFilter,
} from "../contract/ledger-types.ts";
import type { StatsCounts, StatsFilter } from "../contract/stats-types.ts";
import type { OverlapReport, RestoredHistory, TaskPauseRequest } from "../data-store.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../shared/cursors-and-search.ts";
import { CHANGES_KEPT_MAX, LEDGER_SCAN_MAX, STATS_AGE_MS_MAX } from "../shared/limits.ts";
import { changeOf } from "../shared/schedule-changes.ts";
import { recordOf } from "./entries-of-jobs-and-tasks.ts";
import { frozenCopy } from "./frozen-copies.ts";
import { type Coalesced, History } from "./history-of-schedule.ts";
import { LEDGER_MEMORY_COUNT_MAX } from "./limits.ts";
import { pageOf } from "./list-pages.ts";
import type { Notices } from "./notices.ts";
import type { Queues } from "./queues-and-acquisition.ts";
import { Uptime } from "./schedulers-and-uptime.ts";
import { StatsOfJobs } from "./stats-of-jobs.ts";
import type { StepsOfJobs } from "./steps-of-jobs.ts";
import type { Jobs } from "./unfinished-jobs.ts";

interface LedgerTables {
  readonly jobs: Jobs;
  readonly notices: Notices;
  readonly queues: Queues;
  readonly steps: StepsOfJobs;
}

/** What a memory store remembers: a *history* of the fire times of each schedule, *audit records* of changes, and the
 *  *uptime* of schedulers. */
export class MemoryLedger implements Ledger {
  readonly limits: LedgerLimits;
  readonly uptime: Uptime = new Uptime();
  readonly #stats = new StatsOfJobs();
  readonly #histories = new Map<string, History>();
  readonly #changes = new AuditRecords<ScheduleChangeRecord>();
  readonly #taskPauses = new AuditRecords<TaskPauseRecord>();
  readonly #jobs: Jobs;
  readonly #notices: Notices;
  #seq = 0;

  readonly #tables: LedgerTables;

  constructor(limits: LedgerLimits, tables: LedgerTables) {
    this.limits = Object.freeze(limits);
    this.#tables = tables;
    this.#jobs = tables.jobs;
    this.#notices = tables.notices;
  }

  /** A schedule was added. */
  begin({ id, createdAt, lastFireTime }: ScheduleRecord): void {
    const history = this.#histories.get(id);
    const since = lastFireTime === null ? createdAt : Math.max(createdAt, lastFireTime + 1);
    if (history === undefined) this.#histories.set(id, new History(since));
    else history.isReopened = true;
  }

  /** What is known of a schedule has another id, unless that one has a history of its own. */
  rename(from: string, to: string): void {
    const history = this.#histories.get(from);
    if (history !== undefined && !this.#histories.has(to)) {
      this.#histories.delete(from);
      this.#histories.set(to, history);
    }
    this.#stats.renameSchedule(from, to);
    const changes = this.#changes.after(from, { order: "oldest", after: null });
    this.#changes.keep(from, () => false);
    for (const change of changes) this.#changes.add(to, { ...change, scheduleId: to });
  }

  /** A job has ended. @param isKeyed whether the job needed admission */
  ended(job: JobRecord, result: JobResultRecord, isKeyed: boolean): void {
    const { scheduleId, fireTime, createdAt } = job;
    this.#stats.ended(result);
    if (scheduleId === null || fireTime === null) return;
    const { jobId, outcome, startedAt, finishedAt, attempts } = result;
    const reason = skipReasonOf(result);
    const scheduledFireTime = job.scheduledFireTime ?? fireTime;
    const history = this.#histories.get(scheduleId);
    history?.addRun({
      kind: "run",
      fireTime,
      scheduledFireTime,
      createdAt,
      startedAt,
      finishedAt,
      jobId,
      outcome,
      attempts,
      ...(reason === null ? {} : { reason }),
      isKeyed,
    });
    history?.trim(Number.NEGATIVE_INFINITY, this.#countMax);
    if (history === undefined || NEUTRAL_OUTCOMES.includes(outcome)) return;
    const facts = { at: finishedAt, scheduleId, taskId: job.taskId, fireTime, jobId, outcome };
    const hasFailed = outcome !== "success";
    if (history.isFailing !== hasFailed) {
      history.isFailing = hasFailed;
      this.#notices.add({ type: hasFailed ? "failed" : "recovered", ...facts });
    }
    if (!hasFailed) this.#notices.add({ type: "succeeded", ...facts });
  }

  /** Fire times made no job. Those that have an unfinished job, of before the schedule was added again, keep it. */
  skip(scheduleId: string, skips: readonly Skip[]): void {
    const history = this.#histories.get(scheduleId);
    if (history === undefined) return;
    const unfinished = history.isReopened ? this.#unfinished(scheduleId) : [];
    for (const skip of skips) history.addSkip(skip, unfinished);
    history.trim(Number.NEGATIVE_INFINITY, this.#countMax);
  }

  /** The fire times of the schedule's unfinished jobs. */
  #unfinished(scheduleId: string): number[] {
    return [...this.#jobs.ofSchedule(scheduleId)].flatMap(({ record: { fireTime } }) => fireTime ?? []);
  }

  /** One job stands for others and their fire times, and for all for which those stood. */
  coalesced(scheduleId: string, { fireTimes, skip }: Coalesced): void {
    this.#histories.get(scheduleId)?.standIn(fireTimes, skip, this.#unfinished(scheduleId));
  }

  /** A plan made room for its fire because of its schedule's `overlap`, or made no job. @param fireTime that of the
   *  fire; null for none */
  madeRoom(scheduleId: string, fireTime: number | null, { isSkipped, replaced }: OverlapReport): void {
    for (const { fireTime: from } of replaced) {
      // A fire time that takes the place of its own job (the schedule was added again) is not replaced.
      if (from === fireTime) continue;
      const skip = { from, until: from, count: 1, verdict: "replaced", into: fireTime } as const;
      this.#histories.get(scheduleId)?.addSkip(skip);
    }
    if (!isSkipped || fireTime === null) return;
    this.skip(scheduleId, [{ from: fireTime, until: fireTime, count: 1, verdict: "overlapSkipped", into: null }]);
  }

  /** A schedule was added, changed or removed. */
  changed(before: ScheduleRecord | null, after: ScheduleRecord | null, note: AuditRecord): void {
    const found = changeOf(before, after, note);
    if (found === null) return;
    const { record, skip, movesFireTimes } = found;
    this.#changes.add(record.scheduleId, { ...record, seq: ++this.#seq });
    if (movesFireTimes) this.#histories.get(record.scheduleId)?.cut(record.effectiveFrom);
    if (skip !== null) this.skip(record.scheduleId, [skip]);
    if (before?.paused === false && after?.paused === true) this.#paused(after, note);
  }

  /** A plan paused a schedule, because its trigger failed. The plan itself tells which fire times it passes over. */
  failed(before: ScheduleRecord, after: ScheduleRecord, note: AuditRecord): void {
    const found = changeOf(before, after, note);
    if (found !== null) this.#changes.add(before.id, { ...found.record, kind: "failed", seq: ++this.#seq });
    this.#paused(after, note);
  }

  #paused(schedule: ScheduleRecord, { at, by }: AuditRecord): void {
    const { id: scheduleId, taskId, pauseReason: reason = null, pausedUntil: until = null } = schedule;
    this.#notices.add({ type: "paused", at, scheduleId, taskId, key: null, by, reason, until });
  }

  /** A task or a key of it was paused, or goes on. */
  taskPaused({ taskId, key, paused, now, by, until, reason }: TaskPauseRequest): void {
    if (by === undefined) return;
    const said = paused ? withoutUndefined({ until, reason }) : {};
    const kind = paused ? "taskPaused" : "taskUnpaused";
    const known = this.#taskPauses.after(taskId, { order: "newest", after: null });
    const before = known.find((pause) => pause.key === key);
    this.#taskPauses.add(taskId, { seq: ++this.#seq, at: now, by, taskId, key, kind, ...said });
    if (!paused || before?.kind === "taskPaused") return;
    const facts = { scheduleId: null, taskId, key, by, reason: reason ?? null, until: until ?? null };
    this.#notices.add({ type: "paused", at: now, ...facts });
  }

  /** The pause of a task or of a key came to its end. */
  taskPauseEnded(taskId: string, key: string | null, now: number): void {
    this.#taskPauses.add(taskId, { seq: ++this.#seq, at: now, by: null, taskId, key, kind: "taskUnpaused" });
  }

  /** Adds what another store remembers, and keeps what is there. */
  restore({ scheduleId, since, entries }: RestoredHistory): void {
    const history = this.#histories.get(scheduleId);
    if (history === undefined) return;
    for (const entry of entries) {
      if (entry.kind === "skip") {
        const { kind: _, ...skip } = entry;
        this.skip(scheduleId, [skip]);
      } else if (history.find(entry.fireTime)?.kind !== "run") history.addRun(frozenCopy(entry));
    }
    history.since = Math.min(history.since, since ?? history.since);
    history.trim(Number.NEGATIVE_INFINITY, this.#countMax);
  }

  /** The row in which a fire time is; undefined for none. */
  rowOf(scheduleId: string, fireTime: number): OccurrenceRecord | undefined {
    return this.#histories.get(scheduleId)?.find(fireTime);
  }

  /** Removes what is old or too much. Returns how many rows of fire times were removed.
   *  @param isNeeded whether there is such a schedule, or an unfinished job of one */
  cleanup(now: number, isNeeded: (scheduleId: string) => boolean): number {
    const keptFrom = now - this.limits.ageMsMax;
    this.uptime.cleanup(keptFrom);
    this.#stats.cleanup(now - Math.min(this.limits.ageMsMax, STATS_AGE_MS_MAX));
    let removed = 0;
    for (const [id, history] of this.#histories) {
      removed += history.trim(keptFrom, this.#countMax);
      // The last change still counts.
      this.#changes.keep(id, ({ at }, later) => at >= keptFrom || later.length === 0);
      const isEmpty = history.size === 0 && (this.#changes.last(id)?.at ?? keptFrom - 1) < keptFrom;
      if (!isEmpty || isNeeded(id)) continue;
      this.#histories.delete(id);
      this.#changes.keep(id, () => false);
    }
    // A pause that holds stays, however old it is.
    for (const id of this.#taskPauses.ids) {
      const holds = ({ kind, key }: TaskPauseRecord, later: readonly TaskPauseRecord[]): boolean =>
        kind === "taskPaused" && later.every((pause) => pause.key !== key);
      this.#taskPauses.keep(id, (pause, later) => pause.at >= keptFrom || holds(pause, later));
    }
    return removed;
  }

  async getLedgerStart(scheduleId: string): Promise<number | null> {
    return this.#histories.get(scheduleId)?.since ?? null;
  }

  async getOccurrences(filter: OccurrenceRecordFilter): Promise<{ items: OccurrenceRecord[]; cursor: string | null }> {
    const { limit, cursor, verdicts } = filter;
    const after = cursor === null ? null : readOccurrenceCursor(cursor);
    const items: OccurrenceRecord[] = [];
    let seen = 0;
    let last = 0;
    for (const row of this.#histories.get(filter.scheduleId)?.read(filter, after) ?? []) {
      if (items.length === limit || seen++ === LEDGER_SCAN_MAX) return { items, cursor: occurrenceCursor(last) };
      last = row.kind === "run" ? row.fireTime : row.from;
      const verdict = row.kind === "run" ? row.outcome : row.verdict;
      if (verdicts === undefined || verdicts.includes(verdict)) items.push(row);
    }
    return { items, cursor: null };
  }

  async getFireTimes(asked: readonly AskedFireTimes[]): Promise<(FireTimeRecord | null)[][]> {
    return asked.map(({ scheduleId, fireTimes }) =>
      fireTimes.map((fireTime) => {
        const entry = this.#histories.get(scheduleId)?.find(fireTime);
        if (entry !== undefined) return { ...entry };
        const job = this.#jobs.madeAt(scheduleId, fireTime)?.record;
        if (job === undefined) return null;
        const { id: jobId, createdAt, failedAttempts, recoveries, acquiredBy } = job;
        const attempts = failedAttempts + recoveries + (acquiredBy === null ? 0 : 1);
        return { kind: "job", jobId, scheduledFireTime: job.scheduledFireTime ?? fireTime, createdAt, attempts };
      }),
    );
  }

  async getJobOfFireTime(scheduleId: string, fireTime: number): Promise<JobRecord | null> {
    const entry = this.#jobs.madeAt(scheduleId, fireTime);
    return entry === undefined ? null : recordOf(entry);
  }

  async getScheduleChanges(
    filter: ChangeRecordFilter & { scheduleId: string },
  ): Promise<{ items: ScheduleChangeRecord[]; hasMore: boolean }> {
    const { items, cursor } = pageOf(this.#changes.after(filter.scheduleId, filter), filter.limit, {
      matches: () => true,
      recordOf: (record) => record,
      cursorOf: ({ seq }) => String(seq),
    });
    return { items, hasMore: cursor !== null };
  }

  async getTaskPauseHistory(filter: ChangeRecordFilter & { taskId: string }): Promise<TaskPauseRecord[]> {
    return this.#taskPauses.after(filter.taskId, filter).slice(0, filter.limit);
  }

  async takeBackAfter(instant: number, hasUptimes: boolean): Promise<void> {
    const { queues, steps } = this.#tables;
    queues.takeBack(instant, steps);
    if (hasUptimes) this.uptime.removeAfter(instant);
  }

  async getUptimes(filter: { from: number; until: number }): Promise<UptimeRecord[]> {
    return this.uptime.read(filter);
  }

  async getStats(filter: StatsFilter): Promise<StatsCounts> {
    return this.#stats.read(filter);
  }

  /** Most rows of one schedule. With very many schedules there are fewer, so that memory stays bounded. */
  get #countMax(): number {
    return Math.min(this.limits.countMax, Math.ceil(LEDGER_MEMORY_COUNT_MAX / this.#histories.size));
  }
}

/** The last changes of each schedule, or of each task. */
class AuditRecords<R extends { readonly seq: number; readonly at: number }> {
  readonly #byId = new Map<string, readonly R[]>();

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  add(id: string, record: R): void {
    const records = [...(this.#byId.get(id) ?? []), frozenCopy(record)];
    this.#byId.set(id, records.slice(-CHANGES_KEPT_MAX));
  }

  after(id: string, { order, after }: Omit<ChangeRecordFilter, "limit">): R[] {
    const records = this.#byId.get(id) ?? [];
    const ordered = order === "oldest" ? records : records.toReversed();
    const isNext = ({ seq }: R): boolean => after === null || (order === "oldest" ? seq > after : seq < after);
    return ordered.filter(isNext);
  }

  last(id: string): R | undefined {
    return this.#byId.get(id)?.at(-1);
  }

  /** Removes the changes that are not to be kept. @param isKept is also given the later changes of the same id */
  keep(id: string, isKept: (record: R, later: readonly R[]) => boolean): void {
    const records = this.#byId.get(id) ?? [];
    const kept = records.filter((record, place) => isKept(record, records.slice(place + 1)));
    if (kept.length === 0) this.#byId.delete(id);
    else if (kept.length < records.length) this.#byId.set(id, kept);
  }
}
