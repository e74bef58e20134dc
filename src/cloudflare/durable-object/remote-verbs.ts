import type { InstantLike } from "../../core/temporal.ts";
import type {
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  OccurrenceFilterOptions,
  PauseOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleUpdate,
  TaskFilterOptions,
} from "../../scheduler/options/options.ts";
import type { NewJob, SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { Explanation } from "../../scheduler/views/explanation.ts";
import type { SchedulerHealth } from "../../scheduler/views/health.ts";
import type { Cancellation, Job } from "../../scheduler/views/job.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import type { JobStep } from "../../scheduler/views/job-step.ts";
import type { Occurrence } from "../../scheduler/views/occurrence.ts";
import { type Plain, type PlainPage, plain, plainPage } from "../../scheduler/views/plain.ts";
import type { Schedule } from "../../scheduler/views/schedule.ts";
import type { TaskView } from "../../scheduler/views/task-view.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** Crontab text, a short form such as `{ every: "5m" }`, or what `trigger.toJSON()` returns. */
export type RemoteTrigger = Exclude<TriggerLike, Trigger>;

/** Changes of `updateSchedule`, whose trigger is text or JSON. */
export type RemoteScheduleUpdate = Omit<ScheduleUpdate, "trigger"> & { trigger?: RemoteTrigger | undefined };

/**
 * The verbs of a scheduler for callers outside of its object: what they take and return survives a remote call. Tasks
 * go by their ids, and triggers as crontab text or JSON. What is returned is explained at {@link Plain}. Otherwise each
 * verb does what the verb of `SchedulerClient` does which has its name.
 *
 * @example
 * const jobs = env.JOBS.get(env.JOBS.idFromName("customer-17"));
 * await jobs.addSchedule("greet", "0 9 * * mon-fri", { id: "morning" });
 */
export class RemoteVerbs {
  readonly #client: SchedulerClient;

  constructor(client: SchedulerClient) {
    this.#client = client;
  }

  async getTasks(filter: TaskFilterOptions = {}): Promise<Plain<TaskView>[]> {
    return (await this.#client.getTasks(filter)).map(plain);
  }

  async addSchedule(taskId: string, trigger: RemoteTrigger, options: ScheduleOptions = {}): Promise<Plain<Schedule>> {
    return plain(await this.#client.addSchedule(taskId, trigger, options));
  }

  async getSchedule(id: string): Promise<Plain<Schedule>> {
    return plain(await this.#client.getSchedule(id));
  }

  async getSchedules(filter: ScheduleFilterOptions = {}): Promise<PlainPage<Schedule>> {
    return plainPage(await this.#client.getSchedules(filter));
  }

  async updateSchedule(id: string, changes: RemoteScheduleUpdate): Promise<Plain<Schedule>> {
    return plain(await this.#client.updateSchedule(id, changes));
  }

  async removeSchedule(id: string): Promise<void> {
    await this.#client.removeSchedule(id);
  }

  async pauseSchedule(id: string, options: PauseOptions = {}): Promise<Plain<Schedule>> {
    return plain(await this.#client.pauseSchedule(id, options));
  }

  async unpauseSchedule(
    id: string,
    options: { resumeFrom?: "now" | InstantLike | undefined } = {},
  ): Promise<Plain<Schedule>> {
    return plain(await this.#client.unpauseSchedule(id, options));
  }

  async runScheduleNow(id: string): Promise<Plain<Job>> {
    return plain(await this.#client.runScheduleNow(id));
  }

  /** The fire times to come, as ISO 8601 text with the time zone. */
  async previewSchedule(id: string, options: { limit: number; from?: InstantLike | undefined }): Promise<string[]> {
    return (await this.#client.previewSchedule(id, options)).map(String);
  }

  /** Why a schedule did or did not run at an instant, or will not. */
  async explain(scheduleId: string, at: InstantLike): Promise<Plain<Explanation>> {
    return plain(await this.#client.explain(scheduleId, at));
  }

  async getOccurrences(scheduleId: string, filter: OccurrenceFilterOptions = {}): Promise<PlainPage<Occurrence>> {
    return plainPage(await this.#client.getOccurrences(scheduleId, filter));
  }

  async addJob(taskId: string, options: JobOptions = {}): Promise<Plain<Job>> {
    return plain(await this.#client.addJob(taskId, options));
  }

  async addJobs(jobs: readonly NewJob<string>[]): Promise<Plain<Job>[]> {
    return (await this.#client.addJobs(jobs)).map((job) => plain(job));
  }

  async getJob(id: string): Promise<Plain<Job>> {
    return plain(await this.#client.getJob(id));
  }

  async getJobs(filter: JobFilterOptions = {}): Promise<PlainPage<Job>> {
    return plainPage(await this.#client.getJobs(filter));
  }

  async cancelJob(id: string): Promise<Cancellation> {
    return this.#client.cancelJob(id);
  }

  async getJobResult(id: string, options: { wait?: boolean | undefined } = {}): Promise<Plain<JobResult> | null> {
    const result = await this.#client.getJobResult(id, options);
    return result === null ? null : plain(result);
  }

  async getJobResults(filter: JobResultFilterOptions = {}): Promise<PlainPage<JobResult>> {
    return plainPage(await this.#client.getJobResults(filter));
  }

  async getJobSteps(id: string): Promise<Plain<JobStep>[]> {
    return (await this.#client.getJobSteps(id)).map(plain);
  }

  async retryJob(id: string, options: { restart?: boolean | undefined } = {}): Promise<Plain<Job>> {
    return plain(await this.#client.retryJob(id, options));
  }

  async health(): Promise<Plain<SchedulerHealth>> {
    return plain(await this.#client.health());
  }
}
