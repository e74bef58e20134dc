import {
  FAVOURITE_WAIT_MS_MAX,
  FAVOURITE_WAIT_MS_MIN,
  LOOK_AHEAD_MS,
  STEPS_PER_TURN_MAX,
  TURN_MS_MAX,
} from "../../core/limits.ts";
import { Wakeup } from "../../core/wakeup.ts";
import type { LookedSchedule, Seen } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import type { FirePlanner } from "../firing/fire-planner.ts";
import type { JobRunner } from "../running/job-runner.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";
import { pauseAfterFailure } from "./outage-pause.ts";
import type { Stepper } from "./stepper.ts";

export interface LoopOptions {
  readonly env: Environment;
  readonly stepper: Stepper;
  readonly planner: FirePlanner;
  readonly runner: JobRunner;
  readonly keeper: LeaseKeeper;
  readonly maxIdleMs: number;
  readonly isPaused: () => boolean;
}

/** What a round of the loop found: work that goes on at once, a fire time that is known, or when to look again. */
type Next = { readonly kind: "now" } | { readonly kind: "fire" | "look"; readonly at: number };

const NOW: Next = Object.freeze({ kind: "now" });
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The resident driver. It looks a moment before a fire time, plans, waits exactly, and steps; when jobs end, or are
 * added, it steps at once. A round that fails is logged and repeated after a pause that grows; nothing ends the loop
 * but its signal.
 */
export class Loop {
  readonly #options: LoopOptions;
  readonly #wakeup: Wakeup;
  /** How long to leave a fire to its favourite: a random time, so that not all others look at one instant. */
  readonly #favouriteWaitMs: number;
  readonly #signal = new AbortController();
  /** No new schedules and no new jobs; what ended is still told. */
  #isDraining = false;
  /** From when on what was seen may be out of date, in epoch milliseconds. */
  #staleAt = Number.NEGATIVE_INFINITY;
  /** Whether a job ended since the last step: others that end together go into the same one. */
  #hasEnded = false;
  /** Whether the last step found none of the jobs that seemed to be ready: then only a wait helps. */
  #isFruitless = false;
  #stepsInTurn = 0;
  #turnBeganAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #round: Promise<unknown> = Promise.resolve();

  constructor(options: LoopOptions) {
    const { clock, random } = options.env;
    this.#options = options;
    this.#wakeup = new Wakeup(clock);
    this.#favouriteWaitMs = FAVOURITE_WAIT_MS_MIN + random() * (FAVOURITE_WAIT_MS_MAX - FAVOURITE_WAIT_MS_MIN);
  }

  start(): void {
    this.#running = this.#run(this.#signal.signal);
  }

  /** Something in the store may be due at `atMs` (epoch milliseconds); default: at once. */
  lookBy(atMs: number = Number.NEGATIVE_INFINITY): void {
    this.#staleAt = Math.min(this.#staleAt, atMs);
    this.#wakeup.call(atMs);
  }

  /** A schedule was changed, whose next fire time is `atMs`. */
  lookForSchedule(atMs?: number): void {
    this.#options.stepper.lookFromStart();
    this.lookBy(atMs === undefined ? undefined : atMs - LOOK_AHEAD_MS);
  }

  /** A job ended, and waits to be released. One that was lost does not: then only a look finds work for its slot. */
  jobEnded(): void {
    this.#hasEnded = true;
    if (this.#options.stepper.isUnsettled) this.#wakeup.call();
    else this.lookBy();
  }

  /** Jobs wait to be added. */
  step(): void {
    this.#wakeup.call();
  }

  /** No new schedules are planned and no new jobs acquired from here on; ended jobs are still released. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#wakeup.call();
    // What a round that began before this acquires still runs, and is drained like the others.
    await this.#round;
  }

  /** Ends the loop. */
  async stop(): Promise<void> {
    this.#isDraining = true;
    this.#signal.abort();
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
        this.#options.stepper.refuseAdditions(error);
        await pauseAfterFailure(this.#options.env, "the store", error, ++failures, signal);
      }
    }
  }

  /** Jobs that end together go into one step, so whatever is ready goes first. Otherwise only now and then, so that
   *  timers and messages have their turn. */
  async #yieldInTime(): Promise<void> {
    const { clock } = this.#options.env;
    const now = clock.now();
    const isLong = ++this.#stepsInTurn > STEPS_PER_TURN_MAX || now - this.#turnBeganAt > TURN_MS_MAX;
    if (!this.#hasEnded && !isLong) return;
    await clock.yield();
    this.#hasEnded = false;
    this.#stepsInTurn = 0;
    this.#turnBeganAt = clock.now();
  }

  async #runRound(): Promise<Next> {
    const { env, stepper, keeper, isPaused } = this.#options;
    // After a standstill our own leases may have ended, and a step would take our own running jobs for lost ones.
    if (keeper.isOverdue(env.clock.now())) await keeper.runOnce();
    const now = env.clock.now();
    if (isPaused() || this.#isDraining) {
      this.#staleAt = Number.NEGATIVE_INFINITY;
      if (!stepper.hasCargo) return { kind: "look", at: NEVER };
      await stepper.settle(now);
      return NOW;
    }
    let seen = stepper.seen;
    if (seen === null || (this.#staleAt <= now && !stepper.hasCargo)) {
      this.#staleAt = NEVER;
      seen = await stepper.look(now, now + LOOK_AHEAD_MS);
    }
    return this.#act(seen);
  }

  async #act(seen: Seen): Promise<Next> {
    const { env, stepper, planner, runner, maxIdleMs } = this.#options;
    const now = env.clock.now();
    const ours = seen.due.filter((schedule) => this.#isOurs(schedule, now));
    const due = ours.filter(({ nextFireTime }) => nextFireTime <= now);
    const isLeaseLost = seen.leaseEndsAt !== null && seen.leaseEndsAt <= now;
    const isRunDue = seen.hasReady || (seen.nextRunAt !== null && seen.nextRunAt <= now);
    const isJobDue = isRunDue && runner.room > 0 && !this.#isFruitless;
    if (stepper.hasCargo || due.length > 0 || isLeaseLost || isJobDue) {
      const hasMore = seen.nextFireAt !== null && seen.nextFireAt <= now;
      stepper.turnPage(hasMore ? seen.due : [], now);
      const result = await stepper.step(now, { due, jobsMax: NEVER, dueBy: now + LOOK_AHEAD_MS });
      this.#isFruitless = isJobDue && result.jobsStarted === 0;
      return NOW;
    }
    if (ours.length > 0) {
      planner.prepare(ours);
      const others = [seen.nextRunAt, seen.leaseEndsAt, this.#staleAt];
      const known = [...ours.map(({ nextFireTime }) => nextFireTime), ...others];
      // What is past is a job that waits for room, which no wait gives it.
      return { kind: "fire", at: Math.min(...known.map((at) => (at === null || at <= now ? NEVER : at))) };
    }
    const hasMore = this.#turnPage(seen, now);
    const idleUntil = hasMore ? now + this.#favouriteWaitMs : now + maxIdleMs;
    return { kind: "look", at: Math.min(this.#nextLookAt(seen, now), idleUntil) };
  }

  /** Where nothing of a page is this scheduler's, there may be something on the next; behind the last one, the first
   *  comes again. Each page has a pause before it: the pages can be many, and while the favourites of their schedules
   *  are at work, there is nothing to do here. Returns whether there is another page. */
  #turnPage({ due, nextFireAt }: Seen, now: number): boolean {
    const { stepper } = this.#options;
    const isLast = nextFireAt === null || nextFireAt > now + LOOK_AHEAD_MS;
    if (isLast && stepper.looksFromStart) return false;
    if (isLast) stepper.lookFromStart();
    else stepper.lookBeyond(due.at(-1));
    return true;
  }

  /** When there may be something to see again, in epoch milliseconds. */
  #nextLookAt({ due, nextFireAt, nextRunAt, leaseEndsAt }: Seen, now: number): number {
    const others = due.map(({ nextFireTime }) => Math.max(nextFireTime + this.#favouriteWaitMs, now));
    return Math.min(
      ...others,
      // What is due already is on another page.
      nextFireAt === null || nextFireAt <= now + LOOK_AHEAD_MS ? NEVER : nextFireAt - LOOK_AHEAD_MS,
      nextRunAt ?? NEVER,
      leaseEndsAt ?? NEVER,
      this.#staleAt,
    );
  }

  /** Whether a schedule is this scheduler's to plan: nobody's favourite, or its favourite has let the time pass. */
  #isOurs({ favourite, nextFireTime }: LookedSchedule, now: number): boolean {
    const { identity } = this.#options.env;
    return favourite === null || favourite === identity || now >= nextFireTime + this.#favouriteWaitMs;
  }

  async #wait({ kind, at }: Exclude<Next, { kind: "now" }>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.env;
    this.#stepsInTurn = 0;
    const startedAt = clock.now();
    if (kind === "fire") await this.#wakeup.waitExactly(at, signal);
    else await this.#wakeup.wait(at, signal);
    const now = clock.now();
    // At the instant of a fire all is known, and when a job ended or is to be added nothing else has changed. After a
    // clock was set back nobody knows what the wait was to mean.
    if ((kind === "look" && now >= at) || now < startedAt) this.#staleAt = Number.NEGATIVE_INFINITY;
    if (this.#staleAt <= now) this.#isFruitless = false;
  }
}
