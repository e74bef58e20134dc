/** An item that knows its place in the one heap it is in; -1 outside. */
export interface HeapItem {
  heapIndex: number;
}

/** A binary min-heap from which any item can be taken in O(log n), as each knows its index. */
export class Heap<T extends HeapItem> {
  /** Comparisons that all heaps made so far: a test counts them, where a time would depend on the machine. */
  static comparisons = 0;
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    item.heapIndex = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Takes the item out; does nothing when it is in no heap. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#items[index] = last;
    last.heapIndex = index;
    this.#up(last);
    this.#down(last);
  }

  #up(item: T): void {
    const items = this.#items;
    let index = item.heapIndex;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex] as T;
      Heap.comparisons++;
      if (!this.#isBefore(item, parent)) break;
      items[index] = parent;
      parent.heapIndex = index;
      index = parentIndex;
    }
    items[index] = item;
    item.heapIndex = index;
  }

  #down(item: T): void {
    const items = this.#items;
    let index = item.heapIndex;
    for (;;) {
      let childIndex = 2 * index + 1;
      const left = items[childIndex];
      if (left === undefined) break;
      let child = left;
      const right = items[childIndex + 1];
      Heap.comparisons += 2;
      if (right !== undefined && this.#isBefore(right, left)) {
        child = right;
        childIndex++;
      }
      if (!this.#isBefore(child, item)) break;
      items[index] = child;
      child.heapIndex = index;
      index = childIndex;
    }
    items[index] = item;
    item.heapIndex = index;
  }
}
