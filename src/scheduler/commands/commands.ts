import type { AbortSignal } from "../../core/abort-signal.ts";
import type { Temporal } from "../../core/temporal.ts";
import type { JobResultFilter } from "../../stores/data-store.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import type { EventHub } from "../events/event-hub.ts";
import type {
  CheckedBackfill,
  CheckedBlackout,
  CheckedBulk,
  CheckedChange,
  CheckedJobFilter,
  CheckedJobOptions,
  CheckedNewJob,
  CheckedOccurrenceFilter,
  CheckedPause,
  CheckedResultOptions,
  CheckedRevision,
  CheckedRunFilter,
  CheckedRunNow,
  CheckedScheduleChangeFilter,
  CheckedScheduleChanges,
  CheckedScheduleFilter,
  CheckedTaskPause,
  CheckedUnpause,
  FailureFilter,
  JobSelection,
  ResultSelection,
  RetrySelection,
  ScheduleSelection,
  StatsRequest,
  TaskFilter,
} from "../options/checked-options.ts";
import type { ScheduleOptions } from "../options/options.ts";
import type { Question } from "../options/question.ts";
import type { Blackout } from "../views/blackout.ts";
import type { Explanation } from "../views/explanation.ts";
import type { FailureReport } from "../views/failure-group.ts";
import type { SchedulerHealth } from "../views/health.ts";
import type { Cancellation, Job } from "../views/job.ts";
import type { JobLog } from "../views/job-log.ts";
import type { JobResult } from "../views/job-result.ts";
import type { JobStep } from "../views/job-step.ts";
import type { Occurrence } from "../views/occurrence.ts";
import type { Page } from "../views/page.ts";
import type { PreviewedFire } from "../views/previewed-fire.ts";
import type { Run } from "../views/run.ts";
import type { Schedule } from "../views/schedule.ts";
import type { ScheduleChange } from "../views/schedule-change.ts";
import type { StatsReport } from "../views/stats.ts";
import type { TaskView } from "../views/task-view.ts";

/**
 * What carries out the methods of a `SchedulerClient`, where they are documented: `verbs/` on a store, `client/calls/`
 * over HTTP. Ids and options are checked before they come here, except where a comment says otherwise. What stands for
 * a task is checked here, by whoever looks it up.
 */
export interface Commands {
  readonly tasks: TaskCommands;
  readonly schedules: ScheduleCommands;
  readonly blackouts: BlackoutCommands;
  readonly ledger: LedgerCommands;
  readonly jobs: JobCommands;
  readonly runs: RunCommands;
  readonly bulk: BulkCommands;
  /** The listeners, which receive events from now on. @throws {SchedulerStateError} once the client has ended */
  listen(): EventHub;
  health(): Promise<SchedulerHealth>;
  cleanup(): Promise<void>;
}

export interface TaskCommands {
  all(filter: TaskFilter): Promise<TaskView[]>;
  get(id: string): Promise<TaskView>;
  remove(id: string): Promise<void>;
  /** @param isPaused whether the task, or the key of the task, is to be paused or to go on */
  setPaused(id: string, pause: CheckedTaskPause, isPaused: boolean): Promise<TaskView>;
}

export interface ScheduleCommands {
  /** @param options not checked, because a scheduler's `scheduleDefaults` stand in for those that are not given */
  add(task: unknown, trigger: TriggerLike, options: ScheduleOptions): Promise<Schedule>;
  get(id: string): Promise<Schedule>;
  page(filter: CheckedScheduleFilter): Promise<Page<Schedule>>;
  /** @param changes with a trigger that is not read yet */
  update(id: string, changes: CheckedScheduleChanges, note: CheckedRevision): Promise<Schedule>;
  remove(id: string, note: CheckedRevision): Promise<void>;
  pause(id: string, options: CheckedPause): Promise<Schedule>;
  unpause(id: string, options: CheckedUnpause): Promise<Schedule>;
  changeMany(filter: CheckedBulk<ScheduleSelection>, change: BulkChange): Promise<{ count: number } & SkippedSchedules>;
  runNow(id: string, options: CheckedRunNow): Promise<Job>;
  backfill(id: string, options: CheckedBackfill): Promise<BackfillFacts>;
  preview(id: string, options: { limit: number; from?: number | undefined }): Promise<PreviewedFire[]>;
}

export interface BlackoutCommands {
  all(): Promise<Blackout[]>;
  /** @param options with a trigger that is not read yet */
  add(id: string, options: CheckedBlackout): Promise<Blackout>;
  /** Whether there was one. */
  remove(id: string, note: CheckedChange): Promise<boolean>;
}

export interface LedgerCommands {
  explain(scheduleId: string, question: Question): Promise<Explanation>;
  occurrences(scheduleId: string, filter: CheckedOccurrenceFilter): Promise<Page<Occurrence>>;
  changes(scheduleId: string, filter: CheckedScheduleChangeFilter): Promise<Page<ScheduleChange>>;
}

export interface JobCommands {
  add(task: unknown, options: CheckedJobOptions): Promise<Job>;
  /** @param jobs not checked, see `eachNewJob` */
  addMany(jobs: readonly unknown[]): Promise<Job[]>;
  /** @param jobs not checked, see `eachNewJob` */
  addBatch(jobs: readonly unknown[], then: CheckedNewJob): Promise<{ jobs: Job[]; then: Job }>;
  run(task: unknown, options: CheckedJobOptions, wait: RunWait): Promise<JobResult>;
  get(id: string): Promise<Job>;
  page(filter: CheckedJobFilter): Promise<Page<Job>>;
  steps(id: string): Promise<JobStep[]>;
  result(id: string, options: CheckedResultOptions): Promise<JobResult | null>;
  resultPage(filter: JobResultFilter): Promise<Page<JobResult>>;
  logs(id: string): Promise<JobLog[]>;
  cancel(id: string): Promise<Cancellation>;
}

export interface RunCommands {
  get(id: string): Promise<Run>;
  page(filter: CheckedRunFilter): Promise<Page<Run>>;
  failures(filter: FailureFilter): Promise<FailureReport>;
  stats(request: StatsRequest): Promise<StatsReport>;
}

/** How `runJob` waits. */
export interface RunWait {
  readonly signal: AbortSignal | undefined;
  /** Gets the id of the job as soon as the job is added. */
  readonly onAdded: (jobId: string) => void;
}

/** What a backfill added, or would add. Times are epoch milliseconds. */
export interface BackfillFacts {
  readonly count: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly ran: number;
  readonly coalesced: number;
  readonly coalescedInto: number | null;
  readonly backfillId: string | null;
}

/** What `backfill` added, or would add. */
export interface BackfillReport {
  /** How many jobs. */
  readonly count: number;
  /** The earliest and the latest of their fire times; null for none. */
  readonly first: Temporal.Instant | null;
  /** The latest of their fire times; null for none. */
  readonly last: Temporal.Instant | null;
  /** How many fire times this call left out because they ran, or have an unfinished job. */
  readonly ran: number;
  /** How many it left out because a job that ran, or is to run, stands for them: they were coalesced into it. */
  readonly coalesced: number;
  /** The fire time of that job; null for none, and where there are several. */
  readonly coalescedInto: Temporal.Instant | null;
  /** The backfill that the jobs belong to; null where nothing was added. */
  readonly backfillId: string | null;
}

/** What `changeMany` does with each schedule. */
export type BulkChange =
  | ({ readonly action: "remove" } & CheckedChange)
  | ({ readonly action: "pause" } & CheckedPause)
  | ({ readonly action: "unpause" } & CheckedUnpause);

/** What a call about many schedules passed over: how many, and why of the first 100. */
export interface SkippedSchedules extends SkippedJobs {}

/** What a call about many jobs passed over: how many, and why of the first 100. */
export interface SkippedJobs {
  /** How many were passed over. */
  readonly skipped: number;
  /** Why, for the first 100 of them. */
  readonly refusals: readonly BulkRefusal[];
}

/** Why a call about many schedules or jobs passed one over. */
export interface BulkRefusal {
  readonly id: string;
  /** The `code` of the error that the call about this one alone would reject with. */
  readonly code: string;
  /** What is wrong, and what to do: the message of that error. */
  readonly detail: string;
}

export interface BulkCommands {
  retry(id: string, options: { readonly restart: boolean }): Promise<Job>;
  retryMany(filter: CheckedBulk<RetrySelection>): Promise<{ retried: number } & SkippedJobs>;
  cancelMany(filter: CheckedBulk<JobSelection>): Promise<{ cancelled: number } & SkippedJobs>;
  removeResults(filter: CheckedBulk<ResultSelection>): Promise<{ removed: number }>;
}
