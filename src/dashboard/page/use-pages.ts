import { useEffect, useRef, useState } from "preact/hooks";
import { type Page, Refused, Unreached } from "./api.ts";
import { type State, useStore } from "./store.ts";

/** A list that is loaded page by page. */
export interface Pages<T, P extends Page<T>> {
  /** Undefined before the first answer. */
  readonly items: readonly T[] | undefined;
  /** The first page as it came last, with what it says of the whole list. */
  readonly head: P | undefined;
  readonly isComplete: boolean;
  readonly error: Refused | null;
  readonly more: () => void;
}

interface Held<T, P> {
  readonly key: string;
  readonly pages: readonly (readonly T[])[];
  readonly cursors: readonly (string | null)[];
  readonly head: P | undefined;
}

const revisionOf = (state: State): number => state.revision;

/** Loads the first page of a list, and further ones when they are asked for. When what is shown may be out of date, the
 *  first page is loaded anew; items that others have taken over are shown once.
 *  @param load @param fresh the present state of items that stand on later pages; null leaves them as they are */
export function usePages<T extends { readonly id: string }, P extends Page<T>>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<P>,
): Pages<T, P> {
  const revision = useStore(revisionOf);
  const [held, setHeld] = useState<Held<T, P>>({ key: "", pages: [], cursors: [], head: undefined });
  const [error, setError] = useState<Refused | null>(null);
  const busy = useRef<string | null>(null);
  const current = useRef({ key, held, load });
  current.current = { key, held, load };

  const fetchPage = async (index: number): Promise<void> => {
    const { held: before, load: loadNow } = current.current;
    const known = before.key === key ? before : { key, pages: [], cursors: [], head: undefined };
    const cursor = index === 0 ? undefined : (known.cursors[index - 1] ?? undefined);
    const job = `${key} ${index}`;
    if (busy.current === job) return;
    busy.current = job;
    try {
      const page = await loadNow(cursor, new AbortController().signal);
      if (current.current.key !== key) return;
      setHeld((old) => {
        const base = old.key === key ? old : { key, pages: [], cursors: [], head: undefined };
        // A first page that is loaded anew may end elsewhere: what follows it then stays as it was.
        const pages = [...base.pages];
        const cursors = [...base.cursors];
        pages[index] = page.items;
        if (index > 0 || cursors.length <= 1) cursors[index] = page.cursor;
        return { key, pages, cursors, head: index === 0 ? page : base.head };
      });
      setError(null);
    } catch (problem) {
      if (problem instanceof Unreached) return;
      if (!(problem instanceof Refused)) throw problem;
      if (current.current.key === key) setError(problem);
    } finally {
      if (busy.current === job) busy.current = null;
    }
  };

  useEffect(() => void fetchPage(0), [key, revision]);
  const isOwn = held.key === key;
  const cursor = held.cursors.at(-1);
  return {
    items: held.key === "" ? undefined : unique(held.pages.flat()),
    head: held.head,
    isComplete: isOwn && cursor === null,
    error,
    more: () => {
      if (isOwn && held.pages.length > 0 && cursor !== null) void fetchPage(held.pages.length);
    },
  };
}

function unique<T extends { readonly id: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
