import { sleepFor } from "../../core/clock.ts";
import { printedAs } from "../../core/inspect.ts";
import { instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { Seen } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { emptyOutcomes, type JobRunner } from "../running/job-runner.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";
import type { TickCleaning } from "./clean-up.ts";
import type { Stepper } from "./stepper.ts";

/** What one `tick()` did. */
export interface TickReport {
  /** How many plans of due schedules were committed. */
  readonly schedulesProcessed: number;
  /** How many jobs the schedules made. */
  readonly jobsAdded: number;
  /** How many attempts were started. */
  readonly jobsRun: number;
  /** How many jobs ended, by outcome. */
  readonly outcomes: Readonly<Record<JobOutcome, number>>;
  /** When there is something to do again: call `tick()` at this instant. Null when nothing is planned. */
  readonly nextWakeAt: Temporal.Instant | null;
  /** Whether `maxDuration`, `maxJobs` or the signal ended the tick while there was more to do. */
  readonly exhausted: boolean;
}

export interface TickParts {
  readonly env: Environment;
  readonly stepper: Stepper;
  readonly runner: JobRunner;
  readonly keeper: LeaseKeeper;
  readonly cleaning: TickCleaning;
}

export interface TickBounds {
  /** The instant from which on no new work is begun, in epoch milliseconds. */
  readonly deadline: number;
  readonly jobsMax: number;
  /** Whether somebody asked to end the tick. */
  readonly isAborted: () => boolean;
}

/** The driver that does not stay resident: it takes the same steps as the loop, until nothing is due or a bound is
 *  reached. Jobs that have begun are always finished and recorded. */
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
    return printable({ schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAt, exhausted });
  } catch (error) {
    // This tick takes no more steps, and without one these jobs would wait for their start for ever.
    runner.giveBackUnstarted();
    throw error;
  } finally {
    // This matters after a failure: jobs that have begun are finished under leases that are kept, and the next tick
    // records their outcomes.
    await runner.whenIdle();
    keeping.abort();
    await kept;
  }
}

/** The report as it was, which consoles print with its instant as text: Node prints instants that are not its own as
 *  empty. */
function printable(report: TickReport): TickReport {
  const print = (): unknown => ({ ...report, nextWakeAt: report.nextWakeAt?.toString() ?? null });
  return printedAs(report, print);
}

interface Work {
  schedulesProcessed: number;
  jobsAdded: number;
  jobsRun: number;
  exhausted: boolean;
  nextDueAt: number | null;
}

/** Looks, then steps until there is nothing left to do. Beyond its bounds it only records outcomes, and looks whether
 *  work is left. */
async function workOff({ env, stepper, runner, cleaning }: TickParts, bounds: TickBounds): Promise<Work> {
  const work = { schedulesProcessed: 0, jobsAdded: 0, jobsRun: 0 };
  let now = env.clock.now();
  stepper.lookAnew();
  const asksForExpired = cleaning.isDue(now);
  const first = await stepper.look(now, 0, asksForExpired);
  let seen: Seen = first;
  for (;;) {
    // Takes the time anew, because the answer may have been slow, or the clock was set.
    now = env.clock.now();
    const isOver = now >= bounds.deadline || bounds.isAborted();
    const due = isOver ? [] : seen.due.filter(({ nextFireTime }) => nextFireTime <= now);
    const jobsMax = isOver ? 0 : bounds.jobsMax - work.jobsRun;
    const hasReady = seen.hasReady || (seen.nextRunAt !== null && seen.nextRunAt <= now);
    const isLeaseLost = seen.leaseEndsAt !== null && seen.leaseEndsAt <= now;
    const canStart = hasReady && jobsMax > 0 && runner.room > 0;
    let hasStarted = false;
    if (stepper.hasCargo || due.length > 0 || isLeaseLost || canStart) {
      const hasMore = seen.nextFireAt !== null && seen.nextFireAt <= now;
      stepper.turnPage(hasMore ? seen.due : [], now);
      const result = await stepper.step(now, { due, jobsMax, aheadMs: 0 });
      work.schedulesProcessed += result.schedulesProcessed;
      work.jobsAdded += result.jobsAdded;
      work.jobsRun += result.jobsStarted;
      hasStarted = result.jobsStarted > 0;
      seen = stepper.seen ?? seen;
    }
    // Waits for one attempt only: an outcome that waited for all other jobs could lose its lease.
    await runner.whenEnded();
    await env.clock.yield();
    now = env.clock.now();
    // A handler waits for a job that nobody has seen yet.
    if (runner.takeNewWait()) seen = await stepper.look(now, 0);
    const dueAt = earliestDueAt(seen);
    const isScheduleDue = seen.due.length > 0 && (seen.due[0]?.nextFireTime ?? now) <= now;
    const isBusy = hasStarted || !runner.isIdle || stepper.hasCargo;
    if (isBusy || (isScheduleDue && !isOver)) continue;
    // Behind a page of schedules that cannot be read here there may be others.
    if (!isOver && seen.due.length === 0 && seen.nextFireAt !== null && seen.nextFireAt <= now) {
      seen = await stepper.look(now, 0);
      continue;
    }
    if (!stepper.looksFromStart) {
      stepper.lookFromStart();
      seen = await stepper.look(now, 0);
      continue;
    }
    if (asksForExpired && !isOver) await cleaning.found(first.hasExpired);
    return { ...work, exhausted: seen.hasReady || (isOver && isScheduleDue), nextDueAt: dueAt };
  }
}

function earliestDueAt({ due, nextFireAt, nextRunAt, leaseEndsAt }: Seen): number | null {
  const instants = [due[0]?.nextFireTime ?? null, nextFireAt, nextRunAt, leaseEndsAt].filter((at) => at !== null);
  return instants.length === 0 ? null : Math.min(...instants);
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
