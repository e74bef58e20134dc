import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, type ShownPage, Unreached } from "./api.ts";
import { useStore } from "./store.ts";

/** A list that is loaded page by page. */
export interface Pages<T> {
  /** Undefined before the first answer. */
  readonly items: readonly T[] | undefined;
  readonly isComplete: boolean;
  readonly error: Refused | null;
  readonly more: () => void;
}

interface Held<T> {
  readonly key: string;
  readonly pages: readonly ShownPage<T>[];
}

/** Loads the first page of a list, and further ones when they are asked for. When what is shown may be out of date, the
 *  first page is loaded anew; items that others have taken over are shown once. */
export function usePages<T extends { readonly id: string }>(
  key: string,
  load: (cursor: string | undefined) => Promise<ShownPage<T>>,
): Pages<T> {
  const revision = useStore("revision");
  const [held, setHeld] = useState<Held<T>>({ key: "", pages: [] });
  const [error, setError] = useState<Refused | null>(null);
  const busy = useRef("");
  const current = useRef({ key, held, load });
  current.current = { key, held, load };

  const fetchPage = async (index: number): Promise<void> => {
    const known = current.current.held.key === key ? current.current.held.pages : [];
    const job = `${key} ${index}`;
    if (busy.current === job) return;
    busy.current = job;
    try {
      const page = await current.current.load(known[index - 1]?.cursor ?? undefined);
      if (current.current.key !== key) return;
      setHeld((old) => {
        const pages = old.key === key ? [...old.pages] : [];
        // A first page that is loaded anew may end elsewhere: what follows it then stays as it was.
        const { cursor } = (pages.length > 1 ? pages[index] : undefined) ?? page;
        pages[index] = { ...page, cursor };
        return { key, pages };
      });
      setError(null);
    } catch (problem) {
      if (problem instanceof Unreached) return;
      if (!(problem instanceof Refused)) throw problem;
      if (current.current.key === key) setError(problem);
    } finally {
      if (busy.current === job) busy.current = "";
    }
  };

  useEffect(() => void fetchPage(0), [key, revision]);
  const isOwn = held.key === key;
  const last = held.pages.at(-1);
  return {
    items: last && unique(held.pages.flatMap(({ items }) => items)),
    isComplete: isOwn && last?.cursor === null,
    error,
    more: () => {
      if (isOwn && last !== undefined && last.cursor !== null) void fetchPage(held.pages.length);
    },
  };
}

function unique<T extends { readonly id: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
