import { once } from "./once.ts";
import { normalized } from "./suggest.ts";

/** What words mean that callers write for others. A key is the place where the words count, `:`, and the words, whose
 *  case, `_` and `-` do not matter. A value is an option, or (with spaces) advice, in which `%` stands for the word. */
export type Synonyms = Readonly<Record<string, string>>;

/** Finds what a word means in the first of some places where it means something; null where it means nothing. */
export function synonymsOf(table: Synonyms): (places: readonly string[], word: string) => string | null {
  const meanings = once(() => {
    const found = new Map<string, string>();
    for (const [key, meaning] of Object.entries(table)) {
      const [where, ...words] = key.split(" ");
      for (const word of words) found.set(where + normalized(word), meaning.replaceAll("%", word));
    }
    return found;
  });
  return (places, word) => {
    const key = places.map((place) => `${place}:${normalized(word)}`).find((one) => meanings().has(one));
    return (key === undefined ? undefined : meanings().get(key)) ?? null;
  };
}
