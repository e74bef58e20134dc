import type { AttemptRecord } from "../../records/attempt.ts";
import type { JobLogRecord } from "../../records/job-log.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import type { JobRelease, ReleaseStatus } from "../../stores/data-store.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { RELEASE_LENGTH_PER_COMMIT_MAX, RELEASES_PER_COMMIT_MAX } from "./limits.ts";

/** An attempt that has ended, and whose outcome the store does not know yet; or one that is about to start (its release
 *  is a `start`). */
export interface EndedAttempt {
  readonly attempt: JobAttempt;
  readonly release: JobRelease;
  readonly error: SerializedError | null;
}

interface Item extends EndedAttempt {
  /** Whether a commit of unknown fate carried this outcome. If so, the status `missing` means that this commit took
   *  effect. */
  wasSent: boolean;
  /** What the store said of the outcome; null before that. */
  status: ReleaseStatus | null;
}

/** Outcomes on their way to the store, in order. */
export class ReleaseQueue {
  #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(attempt: JobAttempt, release: JobRelease, error: SerializedError | null): void {
    this.#items.push({ attempt, release, error, wasSent: false, status: null });
  }

  /** Outcomes that wait, the oldest first. They wait until they are {@link settled} or {@link refused}. */
  waiting(): readonly EndedAttempt[] {
    return this.#items.slice();
  }

  /** The oldest outcomes that fit into one commit; at least one, if any waits. */
  next(): readonly EndedAttempt[] {
    let length = 0;
    const end = this.#items.findIndex(({ release }, place) => {
      length += lengthOf(release);
      return place === RELEASES_PER_COMMIT_MAX || (place > 0 && length > RELEASE_LENGTH_PER_COMMIT_MAX);
    });
    return end === -1 ? this.waiting() : this.#items.slice(0, end);
  }

  /** Another outcome takes the place of one that the store will never take. No commit has carried it. */
  replaced(ended: EndedAttempt, release: JobRelease, error: SerializedError | null): void {
    this.#items = this.#items.map((item) =>
      item === ended ? { attempt: item.attempt, release, error, wasSent: false, status: null } : item,
    );
  }

  /** A commit carried these outcomes, and it is unknown whether the commit took effect. */
  unknown(batch: readonly EndedAttempt[]): void {
    const sent = new Set(batch);
    for (const item of this.#items) if (sent.has(item)) item.wasSent = true;
  }

  /** The store refused these outcomes together, for good: no commit that carried them took effect, or ever will. */
  notTaken(batch: readonly EndedAttempt[]): void {
    const refused = new Set(batch);
    for (const item of this.#items) if (refused.has(item)) item.wasSent = false;
  }

  /** The store will never take this outcome. */
  refused(ended: EndedAttempt): void {
    this.#items = this.#items.filter((item) => item !== ended);
  }

  /** The attempt ends before it has started. */
  withdrawStart(attempt: JobAttempt): void {
    this.#items = this.#items.filter((item) => item.attempt !== attempt || item.release.kind !== "start");
  }

  /** A commit that carried these outcomes took effect: reports the status of each outcome. */
  settled(
    batch: readonly EndedAttempt[],
    statuses: readonly ReleaseStatus[],
    report: (ended: EndedAttempt, status: ReleaseStatus) => void,
  ): void {
    // Marked, because a Map of the batch would cost every job time.
    for (const [index, ended] of batch.entries()) (ended as Item).status = statuses[index] ?? "missing";
    const items = this.#items;
    this.#items = items.filter(({ status }) => status === null);
    for (const item of items) {
      const { status } = item;
      const isReleased = status === "missing" && item.wasSent && item.release.kind !== "start";
      if (status !== null) report(item, isReleased ? "released" : status);
    }
  }
}

/** Characters of the texts that a release carries, about. */
function lengthOf(release: JobRelease): number {
  return lengthOfOutcome(release) + (release.log === undefined ? 0 : logLength(release.log));
}

/** About, because a line is read once more when it is written. */
function logLength({ lines }: JobLogRecord): number {
  return lines.reduce((sum, { message, fields }) => sum + message.length + (fields === undefined ? 0 : 200), 0);
}

function lengthOfOutcome(release: JobRelease): number {
  if (release.kind === "retry") return historyLength(release.attemptHistory);
  if (release.kind !== "finish") return 0;
  const { returnValue, error, job, attemptHistory } = release.result;
  const texts = (returnValue?.length ?? 0) + (job?.payload?.length ?? 0);
  return texts + (error === null ? 0 : errorLength(error)) + historyLength(attemptHistory);
}

function historyLength(attempts: readonly AttemptRecord[] | undefined): number {
  return attempts === undefined ? 0 : attempts.reduce((sum, { error }) => sum + errorLength(error), 0);
}

function errorLength({ message, stack = "" }: SerializedError): number {
  return message.length + stack.length;
}
