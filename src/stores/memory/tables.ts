import type { RecordPage } from "../data-store.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A page of copies of the records that `select` returns, ordered by id. An entry for which `select` returns null is
 *  left out. */
export function pageOf<E, R extends { readonly id: string }>(
  entries: Iterable<E>,
  request: { readonly limit: number; readonly cursor: string | null },
  select: (entry: E) => R | null,
): RecordPage<R> {
  const found: R[] = [];
  for (const entry of entries) {
    const record = select(entry);
    if (record !== null && (request.cursor === null || record.id > request.cursor)) found.push(record);
  }
  found.sort((a, b) => (a.id < b.id ? -1 : 1));
  const items = found.slice(0, request.limit).map((record) => ({ ...record }));
  const last = items.at(-1);
  return { items, cursor: found.length > request.limit && last !== undefined ? last.id : null };
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
