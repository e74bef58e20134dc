import { sleepFor } from "../../core/clock.ts";
import { EscapementError } from "../../core/errors.ts";
import { OUTAGE_PAUSE_MS_MAX, OUTAGE_PAUSE_MS_MIN } from "../../core/limits.ts";
import { Wakeup } from "../../core/wakeup.ts";
import type { Environment } from "../environment.ts";
import type { ScheduleProcessor } from "../firing/schedule-processor.ts";
import type { JobRunner } from "../running/job-runner.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";
import { cleanUp } from "./clean-up.ts";

export interface LoopOptions {
  readonly env: Environment;
  readonly processor: ScheduleProcessor;
  readonly runner: JobRunner;
  readonly keeper: LeaseKeeper;
  readonly maxIdleMs: number;
  readonly cleanupIntervalMs: number | null;
  readonly hasScheduleLoop: boolean;
  readonly hasJobLoop: boolean;
  readonly isPaused: () => boolean;
}

/**
 * The resident driver: calls the steps (`runOnce`) of the collaborators whenever there may be something for them. A
 * step that fails is logged and repeated after a pause that grows; nothing ends a loop but its signal.
 */
export class Loops {
  readonly #options: LoopOptions;
  readonly #schedules: Wakeup;
  readonly #jobs: Wakeup;
  readonly #work = new AbortController();
  readonly #all = new AbortController();
  #workLoops: Promise<unknown> = Promise.resolve();
  #jobStepUnderWay: Promise<unknown> = Promise.resolve();
  #otherLoops: Promise<unknown> = Promise.resolve();

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#schedules = new Wakeup(options.env.clock);
    this.#jobs = new Wakeup(options.env.clock);
  }

  start(): void {
    const { hasScheduleLoop, hasJobLoop } = this.#options;
    if (hasScheduleLoop) {
      this.#workLoops = this.#repeat("schedules", this.#schedules, this.#work.signal, () => this.#scheduleStep());
    }
    this.#otherLoops = Promise.all([
      hasJobLoop ? this.#repeat("jobs", this.#jobs, this.#all.signal, () => this.#trackedJobStep()) : null,
      hasJobLoop ? this.#every("leases", this.#options.keeper.periodMs, () => this.#options.keeper.runOnce()) : null,
      this.#options.cleanupIntervalMs === null
        ? null
        : this.#every("clean-up", this.#options.cleanupIntervalMs, () => cleanUp(this.#options.env)),
    ]);
  }

  /** A schedule is due at `atMs` (epoch milliseconds); default: at once. */
  wakeSchedules(atMs?: number): void {
    this.#schedules.call(atMs);
  }

  /** There is something for the job loop at `atMs` (epoch milliseconds); default: at once. */
  wakeJobs(atMs?: number): void {
    this.#jobs.call(atMs);
  }

  /** No new schedules are processed and no new jobs acquired from here on; ended jobs are still released. */
  async stopWork(): Promise<void> {
    this.#work.abort();
    this.#jobs.call();
    await this.#workLoops;
    // What a step that began before this acquires still runs, and is drained like the others.
    await this.#jobStepUnderWay;
  }

  /** Ends the loops. */
  async stopAll(): Promise<void> {
    this.#work.abort();
    this.#all.abort();
    await Promise.all([this.#workLoops, this.#otherLoops]);
  }

  /** Returns when to step again: epoch milliseconds, in the past for at once. */
  async #scheduleStep(): Promise<number> {
    const { env, processor, isPaused } = this.#options;
    if (isPaused()) return Number.POSITIVE_INFINITY;
    const report = await processor.runOnce(env.clock.now());
    return report.nextDueAt ?? Number.POSITIVE_INFINITY;
  }

  #trackedJobStep(): Promise<number> {
    const step = this.#jobStep();
    this.#jobStepUnderWay = step.catch(() => {});
    return step;
  }

  async #jobStep(): Promise<number> {
    const { env, runner, keeper, isPaused } = this.#options;
    // After a standstill our own leases may have ended, and a step would take our own running jobs for lost ones.
    if (keeper.isOverdue(env.clock.now())) await keeper.runOnce();
    const isIdle = isPaused() || this.#work.signal.aborted;
    const report = await runner.runOnce(env.clock.now(), isIdle ? null : Number.POSITIVE_INFINITY);
    // With no room left the next end of a job calls.
    return report.nextDueAt ?? Number.POSITIVE_INFINITY;
  }

  async #repeat(name: string, wakeup: Wakeup, signal: AbortSignal, step: () => Promise<number>): Promise<void> {
    const { env, maxIdleMs } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      // What became ready in the meantime (jobs that end together, above all) goes into one commit.
      await env.clock.yield();
      try {
        const nextAt = await step();
        failures = 0;
        const now = env.clock.now();
        await wakeup.wait(Math.min(nextAt, now + maxIdleMs), signal);
      } catch (error) {
        await this.#pauseAfter(name, error, ++failures, signal);
      }
    }
  }

  async #every(name: string, periodMs: number, step: () => Promise<void>): Promise<void> {
    const { clock } = this.#options.env;
    const { signal } = this.#all;
    let failures = 0;
    while (!signal.aborted) {
      await sleepFor(clock, periodMs, signal);
      if (signal.aborted) return;
      try {
        await step();
        failures = 0;
      } catch (error) {
        await this.#pauseAfter(name, error, ++failures, signal);
      }
    }
  }

  async #pauseAfter(name: string, error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#options.env;
    const pauseMs = Math.min(OUTAGE_PAUSE_MS_MAX, OUTAGE_PAUSE_MS_MIN * 2 ** Math.min(failures, 20)) * random();
    const level = error instanceof EscapementError ? "warn" : "error";
    logger[level](`escapement: a step over ${name} failed and is repeated in ${Math.round(pauseMs)} ms`, error);
    await sleepFor(clock, pauseMs, signal);
  }
}
