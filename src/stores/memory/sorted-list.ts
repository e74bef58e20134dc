/**
 * A sorted list of distinct items, in chunks: the one index of the memory store. To add, to remove or to find an item
 * costs a binary search and the move of a part of a chunk, however long the list is; at both ends it costs less. While
 * an item is in the list, its place in the order must not change.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** No chunk is empty. */
  readonly #chunks: T[][] = [];
  #size = 0;

  /** @param compare negative when `a` comes first, and 0 for one item alone */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  get last(): T | undefined {
    return this.#chunks.at(-1)?.at(-1);
  }

  add(item: T): void {
    this.#size++;
    const chunks = this.#chunks;
    const end = chunks[chunks.length - 1];
    // Most items come in order.
    if (end === undefined || this.#compare(lastOf(end), item) < 0) {
      if (end === undefined || end.length === CHUNK_LENGTH_MAX) chunks.push([item]);
      else end.push(item);
      return;
    }
    const chunkIndex = this.#chunkOf(item);
    const chunk = chunks[chunkIndex] ?? end;
    chunk.splice(this.#placeIn(chunk, item), 0, item);
    if (chunk.length > CHUNK_LENGTH_MAX) chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK_LENGTH_MAX / 2));
  }

  /** Removes an item; does nothing when the item is not in the list. */
  delete(item: T): void {
    const isFirst = this.first === item;
    const chunkIndex = isFirst ? 0 : this.#chunkOf(item);
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) return;
    const index = isFirst ? 0 : this.#placeIn(chunk, item);
    if (chunk[index] !== item) return;
    this.#size--;
    if (chunk.length === 1) this.#chunks.splice(chunkIndex, 1);
    else if (isFirst) chunk.shift();
    else chunk.splice(index, 1);
  }

  /** The items in order, from the first one on for which `isWanted` is true, as it must be for all later ones. The list
   *  must not change meanwhile. */
  *from(isWanted: (item: T) => boolean = always): Generator<T, void, undefined> {
    let chunkIndex = firstWhere(this.#chunks, (chunk) => isWanted(lastOf(chunk)));
    let index = firstWhere(this.#chunks[chunkIndex] ?? [], isWanted);
    for (; chunkIndex < this.#chunks.length; chunkIndex++) {
      const chunk = this.#chunks[chunkIndex] ?? [];
      for (; index < chunk.length; index++) yield chunk[index] as T;
      index = 0;
    }
  }

  /** The items in the opposite order, from the last one on for which `isWanted` is true, as it must be for all earlier
   *  ones. The list must not change meanwhile. */
  *backFrom(isWanted: (item: T) => boolean = always): Generator<T, void, undefined> {
    let chunkIndex = firstWhere(this.#chunks, (chunk) => !isWanted(chunk[0] as T)) - 1;
    let index = firstWhere(this.#chunks[chunkIndex] ?? [], (item) => !isWanted(item)) - 1;
    for (; chunkIndex >= 0; chunkIndex--) {
      const chunk = this.#chunks[chunkIndex] ?? [];
      for (; index >= 0; index--) yield chunk[index] as T;
      index = (this.#chunks[chunkIndex - 1]?.length ?? 0) - 1;
    }
  }

  /** Index of the first chunk whose last item is not before this one. Written out, like {@link SortedList.#placeIn},
   *  because every job goes through both, and calls of functions cost most of that. */
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

/** Most items of a chunk: an insertion moves half of them on average. */
const CHUNK_LENGTH_MAX = 256;

function always(): boolean {
  return true;
}

function lastOf<T>(chunk: readonly T[]): T {
  return chunk[chunk.length - 1] as T;
}

/** Index of the first item for which `isWanted` is true, or the length when there is none. A binary search: `isWanted`
 *  must be true for all later items too. */
function firstWhere<T>(items: readonly T[], isWanted: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isWanted(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
