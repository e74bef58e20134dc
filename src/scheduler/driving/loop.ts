import { sleepFor } from "../../core/clock.ts";
import { once } from "../../core/once.ts";
import { LOOK_AHEAD_MS } from "../../core/timer-limits.ts";
import { isInstant, Wakeup } from "../../core/wakeup.ts";
import type { LookedSchedule, Seen } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import type { FirePlanner } from "../firing/fire-planner.ts";
import type { JobRunner } from "../running/job-runner.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";
import type { StoreClock } from "../running/store-clock.ts";
import { type Committer, hasEndedPause, hasMissed, isOverdue } from "./committer.ts";
import {
  BURST_MS_MAX,
  COMMITS_PER_TURN_MAX,
  PREFERRED_WAIT_MS_MAX,
  PREFERRED_WAIT_MS_MIN,
  SHARE_FIRST,
  SHARE_WAIT_MS,
  TURN_MS_MAX,
} from "./limits.ts";
import { pauseAfterFailure } from "./outage-pause.ts";
import { VanishedSchedules } from "./vanished-schedules.ts";

export interface LoopOptions {
  readonly env: Environment;
  readonly committer: Committer;
  readonly planner: FirePlanner;
  readonly runner: JobRunner;
  readonly keeper: LeaseKeeper;
  readonly storeClock: StoreClock;
  readonly maxIdleMs: number;
  readonly isPaused: () => boolean;
  /** Whether other schedulers are alive that may take jobs from the same store. */
  readonly hasPeers: () => boolean;
  /** Called with what the first look showed. */
  readonly onFirstLook: (seen: Seen) => void;
}

/** What the loop does after a round: it goes on at once, waits for a known fire time, or waits until it looks again.
 *  `at` is in epoch milliseconds. */
type Next = { readonly kind: "now" } | { readonly kind: "fire" | "look"; readonly at: number };

const NOW: Next = Object.freeze({ kind: "now" });
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The resident driver. It looks a moment before a fire time, plans, waits for the exact instant, and commits. When jobs
 * end or are added, it commits at once. A round that fails is logged, and repeated after a pause that grows. Only its
 * signal ends the loop.
 */
export class Loop {
  readonly #options: LoopOptions;
  readonly #wakeup: Wakeup;
  readonly #vanished: VanishedSchedules;
  /** How long to leave a fire to the schedule's preferred scheduler, in milliseconds. Random, so that the
   *  other schedulers do not all look at the same instant. */
  readonly #preferredWaitMs: number;
  readonly #signal = once(() => new AbortController());
  /** Whether the scheduler stops: no schedule is planned and no job acquired, but outcomes are still recorded. */
  #isDraining = false;
  /** The instant from which on the answer of the last look may be out of date, in epoch milliseconds. */
  #staleAt = Number.NEGATIVE_INFINITY;
  /** Whether others have their turn before the next commit: after the end of a job, because jobs that end together go
   *  into one commit. */
  #yieldsNext = false;
  /** Since when commits begin some of a burst of fires and leave others, in epoch milliseconds. */
  #burstSince = NEVER;
  /** The tasks of fires that came while other jobs of no higher priority were ready, and may wait behind these. */
  readonly #waitingFires = new Set<string>();
  /** How many these fires are. */
  #waitingCount = 0;
  /** The lowest priority of the jobs that a commit took, if it left others, which have none above it then. */
  #leftPriority = NEVER;
  /** Whether the last commit took jobs of these tasks alone. */
  #tookFires = false;
  /** Most jobs that the next commit takes while others are alive. */
  #share = SHARE_FIRST;
  /** Whether an executor could begin more since the last look or commit. */
  #hasGrown = false;
  /** Whether the last commit acquired none of the jobs that seemed to be ready, so that only a wait helps. */
  #isFruitless = false;
  #hasLooked = false;
  /** Whether a commit may find that overdue occurrences are over. Not after one that has found out already. */
  #triesToResolve = false;
  #isWaiting = false;
  #stepsInTurn = 0;
  #turnBeganAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #round: Promise<unknown> = Promise.resolve();

  constructor(options: LoopOptions) {
    const { clock, random } = options.env;
    this.#options = options;
    this.#wakeup = new Wakeup(clock);
    this.#vanished = new VanishedSchedules(options.env);
    this.#preferredWaitMs = PREFERRED_WAIT_MS_MIN + random() * (PREFERRED_WAIT_MS_MAX - PREFERRED_WAIT_MS_MIN);
  }

  /** Whether the loop waits for something to do. Otherwise its next commit sees what has changed. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  start(): void {
    this.#running = this.#run(this.#signal().signal);
  }

  /** Makes the loop look, because something in the store may be due at `atMs` (epoch milliseconds; default: at
   *  once). Nothing is due in a pause, and whoever ends the pause has the loop look at once. */
  lookBy(atMs: number = Number.NEGATIVE_INFINITY): void {
    if (this.#options.isPaused() || !isInstant(atMs)) return;
    this.#staleAt = Math.min(this.#staleAt, atMs);
    this.#wakeup.call(atMs);
  }

  /** A schedule was changed; `atMs` is its next fire time, in epoch milliseconds. Default: look at once. */
  lookForSchedule(atMs?: number): void {
    this.#options.committer.lookAnew(atMs);
    this.lookBy(atMs === undefined ? undefined : atMs - LOOK_AHEAD_MS);
  }

  /** A job ended. If it waits to be released, the loop commits. A job whose lease was lost is not released: then the
   *  loop looks, because only a look finds work for the free slot. */
  jobEnded(): void {
    this.#yieldsNext = true;
    if (this.#options.committer.isUnsettled) this.#wakeup.call();
    else this.lookBy();
  }

  /** An executor can begin more. Mostly because a job of it has ended, which then goes into the same commit: otherwise
   *  the loop looks. */
  capacityGrew(): void {
    this.#hasGrown = true;
    this.#yieldsNext = true;
    this.#wakeup.call();
  }

  /** Makes the loop commit, because jobs wait to be added. */
  commit(): void {
    this.#wakeup.call();
  }

  /** No new schedules are planned and no new jobs acquired from here on; ended jobs are still released. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#wakeup.call();
    // A round that began before this call may still acquire jobs. They run, and are drained like the others.
    await this.#round;
  }

  /** Ends the loop. */
  async stop(): Promise<void> {
    this.#isDraining = true;
    this.#signal().abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      await this.#yieldInTime();
      try {
        const round = this.#runRound();
        this.#round = round.catch(() => {});
        const next = await round;
        failures = 0;
        if (next.kind !== "now") await this.#wait(next, signal);
      } catch (error) {
        this.#staleAt = Number.NEGATIVE_INFINITY;
        this.#options.committer.refuseAdditions(error);
        await pauseAfterFailure(this.#options.env, "the store", error, ++failures, signal);
      }
    }
  }

  /** Yields to the event loop. Without a reason (see `#yieldsNext`) only after many commits or a long time, so that
   *  timers and messages have their turn. */
  async #yieldInTime(): Promise<void> {
    const { clock } = this.#options.env;
    const now = clock.now();
    const isLong = ++this.#stepsInTurn > COMMITS_PER_TURN_MAX || now - this.#turnBeganAt > TURN_MS_MAX;
    if (!this.#yieldsNext && !isLong) return;
    await clock.yield();
    this.#yieldsNext = false;
    this.#stepsInTurn = 0;
    this.#turnBeganAt = clock.now();
  }

  async #runRound(): Promise<Next> {
    const { env, committer, keeper, storeClock, isPaused, maxIdleMs } = this.#options;
    // After a standstill our own leases may have ended: then a commit would recover jobs that still run here.
    if (keeper.isOverdue(env.clock.now())) await keeper.runOnce();
    const now = env.clock.now();
    if (isPaused() || this.#isDraining) {
      this.#staleAt = Number.NEGATIVE_INFINITY;
      if (!committer.hasUnsent) return { kind: "look", at: NEVER };
      await committer.settle(now);
      return NOW;
    }
    if (this.#hasGrown && !committer.hasUnsent) this.#staleAt = Number.NEGATIVE_INFINITY;
    this.#hasGrown = false;
    let seen = committer.seen;
    if (seen === null || storeClock.isUncertain(now) || (this.#staleAt <= now && !committer.hasUnsent)) {
      this.#staleAt = NEVER;
      // What made the last answer out of date may have come during the commit that acquired nothing.
      this.#isFruitless = false;
      const isWhole = committer.looksFromStart;
      seen = await committer.look(now, { aheadMs: LOOK_AHEAD_MS });
      if (storeClock.fault !== null) this.#staleAt = env.clock.now() + Math.min(maxIdleMs, env.leaseMs);
      else if (!this.#hasLooked) this.#options.onFirstLook(seen);
      this.#hasLooked ||= storeClock.fault === null;
      if (isWhole) this.#vanished.looked(seen);
      this.#triesToResolve = true;
    }
    if (storeClock.fault !== null) {
      // What has ended is told of, and jobs are added. Nothing else is done.
      if (!committer.hasUnsent) return { kind: "look", at: this.#staleAt };
      await committer.settle(env.clock.now());
      return NOW;
    }
    // Who holds a lease that has ended may be alive.
    if (hasLostLease(seen, env.clock.now())) await keeper.runOnce();
    return this.#act(seen);
  }

  async #act(seen: Seen): Promise<Next> {
    const { env, committer, planner, runner, maxIdleMs } = this.#options;
    const now = env.clock.now();
    // The clock was set a moment ago.
    if (this.#options.storeClock.isUncertain(now)) return NOW;
    const ours = seen.due.filter((schedule) => this.#isOurs(schedule, now));
    const due = ours.filter(({ nextFireTime }) => nextFireTime <= now);
    const isLeaseLost = hasLostLease(seen, now);
    const isRunDue = seen.hasReady || (seen.nextRunAt !== null && seen.nextRunAt <= now);
    const isJobDue = isRunDue && runner.room > 0 && !this.#isFruitless;
    const mayBeOverdue = isOverdue(seen, now) || (this.#triesToResolve && seen.overdue?.isOpen === true);
    if (committer.hasUnsent || due.length > 0 || isLeaseLost || isJobDue || mayBeOverdue || hasToEnd(seen, now)) {
      const hasMore = seen.nextFireAt !== null && seen.nextFireAt <= now;
      committer.turnPage(hasMore ? seen.due : [], now);
      const jobsMax = this.#options.hasPeers() ? this.#share : NEVER;
      // The handlers of a burst begin first.
      const isInBurst = this.#burstSince <= now && now < this.#burstSince + BURST_MS_MAX;
      const leavesOutcomes = isInBurst && (due.length > 0 || isJobDue);
      const firesFirst = this.#putsFiresFirst(seen, due);
      const bounds = firesFirst ? { jobsMax: Math.min(jobsMax, this.#waitingCount), tasks: this.#waitingFires } : {};
      const asked = { due, jobsMax, aheadMs: LOOK_AHEAD_MS, leavesOutcomes, ...bounds };
      const result = await committer.commit(now, asked);
      this.#tookFires = firesFirst;
      if (firesFirst) this.#firesTaken(result.jobsStarted);
      else if (committer.seen?.hasReady !== true) this.#leftPriority = NEVER;
      else if (result.jobsStarted > 0) this.#leftPriority = result.lowestPriority;
      const isLeft = committer.seen?.hasReady === true;
      const hasLeft = hasMore || (leavesOutcomes && isLeft);
      // Where none began, jobs may wait for the slots of those that have ended.
      this.#burstSince = hasLeft && result.jobsStarted > 0 ? Math.min(this.#burstSince, now) : NEVER;
      this.#share = isLeft ? this.#share * 2 : SHARE_FIRST;
      this.#isFruitless = isJobDue && result.jobsStarted === 0 && !firesFirst;
      // Others may have raised the occurrence that this very commit, which did not know of it, could have resolved.
      const knewOverdue = isOverdue(seen, now) || seen.overdue?.isOpen === true;
      this.#triesToResolve = !knewOverdue && committer.seen?.overdue?.isOpen === true;
      if (isLeft && result.jobsStarted === jobsMax) await sleepFor(env.clock, SHARE_WAIT_MS, this.#signal().signal);
      return NOW;
    }
    if (ours.length > 0) {
      planner.prepare(ours);
      const others = [seen.nextRunAt, seen.nextMissAt, seen.leaseEndsAt, seen.overdue?.nextAt ?? null, this.#staleAt];
      others.push(seen.pauseEndsAt ?? null);
      const known = [...ours.map(({ nextFireTime }) => nextFireTime), ...others];
      // An instant that is past belongs to a job that waits for room: waiting for that instant gives the job no room.
      return { kind: "fire", at: Math.min(...known.map((at) => (at === null || at <= now ? NEVER : at))) };
    }
    if (seen.due.length === 0 && seen.nextFireAt !== null && seen.nextFireAt <= now + LOOK_AHEAD_MS) {
      // What stood on the page cannot be read here, and the next look begins behind it.
      this.#staleAt = Number.NEGATIVE_INFINITY;
      return NOW;
    }
    const hasMore = this.#turnPage(seen, now);
    const idleUntil = hasMore ? now + this.#preferredWaitMs : now + maxIdleMs;
    return { kind: "look", at: Math.min(this.#nextLookAt(seen, now), idleUntil) };
  }

  /** Whether the next commit takes jobs of fires alone: every other one at most, so that neither they nor the others
   *  wait for the end of a burst of the others. */
  #putsFiresFirst(seen: Seen, due: readonly LookedSchedule[]): boolean {
    if (!seen.hasReady) return false;
    for (const { taskId, priority } of due) {
      if (priority < this.#leftPriority) continue;
      this.#waitingFires.add(taskId);
      this.#waitingCount++;
    }
    return this.#waitingCount > 0 && !this.#tookFires && this.#options.runner.room > 0;
  }

  #firesTaken(count: number): void {
    const { committer } = this.#options;
    const isOver = count === 0 || count >= this.#waitingCount || committer.seen?.hasReady === false;
    this.#waitingCount = isOver ? 0 : this.#waitingCount - count;
    if (isOver) this.#waitingFires.clear();
    // The commit was not asked for the jobs of other tasks, which are ready as before.
    committer.showReady();
  }

  /** Goes to the next page of schedules, because no schedule of this page is for this scheduler to plan. After the last
   *  page comes the first. Each page has a pause before it, because the pages can be many, and while the preferred
   *  schedulers are at work, there is nothing to do here. Returns whether there is another page. */
  #turnPage({ due, nextFireAt }: Seen, now: number): boolean {
    const { committer } = this.#options;
    const isLast = nextFireAt === null || nextFireAt > now + LOOK_AHEAD_MS;
    if (isLast && committer.looksFromStart) return false;
    if (isLast) committer.lookFromStart();
    else committer.lookBeyond(due.at(-1));
    return true;
  }

  /** When a look may find something new, in epoch milliseconds. */
  #nextLookAt(seen: Seen, now: number): number {
    const { due, nextFireAt, nextRunAt, nextMissAt, leaseEndsAt, pauseEndsAt, overdue } = seen;
    const others = due.map(({ nextFireTime }) => Math.max(nextFireTime + this.#preferredWaitMs, now));
    return Math.min(
      ...others,
      // What is due already is on another page.
      nextFireAt === null || nextFireAt <= now + LOOK_AHEAD_MS ? NEVER : nextFireAt - LOOK_AHEAD_MS,
      nextRunAt ?? NEVER,
      nextMissAt ?? NEVER,
      leaseEndsAt ?? NEVER,
      pauseEndsAt ?? NEVER,
      overdue?.nextAt ?? NEVER,
      this.#staleAt,
      Math.max(this.#options.committer.passesUntil, now),
    );
  }

  /** Whether this scheduler may plan a schedule: it is the preferred one, there is none, or that one has let its time
   *  pass. */
  #isOurs({ preferredScheduler, nextFireTime }: LookedSchedule, now: number): boolean {
    const { identity, store } = this.#options.env;
    if (!store.capabilities.sharedByProcesses) return true;
    return (
      preferredScheduler === null || preferredScheduler === identity || now >= nextFireTime + this.#preferredWaitMs
    );
  }

  async #wait({ kind, at }: Exclude<Next, { kind: "now" }>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.env;
    this.#stepsInTurn = 0;
    const startedAt = clock.now();
    this.#isWaiting = true;
    if (kind === "fire") await this.#wakeup.waitExactly(at, signal);
    else await this.#wakeup.wait(at, signal);
    this.#isWaiting = false;
    const now = clock.now();
    // At the instant of a fire everything is known. When a job ended or is to be added, nothing else has changed. After
    // the clock was set back, the instant that the loop waited for says nothing any more: then it looks.
    if ((kind === "look" && now >= at) || now < startedAt) this.#staleAt = Number.NEGATIVE_INFINITY;
    // Something else is due by now than what the last commit found to be gone.
    if (this.#staleAt <= now || now >= at) this.#isFruitless = false;
  }
}

/** Whether jobs have missed their start, or pauses have come to their end. */
function hasToEnd(seen: Seen, now: number): boolean {
  return hasMissed(seen, now) || hasEndedPause(seen, now);
}

function hasLostLease({ leaseEndsAt }: Seen, now: number): boolean {
  return leaseEndsAt !== null && leaseEndsAt <= now;
}
