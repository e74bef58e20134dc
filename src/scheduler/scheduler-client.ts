import type { Logger } from "../core/logger.ts";
import type { InstantLike, Temporal } from "../core/temporal.ts";
import type { EventType } from "../records/events.ts";
import type { Trigger } from "../triggers/trigger.ts";
import type { EventFilter, EventsOptions, Subscription } from "./events/event-hub.ts";
import type { SchedulerEvent } from "./events/scheduler-event.ts";
import type {
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  RunJobOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleUpdate,
} from "./options/options.ts";
import type { Job } from "./views/job.ts";
import type { JobResult } from "./views/job-result.ts";
import type { Page } from "./views/page.ts";
import type { Schedule } from "./views/schedule.ts";
import type { TaskView } from "./views/task-view.ts";

/**
 * What handlers, routers and tools may do with a scheduler: everything but its life cycle and its handlers. A
 * {@link Scheduler} is one; so is whatever reaches a scheduler from afar.
 */
export interface SchedulerClient {
  /** Its name in leases and events. */
  readonly identity: string;

  // ---- tasks

  /** Every task that the store knows, with its settings, by id. @throws {StoreUnavailableError} */
  getTasks(): Promise<TaskView[]>;

  /**
   * Removes a task, here and from the store.
   * @throws {TaskLookupError} when there is none
   * @throws {ConflictingIdError} while schedules or unfinished jobs refer to it
   */
  removeTask(id: string): Promise<void>;

  // ---- schedules

  /**
   * Adds a schedule. A trigger without a start counts from now.
   *
   * A schedule that has no fire time left stays until a clean-up removes it, and is forgotten then: added again under
   * its id it starts anew, and a `DateTrigger` that is past fires once more. A program that adds one at every start
   * should not add it once its time has passed, or choose `cleanupInterval: null`, which keeps what has ended (expired
   * results too).
   * @param task a task, its id, or a function with a name, which becomes a task of that name
   * @returns the schedule as it is stored: with `conflictPolicy: "doNothing"`, the one that was there before
   * @throws {OptionsError} for invalid options
   * @throws {TaskLookupError} when neither this scheduler nor the store knows the task
   * @throws {PayloadError} when the task's schema rejects the payload
   * @throws {SerializationError} when the payload cannot be stored without loss
   * @throws {ConflictingIdError} when the id exists and `conflictPolicy` is `"error"`
   * @example
   * await scheduler.addSchedule(report, new IntervalTrigger({ minutes: 5 }), { id: "every five minutes" });
   */
  addSchedule<P>(
    task: Task<P> | string | NamedFunction<P>,
    trigger: Trigger,
    options?: ScheduleOptions<NoInfer<P>>,
  ): Promise<Schedule>;

  /** @throws {ScheduleLookupError} when there is none with this id */
  getSchedule(id: string): Promise<Schedule>;

  /** A page of schedules, by id; default: the first 100. @throws {OptionsError} */
  getSchedules(filter?: ScheduleFilterOptions): Promise<Page<Schedule>>;

  /**
   * Changes a schedule; what is not given stays. A new trigger counts from now; one that is the same rule as before
   * changes nothing about its fire times.
   * @throws {ScheduleLookupError} @throws {OptionsError} @throws {PayloadError} @throws {SerializationError}
   */
  updateSchedule(id: string, changes: ScheduleUpdate): Promise<Schedule>;

  /** Removes a schedule; jobs that it made stay. @throws {ScheduleLookupError} */
  removeSchedule(id: string): Promise<void>;

  /** The schedule makes no jobs until it is unpaused. Idempotent. @throws {ScheduleLookupError} */
  pauseSchedule(id: string): Promise<void>;

  /**
   * Lets a paused schedule go on.
   * @param options.resumeFrom `"now"` or an instant: fire times before it are dropped. Without it the schedule keeps
   *   its next fire time, and fires at once if that has passed.
   * @throws {ScheduleLookupError} @throws {OptionsError}
   */
  unpauseSchedule(id: string, options?: { resumeFrom?: "now" | InstantLike }): Promise<void>;

  /** One extra job of the schedule, now, even when it is paused; the schedule itself does not move.
   *  @throws {ScheduleLookupError} */
  runScheduleNow(id: string): Promise<Job>;

  /**
   * The fire times to come, whether or not it is paused, in the trigger's time zone.
   * @param options.limit how many; at most 1,000
   * @param options.from default: the schedule's next fire time
   * @throws {ScheduleLookupError} @throws {OptionsError}
   */
  previewSchedule(id: string, options: { limit: number; from?: InstantLike }): Promise<Temporal.ZonedDateTime[]>;

  // ---- jobs and results

  /**
   * Adds a job, to be run by whichever worker of the store takes it first.
   * @returns the job; with an `idempotencyKey` that an unfinished job has, that one
   * @throws {OptionsError} @throws {TaskLookupError} @throws {PayloadError} @throws {SerializationError}
   * @example
   * const job = await scheduler.addJob(report, { runAt: "2030-01-31T09:00:00Z", idempotencyKey: "january" });
   */
  addJob<P>(task: Task<P> | string | NamedFunction<P>, options?: JobOptions<NoInfer<P>>): Promise<Job>;

  /** Adds many jobs (at most 10,000) in one commit: all or none. Errors as {@link addJob}. */
  addJobs<P>(jobs: readonly NewJob<P>[]): Promise<Job[]>;

  /**
   * Adds a job and waits for what its handler returns; its result is kept for a minute at least. A handler that awaits
   * another job of its own task waits forever unless the task's `maxRunningJobs` leaves room.
   * @param options.signal ends the wait; the job goes on
   * @throws what the handler threw, with its name, message, stack and cause; or `JobCancelledError`,
   *   `JobDeadlineMissedError`, `JobTimeoutError`, `JobAbandonedError`; or what {@link addJob} throws; or the signal's
   *   reason
   * @throws {SchedulerStateError} when this scheduler stops before the job ends
   * @example
   * const sum = await scheduler.runJob(add, { payload: [1, 2] });
   */
  runJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    options?: RunJobOptions<NoInfer<P>>,
  ): Promise<Awaited<R>>;

  /** An unfinished job. @throws {JobLookupError} when there is none: it never existed, or it has ended */
  getJob(id: string): Promise<Job>;

  /** A page of unfinished jobs, by id; default: the first 100. @throws {OptionsError} */
  getJobs(filter?: JobFilterOptions): Promise<Page<Job>>;

  /**
   * How a job ended; null while it has not, or when its result has expired. Reading a result does not delete it.
   * @param options.wait wait until it has ended; default: false
   * @param options.signal ends the wait, with its reason
   * @throws {JobLookupError} with `wait`, when there is neither a job nor a result
   * @throws {SchedulerStateError} with `wait`, when this scheduler stops first
   */
  getJobResult(id: string, options?: { wait?: boolean; signal?: AbortSignal }): Promise<JobResult | null>;

  /** A page of results, by job id; default: the first 100. @throws {OptionsError} */
  getJobResults(filter?: JobResultFilterOptions): Promise<Page<JobResult>>;

  /**
   * Cancels a job: a queued one ends at once, a running one gets its signal aborted, here at once and elsewhere when
   * its lease is next extended.
   * @returns false when there is no such unfinished job
   */
  cancelJob(id: string): Promise<boolean>;

  // ---- events

  /**
   * Calls a listener for events of the given types (null: all), until it is unsubscribed or the scheduler has stopped.
   * What the listener throws, or its promise rejects with, is logged.
   * @param options.once for the first event only
   * @throws {OptionsError} for an unknown type
   * @example
   * using subscription = scheduler.subscribe("jobReleased", ({ jobId, outcome }) => console.log(jobId, outcome));
   */
  subscribe<T extends EventType>(
    types: EventFilter<T>,
    listener: (event: SchedulerEvent<T>) => unknown,
    options?: { once?: boolean },
  ): Subscription;

  /** The next event of the given types (null: any). Rejects with the signal's reason, or an `AbortError` when the
   *  scheduler stops. */
  nextEvent<T extends EventType>(types: EventFilter<T>, options?: { signal?: AbortSignal }): Promise<SchedulerEvent<T>>;

  /** Events as they come, from this call on. A reader that is 10,000 events behind loses the oldest (`onDropped`). */
  events<T extends EventType>(
    types?: EventFilter<T>,
    options?: EventsOptions,
  ): AsyncIterableIterator<SchedulerEvent<T>>;

  /** Removes expired results, and schedules that have no fire time and no unfinished job left. */
  cleanup(): Promise<void>;
}

/** A task as `Scheduler.task` returns it: pass it to `addSchedule`, `addJob` and `runJob`. `P` is its payload's type,
 *  `R` what its handler returns. */
export interface Task<P = unknown, R = unknown> {
  readonly id: string;
  /** Carries the types only. */
  readonly "~types"?: { readonly payload: P; readonly result: R };
}

/** A function with a name: the name is the task's id. */
export type NamedFunction<P = never, R = unknown> = TaskHandler<P, R>;

/** One entry of {@link SchedulerClient.addJobs}. */
export interface NewJob<P = unknown> extends JobOptions<P> {
  task: Task<P> | string | NamedFunction<P>;
}

/** Runs a task's jobs: gets the payload and the context, returns (or resolves with) the result. */
export type TaskHandler<P = unknown, R = unknown> = (payload: P, context: JobContext) => R | Promise<R>;

/** What a handler knows about the attempt it makes. */
export interface JobContext {
  readonly job: Job;
  /** 1 for the first attempt. Counts attempts that failed, and those that were lost with their process. */
  readonly attempt: number;
  /** Grows with every acquisition of the job: pass it to systems that refuse writers with an older number. */
  readonly fence: number;
  /** The same in every attempt: the key the job was added with, or its id. */
  readonly idempotencyKey: string;
  /** Aborted when the attempt is to end early; `signal.reason` says why: `JobTimeoutError`, `JobCancelledError`,
   *  `LeaseLostError` or `SchedulerStateError` (the scheduler stops). */
  readonly signal: AbortSignal;
  readonly scheduler: SchedulerClient;
  readonly logger: Logger;
  /** Publishes a `jobProgressed` event. @param fraction 0 to 1 */
  progress(fraction: number, note?: string): void;
}
