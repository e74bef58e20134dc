import { timerHost } from "../../core/timer-host.ts";
import type { Environment } from "../environment.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { LAG_BEATS_PER_LEASE, LAG_TOLD_MS } from "./limits.ts";

/** Most tasks that a warning names. */
const NAMES_MAX = 5;

/** Warns when the event loop stood still for more than a third of a lease while jobs ran, because leases that are not
 *  extended in time are lost, and because nothing else of the scheduler goes on. It measures how late a timer of its
 *  own is, and has that timer only while jobs run. */
export class LagWatch {
  readonly #env: Environment;
  readonly #running: () => Iterable<JobAttempt>;
  readonly #hasGuard: boolean;
  /** Tasks whose handlers ran in this thread since the timer was set. One that held the loop may have ended by now. */
  readonly #suspects = new Set<string>();
  #signal: AbortSignal | null = null;
  #isWatching = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** How often the loop stood still since that was told, and the longest time, in milliseconds. */
  #untold = { count: 0, longestMs: 0 };

  /** @param hasGuard whether a lease thread keeps the leases */
  constructor(env: Environment, running: () => Iterable<JobAttempt>, hasGuard: boolean) {
    this.#env = env;
    this.#hasGuard = hasGuard;
    this.#running = running;
  }

  /** Watches whenever jobs run, until the signal is aborted. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
  }

  /** An attempt begins. */
  begins(attempt: JobAttempt): void {
    const signal = this.#signal;
    if (signal === null || signal.aborted) return;
    if (attempt.runsHere) this.#suspects.add(attempt.task.record.id);
    if (!this.#isWatching) void this.#watch(signal);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, leaseMs } = this.#env;
    this.#isWatching = true;
    for (let hasJobs = true; hasJobs && !signal.aborted; ) {
      const beatMs = leaseMs / LAG_BEATS_PER_LEASE;
      const wakesAt = clock.now() + beatMs;
      const begunAt = timerHost.elapsed();
      await clock.sleep(wakesAt, signal);
      // A clock that was set ahead is no loop that stood still. A virtual one lacks `every`, and has no other time.
      const elapsedMs = clock.every === undefined ? Number.POSITIVE_INFINITY : timerHost.elapsed() - begunAt;
      const lagMs = Math.min(clock.now() - wakesAt, elapsedMs - beatMs);
      if (lagMs > leaseMs / 3 && !signal.aborted) this.#stoodStill(lagMs);
      this.#suspects.clear();
      hasJobs = false;
      for (const attempt of this.#running()) {
        hasJobs = true;
        if (attempt.runsHere) this.#suspects.add(attempt.task.record.id);
      }
    }
    this.#isWatching = false;
  }

  #stoodStill(lagMs: number): void {
    const { clock, leaseMs, logger } = this.#env;
    this.#untold.count++;
    this.#untold.longestMs = Math.max(this.#untold.longestMs, lagMs);
    const now = clock.now();
    if (now - this.#toldAt < LAG_TOLD_MS) return;
    const { count, longestMs } = this.#untold;
    this.#toldAt = now;
    this.#untold = { count: 0, longestMs: 0 };
    const times = count === 1 ? "" : ` ${count} times, at the longest`;
    const longest = Math.round(longestMs / 100) / 10;
    const ids = [...this.#suspects];
    const names = ids.slice(0, NAMES_MAX).map((id) => `"${id}"`);
    const who =
      ids.length === 0 ? "no handler" : `handlers of ${names.join(", ")}${ids.length > NAMES_MAX ? ", ..." : ""}`;
    const isKept = this.#hasGuard && [...this.#running()].every(({ leaseEndsAt }) => leaseEndsAt > now);
    const effect = isKept
      ? "the lease thread kept the leases, but no other job, fire or timeout had its turn"
      : `jobs whose leases (${leaseMs / 1000} s) end run again elsewhere`;
    logger.warn(
      `escapement: the event loop stood still${times} for ${longest} s, while ${who} ran in this thread; ${effect}: ` +
        "let long work yield, or run it in an executor with threads",
    );
  }
}
