import { type Clock, sleepFor } from "../../core/clock.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { QUARANTINE_FACTOR, QUARANTINE_MS, QUARANTINE_MS_MAX } from "./limits.ts";

/** What a {@link Quarantine} does with the attempt that comes next. */
export interface QuarantineSteps {
  /** The store is to be told that the attempt is about to start. */
  announce(attempt: JobAttempt): void;
  /** The attempt runs, or ends at once when it was aborted. */
  run(attempt: JobAttempt): void;
}

/**
 * Attempts of jobs that were lost with their process before: each may be what ended that process. They start one after
 * the other, each only when the store knows that it starts. So a job that ends its process again is lost alone, and
 * those that waited behind it have lost nothing. After a while in which nothing happened the next one starts too.
 */
export class Quarantine {
  readonly #clock: Clock;
  readonly #steps: QuarantineSteps;
  readonly #waiting = new Set<JobAttempt>();
  /** The one that starts, or that has just started. */
  #first: JobAttempt | null = null;
  #isAnnounced = false;
  #alone: AbortController | null = null;

  constructor(clock: Clock, steps: QuarantineSteps) {
    this.#clock = clock;
    this.#steps = steps;
  }

  /** The attempts that have not had their turn. */
  get waiting(): Iterable<JobAttempt> {
    return this.#waiting;
  }

  /** The attempts that have not started: those that wait, and the one that the store is to be told of. */
  get unstarted(): readonly JobAttempt[] {
    const announced = this.#isAnnounced && this.#first !== null ? [this.#first] : [];
    return [...announced, ...this.#waiting];
  }

  add(attempt: JobAttempt): void {
    this.#waiting.add(attempt);
    this.#next();
  }

  /** The store knows that the attempt starts, or will never know (`isKnown` is false). */
  announced(attempt: JobAttempt, isKnown: boolean): void {
    if (this.#first !== attempt || !this.#isAnnounced) return;
    this.#isAnnounced = false;
    this.#steps.run(attempt);
    if (isKnown && this.#first === attempt) void this.#leaveAlone(attempt);
    else this.ended(attempt);
  }

  /** An attempt has ended. */
  ended(attempt: JobAttempt): void {
    if (this.#first !== attempt) return;
    this.#first = null;
    this.#alone?.abort();
    this.#next();
  }

  /** Ends the attempts that were aborted before they started. @returns those of them that were announced */
  flush(): JobAttempt[] {
    const announced: JobAttempt[] = [];
    for (const attempt of this.#waiting) {
      if (!attempt.isAborted) continue;
      this.#waiting.delete(attempt);
      this.#steps.run(attempt);
    }
    const first = this.#first;
    if (first?.isAborted === true && this.#isAnnounced) {
      announced.push(first);
      this.announced(first, false);
    }
    return announced;
  }

  #next(): void {
    for (const attempt of this.#waiting) {
      if (this.#first !== null) return;
      this.#waiting.delete(attempt);
      if (attempt.isAborted) {
        this.#steps.run(attempt);
      } else {
        this.#first = attempt;
        this.#isAnnounced = true;
        this.#steps.announce(attempt);
      }
    }
  }

  /** The more often a job was lost, the longer the others wait. */
  async #leaveAlone(attempt: JobAttempt): Promise<void> {
    this.#alone = new AbortController();
    const { signal } = this.#alone;
    const ms = QUARANTINE_MS * QUARANTINE_FACTOR ** (attempt.job.recoveries - 1);
    await sleepFor(this.#clock, Math.min(ms, QUARANTINE_MS_MAX), signal);
    if (!signal.aborted) this.ended(attempt);
  }
}
