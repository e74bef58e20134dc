import { sleepFor } from "../../core/clock.ts";
import { instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { Environment } from "../environment.ts";
import type { ScheduleProcessor } from "../firing/schedule-processor.ts";
import { emptyOutcomes, type JobRunner } from "../running/job-runner.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";

/** What one `tick()` did. */
export interface TickReport {
  readonly schedulesProcessed: number;
  readonly jobsAdded: number;
  /** Attempts that were started. */
  readonly jobsRun: number;
  /** How jobs ended, by outcome. */
  readonly outcomes: Readonly<Record<JobOutcome, number>>;
  /** When there is something to do again: call `tick()` then. Null when nothing is planned. */
  readonly nextWakeAt: Temporal.Instant | null;
  /** Whether `maxDuration`, `maxJobs` or the signal ended the tick while there was more to do. */
  readonly exhausted: boolean;
}

export interface TickParts {
  readonly env: Environment;
  readonly processor: ScheduleProcessor;
  readonly runner: JobRunner;
  readonly keeper: LeaseKeeper;
  readonly hasScheduleRole: boolean;
  readonly hasJobRole: boolean;
}

export interface TickBounds {
  /** Epoch milliseconds after which no new work is begun. */
  readonly deadline: number;
  readonly jobsMax: number;
  /** Whether somebody asked to end it. */
  readonly isAborted: () => boolean;
}

/** The driver without residence: the same steps as the loops, until nothing is due or a bound is reached. Jobs that
 *  were begun are always finished and recorded. */
export async function tick(parts: TickParts, bounds: TickBounds): Promise<TickReport> {
  const { env, runner } = parts;
  const before = { ...runner.outcomes };
  const keeping = new AbortController();
  const kept = keepLeases(parts, keeping.signal);
  try {
    const work = await workOff(parts, bounds);
    const outcomes = emptyOutcomes();
    for (const outcome of Object.keys(outcomes) as JobOutcome[]) {
      outcomes[outcome] = runner.outcomes[outcome] - before[outcome];
    }
    const { schedulesProcessed, jobsAdded, jobsRun, exhausted } = work;
    const nextWakeAt = instantOrNull(exhausted ? env.clock.now() : work.nextDueAt);
    return { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAt, exhausted };
  } finally {
    // After a failure: what was begun is finished, under leases that are kept, and recorded by the next tick.
    await runner.whenIdle();
    keeping.abort();
    await kept;
  }
}

interface Work {
  schedulesProcessed: number;
  jobsAdded: number;
  jobsRun: number;
  exhausted: boolean;
  nextDueAt: number | null;
}

/** Rounds of both steps, until neither finds anything. Over its bounds it only records, and looks what is left. */
async function workOff(parts: TickParts, bounds: TickBounds): Promise<Work> {
  const { env, processor, runner, hasScheduleRole, hasJobRole } = parts;
  const work = { schedulesProcessed: 0, jobsAdded: 0, jobsRun: 0 };
  let scheduleDueAt: number | null = hasScheduleRole ? env.clock.now() : null;
  for (;;) {
    const isOver = env.clock.now() >= bounds.deadline || bounds.isAborted();
    if (hasScheduleRole && !isOver) {
      const report = await processor.runOnce(env.clock.now());
      work.schedulesProcessed += report.schedulesProcessed;
      work.jobsAdded += report.jobsAdded;
      scheduleDueAt = report.nextDueAt;
    }
    const jobsLeft = isOver ? 0 : bounds.jobsMax - work.jobsRun;
    const report = hasJobRole ? await runner.runOnce(env.clock.now(), jobsLeft) : null;
    const jobsStarted = report?.jobsStarted ?? 0;
    work.jobsRun += jobsStarted;
    // One outcome is not kept waiting for another job, or its lease would run out meanwhile.
    await runner.whenEnded();
    await env.clock.yield();
    const isScheduleDue = scheduleDueAt !== null && scheduleDueAt <= env.clock.now();
    if (jobsStarted > 0 || !runner.isIdle || runner.isUnsettled || (isScheduleDue && !isOver)) continue;
    const jobDueAt = report?.nextDueAt ?? null;
    const dueAt = Math.min(scheduleDueAt ?? Number.POSITIVE_INFINITY, jobDueAt ?? Number.POSITIVE_INFINITY);
    return {
      ...work,
      exhausted: report?.hasMore === true || (isOver && isScheduleDue),
      nextDueAt: Number.isFinite(dueAt) ? dueAt : null,
    };
  }
}

async function keepLeases({ env, keeper }: TickParts, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleepFor(env.clock, keeper.periodMs, signal);
    if (signal.aborted) return;
    try {
      await keeper.runOnce();
    } catch (error) {
      env.logger.warn("escapement: leases could not be extended; tried again later", error);
    }
  }
}
