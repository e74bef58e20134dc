/** An item that knows its place in the heap that holds it; -1 when no heap does. An item is in one heap at a time. */
export interface HeapItem {
  heapIndex: number;
}

/**
 * A priority queue from which any item can be taken. Items that come in order stand in a sorted run, where adding and
 * taking cost O(1). Jobs and leases nearly always come in order. The other items stand in a binary min-heap, where
 * adding and taking cost O(log n).
 */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;
  /** The sorted run. It has holes where items were taken; the places at `#head` and at the end are no holes. */
  #run: (T | undefined)[] = [];
  /** Where the run begins. The places before it are unused. */
  #head = 0;
  #runSize = 0;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length + this.#runSize;
  }

  peek(): T | undefined {
    const first = this.#run[this.#head];
    const root = this.#items[0];
    if (first === undefined || root === undefined) return first ?? root;
    return this.#isBefore(root, first) ? root : first;
  }

  push(item: T): void {
    const last = this.#run[this.#run.length - 1];
    if (last === undefined || !this.#isBefore(item, last)) {
      item.heapIndex = runIndex(this.#run.length);
      this.#run.push(item);
      this.#runSize++;
      return;
    }
    item.heapIndex = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  pop(): T | undefined {
    const first = this.peek();
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Takes an item out; does nothing when no heap holds the item. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index === -1) return;
    item.heapIndex = -1;
    if (index < -1) {
      this.#removeFromRun(runIndex(index));
      return;
    }
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#items[index] = last;
    last.heapIndex = index;
    this.#up(last);
    this.#down(last);
  }

  #removeFromRun(place: number): void {
    const run = this.#run;
    run[place] = undefined;
    this.#runSize--;
    if (this.#runSize === 0) {
      run.length = 0;
      this.#head = 0;
      return;
    }
    while (run[this.#head] === undefined) this.#head++;
    while (run[run.length - 1] === undefined) run.pop();
    // More than half of the places are unused. So each item that is moved has been paid for by an item that was taken.
    if (run.length > 2 * this.#runSize + RUN_WASTE_MAX) this.#compact();
  }

  #compact(): void {
    const items: T[] = [];
    for (const item of this.#run) {
      if (item === undefined) continue;
      item.heapIndex = runIndex(items.length);
      items.push(item);
    }
    this.#run = items;
    this.#head = 0;
  }

  #up(item: T): void {
    const items = this.#items;
    let index = item.heapIndex;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex] as T;
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

/** Unused places in a run that are too few to be worth a move. */
const RUN_WASTE_MAX = 64;

/** The `heapIndex` of a place in the run, and the place of such a `heapIndex`: the function is its own inverse. Places
 *  in the run are less than -1, places in the binary heap are 0 or more. */
function runIndex(place: number): number {
  return -2 - place;
}
