import { LeaseTable } from "./lease-table.ts";

/** Slots of the first table. Most schedulers run no more than `maxConcurrentJobs` (100) jobs, and some of theirs may
 *  wait for their release. */
const SLOTS_AT_FIRST = 128;

/** The scheduler's side of a {@link LeaseTable}: which lease is in which slot. A table that is full is replaced by one
 *  of twice its size. */
export class HeldLeases {
  #table = LeaseTable.withSlots(SLOTS_AT_FIRST);
  /** The slot and the fence of each lease, by the id of its job. */
  readonly #places = new Map<string, { readonly slot: number; readonly fence: number; readonly taskId: string }>();
  readonly #free: number[] = [];
  /** How many slots were ever in use. */
  #used = 0;
  readonly #onGrown: (table: LeaseTable) => void;

  /** @param onGrown called with the table that takes the place of the one before */
  constructor(onGrown: (table: LeaseTable) => void) {
    this.#onGrown = onGrown;
  }

  get table(): LeaseTable {
    return this.#table;
  }

  hold(jobId: string, fence: number, taskId: string): void {
    const slot = this.#places.get(jobId)?.slot ?? this.#free.pop() ?? this.#used++;
    if (slot === this.#table.size) this.#grow();
    this.#places.set(jobId, { slot, fence, taskId });
    this.#table.put(slot, jobId, fence, taskId);
  }

  drop(jobId: string, fence: number): void {
    const place = this.#places.get(jobId);
    if (place?.fence !== fence) return;
    this.#places.delete(jobId);
    this.#table.clear(place.slot);
    this.#free.push(place.slot);
  }

  heldUntil(jobId: string, fence: number): number {
    const place = this.#places.get(jobId);
    return place?.fence === fence ? this.#table.extendedUntil(place.slot) : 0;
  }

  #grow(): void {
    const before = this.#table;
    this.#table = before.successor();
    for (const [jobId, { slot, fence, taskId }] of this.#places) {
      this.#table.put(slot, jobId, fence, taskId);
      this.#table.extend({ slot, jobId, fence, taskId }, before.extendedUntil(slot));
    }
    this.#onGrown(this.#table);
  }
}
