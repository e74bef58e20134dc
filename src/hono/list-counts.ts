import { PAGE_SIZE_MAX } from "../core/limits.ts";
import type { Count } from "../scheduler/views/health.ts";
import type { Page } from "../scheduler/views/page.ts";
import type { ListCounts } from "./api.ts";

/**
 * The numbers of a list that a request asks for. Each comes from one page of at most 1,000 items.
 * @param asked the words of `include`
 * @param list reads the first page of the list; with a state, of the items in that state, whatever the request names
 * @param facets the facets of each state
 * @param facetOf which facet an item counts as, where its state has several
 */
export async function countsOf<T, State extends string>(
  asked: readonly string[] = [],
  list: (limit: number, state?: State) => PromiseLike<Page<T>>,
  facets: Readonly<Record<State, readonly string[]>>,
  facetOf?: (item: T) => string | null,
): Promise<ListCounts> {
  const facetsIn = async (state: State): Promise<[name: string, count: Count][]> => {
    const { items, cursor } = await list(PAGE_SIZE_MAX, state);
    const names = facets[state];
    const isOf = (name: string) => (item: T) => names.length === 1 || facetOf?.(item) === name;
    return names.map((name) => [name, { count: items.filter(isOf(name)).length, isCapped: cursor !== null }]);
  };
  const [total, counts] = await Promise.all([
    asked.includes("total") ? list(PAGE_SIZE_MAX) : null,
    asked.includes("facets") ? Promise.all((Object.keys(facets) as State[]).map(facetsIn)) : null,
  ]);
  return {
    ...(total === null ? {} : { total: { count: total.items.length, isCapped: total.cursor !== null } }),
    ...(counts === null ? {} : { facets: Object.fromEntries(counts.flat()) }),
  };
}
