// biome-ignore lint/suspicious/noTsIgnore: for the declarations, whose readers may not have Cloudflare's types
/** @ts-ignore */
import { DurableObject } from "cloudflare:workers";
import type { InstantLike } from "../../core/temporal.ts";
import type {
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  OccurrenceFilterOptions,
  PauseOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  TaskFilterOptions,
} from "../../scheduler/options/options.ts";
import type { Scheduler } from "../../scheduler/scheduler.ts";
import type { NewJob } from "../../scheduler/scheduler-client.ts";
import type { Explanation } from "../../scheduler/views/explanation.ts";
import type { SchedulerHealth } from "../../scheduler/views/health.ts";
import type { Cancellation, Job } from "../../scheduler/views/job.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import type { JobStep } from "../../scheduler/views/job-step.ts";
import type { Occurrence } from "../../scheduler/views/occurrence.ts";
import type { Plain, PlainPage } from "../../scheduler/views/plain.ts";
import type { Schedule } from "../../scheduler/views/schedule.ts";
import type { TaskView } from "../../scheduler/views/task-view.ts";
import type { AttachOptions } from "./attach-options.ts";
import { type AttachedScheduler, attachScheduler } from "./attach-scheduler.ts";
import type { RemoteScheduleUpdate, RemoteTrigger } from "./remote-verbs.ts";
import type { ObjectContext } from "./shapes.ts";

/**
 * A Durable Object with a scheduler in it: {@link attachScheduler} around which a class was put. Workers call its verbs
 * as remote calls. They take tasks by their ids and triggers as crontab text or JSON, and return plain records, see
 * {@link Plain}; otherwise each does what the verb of `SchedulerClient` does which has its name.
 *
 * Methods of a subclass use `this.scheduler`. A subclass with an `alarm()` of its own calls `super.alarm()` in it.
 * @example
 * export class Jobs extends SchedulerDurableObject<Env> {
 *   override async configure(scheduler: Scheduler) {
 *     scheduler.task("mail", ({ to }: { to: string }) => this.env.MAIL.send(to));
 *     await scheduler.schedule("report", "0 9 * * mon-fri", () => console.log("Good morning"));
 *   }
 * }
 *
 * // In the Worker:
 * const jobs = env.JOBS.getByName("customer-17");
 * await jobs.addSchedule("mail", "30 8 * * *", { id: "mail-a", payload: { to: "a@example.com" } });
 */
export abstract class SchedulerDurableObject<Env = unknown> extends DurableObject<Env> {
  /** The scheduler of this object. Not started: the alarm does its ticks. */
  protected readonly scheduler: Scheduler;
  readonly #attached: AttachedScheduler;

  /** @param options see {@link AttachOptions}; a subclass with options has a constructor that passes them on
   *  @throws {OptionsError} for unknown or invalid options */
  constructor(ctx: ObjectContext, env: Env, options: AttachOptions = {}) {
    super(ctx, env);
    this.#attached = attachScheduler(ctx, (scheduler) => this.configure(scheduler), options);
    this.scheduler = this.#attached.scheduler;
  }

  /** Registers the tasks, and may declare schedules. Called whenever the object begins, after its constructor and
   *  before any request. */
  protected abstract configure(scheduler: Scheduler): unknown;

  /** Does what is due, and sets the next alarm. The platform calls it. */
  alarm(): Promise<void> {
    return this.#attached.alarm();
  }

  /** Sets the alarm to when something is due, or deletes it. Only needed after a transaction of the object's own that
   *  added a job, see `prepareJob`. */
  protected rearm(): Promise<void> {
    return this.#attached.rearm();
  }

  /** Every task that the object knows, with its settings, ordered by id; with `labels`, those that have all of them. */
  getTasks(filter?: TaskFilterOptions): Promise<Plain<TaskView>[]> {
    return this.#attached.remote.getTasks(filter);
  }

  /** Adds a schedule. @param trigger crontab text, `{ every: "5m" }`, or what `trigger.toJSON()` returns */
  addSchedule(taskId: string, trigger: RemoteTrigger, options?: ScheduleOptions): Promise<Plain<Schedule>> {
    return this.#attached.remote.addSchedule(taskId, trigger, options);
  }

  /** The schedule as it is now. */
  getSchedule(id: string): Promise<Plain<Schedule>> {
    return this.#attached.remote.getSchedule(id);
  }

  /** A page of schedules, ordered by id. */
  getSchedules(filter?: ScheduleFilterOptions): Promise<PlainPage<Schedule>> {
    return this.#attached.remote.getSchedules(filter);
  }

  /** Changes a schedule. Fields that are not given stay as they are. */
  updateSchedule(id: string, changes: RemoteScheduleUpdate): Promise<Plain<Schedule>> {
    return this.#attached.remote.updateSchedule(id, changes);
  }

  /** Removes a schedule; jobs that it made stay. */
  removeSchedule(id: string): Promise<void> {
    return this.#attached.remote.removeSchedule(id);
  }

  /** Pauses a schedule: it makes no jobs until it is unpaused, or until the end of the pause. Idempotent. */
  pauseSchedule(id: string, options?: PauseOptions): Promise<Plain<Schedule>> {
    return this.#attached.remote.pauseSchedule(id, options);
  }

  /** Lets a schedule go on after a pause. */
  unpauseSchedule(id: string, options?: { resumeFrom?: "now" | InstantLike | undefined }): Promise<Plain<Schedule>> {
    return this.#attached.remote.unpauseSchedule(id, options);
  }

  /** Adds one extra job of a schedule, to be run now. */
  runScheduleNow(id: string): Promise<Plain<Job>> {
    return this.#attached.remote.runScheduleNow(id);
  }

  /** The fire times to come of a schedule, as ISO 8601 text with the time zone. */
  previewSchedule(id: string, options: { limit: number; from?: InstantLike | undefined }): Promise<string[]> {
    return this.#attached.remote.previewSchedule(id, options);
  }

  /** Why a schedule did or did not run at an instant, or will not. */
  explain(scheduleId: string, at: InstantLike): Promise<Plain<Explanation>> {
    return this.#attached.remote.explain(scheduleId, at);
  }

  /** A page of what became of a schedule's fire times. */
  getOccurrences(scheduleId: string, filter?: OccurrenceFilterOptions): Promise<PlainPage<Occurrence>> {
    return this.#attached.remote.getOccurrences(scheduleId, filter);
  }

  /** Adds a job. */
  addJob(taskId: string, options?: JobOptions): Promise<Plain<Job>> {
    return this.#attached.remote.addJob(taskId, options);
  }

  /** Adds many jobs (at most 10,000) in one commit: all or none. */
  addJobs(jobs: readonly NewJob<string>[]): Promise<Plain<Job>[]> {
    return this.#attached.remote.addJobs(jobs);
  }

  /** An unfinished job. */
  getJob(id: string): Promise<Plain<Job>> {
    return this.#attached.remote.getJob(id);
  }

  /** A page of unfinished jobs, ordered by id. */
  getJobs(filter?: JobFilterOptions): Promise<PlainPage<Job>> {
    return this.#attached.remote.getJobs(filter);
  }

  /** Cancels a job. Resolves to what that came to. */
  cancelJob(id: string): Promise<Cancellation> {
    return this.#attached.remote.cancelJob(id);
  }

  /** The result of a job; null while there is none. @param options.wait wait until the job has ended. Default: false */
  getJobResult(id: string, options?: { wait?: boolean | undefined }): Promise<Plain<JobResult> | null> {
    return this.#attached.remote.getJobResult(id, options);
  }

  /** A page of results, the newest first. */
  getJobResults(filter?: JobResultFilterOptions): Promise<PlainPage<JobResult>> {
    return this.#attached.remote.getJobResults(filter);
  }

  /** The recorded steps of a job, by their beginning. */
  getJobSteps(id: string): Promise<Plain<JobStep>[]> {
    return this.#attached.remote.getJobSteps(id);
  }

  /** Runs a job again that has ended. @param options.restart begin anew, without its recorded steps. Default: false */
  retryJob(id: string, options?: { restart?: boolean | undefined }): Promise<Plain<Job>> {
    return this.#attached.remote.retryJob(id, options);
  }

  /** How the object's store and its work are. */
  health(): Promise<Plain<SchedulerHealth>> {
    return this.#attached.remote.health();
  }
}
