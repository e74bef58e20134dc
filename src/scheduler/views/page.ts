import type { RecordPage } from "../../stores/data-store.ts";

/** A page; pass `cursor` on for the next one, null ends. */
export interface Page<T> {
  readonly items: T[];
  readonly cursor: string | null;
}

/** A page of records as a page of what they are to the caller. */
export function mapPage<A, B>(page: RecordPage<A>, convert: (item: A) => B): Page<B> {
  return { items: page.items.map(convert), cursor: page.cursor };
}
