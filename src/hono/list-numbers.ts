import type { ListIncludeOptions } from "../scheduler/options/options.ts";

/** The numbers of a list, as the words of `include` ask for them. */
export function numbersOf(words: readonly string[] = []): ListIncludeOptions {
  return { total: words.includes("total"), facets: words.includes("facets") };
}
