import { calledFrom } from "../../core/caller-lines.ts";
import type { RecordPage } from "../../stores/data-store.ts";
import type { Count } from "./health.ts";

/**
 * One page of a list. Pass its `cursor` to get the next page; a `cursor` of null says that this page is the last.
 * @example
 * const first = await scheduler.getJobs({ limit: 50 });
 * const second = await scheduler.getJobs({ limit: 50, cursor: first.cursor });
 */
export interface Page<T> {
  readonly items: T[];
  readonly cursor: string | null;
  /** How many items all pages have, where `include` asks for it. */
  readonly total?: Count;
  /** How many items are in each state, whatever states the filter names; a run that ended counts by its outcome. Where
   *  `include` asks for it. */
  readonly facets?: Readonly<Record<string, Count>>;
}

/** What a list tells of itself. */
export type ListCounts = Pick<Page<unknown>, "total" | "facets">;

/**
 * What `getSchedules`, `getJobs`, `getJobResults` and `getRuns` return. Await it for one page, or iterate over the
 * items of this page and of all pages after it. Nothing is read before that. A page is read when the loop has reached
 * its first item, and `limit` is the size of the pages. Each loop reads anew. What goes wrong rejects the `await`, or
 * throws in the loop.
 * @example
 * for await (const job of scheduler.getJobs({ taskId: "mail" })) await job.cancel();
 */
export interface Listing<T> extends Promise<Page<T>>, AsyncIterable<T> {}

/** A page of records, converted into a page of what callers get. */
export function mapPage<A, B>(page: RecordPage<A> & ListCounts, convert: (item: A) => B): Page<B> {
  return { ...page, items: page.items.map(convert) };
}

/** The {@link Listing} of the pages that a function reads. @param read reads one page; it rejects and never throws */
export function listingOf<T, F extends { cursor?: string | null | undefined }>(
  filter: F,
  read: (filter: F) => Promise<Page<T>>,
): Listing<T> {
  return new LazyListing((cursor) => read(cursor === null ? filter : { ...filter, cursor }));
}

/** A promise that begins its work when somebody asks for its outcome. So a listing that is only iterated over rejects
 *  nothing that nobody handles. */
class LazyListing<T> extends Promise<Page<T>> implements Listing<T> {
  /** Reads the page after a cursor; null for the first page. */
  readonly #read: (cursor: string | null) => Promise<Page<T>>;
  #first: Promise<Page<T>> | null = null;

  constructor(read: (cursor: string | null) => Promise<Page<T>>) {
    // This promise itself never settles, because `then` answers with another.
    super(() => {});
    // Whoever awaits it calls nothing here: its `then` is called in a turn of its own.
    const call = new Error();
    this.#read = (cursor) => read(cursor).catch((error) => calledFrom(error, call));
  }

  /** What `then`, `catch` and `finally` return. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise has this method
  override then<A = Page<T>, B = never>(
    onFulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#first ??= this.#read(null);
    return this.#first.then(onFulfilled, onRejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let cursor: string | null = null; ; ) {
      const page: Page<T> = await this.#read(cursor);
      yield* page.items;
      if (page.cursor === null) return;
      cursor = page.cursor;
    }
  }
}
