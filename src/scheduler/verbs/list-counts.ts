import { yieldToEventLoop } from "../../core/clock.ts";
import type { RecordPage } from "../../stores/data-store.ts";
import type { ListInclude } from "../options/checked-options.ts";
import { PAGE_SIZE_MAX } from "../options/limits.ts";
import type { Count } from "../views/health.ts";
import type { ListCounts } from "../views/page.ts";

/**
 * The numbers of a list that its options ask for. Each comes from one page of at most 1,000 records. Each page is asked
 * for in another turn of the event loop, because a store within the process answers in that turn.
 * @param list reads the first page of the list; with a state, of the records in that state, whatever the filter names
 * @param facets the facets of each state
 * @param facetOf which facet a record counts as, where its state has several
 */
export async function countsOf<T, State extends string>(
  asked: ListInclude,
  list: (limit: number, state?: State) => Promise<RecordPage<T>>,
  facets: Readonly<Record<State, readonly string[]>>,
  facetOf?: (record: T) => string | null,
): Promise<ListCounts> {
  let turn: Promise<unknown> = Promise.resolve();
  const pageIn = (state?: State) => {
    turn = turn.then(yieldToEventLoop);
    return turn.then(() => list(PAGE_SIZE_MAX, state));
  };
  const facetsIn = async (state: State): Promise<[name: string, count: Count][]> => {
    const { items, cursor } = await pageIn(state);
    const names = facets[state];
    const isOf = (name: string) => (record: T) => names.length === 1 || facetOf?.(record) === name;
    return names.map((name) => [name, { count: items.filter(isOf(name)).length, isCapped: cursor !== null }]);
  };
  const [total, counts] = await Promise.all([
    asked.total === true ? pageIn() : null,
    asked.facets === true ? Promise.all((Object.keys(facets) as State[]).map(facetsIn)) : null,
  ]);
  return {
    ...(total === null ? {} : { total: { count: total.items.length, isCapped: total.cursor !== null } }),
    ...(counts === null ? {} : { facets: Object.fromEntries(counts.flat()) }),
  };
}
