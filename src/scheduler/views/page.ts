import type { RecordPage } from "../../stores/data-store.ts";

/**
 * One page of a list. Pass its `cursor` to get the next page; a `cursor` of null says that this page is the last.
 * @example
 * const first = await scheduler.getJobs({ limit: 50 });
 * const second = await scheduler.getJobs({ limit: 50, cursor: first.cursor });
 */
export interface Page<T> {
  readonly items: T[];
  readonly cursor: string | null;
}

/** A page of records, converted into a page of what callers get. */
export function mapPage<A, B>(page: RecordPage<A>, convert: (item: A) => B): Page<B> {
  return { items: page.items.map(convert), cursor: page.cursor };
}
