import { LocalEventBroker } from "../brokers/local.ts";
import { systemClock } from "../core/clock.ts";
import type { Duration } from "../core/duration.ts";
import { ConflictingIdError, SchedulerStateError, TaskLookupError } from "../core/errors.ts";
import { guardedRandom, IdGenerator, systemRandom } from "../core/ids.ts";
import { guardedLogger, type Logger } from "../core/logger.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import type { Instantish, Temporal } from "../core/temporal.ts";
import { InlineExecutor } from "../executors/inline.ts";
import type { Event, EventType } from "../records/events.ts";
import type { TaskRecord } from "../records/task.ts";
import { MemoryDataStore } from "../stores/memory.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { AttemptContext } from "./attempt-context.ts";
import {
  checkId,
  checkRunOptions,
  checkSchedulerOptions,
  checkStartOptions,
  checkStopOptions,
  checkTickOptions,
} from "./check-options.ts";
import { type Client, Closing } from "./client.ts";
import { currentJob } from "./current-job.ts";
import { Engine } from "./engine.ts";
import { EventHub, type EventsOptions, type EventTypes, type Subscription } from "./event-hub.ts";
import { cleanUp } from "./janitor.ts";
import type { Job } from "./job.ts";
import type { TaskHandler } from "./job-context.ts";
import type { JobResult } from "./job-result.ts";
import { JobVerbs } from "./job-verbs.ts";
import { Lifecycle, type SchedulerState } from "./lifecycle.ts";
import type {
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleUpdate,
  TaskSettings,
} from "./options.ts";
import type { Schedule } from "./schedule.ts";
import { ScheduleVerbs } from "./schedule-verbs.ts";
import type { NewJob, Page, RunJobOptions, SchedulerOptions } from "./scheduler-options.ts";
import { type NamedFunction, type Task, TaskRegistry } from "./task-registry.ts";
import type { TickReport } from "./tick.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

export type { NewJob, Page, RunJobOptions, SchedulerOptions } from "./scheduler-options.ts";

/**
 * Fires schedules and runs jobs. Until it is started it is a client of its data store: everything but running works.
 *
 * @example
 * const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: "file:jobs.db" }) });
 * const report = scheduler.task("report", async () => console.log("Good morning"));
 * await scheduler.addSchedule(report, CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }), { id: "report" });
 * await scheduler.runUntilStopped();
 */
export class Scheduler implements AsyncDisposable {
  /** Its name in leases and events. */
  readonly identity: string;
  readonly #env: WorkerEnvironment;
  readonly #tasks: TaskRegistry;
  readonly #engine: Engine;
  readonly #lifecycle: Lifecycle;
  readonly #schedules: ScheduleVerbs;
  readonly #jobs: JobVerbs;
  readonly #closing = new Closing();
  #ticking: Promise<unknown> | null = null;

  /** @throws {OptionsError} for unknown or invalid options, with the path to each */
  constructor(options: SchedulerOptions = {}) {
    const checked = checkSchedulerOptions(options, "new Scheduler()");
    const clock = options.clock ?? systemClock;
    const logger = guardedLogger(options.logger ?? quietConsole);
    const random = guardedRandom(options.random ?? systemRandom, (fault) =>
      logger.error("escapement: the given random() failed; Math.random takes its place", fault),
    );
    const store = options.dataStore ?? new MemoryDataStore();
    const broker = options.eventBroker ?? new LocalEventBroker();
    const ids = new IdGenerator(random);
    const events = new EventHub(broker, logger, () => clock.now());
    this.identity = checked.identity ?? ids.next(clock.now());
    const env = { store, clock, random, ids, events, logger, identity: this.identity, leaseMs: checked.leaseDuration };
    this.#env = env;
    this.#tasks = new TaskRegistry(store, checked.taskDefaults);
    this.#engine = new Engine({
      env,
      broker,
      executors: { inline: new InlineExecutor(), ...options.executors },
      tasks: this.#tasks,
      options: checked,
      contextOf: (attempt) => new AttemptContext(attempt, env, this),
      isPaused: () => this.state === "paused",
    });
    this.#lifecycle = new Lifecycle({
      open: () => this.#engine.open(),
      begin: () => this.#saveTasks().then(() => this.#engine.begin()),
      end: (drainMs) => this.#engine.end(drainMs),
      close: () => this.#close(),
    });
    const client: Client = { env, tasks: this.#tasks, ready: () => this.#ready(), closing: this.#closing };
    this.#jobs = new JobVerbs(client, this.#engine.runner);
    this.#schedules = new ScheduleVerbs(client, this.#jobs);
  }

  /** `stopped` before the start and after the stop, which is final. */
  get state(): SchedulerState {
    return this.#lifecycle.state;
  }

  // ---- life cycle

  /**
   * Starts to work in the background: opens the store, gives up leases that this identity left behind, then fires and runs.
   * @param options.paused start without firing or running, until `resume()`; default: false
   * @throws {SchedulerStateError} when it was started or stopped before, while it ticks, or when it is stopped meanwhile
   * @throws {StoreUnavailableError} when the store cannot be opened; it may be started again
   */
  async start(options: { paused?: boolean } = {}): Promise<void> {
    const { paused } = checkStartOptions(options, "start()");
    if (this.#ticking !== null) throw new SchedulerStateError("a tick is under way; await it before start()");
    await this.#lifecycle.start(paused);
    this.#env.events.publish([this.#env.events.record("schedulerStarted", { schedulerId: this.identity })]);
  }

  /**
   * Starts if need be, and resolves when it has stopped: by `stop()`, or since the signal was aborted.
   * @param options.signal stops it, with the defaults of {@link stop}
   * @throws what {@link start} throws
   */
  async runUntilStopped(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = checkRunOptions(options, "runUntilStopped()");
    this.#lifecycle.assertUsable();
    const { drainTimeout } = checkStopOptions({}, "stop()");
    const onAbort = (): void => this.#stopInBackground(drainTimeout);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (!this.#lifecycle.isEnding) {
        if (this.state === "stopped") await this.start();
        else await this.#lifecycle.starting;
        await this.#lifecycle.stopped;
      }
    } catch (error) {
      if (!this.#lifecycle.isEnding) throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    await this.#lifecycle.stop(drainTimeout);
  }

  /**
   * Stops for good: no new work, running jobs may end within `drainTimeout`, then their signals are aborted, and what still does
   * not end within 5 s goes back to the queue for others. Closes the store, the broker and the executors, except those that
   * another scheduler of this process uses. Idempotent. Awaited by a handler of its own jobs it begins the stop and resolves at
   * once, as the stop waits for that job.
   * @param options.drainTimeout default: 30 s
   * @throws what closing the store, the broker or an executor throws; it has stopped nevertheless
   */
  async stop(options: { drainTimeout?: Duration } = {}): Promise<void> {
    const { drainTimeout } = checkStopOptions(options, "stop()");
    if (currentJob()?.scheduler === this) this.#stopInBackground(drainTimeout);
    else await this.#lifecycle.stop(drainTimeout);
  }

  /** {@link stop} with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Neither fires nor starts jobs until `resume()`; running jobs go on. Idempotent.
   *  @throws {SchedulerStateError} when not started */
  pause(): void {
    this.#lifecycle.pause();
  }

  /** Goes on after `pause()`: what came due meanwhile is due now. Idempotent. @throws {SchedulerStateError} when not started */
  resume(): void {
    this.#lifecycle.resume();
    this.#engine.wake();
  }

  /**
   * Does what is due now and returns: for places where nothing may stay resident, and for tests.
   * @param options.maxDuration begin no new work after this (default 30 s); begun jobs are finished
   * @param options.maxJobs start at most so many jobs; default: unlimited
   * @param options.signal begin no new work once it is aborted
   * @throws {SchedulerStateError} when the scheduler runs or was stopped, or another tick is under way
   * @throws {StoreUnavailableError} nothing is lost; tick again
   * @example
   * const { nextWakeAt, exhausted } = await scheduler.tick({ maxDuration: { seconds: 20 } });
   */
  async tick(options: { maxDuration?: Duration; maxJobs?: number; signal?: AbortSignal } = {}): Promise<TickReport> {
    const { maxDuration, maxJobs, signal } = checkTickOptions(options, "tick()");
    this.#lifecycle.assertUsable();
    if (this.state !== "stopped") {
      throw new SchedulerStateError(`tick() is for a scheduler that was not started; this one is ${this.state}`);
    }
    if (this.#ticking !== null) throw new SchedulerStateError("a tick is under way already; await it first");
    const ticking = this.#tick({
      deadline: this.#env.clock.now() + maxDuration,
      jobsMax: maxJobs ?? Number.POSITIVE_INFINITY,
      isAborted: () => signal?.aborted === true || this.#lifecycle.isEnding,
    });
    this.#ticking = ticking.catch(() => {});
    try {
      return await ticking;
    } finally {
      this.#ticking = null;
    }
  }

  // ---- tasks

  /**
   * Registers a task: what its jobs run. Register tasks before `start`, at every start, as handlers are not stored. Registered
   * again, the handler and the settings are replaced.
   * @param settings see {@link TaskSettings}; `schema` is a Standard Schema (valibot, zod, ...) that checks payloads when they
   *   are added and again before they run, and gives the handler its type
   * @returns what `addSchedule`, `addJob` and `runJob` take, with the payload's type
   * @throws {OptionsError} for an invalid id, settings or handler
   * @throws {SchedulerStateError} once stopped
   * @example
   * const greet = scheduler.task("greet", { schema: v.object({ name: v.string() }) }, ({ name }) => `Hello, ${name}`);
   * await scheduler.addJob(greet, { payload: { name: "Ada" } });
   */
  task<P = undefined, R = unknown>(id: string, handler: TaskHandler<P, R>): Task<P, R>;
  task<P, R = unknown, I = P>(
    id: string,
    settings: TaskSettings & { schema: StandardSchemaV1<I, P> },
    handler: TaskHandler<P, R>,
  ): Task<I, R>;
  task<P = undefined, R = unknown>(id: string, settings: TaskSettings, handler: TaskHandler<P, R>): Task<P, R>;
  task(
    id: string,
    settingsOrHandler: (TaskSettings & { schema?: StandardSchemaV1 }) | TaskHandler<never>,
    handler?: TaskHandler<never>,
  ): Task {
    this.#lifecycle.assertUsable();
    const task =
      typeof settingsOrHandler === "function"
        ? this.#tasks.register(id, {}, settingsOrHandler)
        : this.#tasks.register(id, settingsOrHandler ?? {}, handler as TaskHandler<never>);
    if (this.state !== "stopped") this.#saveTasksLater();
    return task;
  }

  /** Every task that the store knows, by id. @throws {StoreUnavailableError} */
  async getTasks(): Promise<TaskRecord[]> {
    await this.#ready();
    return this.#env.store.getTasks();
  }

  /**
   * Removes a task, here and from the store.
   * @throws {TaskLookupError} when there is none
   * @throws {ConflictingIdError} while schedules or unfinished jobs refer to it
   */
  async removeTask(id: string): Promise<void> {
    checkId(id, "task id");
    await this.#ready();
    const report = await this.#env.store.removeTask(id);
    if (report === "inUse") {
      throw new ConflictingIdError(
        `task "${id}" cannot be removed, as schedules or unfinished jobs refer to it; remove them first`,
        id,
      );
    }
    if (report === "missing") throw new TaskLookupError(`there is no task "${id}"`, id);
    this.#tasks.forget(id);
    this.#env.events.publish([this.#env.events.record("taskRemoved", { taskId: id })]);
  }

  // ---- schedules

  /**
   * Adds a schedule. A trigger without a start counts from now.
   *
   * A schedule that has no fire time left stays until a clean-up removes it, and is forgotten then: added again under its id it
   * starts anew, and a `DateTrigger` that is past fires once more. A program that adds one at every start should not add it once
   * its time has passed, or choose `cleanupInterval: null`, which keeps what has ended (expired results too).
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
  async addSchedule<P>(
    task: Task<P> | string | NamedFunction<P>,
    trigger: Trigger,
    options: ScheduleOptions<NoInfer<P>> = {},
  ): Promise<Schedule> {
    return this.#schedules.add(task as Task, trigger, options);
  }

  /** @throws {ScheduleLookupError} when there is none with this id */
  async getSchedule(id: string): Promise<Schedule> {
    return this.#schedules.get(id);
  }

  /** A page of schedules, by id; default: the first 100. @throws {OptionsError} */
  async getSchedules(filter: ScheduleFilterOptions = {}): Promise<Page<Schedule>> {
    return this.#schedules.page(filter);
  }

  /**
   * Changes a schedule; what is not given stays. A new trigger counts from now; one that is the same rule as before changes
   * nothing about its fire times.
   * @throws {ScheduleLookupError} @throws {OptionsError} @throws {PayloadError} @throws {SerializationError}
   */
  async updateSchedule(id: string, changes: ScheduleUpdate): Promise<Schedule> {
    return this.#schedules.update(id, changes);
  }

  /** Removes a schedule; jobs that it made stay. @throws {ScheduleLookupError} */
  async removeSchedule(id: string): Promise<void> {
    await this.#schedules.remove(id);
  }

  /** The schedule makes no jobs until it is unpaused. Idempotent. @throws {ScheduleLookupError} */
  async pauseSchedule(id: string): Promise<void> {
    await this.#schedules.pause(id);
  }

  /**
   * Lets a paused schedule go on.
   * @param options.resumeFrom `"now"` or an instant: fire times before it are dropped. Without it the schedule keeps its next fire
   *   time, and fires at once if that has passed.
   * @throws {ScheduleLookupError} @throws {OptionsError}
   */
  async unpauseSchedule(id: string, options: { resumeFrom?: "now" | Instantish } = {}): Promise<void> {
    await this.#schedules.unpause(id, options);
  }

  /** One extra job of the schedule, now, even when it is paused; the schedule itself does not move.
   *  @throws {ScheduleLookupError} */
  async runScheduleNow(id: string): Promise<Job> {
    return this.#schedules.runNow(id);
  }

  /**
   * The fire times to come, whether or not it is paused, in the trigger's time zone.
   * @param options.limit how many; at most 1,000
   * @param options.from default: the schedule's next fire time
   * @throws {ScheduleLookupError} @throws {OptionsError}
   */
  async previewSchedule(id: string, options: { limit: number; from?: Instantish }): Promise<Temporal.ZonedDateTime[]> {
    return this.#schedules.preview(id, options);
  }

  // ---- jobs

  /**
   * Adds a job, to be run by whichever worker of the store takes it first.
   * @returns the job; with an `idempotencyKey` that an unfinished job has, that one
   * @throws {OptionsError} @throws {TaskLookupError} @throws {PayloadError} @throws {SerializationError}
   * @example
   * const job = await scheduler.addJob(report, { runAt: "2030-01-31T09:00:00Z", idempotencyKey: "january" });
   */
  async addJob<P>(task: Task<P> | string | NamedFunction<P>, options: JobOptions<NoInfer<P>> = {}): Promise<Job> {
    return this.#jobs.add(task as Task, options);
  }

  /** Adds many jobs (at most 10,000) in one commit: all or none. Errors as {@link addJob}. */
  async addJobs<P>(jobs: readonly NewJob<P>[]): Promise<Job[]> {
    return this.#jobs.addMany(jobs as readonly NewJob[]);
  }

  /**
   * Adds a job and waits for what its handler returns; its result is kept for a minute at least. A handler that awaits another
   * job of its own task waits forever unless the task's `maxRunningJobs` leaves room.
   * @param options.signal ends the wait; the job goes on
   * @throws what the handler threw, with its name, message, stack and cause; or `JobCancelledError`, `JobDeadlineMissedError`,
   *   `JobTimeoutError`, `JobAbandonedError`; or what {@link addJob} throws; or the signal's reason
   * @throws {SchedulerStateError} when this scheduler stops before the job ends
   * @example
   * const sum = await scheduler.runJob(add, { payload: [1, 2] });
   */
  async runJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    options: RunJobOptions<NoInfer<P>> = {},
  ): Promise<Awaited<R>> {
    return (await this.#jobs.run(task as Task, options)) as Awaited<R>;
  }

  /** An unfinished job. @throws {JobLookupError} when there is none: it never existed, or it has ended */
  async getJob(id: string): Promise<Job> {
    return this.#jobs.get(id);
  }

  /** A page of unfinished jobs, by id; default: the first 100. @throws {OptionsError} */
  async getJobs(filter: JobFilterOptions = {}): Promise<Page<Job>> {
    return this.#jobs.page(filter);
  }

  /**
   * How a job ended; null while it has not, or when its result has expired. Reading a result does not delete it.
   * @param options.wait wait until it has ended; default: false
   * @param options.signal ends the wait, with its reason
   * @throws {JobLookupError} with `wait`, when there is neither a job nor a result
   * @throws {SchedulerStateError} with `wait`, when this scheduler stops first
   */
  async getJobResult(id: string, options: { wait?: boolean; signal?: AbortSignal } = {}): Promise<JobResult | null> {
    return this.#jobs.result(id, options);
  }

  /** A page of results, by job id; default: the first 100. @throws {OptionsError} */
  async getJobResults(filter: JobResultFilterOptions = {}): Promise<Page<JobResult>> {
    return this.#jobs.resultPage(filter);
  }

  /**
   * Cancels a job: a queued one ends at once, a running one gets its signal aborted, here at once and elsewhere when its lease is
   * next extended.
   * @returns false when there is no such unfinished job
   */
  async cancelJob(id: string): Promise<boolean> {
    return this.#jobs.cancel(id);
  }

  // ---- events

  /**
   * Calls a listener for events of the given types (null: all), until it is unsubscribed or the scheduler has stopped. What the
   * listener throws, or its promise rejects with, is logged.
   * @param options.once for the first event only
   * @throws {OptionsError} for an unknown type
   * @example
   * using subscription = scheduler.subscribe("jobReleased", ({ jobId, outcome }) => console.log(jobId, outcome));
   */
  subscribe<T extends EventType>(
    types: EventTypes<T>,
    listener: (event: Event<T>) => unknown,
    options: { once?: boolean } = {},
  ): Subscription {
    return this.#listening().subscribe(types, listener, options);
  }

  /** The next event of the given types (null: any). Rejects with the signal's reason, or an `AbortError` when the scheduler stops. */
  async nextEvent<T extends EventType>(
    types: EventTypes<T>,
    options: { signal?: AbortSignal } = {},
  ): Promise<Event<T>> {
    return this.#listening().nextEvent(types, options);
  }

  /** Events as they come, from this call on. A reader that is 10,000 events behind loses the oldest (`onDropped`). */
  events<T extends EventType>(
    types: EventTypes<T> = null,
    options: EventsOptions = {},
  ): AsyncIterableIterator<Event<T>> {
    return this.#listening().events(types, options);
  }

  /** Removes expired results, and schedules that have no fire time and no unfinished job left. */
  async cleanup(): Promise<void> {
    await this.#ready();
    await cleanUp(this.#env);
  }

  // ---- steps

  #listening(): EventHub {
    this.#lifecycle.assertUsable();
    this.#env.events.open();
    return this.#env.events;
  }

  async #tick(bounds: Parameters<Engine["tick"]>[0]): Promise<TickReport> {
    await this.#ready();
    return this.#engine.tick(bounds);
  }

  #stopInBackground(drainMs: number): void {
    this.#lifecycle.stop(drainMs).catch((error: unknown) => this.#env.logger.error("escapement: stop failed", error));
  }

  async #close(): Promise<void> {
    await this.#ticking;
    this.#closing.close();
    await this.#engine.close();
  }

  async #ready(): Promise<void> {
    await this.#lifecycle.ready();
    if (this.#tasks.hasUnsaved) await this.#saveTasks();
  }

  async #saveTasks(): Promise<void> {
    const { events } = this.#env;
    const changes = await this.#tasks.save();
    events.publish(
      changes.map(({ id, change }) => events.record(change === "added" ? "taskAdded" : "taskUpdated", { taskId: id })),
    );
  }

  #saveTasksLater(): void {
    this.#ready().then(
      () => this.#engine.wake(),
      (error: unknown) =>
        this.#env.logger.warn("escapement: tasks could not be saved yet; saved at the next call", error),
    );
  }
}

const quietConsole: Logger = {
  debug: () => {},
  info: () => {},
  warn: (...args) => console.warn(...args),
  error: (...args) => console.error(...args),
};
