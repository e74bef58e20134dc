import type { SerializedError } from "../../records/serialized-error.ts";
import type { JobRelease, ReleaseStatus } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import type { JobAttempt } from "./job-attempt.ts";

/** An attempt that ended and whose outcome the store does not know of yet. */
export interface EndedAttempt {
  readonly attempt: JobAttempt;
  readonly release: JobRelease;
  readonly error: SerializedError | null;
}

interface Item extends EndedAttempt {
  /** Whether it was part of a commit whose fate is unknown: then `missing` means that the commit had taken effect. */
  wasSent: boolean;
}

/**
 * Outcomes on their way to the store, in order. A commit that the store refuses for another reason than an outage may
 * hold one outcome that it cannot take: the next commits are halved until that one stands alone, and it is left out. So
 * one bad row never stops the others.
 */
export class ReleaseQueue {
  readonly #env: Environment;
  #items: Item[] = [];
  #batchMax = Number.POSITIVE_INFINITY;

  constructor(env: Environment) {
    this.#env = env;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Whether the store refused the last commit: then it is tried again alone, without an acquisition. */
  get isSuspect(): boolean {
    return this.#items.length > 0 && this.#batchMax !== Number.POSITIVE_INFINITY;
  }

  add(attempt: JobAttempt, release: JobRelease, error: SerializedError | null): void {
    this.#items.push({ attempt, release, error, wasSent: false });
  }

  /** What the next commit carries. It stays here until it is {@link settled}. */
  next(): readonly EndedAttempt[] {
    return this.#items.slice(0, this.#batchMax);
  }

  /** The commit of a batch failed; with `wasRefused`, not for an outage. `wasAlone`: it carried nothing else. */
  failed(batch: readonly EndedAttempt[], wasRefused: boolean, wasAlone: boolean): void {
    for (const item of this.#items.slice(0, batch.length)) item.wasSent = true;
    if (!wasRefused || batch.length === 0) return;
    if (batch.length > 1 || !wasAlone) {
      this.#batchMax = wasAlone ? Math.ceil(batch.length / 2) : batch.length;
      return;
    }
    const [refused] = this.#items.splice(0, 1);
    this.#batchMax = Number.POSITIVE_INFINITY;
    this.#env.logger.error(
      `escapement: the store refuses the outcome of job ${refused?.release.jobId}; it runs again when its lease ends`,
    );
  }

  /** The commit of a batch took effect: calls back with what became of each release. */
  settled(
    batch: readonly EndedAttempt[],
    statuses: readonly ReleaseStatus[],
    report: (status: ReleaseStatus, index: number) => void,
  ): void {
    const items = this.#items.slice(0, batch.length);
    this.#items = this.#items.slice(batch.length);
    if (batch.length > 0) this.#batchMax = Number.POSITIVE_INFINITY;
    items.forEach(({ wasSent }, index) => {
      const status = statuses[index] ?? "missing";
      report(status === "missing" && wasSent ? "released" : status, index);
    });
  }
}
