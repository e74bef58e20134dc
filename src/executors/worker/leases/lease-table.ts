import { ID_LENGTH_MAX } from "../../../records/limits.ts";

/** A lease in a {@link LeaseTable}. */
export interface TableLease {
  readonly slot: number;
  readonly jobId: string;
  readonly fence: number;
  readonly taskId: string;
}

// The layout, in 8-byte numbers: a head (the count of beats as a 32-bit integer, then the scheduler's time), then the
// slots. A slot has the fence, the instant to which the lease was extended, and its texts in UTF-16 units: both
// lengths, the job's id, the task's id.
const HEAD_NUMBERS = 2;
const NOW_AT = 1;
const TEXT_UNITS = 2 + 2 * ID_LENGTH_MAX;
const UNITS_PER_NUMBER = 4;
const SLOT_NUMBERS = 2 + Math.ceil(TEXT_UNITS / UNITS_PER_NUMBER);

/**
 * The leases of a scheduler and its heartbeat, in memory that two threads share. So a lease costs the scheduler some
 * writes into memory, and no message. The scheduler's thread writes everything but `extend`; the other one reads.
 *
 * There is no lock. The other thread may read a slot that is half written, and get an id with the fence of another
 * lease. This does no harm, because a store extends no lease whose id and fence do not fit together, and because the
 * other thread acts only when the scheduler's thread has long written nothing.
 */
export class LeaseTable {
  readonly buffer: SharedArrayBuffer;
  readonly #beats: Int32Array;
  readonly #numbers: Float64Array;
  readonly #units: Uint16Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#beats = new Int32Array(buffer, 0, 1);
    this.#numbers = new Float64Array(buffer);
    this.#units = new Uint16Array(buffer);
  }

  /** An empty table. */
  static withSlots(count: number): LeaseTable {
    return new LeaseTable(new SharedArrayBuffer((HEAD_NUMBERS + count * SLOT_NUMBERS) * 8));
  }

  /** An empty table of twice the size, which goes on with the beats. */
  successor(): LeaseTable {
    const next = LeaseTable.withSlots(2 * this.size);
    Atomics.store(next.#beats, 0, this.beats);
    next.beat(this.now);
    return next;
  }

  /** How many slots there are. */
  get size(): number {
    return (this.#numbers.length - HEAD_NUMBERS) / SLOT_NUMBERS;
  }

  /** The scheduler's event loop is alive. @param now the scheduler's time, in epoch milliseconds */
  beat(now: number): void {
    this.#numbers[NOW_AT] = now;
    Atomics.add(this.#beats, 0, 1);
  }

  /** A number that changes with each beat. */
  get beats(): number {
    return Atomics.load(this.#beats, 0);
  }

  /** The scheduler's time at the last beat, in epoch milliseconds. */
  get now(): number {
    return this.#numbers[NOW_AT] ?? 0;
  }

  put(slot: number, jobId: string, fence: number, taskId: string): void {
    const at = HEAD_NUMBERS + slot * SLOT_NUMBERS;
    this.#numbers[at] = fence;
    this.#numbers[at + 1] = 0;
    const text = (at + 2) * UNITS_PER_NUMBER;
    this.#write(text + 2, jobId);
    this.#write(text + 2 + ID_LENGTH_MAX, taskId);
    this.#units[text] = jobId.length;
    this.#units[text + 1] = taskId.length;
    // What is stored atomically takes the plain writes before it along.
    Atomics.add(this.#beats, 0, 0);
  }

  clear(slot: number): void {
    const at = HEAD_NUMBERS + slot * SLOT_NUMBERS;
    this.#units[(at + 2) * UNITS_PER_NUMBER] = 0;
  }

  /** The leases in the table, in the order of their slots. */
  held(): TableLease[] {
    const leases: TableLease[] = [];
    for (let slot = 0; slot < this.size; slot++) {
      const at = HEAD_NUMBERS + slot * SLOT_NUMBERS;
      const text = (at + 2) * UNITS_PER_NUMBER;
      const jobId = this.#read(text + 2, this.#units[text]);
      if (jobId === "") continue;
      const taskId = this.#read(text + 2 + ID_LENGTH_MAX, this.#units[text + 1]);
      leases.push({ slot, jobId, fence: this.#numbers[at] ?? 0, taskId });
    }
    return leases;
  }

  /** A lease was extended to an instant, in epoch milliseconds. */
  extend({ slot, fence }: TableLease, until: number): void {
    const at = HEAD_NUMBERS + slot * SLOT_NUMBERS;
    if (this.#numbers[at] === fence) this.#numbers[at + 1] = until;
  }

  /** The instant to which the lease in a slot was extended, in epoch milliseconds; 0 if never. */
  extendedUntil(slot: number): number {
    return this.#numbers[HEAD_NUMBERS + slot * SLOT_NUMBERS + 1] ?? 0;
  }

  #write(at: number, text: string): void {
    const length = Math.min(text.length, ID_LENGTH_MAX);
    for (let index = 0; index < length; index++) this.#units[at + index] = text.charCodeAt(index);
  }

  #read(at: number, length = 0): string {
    return String.fromCharCode(...this.#units.subarray(at, at + Math.min(length, ID_LENGTH_MAX)));
  }
}
