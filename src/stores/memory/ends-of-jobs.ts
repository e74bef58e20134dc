import type { JobRecord } from "../../records/job.ts";
import { type JobResultRecord, withKeptFacts } from "../../records/job-result.ts";
import { isFailure, type JobOutcome } from "../../records/policies.ts";
import { failureOf, type ScheduleFailure } from "../../records/schedule-failure.ts";
import type {
  AdmittedJob,
  CancelReport,
  JobCancellation,
  OverlapReport,
  PlannedJob,
  PlannedOverlap,
  RecoveredJob,
} from "../data-store.ts";
import { endedWithoutRun, type OutcomeWithoutRun } from "../shared/added-and-ended-jobs.ts";
import { MISSED_PER_COMMIT_MAX, OVERLAP_JOBS_PER_PLAN_MAX } from "../shared/limits.ts";
import type { Chains } from "./dependencies.ts";
import { isMissed, type JobEntry, moveTo } from "./entries-of-jobs-and-tasks.ts";
import { admittedJob, type Flow } from "./flow-control.ts";
import type { Coalesced } from "./history-of-schedule.ts";
import type { MemoryLedger } from "./ledger.ts";
import type { JobLogs } from "./logs-of-jobs.ts";
import type { Queues } from "./queues-and-acquisition.ts";
import type { Results } from "./results.ts";
import type { StepsOfJobs } from "./steps-of-jobs.ts";
import type { Bursts, Windows } from "./throttle-and-debounce.ts";
import type { Jobs } from "./unfinished-jobs.ts";

/** What a memory store keeps for jobs. */
export interface Tables {
  readonly jobs: Jobs;
  readonly queues: Queues;
  readonly flow: Flow;
  readonly chains: Chains;
  readonly windows: Windows;
  readonly bursts: Bursts;
  readonly results: Results;
  readonly steps: StepsOfJobs;
  readonly logs: JobLogs;
  readonly ledger: MemoryLedger | null;
  readonly schedules: { failed(scheduleId: string, failure: ScheduleFailure): void };
}

/** What a report tells of jobs besides those of its request, while it is being written. */
export interface Notes {
  /** The present of the call. */
  readonly now: number;
  readonly recovered: RecoveredJob[];
  readonly ended: JobResultRecord[];
  readonly admitted: AdmittedJob[];
  /** The ends that count for the failures of their schedules, in their order. */
  readonly counted: { readonly scheduleId: string; readonly outcome: JobOutcome }[];
}

export function emptyNotes(now: number): Notes {
  return { now, recovered: [], ended: [], admitted: [], counted: [] };
}

/** Ends a job with the result of its run. */
export function endJob(tables: Tables, entry: JobEntry, result: JobResultRecord, notes: Notes): void {
  keepEnd(tables, entry, result, notes);
  resolveChildren(tables, result.jobId, result.outcome, notes);
}

/** Ends a job that does not run, and leaves its children as they are. Returns the job's result as reports have it:
 *  without what the store keeps of the job. */
function endAlone(tables: Tables, entry: JobEntry, outcome: OutcomeWithoutRun, notes: Notes): JobResultRecord {
  const result = endedWithoutRun(entry.record, outcome, notes.now);
  keepEnd(tables, entry, withKeptFacts({ ...result }, entry.record, null), notes);
  notes.ended.push(result);
  return result;
}

/** Ends a job that does not run, and resolves the dependencies on it. */
export function endWithoutRun(
  tables: Tables,
  entry: JobEntry,
  outcome: OutcomeWithoutRun,
  notes: Notes,
): JobResultRecord {
  const result = endAlone(tables, entry, outcome, notes);
  resolveChildren(tables, result.jobId, outcome, notes);
  return result;
}

/** Ends jobs that have missed their start. All end before the first one's children are cancelled or resolved. */
export function endMissed(tables: Tables, notes: Notes): void {
  const ended: string[] = [];
  for (let entry = tables.jobs.nextToStart; entry !== undefined; entry = tables.jobs.nextToStart) {
    if (!isMissed(entry, notes.now) || ended.length === MISSED_PER_COMMIT_MAX) break;
    ended.push(endAlone(tables, entry, "missedStartDeadline", notes).jobId);
  }
  for (const jobId of ended) resolveChildren(tables, jobId, "missedStartDeadline", notes);
}

/** Cancels jobs, or asks the holders of their leases to do so. All end before the first one's children do. */
export function cancelJobs(tables: Tables, ids: readonly string[], now: number): CancelReport {
  const [notes, ofChildren] = [emptyNotes(now), emptyNotes(now)];
  const jobs = ids.map((id) => cancelOne(tables, id, notes));
  for (const { jobId } of notes.ended) resolveChildren(tables, jobId, "cancelled", ofChildren);
  return { jobs, ended: ofChildren.ended };
}

function cancelOne(tables: Tables, id: string, notes: Notes): JobCancellation {
  const entry = tables.jobs.find(id);
  if (entry === undefined) return { status: "missing" };
  const { record } = entry;
  if (record.acquiredBy === null) return { status: "cancelled", result: endAlone(tables, entry, "cancelled", notes) };
  record.cancelRequested = true;
  return { status: "requested", taskId: record.taskId, acquiredBy: record.acquiredBy };
}

/** Makes room for a fire of a schedule, or says that the fire makes no job. */
export function makeRoom(
  tables: Tables,
  scheduleId: string,
  policy: Exclude<PlannedOverlap["policy"], "latest" | "earliest">,
  notes: Notes,
): OverlapReport {
  const unfinished = tables.jobs.madeBy(scheduleId, notes.now);
  if (policy === "skip") return { isSkipped: unfinished.length > 0, replaced: [], cancelRequested: [] };
  const waiting = unfinished.filter(({ record }) => record.acquiredBy === null).slice(0, OVERLAP_JOBS_PER_PLAN_MAX);
  for (const entry of waiting) {
    dropJob(tables, entry);
    resolveChildren(tables, entry.record.id, "cancelled", notes);
  }
  const isToCancel = ({ record }: JobEntry): boolean => record.acquiredBy !== null && !record.cancelRequested;
  const running = policy === "cancelRunning" ? unfinished.filter(isToCancel).slice(0, OVERLAP_JOBS_PER_PLAN_MAX) : [];
  for (const { record } of running) record.cancelRequested = true;
  return {
    isSkipped: false,
    replaced: waiting.map(({ record }) => ({ jobId: record.id, fireTime: record.fireTime ?? 0 })),
    cancelRequested: running.map(({ record }) => record.id),
  };
}

/** Lets one job stand for a fire and the jobs that missed their turn; null for no such jobs. */
export function coalesce(
  tables: Tables,
  scheduleId: string,
  policy: "latest" | "earliest",
  fire: PlannedJob,
  notes: Notes,
): Coalesced | null {
  const missed = tables.jobs.missedOf(scheduleId, fire.fireTime, notes.now).slice(0, OVERLAP_JOBS_PER_PLAN_MAX);
  const isOldest = policy === "earliest";
  // One that is still to come takes the place of none that is due.
  const isMember = missed.length > 0 && (isOldest || fire.runAt <= notes.now);
  const all = [...missed.map(({ record }) => record), ...(isMember ? [fire] : [])];
  const [oldest] = all;
  // A fire takes the place of its own job, which was there before the schedule was removed and added again.
  const winner = isOldest && oldest?.fireTime !== fire.fireTime ? oldest : all.at(-1);
  if (winner === undefined || all.length === 1) return null;
  const into = winner.fireTime ?? 0;
  const fireTimes = all.map(({ fireTime }) => fireTime ?? 0);
  const ends = all.flatMap(({ firstMissedTime, lastMissedTime }) => [firstMissedTime ?? into, lastMissedTime ?? into]);
  const times = [...fireTimes, ...ends].filter((time) => time !== into);
  if (times.length === 0) return null;
  const waits = missed.flatMap(({ record: { fireTime }, overdueAt }) =>
    fireTime === null || overdueAt === null ? [] : [[fireTime, overdueAt - fireTime] as const],
  );
  const ended = missed.filter(({ record }) => record !== winner);
  for (const entry of ended) {
    dropJob(tables, entry);
    resolveChildren(tables, entry.record.id, "cancelled", notes);
  }
  return {
    report: {
      isSkipped: isOldest && winner !== fire,
      replaced: ended.map(({ record }) => ({ jobId: record.id, fireTime: record.fireTime ?? 0 })),
      cancelRequested: [],
    },
    fireTimes,
    skip: { from: Math.min(...times), until: Math.max(...times), verdict: "coalesced", count: countOf(all), into },
    waits,
  };
}

/** For how many fire times one of these stands instead of all; null where nobody knows, because some stand for the same
 *  ones: their schedule was removed, and added again. @param all by fire time */
function countOf(all: readonly Pick<JobRecord, "fireTime" | "missedCount" | MissedTime>[]): number | null {
  let [count, until] = [-1, Number.NEGATIVE_INFINITY];
  for (const { fireTime, missedCount, firstMissedTime, lastMissedTime } of all) {
    const at = fireTime ?? 0;
    if (missedCount === null || Math.min(at, firstMissedTime ?? at) <= until) return null;
    count += missedCount + 1;
    until = Math.max(at, lastMissedTime ?? at);
  }
  return count;
}

type MissedTime = "firstMissedTime" | "lastMissedTime";

/** The one job knows for which fire times it stands, and is overdue as early as the first of them. */
export function standFor(
  jobs: Jobs,
  scheduleId: string,
  { skip: { from, until, count, into }, waits }: Coalesced,
): void {
  const entry = jobs.atFireTime(scheduleId, into);
  if (entry === undefined) return;
  Object.assign(entry.record, { missedCount: count, firstMissedTime: from, lastMissedTime: until });
  const { overdueAt } = entry;
  if (overdueAt === null) return;
  // What is told of already, or is about the end of another job, takes longer.
  const all = waits.filter(([, delayMs]) => delayMs <= overdueAt - into).map(([at, delayMs]) => at + delayMs);
  jobs.watchAt(entry, Math.min(overdueAt, ...all));
}

/** Cancels jobs because of their parents, and then their own children. No recursion, because a chain may be longer than
 *  the stack. */
export function cancelChildren(tables: Tables, children: readonly JobEntry[], notes: Notes): void {
  for (let level = children; level.length > 0; ) {
    const next: JobEntry[] = [];
    for (const entry of level) {
      // It may have had several parents that were cancelled.
      if (!tables.jobs.holds(entry)) continue;
      endAlone(tables, entry, "cancelled", notes);
      for (const child of releaseChildren(tables, entry.record.id, "cancelled", notes)) next.push(child);
    }
    level = next;
  }
}

/** Resolves the dependencies on a job that has ended. */
function resolveChildren(tables: Tables, jobId: string, outcome: JobOutcome, notes: Notes): void {
  cancelChildren(tables, releaseChildren(tables, jobId, outcome, notes), notes);
}

/** Lets the children go on whose last parent has ended. Returns those that are to be cancelled. */
function releaseChildren(tables: Tables, jobId: string, outcome: JobOutcome, notes: Notes): readonly JobEntry[] {
  const { chains, queues } = tables;
  const { ready, cancelled } = chains.ended(jobId, outcome);
  for (const entry of ready) {
    chains.release(entry);
    queues.add(entry, entry.record.runAt <= notes.now);
    notes.admitted.push(admittedJob(entry.record));
  }
  return cancelled;
}

/** Removes a job that has ended, and keeps its result, or its id for a while if the result expires at once. */
function keepEnd(tables: Tables, entry: JobEntry, result: JobResultRecord, { now, counted }: Notes): void {
  const { pauseAfterFailures, scheduleId, fireTime, retryOf } = entry.record;
  const isCounted = pauseAfterFailures !== undefined && fireTime !== null && retryOf === undefined;
  if (isCounted && scheduleId !== null) counted.push({ scheduleId, outcome: result.outcome });
  tables.ledger?.ended(entry.record, result, entry.limiter !== null);
  if (scheduleId !== null && isFailure(result.outcome)) tables.schedules.failed(scheduleId, failureOf(result));
  const isKept = result.expiresAt > now;
  if (isKept) tables.results.keep(result);
  dropJob(tables, entry, isKept ? null : now);
}

/** Removes a job, which leaves no result. @param endedAt as in `Jobs.remove` */
function dropJob(tables: Tables, entry: JobEntry, endedAt: number | null = null): void {
  const { chains, bursts, queues, flow, jobs, results, steps, logs } = tables;
  if (!results.has(entry.record.id)) {
    steps.remove(entry.record.id);
    logs.remove(entry.record.id);
  }
  chains.release(entry);
  bursts.over(entry.record.id);
  queues.endLease(entry, null);
  flow.leave(entry);
  moveTo(null, entry);
  jobs.remove(entry, endedAt);
}
