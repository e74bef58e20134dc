import { JobCancelledError, JobTimeoutError, LeaseLostError, SchedulerStateError } from "../../core/errors.ts";

/** One flag per call that a worker runs at a time, in memory that both sides share, so that a handler that never
 *  returns to its event loop learns that it is to end. A flag says why, because no message arrives there. */
export class AbortFlags {
  readonly memory: SharedArrayBuffer;
  readonly #flags: Int32Array;

  /** @param memory of the other side, or the number of calls for which to make some */
  constructor(memory: SharedArrayBuffer | number) {
    this.memory = typeof memory === "number" ? new SharedArrayBuffer(memory * Int32Array.BYTES_PER_ELEMENT) : memory;
    this.#flags = new Int32Array(this.memory);
  }

  clear(slot: number): void {
    Atomics.store(this.#flags, slot, 0);
  }

  raise(slot: number, reason: unknown): void {
    Atomics.store(this.#flags, slot, wordOf(reason));
  }

  /** Why the call is to end; null when it is not to end. */
  reasonAt(slot: number): Error | null {
    const word = Atomics.load(this.#flags, slot);
    return word === 0 ? null : reasonOf(word);
  }
}

const REASONS = [JobTimeoutError, JobCancelledError, LeaseLostError, SchedulerStateError] as const;
const TEXTS = ["ran longer than its timeout", "was cancelled", "lost its lease", "is given up: the scheduler stops"];

/** The index of the reason's class plus 1; for any other reason, a number after them. */
function wordOf(reason: unknown): number {
  const index = REASONS.findIndex((Class) => reason instanceof Class);
  return index === -1 ? REASONS.length + 1 : index + 1;
}

function reasonOf(word: number): Error {
  const Class = REASONS[word - 1];
  return Class === undefined ? new Error("the job is to end early") : new Class(`the job ${TEXTS[word - 1]}`);
}
