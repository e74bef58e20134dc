import { compareTexts } from "../../core/text.ts";
import type { OverdueEnd, OverdueKind, OverdueRecord } from "../../records/overdue.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { OverdueReport, SeenOverdue } from "../contract/look-types.ts";
import type { CommitRequest, StoreInspection } from "../data-store.ts";
import {
  OVERDUE_CHECKED_PER_COMMIT_MAX,
  OVERDUE_RAISED_PER_COMMIT_MAX,
  OVERDUE_SHOWN_MAX,
  RESOLVED_OVERDUE_KEPT_MS,
} from "../shared/limits.ts";
import { isMissed, type JobEntry } from "./entries-of-jobs-and-tasks.ts";
import type { MemoryLedger } from "./ledger.ts";
import type { Notices } from "./notices.ts";
import { SortedList } from "./sorted-list.ts";
import type { Jobs } from "./unfinished-jobs.ts";

/** A schedule that expects something of its occurrences, and its next fire time, which has no job so far. */
interface ScheduleWatch {
  record: Readonly<ScheduleRecord>;
  /** The next fire time for which an overdue occurrence was raised; null for none. */
  raisedFor: number | null;
  /** Whether no other overdue occurrence of that fire time is to come. */
  isDone: boolean;
  /** When the next fire time is overdue; null for never. */
  overdueAt: number | null;
}

interface Overdue {
  /** As it was raised. */
  readonly record: OverdueRecord;
  readonly raisedBy: string;
  /** The job that is known to stand for the fire time. */
  jobId: string | null;
  /** The fire time whose job counts: that of the overdue occurrence, or the one that stands for it. */
  follows: number;
  end: { readonly reason: OverdueEnd; readonly at: number; readonly by: string } | null;
}

interface OverdueParts {
  readonly jobs: Jobs;
  readonly ledger: MemoryLedger;
  readonly scheduleOf: (id: string) => Readonly<ScheduleRecord> | undefined;
  readonly notices: Notices;
}

/** The overdue occurrences of a memory store, by what their schedules expect. The occurrence of the next fire time has
 *  no job yet, and is watched here; earlier ones have a job, which `Jobs` watches. */
export class OverdueOccurrences {
  readonly #parts: OverdueParts;
  readonly #watches = new Map<string, ScheduleWatch>();
  readonly #toRaise = new SortedList<ScheduleWatch>(inOrderOfTimes);
  /** Those that are open, the one first that was not looked at for the longest time. */
  readonly #open = new Map<string, Overdue>();
  /** Those that are over, the oldest first. */
  readonly #over = new Map<string, Overdue>();

  constructor(parts: OverdueParts) {
    this.#parts = parts;
  }

  /** Watches a schedule as it is now. */
  watch(record: Readonly<ScheduleRecord>): void {
    const known = this.#watches.get(record.id);
    if (record.expectStartMs === undefined && record.expectFinishMs === undefined) {
      if (known !== undefined) this.forget(record.id);
      return;
    }
    const watch = known ?? { record, raisedFor: null, isDone: false, overdueAt: null };
    if (known === undefined) this.#watches.set(record.id, watch);
    watch.record = record;
    this.#place(watch);
  }

  /** A schedule was removed. */
  forget(id: string): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    if (watch.overdueAt !== null) this.#toRaise.delete(watch);
    this.#watches.delete(id);
  }

  /** A schedule goes on after a pause, which is no reason for an overdue occurrence. */
  unpaused({ id, nextFireTime }: Readonly<ScheduleRecord>, now: number): void {
    const watch = this.#watches.get(id);
    if (watch === undefined || nextFireTime === null || nextFireTime > now) return;
    watch.raisedFor = nextFireTime;
    watch.isDone = true;
    this.#place(watch);
  }

  see(): SeenOverdue | undefined {
    const never = Number.POSITIVE_INFINITY;
    const nextAt = Math.min(
      this.#toRaise.first?.overdueAt ?? never,
      this.#parts.jobs.toWatch.first?.overdueAt ?? never,
    );
    const isOpen = this.#open.size > 0;
    if (nextAt === never) return isOpen ? { nextAt: null, isOpen } : undefined;
    return { nextAt, isOpen };
  }

  /** A schedule has another id. */
  rename(from: string, to: string): void {
    this.forget(from);
    for (const occurrences of [this.#open, this.#over]) {
      for (const [key, occurrence] of [...occurrences]) {
        const { scheduleId, fireTime, kind } = occurrence.record;
        if (scheduleId !== from) continue;
        occurrences.delete(key);
        const record = { ...occurrence.record, scheduleId: to };
        occurrences.set(nameOf(fireTime, kind, to), { ...occurrence, record });
      }
    }
  }

  /** For people. */
  inspect(): Pick<StoreInspection, "overdue"> {
    if (this.#open.size === 0) return {};
    const shown = [...this.#open.values()].map((occurrence) => {
      return { ...occurrence.record, jobId: this.#jobOf(occurrence)?.record.id ?? occurrence.jobId };
    });
    // An overdue occurrence of a start comes before that of the end.
    const keyOf = ({ scheduleId, kind }: OverdueRecord): string => `${scheduleId}\0${kind === "start" ? 0 : 1}`;
    shown.sort((a, b) => a.dueAt - b.dueAt || compareTexts(keyOf(a), keyOf(b)));
    return { overdue: { open: shown.slice(0, OVERDUE_SHOWN_MAX), count: this.#open.size } };
  }

  /** Raises what is overdue. */
  raise(commit: CommitRequest): void {
    const { jobs, scheduleOf } = this.#parts;
    for (const watch of firstUntil(this.#toRaise, commit.now)) {
      const fireTime = watch.record.nextFireTime ?? 0;
      const due = dueTimes(watch.record, fireTime);
      for (const { kind, dueAt } of due) {
        const isKnown = kind === "start" && watch.raisedFor === fireTime;
        if (dueAt <= commit.now && !isKnown) this.#add(watch.record, fireTime, kind, dueAt, null, commit);
      }
      watch.raisedFor = fireTime;
      watch.isDone = due.every(({ dueAt }) => dueAt <= commit.now);
      this.#place(watch);
    }
    for (const entry of firstUntil(jobs.toWatch, commit.now)) {
      const { id: jobId, scheduleId, fireTime } = entry.record;
      const schedule = scheduleOf(scheduleId ?? "");
      const due = schedule === undefined || fireTime === null ? [] : dueTimes(schedule, fireTime);
      for (const [place, { kind, dueAt: ownDueAt }] of due.entries()) {
        // It may stand for earlier ones.
        const dueAt = place === 0 ? Math.min(ownDueAt, entry.overdueAt ?? ownDueAt) : ownDueAt;
        const isLate = dueAt <= commit.now && (kind === "finish" || !hasStarted(entry)) && !isMissed(entry, commit.now);
        if (isLate && schedule !== undefined) this.#add(schedule, fireTime ?? 0, kind, dueAt, jobId, commit);
      }
      jobs.watchAt(entry, due.find(({ dueAt }) => dueAt > commit.now)?.dueAt ?? null);
    }
  }

  /** Resolves what is over, and returns what the commit raised and resolved; undefined for nothing. */
  resolve({ now, commitId }: CommitRequest): OverdueReport | undefined {
    for (const [key, { end }] of this.#over) {
      if (end === null || end.at > now - RESOLVED_OVERDUE_KEPT_MS) break;
      this.#over.delete(key);
    }
    // What stays open goes to the end, so that other commits look at the others.
    for (const [key, occurrence] of [...this.#open].slice(0, OVERDUE_CHECKED_PER_COMMIT_MAX)) {
      this.#open.delete(key);
      const reason = this.#endOf(occurrence);
      if (reason !== null) occurrence.end = { reason, at: now, by: commitId };
      (reason === null ? this.#open : this.#over).set(key, occurrence);
    }
    const ended = [...this.#over.values()];
    const raised = [...this.#open.values(), ...ended].filter(({ raisedBy }) => raisedBy === commitId);
    const resolved = ended.flatMap(({ record, jobId, end }) =>
      end?.by === commitId ? [{ ...record, jobId, reason: end.reason }] : [],
    );
    if (raised.length === 0 && resolved.length === 0) return undefined;
    return { raised: raised.map(({ record }) => ({ ...record })), resolved };
  }

  #add(
    { id: scheduleId, taskId }: Readonly<ScheduleRecord>,
    fireTime: number,
    kind: OverdueKind,
    dueAt: number,
    jobId: string | null,
    { now, commitId }: CommitRequest,
  ): void {
    const key = nameOf(fireTime, kind, scheduleId);
    if (this.#open.has(key) || this.#over.has(key)) return;
    const record = { scheduleId, taskId, fireTime, kind, dueAt, raisedAt: now, jobId };
    this.#open.set(key, { record, jobId, raisedBy: commitId, follows: fireTime, end: null });
    this.#parts.notices.add({ type: "overdue", at: now, scheduleId, taskId, fireTime, jobId, kind, dueAt });
  }

  /** Why an overdue occurrence is over; null while it is open. */
  #endOf(occurrence: Overdue): OverdueEnd | null {
    const { scheduleId, fireTime, kind } = occurrence.record;
    const schedule = this.#parts.scheduleOf(scheduleId);
    const isWaiting = schedule !== undefined && schedule.nextFireTime !== null && schedule.nextFireTime <= fireTime;
    if (isWaiting) return schedule.paused ? "paused" : null;
    let row = this.#parts.ledger.rowOf(scheduleId, occurrence.follows);
    if (row?.kind === "skip" && (row.into ?? occurrence.follows) > occurrence.follows) {
      occurrence.follows = row.into ?? occurrence.follows;
      row = this.#parts.ledger.rowOf(scheduleId, occurrence.follows);
    }
    const job = this.#jobOf(occurrence);
    if (job !== undefined) {
      if (kind !== "start" || !hasStarted(job)) return null;
      occurrence.jobId = job.record.id;
      return "started";
    }
    if (row === undefined) return schedule === undefined ? "removed" : "finished";
    if (row.kind === "run") {
      occurrence.jobId = row.jobId;
      return kind === "start" && row.startedAt !== null ? "started" : "finished";
    }
    if (row.verdict === "paused" || row.verdict === "removed") return row.verdict;
    return (row.into ?? occurrence.follows) > occurrence.follows ? null : "skipped";
  }

  #jobOf({ record, follows }: Overdue): JobEntry | undefined {
    return this.#parts.jobs.madeAt(record.scheduleId, follows);
  }

  /** Puts a schedule where the time says at which its next occurrence is overdue. */
  #place(watch: ScheduleWatch): void {
    if (watch.overdueAt !== null) this.#toRaise.delete(watch);
    const { raisedFor, isDone, record } = watch;
    const { nextFireTime, paused } = record;
    watch.overdueAt = null;
    if (nextFireTime === null || paused || (nextFireTime === raisedFor && isDone)) return;
    const due = dueTimes(record, nextFireTime).filter(({ kind }) => kind === "finish" || nextFireTime !== raisedFor);
    watch.overdueAt = due[0]?.dueAt ?? null;
    if (watch.overdueAt !== null) this.#toRaise.add(watch);
  }
}

function nameOf(fireTime: number, kind: OverdueKind, scheduleId: string): string {
  return `${fireTime} ${kind} ${scheduleId}`;
}

/** What is overdue, as much as a commit raises. */
function firstUntil<T extends { readonly overdueAt: number | null }>(list: SortedList<T>, now: number): T[] {
  const overdue: T[] = [];
  for (const item of list.from()) {
    if ((item.overdueAt ?? 0) > now || overdue.length === OVERDUE_RAISED_PER_COMMIT_MAX) break;
    overdue.push(item);
  }
  return overdue;
}

/** When an occurrence is overdue, the earliest first. */
function dueTimes(
  { expectStartMs, expectFinishMs }: Readonly<ScheduleRecord>,
  fireTime: number,
): { readonly kind: OverdueKind; readonly dueAt: number }[] {
  return [
    ...(expectStartMs === undefined ? [] : [{ kind: "start" as const, dueAt: fireTime + expectStartMs }]),
    ...(expectFinishMs === undefined ? [] : [{ kind: "finish" as const, dueAt: fireTime + expectFinishMs }]),
  ];
}

function hasStarted({ record: { acquiredBy, failedAttempts, recoveries, startedFence } }: JobEntry): boolean {
  return acquiredBy !== null || failedAttempts > 0 || recoveries > 0 || startedFence > 0;
}

function inOrderOfTimes(a: ScheduleWatch, b: ScheduleWatch): number {
  return (a.overdueAt ?? 0) - (b.overdueAt ?? 0) || compareTexts(a.record.id, b.record.id);
}
