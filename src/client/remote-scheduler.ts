import { type Clock, systemClock } from "../core/clock.ts";
import { SchedulerStateError } from "../core/errors.ts";
import { guardedRandom, IdGenerator, type RandomSource, systemRandom } from "../core/ids.ts";
import { type LeveledLogger, leveledLogger } from "../core/leveled-logger.ts";
import type { InstantLike, Temporal } from "../core/temporal.ts";
import type { EventType } from "../records/events.ts";
import { serializedError } from "../records/serialized-error.ts";
import {
  type EventFilter,
  EventHub,
  type EventsOptions,
  type SubscribeOptions,
  type Subscription,
} from "../scheduler/events/event-hub.ts";
import type { SchedulerEvent } from "../scheduler/events/scheduler-event.ts";
import type { Asked } from "../scheduler/ledger/asked.ts";
import {
  checkEventsOptions,
  checkNextEventOptions,
  checkSubscribeOptions,
} from "../scheduler/options/check-options.ts";
import type {
  BatchOptions,
  BulkJobOptions,
  BulkResultOptions,
  ChangeOptions,
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  OccurrenceFilterOptions,
  PrintOptions,
  RunJobOptions,
  ScheduleChangeFilterOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleRemoval,
  ScheduleUpdate,
} from "../scheduler/options/options.ts";
import type { OptionsWithPayload } from "../scheduler/options/payload-argument.ts";
import type {
  AddedBatch,
  AddedJobs,
  JobsOf,
  NamedFunction,
  NewJob,
  SchedulerClient,
  Task,
} from "../scheduler/scheduler-client.ts";
import { printSchedules, removeSchedules } from "../scheduler/verbs/many-schedules.ts";
import type { Explanation } from "../scheduler/views/explanation.ts";
import { SchedulerHealth } from "../scheduler/views/health.ts";
import type { Job } from "../scheduler/views/job.ts";
import type { JobResult } from "../scheduler/views/job-result.ts";
import type { Occurrence } from "../scheduler/views/occurrence.ts";
import type { Listing } from "../scheduler/views/page.ts";
import type { Schedule } from "../scheduler/views/schedule.ts";
import type { ScheduleChange } from "../scheduler/views/schedule-change.ts";
import type { TaskView } from "../scheduler/views/task-view.ts";
import type { Trigger } from "../triggers/trigger.ts";
import type { CallContext } from "./calls/context.ts";
import { JobCalls } from "./calls/job-calls.ts";
import { ScheduleCalls } from "./calls/schedule-calls.ts";
import { TaskCalls } from "./calls/task-calls.ts";
import { EventFeed } from "./events/event-feed.ts";
import { Requester } from "./http/requester.ts";
import { Transport } from "./http/transport.ts";
import type { CheckedConnection, ConnectOptions } from "./options.ts";
import { healthSchema } from "./wire/health.ts";

/**
 * A scheduler behind a router. What it has is documented at `SchedulerClient`; these things are different over HTTP:
 *
 * - Every method may reject with `StoreUnavailableError` when the router cannot be reached, and with
 *   {@link RemoteError} when the router refuses the client.
 * - Waits for the end of a job (`runJob`, `Job.wait`, `getJobResult` with `wait`) go on while the router cannot be
 *   reached, until their signal or {@link close} ends them. When the wait of `runJob` ends otherwise, its error has the
 *   id of the job as `jobId`.
 * - Payloads and returned values travel as JSON, whatever the serializer of the store.
 * - The events of {@link subscribe}, {@link nextEvent} and {@link events} come from the first of them on, over one
 *   connection, which is opened anew when it breaks. Calls that write wait for it, so that a client that listens hears
 *   of what it does itself.
 */
export class RemoteScheduler implements SchedulerClient, AsyncDisposable {
  /** The address of the router. */
  readonly identity: string;
  readonly #clock: Clock;
  readonly #requester: Requester;
  readonly #hub: EventHub;
  readonly #feed: EventFeed;
  readonly #tasks: TaskCalls;
  readonly #schedules: ScheduleCalls;
  readonly #jobs: JobCalls;
  #isClosed = false;

  /** @param connection what {@link options} were checked to be */
  constructor(connection: CheckedConnection, options: Pick<ConnectOptions, "logger" | "clock" | "random">) {
    const { clock = systemClock } = options;
    const logger = leveledLogger(options.logger);
    const random = guardedRandom(options.random ?? systemRandom, (fault) =>
      logger.error("escapement: the given random() failed; Math.random takes its place", fault),
    );
    const transport = new Transport(connection);
    this.identity = connection.url;
    this.#clock = clock;
    const mayWrite = (): Promise<void> => this.#feed.ready();
    this.#requester = new Requester(transport, { ...connection, clock, random, logger, mayWrite });
    [this.#feed, this.#hub] = this.#events(transport, random, logger);
    const context: CallContext = { requester: this.#requester, ids: new IdGenerator(random), clock, client: this };
    this.#tasks = new TaskCalls(context);
    this.#schedules = new ScheduleCalls(context);
    this.#jobs = new JobCalls(context, this.#tasks);
  }

  /** Ends the client: requests that are under way reject with a `SchedulerStateError`, and waits for events with an
   *  `AbortError`; loops over events end. Jobs and schedules go on. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.close();
    this.#hub.close();
    this.#requester.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- tasks

  async getTasks(): Promise<TaskView[]> {
    return this.#tasks.all();
  }

  async removeTask(id: string): Promise<void> {
    await this.#tasks.remove(id);
  }

  async pauseTask(id: string, options: { key?: string } & ChangeOptions = {}): Promise<void> {
    await this.#tasks.setPaused(id, options, true);
  }

  async unpauseTask(id: string, options: { key?: string } & ChangeOptions = {}): Promise<void> {
    await this.#tasks.setPaused(id, options, false);
  }

  // ---- schedules

  async addSchedule<P>(
    task: Task<P> | string | NamedFunction<P>,
    trigger: Trigger | string,
    ...[options = {}]: OptionsWithPayload<ScheduleOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<Schedule> {
    return this.#schedules.add(task as Task, trigger, options);
  }

  async getSchedule(id: string): Promise<Schedule> {
    return this.#schedules.get(id);
  }

  getSchedules(filter: ScheduleFilterOptions = {}): Listing<Schedule> {
    return this.#schedules.list(filter);
  }

  async updateSchedule(id: string, changes: ScheduleUpdate, options: ChangeOptions = {}): Promise<Schedule> {
    return this.#schedules.update(id, changes, options);
  }

  async removeSchedule(id: string, options: ChangeOptions = {}): Promise<void> {
    await this.#schedules.remove(id, options);
  }

  async removeSchedules(filter: ScheduleRemoval): Promise<number> {
    return removeSchedules(this, filter);
  }

  async pauseSchedule(id: string, options: ChangeOptions = {}): Promise<Schedule> {
    return this.#schedules.pause(id, options);
  }

  async unpauseSchedule(
    id: string,
    options: { resumeFrom?: "now" | InstantLike } & ChangeOptions = {},
  ): Promise<Schedule> {
    return this.#schedules.unpause(id, options);
  }

  async runScheduleNow(id: string, options: { idempotencyKey?: string } = {}): Promise<Job> {
    return this.#schedules.runNow(id, options);
  }

  async previewSchedule(id: string, options: { limit: number; from?: InstantLike }): Promise<Temporal.ZonedDateTime[]> {
    return this.#schedules.preview(id, options);
  }

  async explain(scheduleId: string, at: Asked): Promise<Explanation> {
    return this.#schedules.explain(scheduleId, at);
  }

  getOccurrences(scheduleId: string, filter: OccurrenceFilterOptions = {}): Listing<Occurrence> {
    return this.#schedules.occurrences(scheduleId, filter);
  }

  getScheduleChanges(scheduleId: string, filter: ScheduleChangeFilterOptions = {}): Listing<ScheduleChange> {
    return this.#schedules.changes(scheduleId, filter);
  }

  async printSchedules(options: PrintOptions = {}): Promise<void> {
    await printSchedules(this, options);
  }

  // ---- jobs

  addJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    ...[options = {}]: OptionsWithPayload<JobOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<Job<Awaited<R>>> {
    return this.#jobs.add(task as Task, options) as Promise<Job<Awaited<R>>>;
  }

  addJobs<const Tasks extends readonly unknown[]>(jobs: JobsOf<Tasks>): Promise<AddedJobs<Tasks>> {
    return this.#jobs.addMany(jobs as readonly NewJob[]) as Promise<AddedJobs<Tasks>>;
  }

  addBatch<const Tasks extends readonly unknown[], const Last = Task | string>(
    jobs: JobsOf<Tasks>,
    options: BatchOptions<NewJob<Last>>,
  ): Promise<AddedBatch<Tasks, Last>> {
    const added = this.#jobs.addBatch(jobs as readonly NewJob[], options as BatchOptions<NewJob>);
    return added as Promise<AddedBatch<Tasks, Last>>;
  }

  async runJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    ...[options = {}]: OptionsWithPayload<RunJobOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<Awaited<R>> {
    return (await this.#jobs.run(task as Task, options)) as Awaited<R>;
  }

  async getJob(id: string): Promise<Job> {
    return this.#jobs.get(id);
  }

  getJobs(filter: JobFilterOptions = {}): Listing<Job> {
    return this.#jobs.list(filter);
  }

  async getJobResult(id: string, options: { wait?: boolean; signal?: AbortSignal } = {}): Promise<JobResult | null> {
    return this.#jobs.result(id, options);
  }

  getJobResults(filter: JobResultFilterOptions = {}): Listing<JobResult> {
    return this.#jobs.listResults(filter);
  }

  async cancelJob(id: string): Promise<boolean> {
    return this.#jobs.cancel(id);
  }

  async retryJob(id: string): Promise<Job> {
    return this.#jobs.retry(id);
  }

  async retryJobs(filter: BulkResultOptions): Promise<{ retried: number; skipped: number }> {
    return this.#jobs.retryMany(filter);
  }

  async cancelJobs(filter: BulkJobOptions): Promise<{ cancelled: number }> {
    return this.#jobs.cancelMany(filter);
  }

  async removeJobResults(filter: BulkResultOptions): Promise<{ removed: number }> {
    return this.#jobs.removeResults(filter);
  }

  // ---- events

  subscribe<T extends EventType>(
    types: EventFilter<T>,
    listener: (event: SchedulerEvent<T>) => unknown,
    options: SubscribeOptions = {},
  ): Subscription {
    return this.#listening().subscribe(types, listener, checkSubscribeOptions(options, "subscribe()"));
  }

  async nextEvent<T extends EventType>(
    types: EventFilter<T>,
    options: { signal?: AbortSignal } = {},
  ): Promise<SchedulerEvent<T>> {
    const { signal } = checkNextEventOptions(options, "nextEvent()");
    return this.#listening().nextEvent(types, signal === undefined ? {} : { signal });
  }

  events<T extends EventType>(
    types: EventFilter<T> = null,
    options: EventsOptions = {},
  ): AsyncIterableIterator<SchedulerEvent<T>> {
    return this.#listening().events(types, checkEventsOptions(options, "events()"));
  }

  // ---- the whole

  /** As documented at `SchedulerClient`: never rejects. When the router cannot be reached, or refuses the client,
   *  `isStoreReached` is false, and `storeError` says why. */
  async health(): Promise<SchedulerHealth> {
    try {
      return await this.#requester.read({ method: "GET", path: "/health", patience: "short" }, healthSchema());
    } catch (error) {
      return new SchedulerHealth(this.identity, this.#clock.now(), null, serializedError(error));
    }
  }

  async cleanup(): Promise<void> {
    await this.#requester.call({ method: "POST", path: "/cleanup" });
  }

  #listening(): EventHub {
    if (this.#isClosed) throw new SchedulerStateError(`the client of ${this.identity} is closed`);
    this.#hub.open();
    return this.#hub;
  }

  #events(transport: Transport, random: RandomSource, logger: LeveledLogger): [EventFeed, EventHub] {
    const feed = new EventFeed({
      ...{ transport, clock: this.#clock, random, logger },
      wanted: () => hub.types,
      onRefused: (error) => {
        hub.close(error);
        hub.open();
      },
    });
    const hub: EventHub = new EventHub(feed, logger, () => feed.update());
    return [feed, hub];
  }
}
