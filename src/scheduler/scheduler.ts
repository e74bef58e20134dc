import type { AbortSignal } from "../core/abort-signal.ts";
import { tellCallers } from "../core/caller-lines.ts";
import { systemClock } from "../core/clock.ts";
import type { Duration } from "../core/duration.ts";
import { SchedulerStateError } from "../core/errors.ts";
import { endsWorkWithRequests } from "../core/host.ts";
import { defaultIdentity, processMark } from "../core/identity.ts";
import { guardedRandom, IdGenerator, systemRandom } from "../core/ids.ts";
import { JoinedCall } from "../core/joined-call.ts";
import { leveledLogger } from "../core/leveled-logger.ts";
import { optionError } from "../core/option-errors.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import { instantOrNull, type Temporal } from "../core/temporal.ts";
import { InlineExecutor } from "../executors/inline.ts";
import type { DataStore } from "../stores/data-store.ts";
import type { TriggerLike } from "../triggers/short-trigger.ts";
import { cleanUp, TickCleaning } from "./driving/clean-up.ts";
import { defaultBroker } from "./driving/default-broker.ts";
import { Engine } from "./driving/engine.ts";
import { begun, expectBegin } from "./driving/forgotten-start.ts";
import { Lifecycle, type SchedulerState } from "./driving/lifecycle.ts";
import { SharedParts } from "./driving/shared-parts.ts";
import { SignalStop } from "./driving/signal-stop.ts";
import { startedLine, tellSchedules } from "./driving/started-line.ts";
import { StopLimits } from "./driving/stop-limits.ts";
import { TickBounds } from "./driving/tick-bounds.ts";
import type { Environment } from "./environment.ts";
import { EventHub } from "./events/event-hub.ts";
import { schedulerPaused, schedulerResumed, schedulerStarted } from "./events/event-records.ts";
import {
  checkJobOptions,
  checkRunOptions,
  checkSchedulerOptions,
  checkStartOptions,
  checkStopOptions,
  checkTickOptions,
  checkTrigger,
} from "./options/check-options.ts";
import type { JobOptions, TaskSettings, TickOptions } from "./options/options.ts";
import type { OptionsWithPayload, RequiredPayload, ScheduledTaskOptions } from "./options/payload-argument.ts";
import type { SchedulerOptions } from "./options/scheduler-options.ts";
import { AttemptContext } from "./running/attempt-context.ts";
import { assertStoreClock } from "./running/store-clock.ts";
import {
  giveCommands,
  type LocalSchedulerClient,
  type NamedFunction,
  type NewSchedule,
  SchedulerClient,
  type SchedulesOf,
  type Task,
  type TaskHandler,
} from "./scheduler-client.ts";
import { currentJob } from "./tasks/current-job.ts";
import { tasksToUse } from "./tasks/defined-tasks.ts";
import { TaskRegistry } from "./tasks/task-registry.ts";
import { BlackoutVerbs } from "./verbs/blackout-verbs.ts";
import { BulkVerbs } from "./verbs/bulk-verbs.ts";
import { healthCheck } from "./verbs/check-health.ts";
import { Closing } from "./verbs/closing.ts";
import { JobVerbs } from "./verbs/job-verbs.ts";
import { LedgerVerbs } from "./verbs/ledger-verbs.ts";
import { RunVerbs } from "./verbs/run-verbs.ts";
import { ScheduleVerbs } from "./verbs/schedule-verbs.ts";
import { scheduledTask } from "./verbs/scheduled-task.ts";
import { TaskVerbs } from "./verbs/task-verbs.ts";
import { giveContext, type VerbContext } from "./verbs/verb-context.ts";
import type { PreparedJob } from "./views/prepared-job.ts";
import type { Schedule } from "./views/schedule.ts";
import type { TickReport } from "./views/tick-report.ts";

/** Options of a `Scheduler` that has no store of its own. */
export interface StoredSchedulerOptions extends SchedulerOptions {
  dataStore: DataStore;
}

/**
 * Fires schedules and runs jobs. Before it is started, a scheduler is a client of its data store: everything works
 * except firing and running.
 *
 * This class is that of the door `escapement/scheduler`. The one of `escapement` differs in one thing: where it is
 * given no store, it makes a `MemoryDataStore`.
 *
 * @example
 * const dataStore = new LibsqlDataStore({ url: "file:jobs.db" });
 * const scheduler = new Scheduler({ dataStore, timeZone: "Europe/Berlin" });
 * await scheduler.schedule("report", "0 9 * * mon-fri", () => console.log("Good morning"));
 * await scheduler.runUntilStopped();
 */
export class Scheduler extends SchedulerClient implements LocalSchedulerClient, AsyncDisposable {
  readonly identity: string;
  readonly #role: "both" | "scheduler" | "worker";
  readonly #env: Environment;
  readonly #tasks: TaskRegistry;
  readonly #inherited: VerbContext["inherited"];
  #engine: Engine;
  readonly #newEngine: (isFirst: boolean, hasOthers: boolean) => Engine;
  readonly #lifecycle: Lifecycle;
  readonly #taskVerbs: TaskVerbs;
  readonly #scheduleVerbs: ScheduleVerbs;
  readonly #jobVerbs: JobVerbs;
  readonly #saving = new JoinedCall(() => this.#taskVerbs.save());
  readonly #signals: SignalStop;
  #closing = new Closing();
  #ticking: Promise<unknown> | null = null;
  /** Tasks of which it was told that no tick has the time for their jobs. */
  readonly #tooLong = new Set<string>();

  /** @throws {OptionsError} for unknown or invalid options, with the path to each */
  constructor(options: StoredSchedulerOptions) {
    super();
    const checked = checkSchedulerOptions(options, "new Scheduler()");
    const clock = options.clock ?? systemClock;
    const logger = leveledLogger(options.logger, checked.logLevel);
    const random = guardedRandom(options.random ?? systemRandom, (fault) =>
      logger.error("escapement: the given random() failed; Math.random takes its place", fault),
    );
    const store = options.dataStore ?? new.target.makeStore();
    if (options.dataStore === undefined) expectBegin({ store, logger, scheduleId: null });
    const broker = options.eventBroker ?? defaultBroker(store);
    const ids = new IdGenerator(random);
    const events = new EventHub(broker, logger);
    this.identity = checked.identity ?? defaultIdentity();
    const leaseMs = checked.leaseDurationMs;
    // Not from an injected source, because a test's constant would give two runs one instance.
    // Nobody comes back under a name that was made up.
    const mark = checked.identity === undefined ? "" : processMark();
    const newInstanceId = (): string => new IdGenerator().next(clock.now()) + mark;
    const instanceId = newInstanceId();
    const facts = { identity: this.identity, instanceId, leaseMs };
    const env: Environment = { store, clock, random, ids, events, logger, ...facts };
    this.#env = env;
    const executors = { inline: new InlineExecutor(), ...options.executors };
    this.#role = checked.role;
    this.#inherited = { timeZone: checked.timeZone, scheduleDefaults: { ...options.scheduleDefaults } };
    this.#tasks = new TaskRegistry({
      store,
      identity: this.identity,
      defaults: checked.taskDefaults,
      givenDefaults: options.taskDefaults ?? {},
      version: checked.version,
      executors,
      runsJobs: () => checked.role === "worker" || (checked.role === "both" && this.state !== "stopped"),
    });
    const shared = new SharedParts();
    const tickCleaning = new TickCleaning(env, checked.cleanupIntervalMs);
    this.#newEngine = (isFirst, hasOthers) => {
      const runEnv = isFirst ? env : { ...env, instanceId: newInstanceId() };
      return new Engine({
        env: runEnv,
        broker,
        executors,
        tasks: this.#tasks,
        options: checked,
        leaseExtender: options.leaseThread,
        contextOf: (attempt) => new AttemptContext(attempt, runEnv, this),
        isPaused: () => this.state === "paused",
        ...{ shared, tickCleaning, hasOthers },
      });
    };
    this.#engine = this.#newEngine(true, false);
    this.#lifecycle = new Lifecycle({
      open: () => this.#engine.open(),
      begin: () => {
        const engine = this.#engine;
        return this.#taskVerbs.save().then(() => engine.begin());
      },
      end: (limits) => this.#engine.end(limits, this.#ticking, () => this.#closing.wake()),
      close: (limits) => this.#close(limits),
      closeEvents: () => env.events.close(),
      renew: () => {
        this.#engine = this.#newEngine(false, false);
        this.#closing = new Closing();
        this.#tasks.declareAnew();
      },
    });
    this.#signals = new SignalStop({
      logger,
      stop: () => this.#stopInBackground(checkStopOptions({}, "stop()").drainTimeoutMs),
      hurry: () => this.#lifecycle.hurry(),
    });
    const closing = (): Closing => this.#closing;
    const context: VerbContext = {
      env,
      inherited: this.#inherited,
      tasks: this.#tasks,
      client: this,
      opened: () => this.#lifecycle.ready(),
      ready: () => this.#ready(),
      isReady: () => this.#lifecycle.isReady && !this.#tasks.hasUnsaved,
      scheduled: (taskId, scheduleId) => {
        // A program without the handler is a client, which leaves the work to others.
        if (this.#tasks.get(taskId) !== undefined) expectBegin({ store, logger, scheduleId });
      },
      announceJobs: (jobs) => this.#engine.announceJobs(jobs),
      addJobs: (jobs) => this.#engine.addJobs(jobs),
      get closing() {
        return closing();
      },
      mayBegin: () => this.#engine.mayBegin(),
    };
    this.#taskVerbs = new TaskVerbs(context);
    this.#jobVerbs = new JobVerbs(context, () => this.#engine.runner);
    this.#scheduleVerbs = new ScheduleVerbs(context, this.#jobVerbs);
    giveContext(context);
    tellCallers(Scheduler);
    giveCommands(this, {
      tasks: this.#taskVerbs,
      schedules: this.#scheduleVerbs,
      blackouts: new BlackoutVerbs(context),
      ledger: new LedgerVerbs(context),
      jobs: this.#jobVerbs,
      runs: new RunVerbs(context),
      bulk: new BulkVerbs(context, this.#jobVerbs),
      listen: () => {
        this.#lifecycle.assertUsable();
        events.open();
        return events;
      },
      health: healthCheck(context, broker),
      cleanup: async () => {
        await this.#ready();
        await assertStoreClock(env);
        await cleanUp(env);
      },
    });
    for (const channel of options.notices ?? []) this.#tasks.notify(channel);
  }

  /** What the scheduler does at present. `stopped` both before a start and after a stop. */
  get state(): SchedulerState {
    return this.#lifecycle.state;
  }

  // ---- life cycle

  /**
   * Starts to work in the background: opens the store, gives up leases that dead processes of this identity left
   * behind, then fires schedules and runs jobs. A scheduler that has stopped may be started again: it opens its store,
   * its broker and its executors again, and its tasks and the listeners of `subscribe` are still there.
   * @param options.paused start without firing or running, until `resume()` is called. Default: false
   * @param options.handleSignals let SIGINT (Ctrl-C) and SIGTERM stop the scheduler once it has started, as
   *   {@link runUntilStopped} does. Default: false, because the signals are the program's
   * @throws {OptionsError} when the scheduler runs jobs, and lacks the executor of a registered task
   * @throws {HandlerLookupError} when the scheduler runs jobs, and neither it nor the executor of a registered task has
   *   a handler for the task
   * @throws {SchedulerStateError} when the scheduler is started already or stops, while a tick is under way, or when
   *   `stop()` is called during the start
   * @throws {StoreUnavailableError} when the store cannot be opened; `start` may be called again
   */
  async start(options: { paused?: boolean | undefined; handleSignals?: boolean | undefined } = {}): Promise<void> {
    const { paused, handleSignals } = checkStartOptions(options, "start()");
    if (this.#ticking !== null) throw new SchedulerStateError("a tick is under way; await it before start()");
    if (this.#role !== "scheduler") this.#tasks.assertExecutors();
    begun(this.#env.store);
    await this.#lifecycle.start(paused);
    if (handleSignals) this.#listenToSignals();
    const { events, logger } = this.#env;
    events.publish([schedulerStarted(this.#env), ...(paused ? [schedulerPaused(this.#env, null)] : [])]);
    logger.info(startedLine({ identity: this.identity, role: this.#role, taskIds: this.#tasks.ids, paused }));
    if (this.#role !== "worker") void tellSchedules(this.#env, this.#role === "both" ? this.#tasks.ids : null);
  }

  /**
   * Starts the scheduler unless it was started before, and resolves when the scheduler has stopped: because `stop()`
   * was called, the signal was aborted, or the process got SIGINT (Ctrl-C) or SIGTERM. It starts no scheduler that was
   * stopped before: then it resolves at once, because a signal may have come between `start()` and this call.
   *
   * The first SIGINT or SIGTERM stops the scheduler with the defaults of {@link stop}: running jobs may end. The second
   * aborts them at once. Both are told in the log. The process is not ended: after the stop it ends by itself when
   * nothing else keeps it busy, with the exit code 0 unless the program sets another. From then on a signal ends the
   * process as usual. Runtimes without signals (Workers, browsers) have none to handle.
   * @param options.signal stops the scheduler, with the defaults of {@link stop}
   * @param options.handleSignals whether SIGINT and SIGTERM stop the scheduler. Default: true
   * @throws what {@link start} throws
   * @example
   * await scheduler.runUntilStopped();
   * await database.close();
   */
  async runUntilStopped(
    options: { signal?: AbortSignal | undefined; handleSignals?: boolean | undefined } = {},
  ): Promise<void> {
    const { signal, handleSignals } = checkRunOptions(options, "runUntilStopped()");
    if (this.#lifecycle.hasStopped) {
      this.#env.logger.info("escapement: runUntilStopped() found the scheduler stopped; start() begins again");
      return;
    }
    if (handleSignals) this.#listenToSignals();
    const { drainTimeoutMs } = checkStopOptions({}, "stop()");
    const onAbort = (): void => this.#stopInBackground(drainTimeoutMs);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (!this.#lifecycle.isEnding) {
        const starting = this.state === "stopped" ? this.start() : this.#lifecycle.starting;
        // A stop does not wait for a store that never answers.
        await Promise.race([starting, this.#lifecycle.stopped]);
        await this.#lifecycle.stopped;
      }
    } catch (error) {
      if (!this.#lifecycle.isEnding) {
        this.#signals.end();
        throw error;
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    await this.#stopWithin(drainTimeoutMs);
  }

  /**
   * Stops the scheduler, until `start()` or `tick()` begins again; until then everything else is refused. The scheduler
   * begins no new work, and running jobs may end within `drainTimeout`, those of a `tick()` too. Then the signals of
   * the jobs that still run are aborted; a job that does not end within 5 s more goes back to the queue, for other
   * schedulers. A handler that awaits a job of the queue (`runJob`) is aborted earlier, as soon as nobody is left who
   * could run that job: on a store that no other process and no other scheduler uses. At last the store, the broker and
   * the executors are closed, except those that another scheduler of this process uses.
   *
   * Whatever hangs, the stop ends 2 s after that: what it could not record runs when the leases end. Idempotent. A
   * handler of this scheduler's own jobs may await this method too: then it begins the stop and resolves at once,
   * because the stop waits for the handler's job.
   * @param options.drainTimeout how long running jobs may take. Default: 30 s. With 0, they are aborted at once and go
   *   back without the 5 s
   * @throws what closing the store, the broker or an executor throws; the scheduler has stopped nevertheless
   * @example
   * await scheduler.stop({ drainTimeout: { seconds: 10 } });
   */
  async stop(options: { drainTimeout?: Duration | undefined } = {}): Promise<void> {
    const { drainTimeoutMs } = checkStopOptions(options, "stop()");
    if (this.#isAskedByHandler()) this.#stopInBackground(drainTimeoutMs);
    else await this.#stopWithin(drainTimeoutMs);
  }

  /** {@link stop} with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Fires no schedules and starts no jobs until `resume()` is called; running jobs go on. Idempotent.
   *  @throws {SchedulerStateError} when the scheduler is not started */
  pause(): void {
    if (!this.#lifecycle.pause()) return;
    this.#env.events.publish([schedulerPaused(this.#env, null)]);
    this.#env.logger.info("escapement: paused");
  }

  /** Goes on after `pause()`. Schedules and jobs that became due in the meantime are due now. Idempotent.
   *  @throws {SchedulerStateError} when the scheduler is not started */
  resume(): void {
    const wasPaused = this.#lifecycle.resume();
    this.#engine.wake();
    if (!wasPaused) return;
    this.#env.events.publish([schedulerResumed(this.#env)]);
    this.#env.logger.info("escapement: resumed");
  }

  /**
   * Does the work that was due when it was called, and returns. For places where nothing may stay resident, and for
   * tests. What its handlers add is work of this tick too; schedules that become due meanwhile are left to the next,
   * unless it stays for them.
   * After a stop it opens the store again.
   *
   * Where a runtime ends what a request began together with the request (Workers), ticks of one scheduler may overlap,
   * and one whose request is gone holds up no other. Elsewhere a scheduler does one tick at a time.
   * @param options.maxDuration how long the tick may take. It starts no job whose task has a `timeout` longer than what
   *   is left. What still runs at the end is aborted (its signal first, a second later without it) and goes back to the
   *   queue, which counts as a recovery, see `maxRecoveries`. Counts from the end of the stay. Default: 30 s
   * @param options.stay for how long the tick also takes what comes due after its beginning, such as `"55s"` where the
   *   next tick comes in a minute. It waits with a timer, ends early when a signal or `stop()` says so or when too few
   *   round trips are left, and learns of what other processes add from the event broker alone. `"whileRunning"`: takes
   *   it as long as jobs of the tick run, for the first half of `maxDuration`. Default: 0
   * @param options.maxJobs the most jobs to start. Default: unlimited
   * @param options.maxRoundTrips the most requests to the database; keeps one for the last outcomes;
   *   where a platform bounds the requests of an invocation, the bound less what the handlers need themselves. A job
   *   needs three: a look, the start, the outcome; one more where there is flow control, and one more after it was lost
   *   with its process. Default: unlimited
   * @param options.signal begin no new work once the signal is aborted; jobs that have begun are finished
   * @throws {OptionsError} when the scheduler runs jobs, and lacks the executor of a registered task
   * @throws {HandlerLookupError} as {@link start} does
   * @throws {SchedulerStateError} when the scheduler runs or stops, or another tick is under way
   * @throws {StoreUnavailableError} when the store cannot be reached: nothing is lost; tick again
   * @example
   * const { nextWakeAt, exhausted } = await scheduler.tick({ maxDuration: { seconds: 20 }, maxRoundTrips: 40 });
   */
  async tick(options: TickOptions = {}): Promise<TickReport> {
    const { maxDurationMs, stayMs, maxJobs, maxRoundTrips, signal } = checkTickOptions(options, "tick()");
    if (this.state !== "stopped") {
      throw new SchedulerStateError(`tick() is for a scheduler that was not started; this one is ${this.state}`);
    }
    if (this.#ticking !== null && !endsWorkWithRequests()) {
      throw new SchedulerStateError("a tick is under way already; await it first");
    }
    if (this.#role !== "scheduler") {
      this.#tasks.assertExecutors();
      this.#warnOfTimeouts(maxDurationMs);
    }
    this.#lifecycle.revive();
    // The request that began the tick under way may be gone, and with it whatever that tick waits for.
    if (this.#ticking !== null) this.#engine = this.#newEngine(false, true);
    const { clock, store } = this.#env;
    const limits = {
      durationMs: maxDurationMs,
      stayMs: stayMs === "whileRunning" ? maxDurationMs / 2 : stayMs,
      staysIdle: stayMs !== "whileRunning",
      jobsMax: maxJobs ?? Number.POSITIVE_INFINITY,
      tripsMax: maxRoundTrips ?? Number.POSITIVE_INFINITY,
      isAborted: () => signal?.aborted === true || this.#lifecycle.isEnding,
      signal,
    };
    const ticking = this.#tick(new TickBounds(store, clock, limits));
    const settled = ticking.catch(() => {});
    this.#ticking = settled;
    try {
      return await ticking;
    } finally {
      if (this.#ticking === settled) this.#ticking = null;
    }
  }

  /**
   * When `tick()` is to be called: the instant at which something is due, which may be past. Null when nothing is
   * planned. One read, and nothing is changed. Others may change the schedules afterwards.
   * @throws {SchedulerStateError} once the scheduler has stopped
   * @throws {StoreUnavailableError} when the store cannot be reached
   * @example
   * const at = await scheduler.nextWakeAt();
   * if (at !== null) await storage.setAlarm(Math.max(at.epochMilliseconds, Date.now() + 1));
   */
  async nextWakeAt(): Promise<Temporal.Instant | null> {
    await this.#lifecycle.ready();
    return instantOrNull(await this.#engine.nextDueAt());
  }

  // ---- tasks

  /**
   * Registers a task: the handler that its jobs run, and its settings. Register every task before `start`, in every
   * process, because handlers are not stored. If the id is registered already, the handler and the settings are
   * replaced.
   *
   * The handler may be left out when the setting `executor` names an executor that has handlers of its own, such as a
   * pool of threads.
   * @param settings see {@link TaskSettings}. `schema` is a Standard Schema (valibot, zod, ...): it checks payloads
   *   when they are added and again before they run, and it gives the handler's payload its type
   * @returns the task, to be passed to `addSchedule`, `addJob` and `runJob`; it carries the payload's type
   * @throws {OptionsError} for an invalid id, settings or handler; and when the scheduler runs jobs (it was started, or
   *   its role is `"worker"`), and lacks the task's executor
   * @throws {HandlerLookupError} when the scheduler was started, and the task's executor has no handler for the task
   * @example
   * const greet = scheduler.task("greet", { schema: v.object({ name: v.string() }) }, ({ name }) => `Hello, ${name}`);
   * await scheduler.addJob(greet, { payload: { name: "Ada" } });
   */
  task<P = undefined, R = unknown>(id: string, handler: TaskHandler<P, R>): Task<P, R>;
  task<P, R = unknown, I = P>(
    id: string,
    settings: TaskSettings<P> & { schema: StandardSchemaV1<I, P> },
    handler: TaskHandler<P, R>,
  ): Task<I, R>;
  task<P = undefined, R = unknown>(id: string, settings: TaskSettings<P>, handler: TaskHandler<P, R>): Task<P, R>;
  task<P, R = unknown, I = P>(
    id: string,
    settings: TaskSettings<P> & { schema: StandardSchemaV1<I, P>; executor: string },
  ): Task<I, R>;
  task<P = unknown, R = unknown>(id: string, settings: TaskSettings<P> & { executor: string }): Task<P, R>;
  task(
    id: string,
    settingsOrHandler: (TaskSettings & { schema?: StandardSchemaV1 }) | TaskHandler<never>,
    handler?: TaskHandler<never>,
  ): Task {
    const task =
      typeof settingsOrHandler === "function" && handler === undefined
        ? this.#tasks.register(id, {}, settingsOrHandler)
        : this.#tasks.register(id, (settingsOrHandler ?? {}) as TaskSettings, handler);
    if (this.state !== "stopped") this.#saveTasksLater();
    return task;
  }

  /**
   * Registers tasks that {@link defineTasks} defined, as {@link task} does. Tasks without a handler are left to other
   * programs, unless this scheduler has their executor, and the executor may have the handlers.
   * @param settings go over the settings of each task, for example `{ executor: "threads" }`. Default: `{}`
   * @throws {OptionsError} when there is no such task, or an id is registered here with another handler; and what
   *   {@link task} throws
   * @throws {SchedulerStateError} once the scheduler has stopped
   * @example
   * scheduler.use(tasks);
   */
  use(tasks: Readonly<Record<string, Task>>, settings: TaskSettings = {}): void {
    this.#lifecycle.assertUsable();
    this.#tasks.use(tasksToUse(tasks), settings);
    if (this.state !== "stopped") this.#saveTasksLater();
  }

  /**
   * Registers a task and adds its schedule, both under one id. Call it at every start: the handler is not stored, and a
   * schedule that is there already takes over what the program declares now. Its fire times go on when the trigger is
   * the same.
   * @param trigger a trigger, or crontab text as {@link addSchedule} takes it
   * @param options options of the schedule and settings of the task, a `schema` too. A setting that both have goes to
   *   the task, and the schedule inherits it
   * @param handler runs the jobs
   * @returns the schedule as it is stored
   * @throws what {@link task} and {@link addSchedule} throw
   * @example
   * await scheduler.schedule("report", "0 9 * * mon-fri", { timeout: "5m" }, () => console.log("Good morning"));
   */
  schedule<R = unknown>(id: string, trigger: TriggerLike, handler: TaskHandler<undefined, R>): Promise<Schedule>;
  schedule<P, R = unknown, I = P>(
    id: string,
    trigger: TriggerLike,
    options: ScheduledTaskOptions<NoInfer<I>> & RequiredPayload<NoInfer<I>> & { schema: StandardSchemaV1<I, P> },
    handler: TaskHandler<P, R>,
  ): Promise<Schedule>;
  schedule<P = undefined, R = unknown>(
    id: string,
    trigger: TriggerLike,
    options: ScheduledTaskOptions<P> & RequiredPayload<NoInfer<P>>,
    handler: TaskHandler<P, R>,
  ): Promise<Schedule>;
  async schedule(
    id: string,
    trigger: TriggerLike,
    optionsOrHandler: object | TaskHandler<never>,
    handler?: TaskHandler<never>,
  ): Promise<Schedule> {
    const given = scheduledTask(id, trigger, optionsOrHandler, handler);
    checkTrigger(trigger, "schedule()", this.#inherited.timeZone, given.options);
    const task = this.task(id, given.settings, given.handler);
    return this.#scheduleVerbs.add(task, trigger, given.options, "schedule()");
  }

  /**
   * Adds schedules, each as {@link addSchedule} does. They travel together, as do all that are added before the first
   * `await` of a turn: one read finds those that are unchanged, and up to 200 others share a commit. If one of them is
   * wrong, the others are added nevertheless.
   * @param schedules at most 10,000
   * @returns the schedules as they are stored, in the same order
   * @throws what {@link addSchedule} throws for the first that is wrong; its message begins with the place in the list
   *   and the id: `addSchedules()[1] (id "weekly")`
   * @example
   * await scheduler.addSchedules([
   *   { task: report, id: "daily", trigger: "0 9 * * *" },
   *   { task: report, id: "weekly", trigger: "0 9 * * mon", payload: { full: true } },
   * ]);
   */
  async addSchedules<const Tasks extends readonly unknown[]>(schedules: SchedulesOf<Tasks>): Promise<Schedule[]> {
    return this.#scheduleVerbs.addMany(schedules as readonly NewSchedule[]);
  }

  async prepareJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    ...[options = {}]: OptionsWithPayload<JobOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<PreparedJob<Awaited<R>>> {
    const prepared = await this.#jobVerbs.prepare(task, checkJobOptions(options, "prepareJob()"));
    return prepared as PreparedJob<Awaited<R>>;
  }

  // ---- steps

  /** Opens the store only: the first look of the tick finds out which tasks the store lacks. */
  async #tick(bounds: TickBounds): Promise<TickReport> {
    const engine = this.#engine;
    begun(this.#env.store);
    await this.#lifecycle.ready();
    return engine.tick(bounds);
  }

  #warnOfTimeouts(maxDurationMs: number): void {
    for (const id of this.#tasks.ids) {
      const timeoutMs = this.#tasks.get(id)?.record.timeoutMs ?? 0;
      if (timeoutMs <= maxDurationMs || this.#tooLong.has(id)) continue;
      this.#tooLong.add(id);
      this.#env.logger.warn(
        `escapement: no tick of ${maxDurationMs} ms starts jobs of task "${id}", because its timeout is ${timeoutMs} ` +
          "ms; give tick() a longer maxDuration, or the task a shorter timeout",
      );
    }
  }

  /** The store of a scheduler that is given none.
   *  @throws {OptionsError} here; a scheduler that has a store of its own overrides it */
  protected static makeStore(): DataStore {
    const message = 'is missing; it must be a DataStore (the Scheduler of "escapement" makes a MemoryDataStore)';
    throw optionError("new Scheduler()", "dataStore", message);
  }

  /** Whether a handler of this scheduler is under way around the present call. What a handler left behind is not. */
  #isAskedByHandler(): boolean {
    const context = currentJob();
    return context instanceof AttemptContext && context.isUnderWayIn(this.#env);
  }

  #stopWithin(drainMs: number): Promise<void> {
    begun(this.#env.store);
    return this.#lifecycle.stop(() => new StopLimits(this.#env.clock, drainMs));
  }

  #listenToSignals(): void {
    this.#signals.listen();
    void this.#lifecycle.stopped.then(() => this.#signals.end());
  }

  #stopInBackground(drainMs: number): void {
    this.#stopWithin(drainMs).catch((error: unknown) => this.#env.logger.error("escapement: stop failed", error));
  }

  async #close(limits: StopLimits): Promise<void> {
    this.#closing.close();
    await this.#engine.close(limits);
  }

  async #ready(): Promise<void> {
    await this.#lifecycle.ready();
    // A task that was registered during a save is in none that was under way then.
    while (this.#tasks.hasUnsaved) await this.#saving.run();
  }

  #saveTasksLater(): void {
    this.#ready().then(
      () => this.#engine.wake(),
      (error: unknown) =>
        this.#env.logger.warn("escapement: tasks could not be saved yet; saved at the next call", error),
    );
  }
}
