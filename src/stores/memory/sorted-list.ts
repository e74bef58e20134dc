/**
 * A sorted list of distinct items, in chunks, so that adding, taking and finding a place cost a binary search and the
 * move of half a chunk, however long the list is. An item's place in the order must not change while it is in the list.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** None is empty. */
  readonly #chunks: T[][] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  add(item: T): void {
    const isAfter = this.#isNotBefore(item);
    const place = firstWhere(this.#chunks, (chunk) => isAfter(lastOf(chunk)));
    // Behind everything: the last chunk takes it.
    const chunkIndex = Math.min(place, Math.max(this.#chunks.length - 1, 0));
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(firstWhere(chunk, isAfter), 0, item);
    if (chunk.length > CHUNK_LENGTH_MAX) this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK_LENGTH_MAX / 2));
  }

  /** Takes the item out; does nothing when it is not in the list. */
  remove(item: T): void {
    const isAfter = this.#isNotBefore(item);
    const chunkIndex = firstWhere(this.#chunks, (chunk) => isAfter(lastOf(chunk)));
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) return;
    const index = firstWhere(chunk, isAfter);
    if (chunk[index] !== item) return;
    if (chunk.length > 1) chunk.splice(index, 1);
    else this.#chunks.splice(chunkIndex, 1);
  }

  /** Calls back with the items in order until `visit` is false, from the first one on for which `isAfter` is true: it
   *  is false for the items before, and true for all behind. */
  visitFrom(isAfter: (item: T) => boolean, visit: (item: T) => boolean): void {
    let chunkIndex = firstWhere(this.#chunks, (chunk) => isAfter(lastOf(chunk)));
    let chunk = this.#chunks[chunkIndex];
    let index = chunk === undefined ? 0 : firstWhere(chunk, isAfter);
    while (chunk !== undefined) {
      for (; index < chunk.length; index++) {
        if (!visit(chunk[index] as T)) return;
      }
      chunk = this.#chunks[++chunkIndex];
      index = 0;
    }
  }

  #isNotBefore(item: T): (other: T) => boolean {
    return (other) => this.#compare(other, item) >= 0;
  }
}

const CHUNK_LENGTH_MAX = 256;

function lastOf<T>(chunk: readonly T[]): T {
  return chunk[chunk.length - 1] as T;
}

/** Index of the first item for which `isRight` is true, or the length: binary search. */
function firstWhere<T>(items: readonly T[], isRight: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isRight(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
