import { sleepFor } from "../../core/clock.ts";
import { printedAs } from "../../core/inspect.ts";
import { instantOrNull, instantTextOrNull } from "../../core/temporal.ts";
import type { Wakeup } from "../../core/wakeup.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { LookReport, Seen } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { emptyOutcomes, type JobRunner } from "../running/job-runner.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";
import type { StoreClock } from "../running/store-clock.ts";
import type { TickReport } from "../views/tick-report.ts";
import type { TickCleaning } from "./clean-up.ts";
import type { ClockHealing } from "./clock-healing.ts";
import {
  type CommitBounds,
  type CommitResult,
  type Committer,
  earliestDueAt,
  hasEndedPause,
  hasMissed,
  isOverdue,
} from "./committer.ts";
import { TICK_GRACE_MS } from "./limits.ts";
import type { TickBounds } from "./tick-bounds.ts";
import type { ZoneCheck } from "./zone-check.ts";

export interface TickParts {
  readonly env: Environment;
  readonly committer: Committer;
  readonly runner: JobRunner;
  readonly keeper: LeaseKeeper;
  readonly cleaning: TickCleaning;
  /** Called when the first look showed leases: gives up those of dead runs of this identity. Returns whether it gave up
   *  some. */
  readonly giveUpLeft: () => Promise<boolean>;
  /** Called when the work is done, if requests are left. */
  readonly afterWork: () => Promise<void>;
  readonly zoneCheck: ZoneCheck;
  readonly healing: ClockHealing;
  readonly storeClock: StoreClock;
  /** Ends a wait early: something may be due that the last look did not show, or the scheduler stops. */
  readonly wakeup: Wakeup;
}

/** The driver that does not stay resident: it makes the same commits as the loop, until nothing is due that was due
 *  when the tick began or came due during its stay, or a bound is reached. Every job that has begun is recorded: as it
 *  ended, or, if it still runs at the deadline, as handed back. */
export async function tick(parts: TickParts, bounds: TickBounds): Promise<TickReport> {
  const { env, runner } = parts;
  const before = { ...runner.outcomes };
  const ending = new AbortController();
  const watched = [keepLeases(parts, bounds, ending.signal), abortAtDeadline(parts, bounds, ending.signal)];
  try {
    const { schedulesProcessed, jobsAdded, jobsRun, exhausted, nextDueAt } = await new TickWork(parts, bounds).run();
    if (bounds.tripsLeft > 0) await parts.afterWork();
    const outcomes = emptyOutcomes();
    for (const outcome of Object.keys(outcomes) as JobOutcome[]) {
      outcomes[outcome] = runner.outcomes[outcome] - before[outcome];
    }
    const nextWakeAtMs = exhausted ? env.clock.now() : nextDueAt;
    return printable({
      ...{ schedulesProcessed, jobsAdded, jobsRun, outcomes },
      get nextWakeAt() {
        return instantOrNull(nextWakeAtMs);
      },
      ...{ nextWakeAtMs, exhausted, roundTrips: bounds.trips },
    });
  } catch (error) {
    // This tick takes no more commits, and without one these jobs would wait for their start for ever.
    runner.giveBackUnstarted();
    // Jobs that have begun are finished under leases that are kept, and the next tick of this scheduler records their
    // outcomes. There may be no such tick, so this one tries once more.
    await runner.whenIdle();
    await recordLast(parts, bounds);
    throw error;
  } finally {
    ending.abort();
    await Promise.all(watched);
  }
}

/** The report as it was, which consoles print with its instant as text: Node prints instants that are not its own as
 *  empty. */
function printable(report: TickReport): TickReport {
  const { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAtMs, exhausted, roundTrips } = report;
  return printedAs(report, () => ({
    ...{ schedulesProcessed, jobsAdded, jobsRun, outcomes },
    ...{ nextWakeAt: instantTextOrNull(nextWakeAtMs), nextWakeAtMs, exhausted, roundTrips },
  }));
}

/** After a failure, tells the store of the outcomes that it does not know. */
async function recordLast({ env, committer, runner }: TickParts, bounds: TickBounds): Promise<void> {
  if (!runner.hasWaiting || bounds.tripsLeft === 0) return;
  try {
    await committer.settle(env.clock.now());
  } catch (error) {
    env.logger.warn("escapement: outcomes of a tick are not recorded; the next tick tries again", error);
  }
}

/** Looks, then commits until there is nothing left to do. Beyond its bounds it only records outcomes. One request is
 *  always left for the last of them. */
class TickWork {
  schedulesProcessed = 0;
  jobsAdded = 0;
  jobsRun = 0;
  exhausted = false;
  nextDueAt: number | null = null;
  readonly #parts: TickParts;
  readonly #bounds: TickBounds;
  /** Whether results have expired and wait for the clean-up. */
  #isToClean = false;
  #isFirst = true;
  /** Whether jobs are left that wait for an executor. */
  #isShort = false;

  constructor(parts: TickParts, bounds: TickBounds) {
    this.#parts = parts;
    this.#bounds = bounds;
  }

  async run(): Promise<this> {
    const { env, committer, runner, cleaning, storeClock } = this.#parts;
    const bounds = this.#bounds;
    let seen = await this.#lookFirst();
    for (;;) {
      // Takes the time anew, because the answer may have been slow, or the clock was set.
      let now = env.clock.now();
      if (storeClock.isUncertain(now) && bounds.tripsLeft > 2) seen = await this.#look(now);
      const commitBounds = this.#commitBounds(seen, now);
      const started = this.jobsRun;
      if (this.#hasToCommit(seen, now, commitBounds)) {
        const dueBy = this.#dueBy(now);
        const hasMore = seen.nextFireAt !== null && seen.nextFireAt <= dueBy;
        committer.turnPage(hasMore ? seen.due : [], dueBy);
        this.#count(await committer.commit(now, commitBounds));
        seen = committer.seen ?? seen;
      }
      const hasNews = await this.#waitForEnds(seen);
      await env.clock.yield();
      now = env.clock.now();
      // A handler may wait for a job that nobody has seen yet.
      if ((runner.takeNewWait() || hasNews) && bounds.tripsLeft > 1) seen = await this.#look(now);
      const isBusy = this.jobsRun > started || !runner.isIdle || committer.hasUnsent || isOverdue(seen, now);
      if (isBusy && bounds.tripsLeft > 0) continue;
      const isOver = bounds.isOver(now) || bounds.tripsLeft === 0;
      if (hasToEnd(seen, now) && !isOver) continue;
      const dueBy = this.#dueBy(now);
      const isScheduleDue = (seen.due[0]?.nextFireTime ?? Number.POSITIVE_INFINITY) <= dueBy;
      if (isScheduleDue && !isOver) continue;
      // Behind a page of schedules that cannot be read here there may be others.
      if (!isOver && seen.due.length === 0 && seen.nextFireAt !== null && seen.nextFireAt <= dueBy) {
        seen = await this.#look(now);
        continue;
      }
      const isPartial = !committer.looksFromStart;
      if (isPartial && bounds.tripsLeft > 0) {
        committer.lookFromStart();
        seen = await this.#look(now);
        continue;
      }
      if (!isOver && (await this.#waitsForExecutor(now))) {
        seen = await this.#look(env.clock.now());
        continue;
      }
      if (this.#isToClean && !isOver) await cleaning.run();
      this.#isToClean = false;
      const waitsUntil = bounds.waitsUntil(env.clock.now(), this.jobsRun);
      if (waitsUntil !== null) {
        const hasNews = await this.#wait(seen, waitsUntil);
        if (hasNews && !bounds.isOver(env.clock.now())) seen = await this.#look(env.clock.now());
        continue;
      }
      this.nextDueAt = earliestDueAt(seen);
      this.exhausted =
        this.#isShort ||
        (await this.#hasReady(seen, now)) ||
        isPartial ||
        (isOver && (isScheduleDue || hasToEnd(seen, now)));
      return this;
    }
  }

  async #lookFirst(): Promise<Seen> {
    const { env, committer, cleaning, giveUpLeft, healing, storeClock } = this.#parts;
    committer.lookAnew();
    const now = env.clock.now();
    const expiredForMs = cleaning.asksFor(now);
    const first = await this.#look(now, expiredForMs, healing.uptimeAfter(now));
    if (expiredForMs !== null) cleaning.asked(first.hasExpired);
    this.#isToClean = first.hasExpired;
    // After the present commit and the last one, this may take two.
    const mayGiveUp = first.leaseEndsAt !== null && this.#bounds.tripsLeft > 3 && !this.#bounds.isOver(now);
    const hasGivenUp = mayGiveUp && (await giveUpLeft());
    const hasMoved = await this.#checkZones();
    const hasHealed = first.hasUptimeAfter === true && (await healing.tick(this.#mayGoOn, storeClock.confirms(now)));
    return hasGivenUp || hasMoved || hasHealed ? this.#look(env.clock.now()) : first;
  }

  /** Leaves requests for another look, a commit and what follows it. */
  readonly #mayGoOn = (): boolean => this.#bounds.tripsLeft > 4 && !this.#bounds.isOver(this.#parts.env.clock.now());

  /** Returns whether next fire times have moved. */
  async #checkZones(): Promise<boolean> {
    const { env, zoneCheck } = this.#parts;
    try {
      return await zoneCheck.run(this.#mayGoOn);
    } catch (error) {
      env.logger.warn("escapement: time zone rules could not be compared; the next tick tries again", error);
      // What was moved before the failure is looked for.
      return true;
    }
  }

  /** @throws {StoreUnavailableError} */
  async #look(now: number, expiredForMs: number | null = null, uptimeAfter?: number): Promise<LookReport> {
    const { committer, storeClock } = this.#parts;
    const timeoutMsMax = this.#timeoutMsMax(now);
    const more = uptimeAfter === undefined ? {} : { uptimeAfter };
    const aheadMs = this.#dueBy(now) - now;
    const report = await committer.look(now, { aheadMs, timeoutMsMax, expiredForMs, ...more });
    if (storeClock.fault !== null) throw storeClock.fault;
    return report;
  }

  #commitBounds(seen: Seen, now: number): CommitBounds {
    const { env, runner } = this.#parts;
    const bounds = this.#bounds;
    const isOver = bounds.isOver(now);
    const dueBy = this.#dueBy(now);
    const timeoutMsMax = this.#timeoutMsMax(now);
    const mayStart = ({ taskId }: JobRecord): boolean => {
      const present = env.clock.now();
      const fits = runner.timeoutMsOf(taskId) <= this.#timeoutMsMax(present);
      return fits && bounds.tripsLeft > 0 && !bounds.isOver(present);
    };
    return {
      due: isOver ? [] : seen.due.filter(({ nextFireTime }) => nextFireTime <= dueBy),
      jobsMax: isOver || bounds.tripsLeft <= 1 ? 0 : bounds.limits.jobsMax - this.jobsRun,
      aheadMs: dueBy - now,
      timeoutMsMax,
      mayStart,
      cleansUp: this.#isToClean && !isOver,
      inOneTrip: bounds.tripsLeft <= 2,
    };
  }

  #hasToCommit(seen: Seen, now: number, { due, jobsMax }: CommitBounds): boolean {
    const { committer, runner } = this.#parts;
    const { tripsLeft } = this.#bounds;
    // The last request waits for all outcomes.
    if (tripsLeft === 0 || (tripsLeft === 1 && !runner.isIdle)) return false;
    const hasReady = seen.hasReady || (seen.nextRunAt !== null && seen.nextRunAt <= now);
    const canStart = hasReady && (jobsMax ?? 0) > 0 && runner.room > 0;
    const isMissed = hasToEnd(seen, now) && !this.#bounds.isOver(now);
    const isLeaseLost = seen.leaseEndsAt !== null && seen.leaseEndsAt <= now;
    return committer.hasUnsent || due.length > 0 || isLeaseLost || canStart || isMissed || this.#hasOverdue(seen, now);
  }

  /** Whether a commit has overdue occurrences to raise, or, after the first look, may find that some are over. */
  #hasOverdue(seen: Seen, now: number): boolean {
    const triesToResolve = this.#isFirst && seen.overdue?.isOpen === true;
    this.#isFirst = false;
    return triesToResolve || isOverdue(seen, now);
  }

  /** Waits for one attempt only: an outcome that waited for all other jobs could lose its lease. But the last request
   *  takes all outcomes. During a stay, what comes due ends the wait too.
   *  @returns whether a look may find more than the last one */
  async #waitForEnds(seen: Seen): Promise<boolean> {
    const { env, runner } = this.#parts;
    const { takesUntil, tripsLeft } = this.#bounds;
    if (tripsLeft <= 1) {
      // Each of these would need a request before it starts.
      runner.giveBackUnstarted();
      await runner.whenIdle();
      return false;
    }
    const mayWait = this.#bounds.mayWait(env.clock.now(), this.jobsRun);
    if (!mayWait || runner.isIdle || runner.hasWaiting) {
      await runner.whenEnded();
      return false;
    }
    const ended = new AbortController();
    void runner.whenEnded().then(() => ended.abort());
    return this.#wait(seen, takesUntil, ended.signal);
  }

  /** Waits for the next instant at which something is due, at most until `untilMs` (epoch milliseconds).
   *  @param ended ends the wait
   *  @returns whether a look may find more than the last one */
  async #wait(seen: Seen, untilMs: number, ended?: AbortSignal): Promise<boolean> {
    const { env, wakeup } = this.#parts;
    const now = env.clock.now();
    // An instant that is past belongs to a job that waits for room, for which time alone does nothing.
    const until = Math.min(untilMs, earliestDueAt(seen, now + 1) ?? untilMs);
    await wakeup.wait(until, ended ?? this.#bounds.limits.signal);
    if (ended?.aborted === true) return false;
    const present = env.clock.now();
    return present < until || (seen.nextFireAt !== null && seen.nextFireAt <= present);
  }

  /** Waits for an executor that can begin nothing, because its threads or processes end or cannot be started, if jobs
   *  are ready. Returns whether the tick may go on. */
  async #waitsForExecutor(now: number): Promise<boolean> {
    const { env, runner, committer } = this.#parts;
    const { deadline } = this.#bounds;
    if (!runner.isExecutorFull || this.#bounds.tripsLeft <= 2) return false;
    const grown = new AbortController();
    const unwatch = runner.onCapacity(() => grown.abort());
    try {
      const dueAt = await committer.nextDueAt(now);
      if (dueAt === null || dueAt > now) return false;
      await sleepFor(env.clock, Math.max(0, deadline - env.clock.now()), grown.signal);
      this.#isShort = !grown.signal.aborted;
      return grown.signal.aborted;
    } finally {
      unwatch();
    }
  }

  #count(result: CommitResult): void {
    this.schedulesProcessed += result.schedulesProcessed;
    this.jobsAdded += result.jobsAdded;
    this.jobsRun += result.jobsStarted;
    if (result.cleanup === null) return;
    this.#isToClean = false;
    this.#parts.cleaning.cleaned(result.cleanup);
  }

  /** What is due by then is taken. The clock may have been set back since the tick began. */
  #dueBy(now: number): number {
    return Math.min(this.#bounds.takesUntil, now);
  }

  /** Jobs of tasks with a longer `timeout` are not started at `now`. Beyond the deadline nothing is started, and what
   *  could have been started counts. */
  #timeoutMsMax(now: number): number {
    const bounds = this.#bounds;
    return bounds.isOver(now) ? bounds.limits.durationMs : bounds.timeoutMsMax(now);
  }

  /** Whether jobs are left that a tick could start. Where too little time is left for some tasks, only another look
   *  tells whether they have jobs. */
  async #hasReady(seen: Seen, now: number): Promise<boolean> {
    const { committer, runner } = this.#parts;
    const { limits, tripsLeft } = this.#bounds;
    if (seen.hasReady || runner.longestTimeoutMs(limits.durationMs) <= this.#timeoutMsMax(now)) return seen.hasReady;
    if (tripsLeft === 0) return true;
    return (await committer.look(now, { aheadMs: this.#dueBy(now) - now, timeoutMsMax: limits.durationMs })).hasReady;
  }
}

/** Whether jobs have missed their start, or pauses have come to their end. */
function hasToEnd(seen: Seen, now: number): boolean {
  return hasMissed(seen, now) || hasEndedPause(seen, now);
}

/** At the deadline, aborts what still runs: it goes back to the queue. */
async function abortAtDeadline(
  { env, runner, wakeup }: TickParts,
  bounds: TickBounds,
  signal: AbortSignal,
): Promise<void> {
  await sleepFor(env.clock, Math.max(0, bounds.deadline - env.clock.now()), signal);
  if (signal.aborted) return;
  bounds.end();
  wakeup.call();
  runner.abortAll(TICK_GRACE_MS, "the tick has reached its maxDuration");
}

async function keepLeases(parts: TickParts, bounds: TickBounds, signal: AbortSignal): Promise<void> {
  const { env, runner, keeper } = parts;
  for (;;) {
    await sleepFor(env.clock, keeper.periodMs, signal);
    if (signal.aborted) return;
    // A commit that is under way may take a second request, and one is left for the last release.
    if (bounds.tripsLeft <= 2) {
      const endsAt = Math.min(...[...runner.running.values()].map(({ leaseEndsAt }) => leaseEndsAt));
      if (endsAt <= env.clock.now() + keeper.periodMs) runner.abortAll(TICK_GRACE_MS, "the tick has no request left");
      continue;
    }
    try {
      await keeper.runOnce();
    } catch (error) {
      env.logger.warn("escapement: leases could not be extended; tried again later", error);
    }
  }
}
