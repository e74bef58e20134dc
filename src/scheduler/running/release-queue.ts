import type { SerializedError } from "../../records/serialized-error.ts";
import type { JobRelease, ReleaseStatus } from "../../stores/data-store.ts";
import type { JobAttempt } from "./job-attempt.ts";

/** An attempt that ended and whose outcome the store does not know of yet. */
export interface EndedAttempt {
  readonly attempt: JobAttempt;
  readonly release: JobRelease;
  readonly error: SerializedError | null;
}

interface Item extends EndedAttempt {
  /** Whether it was part of a step whose fate is unknown: then `missing` means that the step had taken effect. */
  wasSent: boolean;
}

/** Outcomes on their way to the store, in order. */
export class ReleaseQueue {
  #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(attempt: JobAttempt, release: JobRelease, error: SerializedError | null): void {
    this.#items.push({ attempt, release, error, wasSent: false });
  }

  /** Outcomes that wait, the oldest first. They stay here until they are {@link settled} or {@link refused}. */
  waiting(): readonly EndedAttempt[] {
    return this.#items.slice();
  }

  /** It is unknown whether the step that carried these took effect. */
  unknown(batch: readonly EndedAttempt[]): void {
    const sent = new Set(batch);
    for (const item of this.#items) if (sent.has(item)) item.wasSent = true;
  }

  /** The store will never take this outcome. */
  refused(ended: EndedAttempt): void {
    this.#items = this.#items.filter((item) => item !== ended);
  }

  /** A step that carried these took effect: calls back with what became of each. */
  settled(
    batch: readonly EndedAttempt[],
    statuses: readonly ReleaseStatus[],
    report: (ended: EndedAttempt, status: ReleaseStatus) => void,
  ): void {
    const settled = new Map(batch.map((ended, index) => [ended, statuses[index] ?? "missing"]));
    const items = this.#items;
    this.#items = items.filter((item) => !settled.has(item));
    for (const item of items) {
      const status = settled.get(item);
      if (status !== undefined) report(item, status === "missing" && item.wasSent ? "released" : status);
    }
  }
}
