import { compareTexts } from "../../core/text.ts";
import type { RecordPage } from "../data-store.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The order of a list. No two records have the same place in it. */
export interface PageOrder<R> {
  isBefore(a: R, b: R): boolean;
  /** Tells whether a record comes after the end of the page that gave this cursor. */
  after(cursor: string): (record: R) => boolean;
  cursorOf(record: R): string;
}

interface Identified {
  readonly id: string;
}

export const BY_ID: PageOrder<Identified> = Object.freeze({
  isBefore: (a: Identified, b: Identified): boolean => compareTexts(a.id, b.id) < 0,
  after: (cursor: string) => (record: Identified) => compareTexts(record.id, cursor) > 0,
  cursorOf: ({ id }: Identified): string => id,
});

export const BY_ID_BACKWARDS: PageOrder<Identified> = Object.freeze({
  isBefore: (a: Identified, b: Identified): boolean => compareTexts(a.id, b.id) > 0,
  after: (cursor: string) => (record: Identified) => compareTexts(record.id, cursor) < 0,
  cursorOf: ({ id }: Identified): string => id,
});

/** Records that are kept before they are sorted, in pages. To sort all records would take most of the time. */
const KEPT_PAGES = 4;

/** A page of copies of the records that `select` returns. An entry for which `select` returns null is left out. */
export function pageOf<E, R extends object>(
  entries: Iterable<E>,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  order: PageOrder<R>,
  select: (entry: E) => R | null,
): RecordPage<R> {
  const isAfter = cursor === null ? () => true : order.after(cursor);
  const compare = (a: R, b: R): number => (order.isBefore(a, b) ? -1 : 1);
  const found: R[] = [];
  /** A record that only comes on a later page. */
  let later: R | undefined;
  for (const entry of entries) {
    const record = select(entry);
    if (record === null || !isAfter(record) || (later !== undefined && order.isBefore(later, record))) continue;
    found.push(record);
    if (found.length < KEPT_PAGES * (limit + 1)) continue;
    found.sort(compare).length = limit + 1;
    later = found[limit];
  }
  found.sort(compare);
  const items = found.slice(0, limit).map((record) => ({ ...record }));
  const last = items.at(-1);
  return { items, cursor: found.length > limit && last !== undefined ? order.cursorOf(last) : null };
}

/** A copy of plain data that nobody can change. Data that is frozen already is returned as it is. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  const copy = Array.isArray(value) ? value.map(frozenCopy) : mapValues(value);
  return Object.freeze(copy) as T;
}

function mapValues(value: object): Record<string, unknown> {
  // An assignment to the key `__proto__` would set the prototype.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozenCopy(item)]));
}
