import { JobCancelledError, JobTimeoutError, LeaseLostError } from "../../src/core/errors.ts";
import type { JobRecord } from "../../src/records/job.ts";
import type { JobRelease, LeaseExtension, LeaseExtensionReport } from "../../src/stores/data-store.ts";
import type { Caller, History } from "./history.ts";

/** How a handler ended. */
export type AttemptEnding = "returned" | "returnedTooMuch" | "threw" | "threwForGood";

/** One run of a handler. */
export interface Attempt {
  readonly jobId: string;
  readonly fence: number;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly startedAtMs: number;
  readonly timeoutMs: number | null;
  endedAtMs: number | null;
  ending: AttemptEnding | null;
  /** When its process was told that the lease is lost, or that somebody cancelled the job. */
  toldLostMs: number | null;
  toldCancelledMs: number | null;
  /** When its lease ends, by its process's clock and for all that this knows. */
  knownUntilMs: number;
  /** Whether that had passed when it ended, or the store had taken it back: what it did no longer counts. */
  isTooLate: boolean;
  /** Whether the store was told how it ended. */
  isReported: boolean;
}

/** A handler that ignores its signal may go on, but the signal has to be aborted by then. */
const TIMEOUT_SLACK_MS = 1;

/** Every run of a handler, by job and fence, and what must hold about them. */
export class Attempts {
  readonly #history: History;
  readonly #byKey = new Map<string, Attempt>();
  readonly #running = new Map<Caller, Set<Attempt>>();

  constructor(history: History) {
    this.#history = history;
  }

  get(jobId: string, fence: number): Attempt | undefined {
    return this.#byKey.get(key(jobId, fence));
  }

  /** Forgets the attempts of a job, because another job gets its id. */
  forget(jobId: string): void {
    for (const [key, attempt] of this.#byKey) if (attempt.jobId === jobId) this.#byKey.delete(key);
  }

  start(facts: {
    job: JobRecord;
    fence: number;
    caller: Caller;
    signal: AbortSignal;
    timeoutMs: number | null;
    slots: number;
  }): Attempt {
    const { job, fence, caller, signal, timeoutMs, slots } = facts;
    const attempt: Attempt = {
      jobId: job.id,
      fence,
      caller,
      signal,
      timeoutMs,
      startedAtMs: this.#history.nowMs,
      endedAtMs: null,
      ending: null,
      toldLostMs: null,
      toldCancelledMs: null,
      knownUntilMs: job.fence === fence ? (job.acquiredUntil ?? 0) : 0,
      isTooLate: false,
      isReported: false,
    };
    const text = `job ${job.id} with fence ${fence} on ${caller.name}`;
    this.#history.trace(caller.name, `handler starts: ${job.taskId} ${job.id} fence ${fence}`);
    if (this.#byKey.has(key(job.id, fence))) this.#history.violate(`a handler was started twice for ${text}`);
    const isFirst = job.failedAttempts === 0 && job.startedFence === 0;
    const isBlocked = job.fence === fence && job.acquiredBy !== null;
    if (isBlocked && job.recoveries > 0 && job.startedFence !== fence) {
      this.#history.violate(`a handler was started before the store knew for ${text}`);
    }
    if (signal.aborted) this.#history.violate(`a handler was started with an aborted signal for ${text}`);
    // In a pool it was in time when a worker began to start for it.
    const isLate = job.startDeadline !== null && caller.clock.now() > job.startDeadline;
    if (isFirst && isLate && job.executor === "inline") {
      this.#history.violate(`a handler was started after its deadline for ${text}`);
    }
    const running = this.#running.get(caller) ?? new Set();
    // One that was lost is run elsewhere, and one that is abandoned may go on.
    const isBeside = (other: Attempt): boolean =>
      other.jobId === job.id &&
      isTimedOut(other) &&
      !other.isTooLate &&
      other.toldLostMs === null &&
      caller.lastTroubleMs < other.startedAtMs &&
      this.#history.nowMs < other.startedAtMs + (other.timeoutMs ?? 0) + caller.leaseMs;
    if (job.executor === "inline" && caller.isResident && [...running].some(isBeside)) {
      this.#history.violate(`a handler was started beside the one before for ${text}`);
    }
    running.add(attempt);
    this.#running.set(caller, running);
    const busy = [...running].filter((other) => !other.signal.aborted).length;
    if (busy > slots) this.#history.violate(`${caller.name} runs ${busy} jobs at once, and may run ${slots}`);
    this.#byKey.set(key(job.id, fence), attempt);
    return attempt;
  }

  end(attempt: Attempt, ending: AttemptEnding): void {
    attempt.endedAtMs = this.#history.nowMs;
    attempt.ending = ending;
    if (attempt.caller.clock.now() >= attempt.knownUntilMs) attempt.isTooLate = true;
    this.#running.get(attempt.caller)?.delete(attempt);
    this.#history.trace(attempt.caller.name, `handler ${ending}: ${attempt.jobId} fence ${attempt.fence}`);
    this.#checkSignal(attempt);
  }

  /** An answer of the store told a process that leases are lost, or jobs to be cancelled. */
  told(caller: Caller, extension: LeaseExtension, report: LeaseExtensionReport): void {
    const { lost, cancelRequested: cancelled } = report;
    const untilMs = extension.until;
    for (const { jobId, fence } of extension.jobs) {
      const attempt = this.get(jobId, fence);
      if (attempt === undefined || attempt.caller !== caller || attempt.endedAtMs !== null) continue;
      if (lost.includes(jobId)) attempt.toldLostMs ??= this.#history.nowMs;
      else attempt.knownUntilMs = untilMs;
      if (cancelled.includes(jobId)) attempt.toldCancelledMs ??= this.#history.nowMs;
    }
  }

  /** The store took a lease back: what its holder does from now on does not count, reported or not. */
  leaseEnded(jobId: string, fence: number): void {
    const attempt = this.get(jobId, fence);
    if (attempt !== undefined && attempt.endedAtMs === null) attempt.isTooLate = true;
  }

  reported(caller: Caller, release: JobRelease): void {
    const attempt = this.get(release.jobId, release.fence);
    if (attempt !== undefined && attempt.caller === caller) attempt.isReported = true;
  }

  /** What must hold when everything has come to rest. */
  checkAtRest(): void {
    for (const attempt of this.#byKey.values()) {
      this.#checkSignal(attempt);
      if (attempt.ending === null || attempt.isTooLate || attempt.isReported || !attempt.caller.isAlive) continue;
      if (attempt.signal.aborted && attempt.signal.reason instanceof LeaseLostError) continue;
      this.#history.violate(
        `the outcome of job ${attempt.jobId} with fence ${attempt.fence} was never reported by ${attempt.caller.name}`,
      );
    }
  }

  /** A running handler has to know what its process was told, and of its timeout. */
  #checkSignal(attempt: Attempt): void {
    if (!attempt.caller.isAlive || attempt.signal.aborted) return;
    const until = attempt.endedAtMs ?? this.#history.nowMs;
    const text = `job ${attempt.jobId} with fence ${attempt.fence} on ${attempt.caller.name}`;
    if (attempt.toldLostMs !== null && until > attempt.toldLostMs) {
      this.#history.violate(`the lost lease did not abort ${text}`);
    }
    if (attempt.toldCancelledMs !== null && until > attempt.toldCancelledMs) {
      this.#history.violate(`the cancellation did not abort ${text}`);
    }
    const { timeoutMs, startedAtMs, caller } = attempt;
    const isCalm = caller.lastTroubleMs < startedAtMs;
    if (timeoutMs !== null && isCalm && until - startedAtMs > timeoutMs + TIMEOUT_SLACK_MS) {
      this.#history.violate(`the timeout did not abort ${text}`);
    }
  }
}

/** Whether the signal says that the attempt ran out of time. */
export function isTimedOut(attempt: Attempt): boolean {
  return attempt.signal.aborted && attempt.signal.reason instanceof JobTimeoutError;
}

export function isCancelled(attempt: Attempt): boolean {
  return attempt.signal.aborted && attempt.signal.reason instanceof JobCancelledError;
}

function key(jobId: string, fence: number): string {
  return `${jobId} ${fence}`;
}
