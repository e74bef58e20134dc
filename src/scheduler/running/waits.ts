import type { JobAttempt } from "./job-attempt.ts";

/** A wait of a handler for the end of another job. */
export interface Wait {
  /** Which job is waited for. It is known when the job was added. */
  for(jobId: string): void;
  /** The wait is over. Idempotent. */
  end(): void;
}

/** Which running attempts wait for other jobs, so that they need no slot of their own meanwhile. */
export class Waits {
  readonly #countOf = new Map<JobAttempt, number>();
  readonly #byJobId = new Map<string, Set<Wait>>();
  readonly #onKnown: () => void;

  /** @param onKnown called when a job that a handler waits for was added */
  constructor(onKnown: () => void) {
    this.#onKnown = onKnown;
  }

  /** How many attempts wait. */
  get size(): number {
    return this.#countOf.size;
  }

  begin(attempt: JobAttempt): Wait {
    let awaitedId: string | null = null;
    let isOver = false;
    const wait: Wait = {
      for: (jobId) => {
        if (isOver || awaitedId !== null) return;
        awaitedId = jobId;
        const waits = this.#byJobId.get(jobId) ?? new Set();
        this.#byJobId.set(jobId, waits.add(wait));
        this.#onKnown();
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        const left = (this.#countOf.get(attempt) ?? 1) - 1;
        if (left > 0) this.#countOf.set(attempt, left);
        else this.#countOf.delete(attempt);
        const waits = awaitedId === null ? undefined : this.#byJobId.get(awaitedId);
        waits?.delete(wait);
        if (awaitedId !== null && waits?.size === 0) this.#byJobId.delete(awaitedId);
      },
    };
    this.#countOf.set(attempt, (this.#countOf.get(attempt) ?? 0) + 1);
    return wait;
  }

  /** A job has ended here: whoever waits for it goes on. */
  ended(jobId: string): void {
    const waits = this.#byJobId.get(jobId);
    if (waits !== undefined) for (const wait of [...waits]) wait.end();
  }

  /** An attempt has ended, whatever it still waits for. */
  forget(attempt: JobAttempt): void {
    this.#countOf.delete(attempt);
  }
}
