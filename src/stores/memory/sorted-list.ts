/**
 * A sorted list of distinct items, in chunks. To add, to remove or to find an item costs a binary search and the move
 * of half a chunk, however long the list is. While an item is in the list, its place in the order must not change.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** No chunk is empty. */
  readonly #chunks: T[][] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  get first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  add(item: T): void {
    // Most items come in order.
    const end = this.#chunks[this.#chunks.length - 1];
    if (end !== undefined && end.length < CHUNK_LENGTH_MAX && this.#compare(lastOf(end), item) < 0) {
      end.push(item);
      return;
    }
    // An item that comes after all others goes into the last chunk.
    const chunkIndex = Math.min(this.#chunkOf(item), Math.max(this.#chunks.length - 1, 0));
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(this.#placeIn(chunk, item), 0, item);
    if (chunk.length > CHUNK_LENGTH_MAX) this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK_LENGTH_MAX / 2));
  }

  /** Removes an item; does nothing when the item is not in the list. */
  remove(item: T): void {
    const chunkIndex = this.#chunkOf(item);
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) return;
    const index = this.#placeIn(chunk, item);
    if (chunk[index] !== item) return;
    if (chunk.length > 1) chunk.splice(index, 1);
    else this.#chunks.splice(chunkIndex, 1);
  }

  /** Calls `visit` with the items in order, until `visit` returns false. Begins at the first item for which `isAfter`
   *  is true. `isAfter` must be true for all later items too. */
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

  /** Calls `visit` with the items in the opposite order, until `visit` returns false. Begins at the last item for which
   *  `isBefore` is true. `isBefore` must be true for all earlier items too. */
  visitBackFrom(isBefore: (item: T) => boolean, visit: (item: T) => boolean): void {
    let chunkIndex = firstWhere(this.#chunks, (chunk) => !isBefore(chunk[0] as T)) - 1;
    let chunk = this.#chunks[chunkIndex];
    let index = chunk === undefined ? -1 : firstWhere(chunk, (item) => !isBefore(item)) - 1;
    while (chunk !== undefined) {
      for (; index >= 0; index--) {
        if (!visit(chunk[index] as T)) return;
      }
      chunk = this.#chunks[--chunkIndex];
      index = (chunk?.length ?? 0) - 1;
    }
  }

  /** Index of the first chunk whose last item is not before this one. Written out, like {@link SortedList.#placeIn},
   *  because schedules go through both twice at every fire, and calls of functions cost most of that. */
  #chunkOf(item: T): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(lastOf(chunks[middle] as T[]), item) >= 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Index of the first item of a chunk that is not before this one. */
  #placeIn(chunk: readonly T[], item: T): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(chunk[middle] as T, item) >= 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

const CHUNK_LENGTH_MAX = 256;

function lastOf<T>(chunk: readonly T[]): T {
  return chunk[chunk.length - 1] as T;
}

/** Index of the first item for which `isRight` is true, or the length when there is none. A binary search: `isRight`
 *  must be true for all later items too. */
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
