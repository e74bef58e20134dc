import type { RecordPage } from "../data-store.ts";
import { PAGE_BYTES_MAX } from "../shared/limits.ts";
import { sizeOf } from "../shared/size-of.ts";
import { SortedList } from "./sorted-list.ts";

interface Source<E> {
  readonly rest: Iterator<E>;
  readonly next: E;
  /** The place among the sources. */
  readonly place: number;
}

/** The entries of several lists in one order. Each list has that order. A list costs a logarithm of their number. */
export function* merged<E>(lists: readonly Iterable<E>[], compare: (a: E, b: E) => number): Generator<E> {
  const sources = new SortedList<Source<E>>((a, b) => compare(a.next, b.next) || a.place - b.place);
  const advance = (rest: Iterator<E>, place: number): void => {
    const { done, value } = rest.next();
    if (done !== true) sources.add({ rest, next: value, place });
  };
  for (const [place, list] of lists.entries()) advance(list[Symbol.iterator](), place);
  for (let source = sources.first; source !== undefined; source = sources.first) {
    yield source.next;
    sources.delete(source);
    advance(source.rest, source.place);
  }
}

/** A page of the records of entries, which begin after the page before. */
export function pageOf<E, R>(
  entries: Iterable<E>,
  limit: number,
  { matches, recordOf, cursorOf }: PageRules<E, R>,
): RecordPage<R> {
  const items: R[] = [];
  let last: E | undefined;
  let size = 0;
  for (const entry of entries) {
    if (!matches(entry)) continue;
    const record = recordOf(entry);
    size += sizeOf(record);
    // An entry too many: there is another page.
    const isFull = items.length === limit || size > PAGE_BYTES_MAX;
    if (isFull && last !== undefined) return { items, cursor: cursorOf(last) };
    items.push(record);
    last = entry;
  }
  return { items, cursor: null };
}

export interface PageRules<E, R> {
  readonly matches: (entry: E) => boolean;
  /** A copy for the reader. */
  readonly recordOf: (entry: E) => R;
  readonly cursorOf: (entry: E) => string;
}
