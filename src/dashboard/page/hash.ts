/** Where somebody is in the page: everything that the address bar says, so that a link shows the same again. */
export interface Place {
  /** The first word after `#/`. */
  readonly page: string;
  /** The id that follows, decoded; null for none. */
  readonly id: string | null;
  /** The word after the id: `edit`; null for none. */
  readonly part: string | null;
  readonly query: Readonly<Record<string, string>>;
}

/** Reads a fragment such as `#/schedules/a%2Fb/edit?at=...`. What is no text of an id gives the overview. */
export function placeOf(hash: string): Place {
  const [path = "", search = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const query = Object.fromEntries(new URLSearchParams(search));
  try {
    const [page = "", id = null, part = null] = path.split("/").map(decodeURIComponent);
    return { page: page === "" ? "overview" : page, id: id === "" ? null : id, part, query };
  } catch {
    return { page: "overview", id: null, part: null, query: {} };
  }
}

type HashQuery = Readonly<Record<string, string | null | undefined>>;

/** The fragment of a place. Ids may have `/`, `.`, `%` and spaces in them. Words of the query without a value go. */
export function hrefOf(page: string, id?: string | null, query: HashQuery = {}, part?: string): string {
  const words = [page, ...(id === undefined || id === null ? [] : [id]), ...(part === undefined ? [] : [part])];
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${words.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
