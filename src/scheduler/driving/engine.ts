import type { EventBroker } from "../../brokers/event-broker.ts";
import { sleepFor } from "../../core/clock.ts";
import { IDLE_MS_UNSHARED, STOP_FLUSH_TRIES } from "../../core/limits.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { EventRecord } from "../../records/events.ts";
import type { Environment } from "../environment.ts";
import { schedulerStopped } from "../events/event-records.ts";
import { ScheduleProcessor } from "../firing/schedule-processor.ts";
import type { CheckedSchedulerOptions } from "../options/check-options.ts";
import type { JobAttempt } from "../running/job-attempt.ts";
import { JobRunner } from "../running/job-runner.ts";
import { LeaseKeeper } from "../running/lease-keeper.ts";
import type { JobContext } from "../scheduler-client.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import { Loops } from "./loops.ts";
import { SharedParts } from "./shared-parts.ts";
import { type TickBounds, type TickReport, tick } from "./tick.ts";

const IDLE_MS = 10_000;

export interface EngineParts {
  readonly env: Environment;
  readonly broker: EventBroker;
  readonly executors: Readonly<Record<string, JobExecutor>>;
  readonly tasks: TaskRegistry;
  readonly options: CheckedSchedulerOptions;
  readonly contextOf: (attempt: JobAttempt) => JobContext;
  readonly isPaused: () => boolean;
}

/** What works behind a scheduler: the two steps, their drivers, and what is opened and closed with them. */
export class Engine {
  readonly runner: JobRunner;
  readonly #parts: EngineParts;
  readonly #processor: ScheduleProcessor;
  readonly #keeper: LeaseKeeper;
  readonly #loops: Loops;
  readonly #shared = new SharedParts();

  constructor(parts: EngineParts) {
    const { env, executors, tasks, options, contextOf, isPaused } = parts;
    this.#parts = parts;
    this.#processor = new ScheduleProcessor(env);
    this.runner = new JobRunner({
      env,
      tasks,
      executors,
      maxConcurrentJobs: options.maxConcurrentJobs,
      contextOf,
      onEnded: () => this.#loops.wakeJobs(),
    });
    this.#keeper = new LeaseKeeper(env, this.runner);
    this.#loops = new Loops({
      env,
      processor: this.#processor,
      runner: this.runner,
      keeper: this.#keeper,
      maxIdleMs: options.maxIdle ?? (env.store.capabilities.sharedByProcesses ? IDLE_MS : IDLE_MS_UNSHARED),
      cleanupIntervalMs: options.cleanupInterval,
      hasScheduleLoop: this.#hasScheduleRole,
      hasJobLoop: this.#hasJobRole,
      isPaused,
    });
  }

  get #hasScheduleRole(): boolean {
    return this.#parts.options.role !== "worker";
  }

  get #hasJobRole(): boolean {
    return this.#parts.options.role !== "scheduler";
  }

  /** @throws {StoreUnavailableError} it may be tried again */
  async open(): Promise<void> {
    const { env, broker } = this.#parts;
    try {
      await this.#shared.open(broker, () => broker.open());
      await this.#shared.open(env.store, () => env.store.open(env.clock.now()));
    } catch (error) {
      // The failure to open is what the caller has to know.
      await this.#shared.close().catch(() => {});
      throw error;
    }
    env.events.open();
  }

  /** Gives up leases that this identity left behind, and starts the loops. */
  async begin(): Promise<void> {
    const { env } = this.#parts;
    await this.#openExecutors();
    const now = env.clock.now();
    const report = await env.store.giveUpLeases({ now, schedulerId: env.identity });
    const happened: EventRecord[] = [];
    this.runner.recordRecovery(report, now, happened);
    env.events.publish(happened);
    this.#wakeOnEvents();
    this.#loops.start();
  }

  /** The same steps as the loops, until nothing is due or a bound is reached. */
  async tick(bounds: TickBounds): Promise<TickReport> {
    await this.#openExecutors();
    const report = await tick(
      {
        env: this.#parts.env,
        processor: this.#processor,
        runner: this.runner,
        keeper: this.#keeper,
        hasScheduleRole: this.#hasScheduleRole,
        hasJobRole: this.#hasJobRole,
      },
      bounds,
    );
    // Where nothing stays resident, what was not sent now never is.
    await this.#parts.env.events.flush();
    return report;
  }

  /** There may be something to do. */
  wake(): void {
    this.#loops.wakeSchedules();
    this.#loops.wakeJobs();
  }

  /** No new work; running jobs may end within the time, then they are aborted; what is left goes back to the queue. */
  async end(drainMs: number): Promise<void> {
    const { clock, events } = this.#parts.env;
    await this.#loops.stopWork();
    const drained = new AbortController();
    await Promise.race([this.runner.whenIdle().then(() => drained.abort()), sleepFor(clock, drainMs, drained.signal)]);
    this.runner.abortAll();
    await this.runner.whenIdle();
    await this.#loops.stopAll();
    await this.#settle();
    events.publish([schedulerStopped(this.#parts.env)]);
  }

  /** Closes what was opened, unless another scheduler of this process uses it. @throws the first failure, after all */
  async close(): Promise<void> {
    const { events } = this.#parts.env;
    await events.flush();
    events.close();
    await this.#shared.close();
  }

  async #openExecutors(): Promise<void> {
    for (const executor of Object.values(this.#parts.executors)) {
      await this.#shared.open(executor, () => executor.open());
    }
  }

  /** Others' changes, and our own, wake the loops. */
  #wakeOnEvents(): void {
    const { events, identity } = this.#parts.env;
    const onSchedule = ({ nextFireTimeMs }: { nextFireTimeMs: number | null }): void => {
      if (nextFireTimeMs !== null) this.#loops.wakeSchedules(nextFireTimeMs);
    };
    events.watch("scheduleAdded", onSchedule);
    events.watch("scheduleUpdated", onSchedule);
    events.watch("jobAdded", ({ runAtMs }) => this.#loops.wakeJobs(runAtMs));
    events.watch("jobRetried", ({ runAtMs }) => this.#loops.wakeJobs(runAtMs));
    events.watch("jobReleased", ({ schedulerId }) => {
      // Its slot may be what a job of ours waits for. Our own releases are followed by an acquisition anyway.
      if (schedulerId !== identity) this.#loops.wakeJobs();
    });
  }

  /** Records the last outcomes, and gives back what is leased without being needed. */
  async #settle(): Promise<void> {
    const { env } = this.#parts;
    for (let left = STOP_FLUSH_TRIES; this.runner.isUnsettled && left > 0; left--) {
      try {
        await this.runner.settle(env.clock.now());
      } catch (error) {
        env.logger.warn(
          "escapement: the last outcomes are not recorded yet; their jobs run again when the leases end",
          error,
        );
      }
    }
    if (!this.#processor.isUnsettled || this.runner.isUnsettled) return;
    try {
      await env.store.giveUpLeases({ now: env.clock.now(), schedulerId: env.identity });
    } catch (error) {
      env.logger.warn("escapement: schedules stay leased until their leases end", error);
    }
  }
}
