import type { SearchQuery } from "./wire.ts";

/** A filter in the words of the verbs: what requests call `q`, verbs call `search`. */
export function searched<Filter extends SearchQuery>({
  q,
  ...filter
}: Filter): Omit<Filter, "q"> & { search?: string } {
  return q === undefined ? filter : { ...filter, search: q };
}
