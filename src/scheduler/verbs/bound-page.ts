import { textHash } from "../../core/text-hash.ts";
import type { RecordPage } from "../../stores/data-store.ts";
import { wrongCursor } from "../../stores/shared/cursors-and-search.ts";

interface PageFilter {
  readonly limit: number;
  readonly cursor: string | null;
}

/**
 * Reads a page whose cursor belongs to its list: it begins with a hash of what was asked for, because the place of
 * another list, or of another order, would show some items again, or none of them.
 * @param list the call, and what else tells the list from others
 * @throws {OptionsError} for a cursor that is not of a page of this list with this filter
 */
export async function boundPage<F extends PageFilter, T>(
  list: readonly [call: string, ...ids: string[]],
  filter: F,
  read: (filter: F) => Promise<RecordPage<T>>,
): Promise<RecordPage<T>> {
  const { limit: _, cursor, ...asked } = filter;
  const mark = `${textHash(JSON.stringify([list, asked])).slice(0, 8)}.`;
  if (cursor !== null && !cursor.startsWith(mark)) throw wrongCursor(list[0]);
  const page = await read({ ...filter, cursor: cursor?.slice(mark.length) ?? null });
  return { ...page, cursor: page.cursor === null ? null : mark + page.cursor };
}
