import { canParseUrl } from "./can-parse-url.ts";

/** The url as messages may show it: without the credentials and the query, which may hold some. */
export function shownAddress(url: string): string {
  if (canParseUrl(url)) {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
  }
  // An address of several hosts. Whatever stands before the last @ may belong to the password.
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/).*@/is, "$1").replace(/[?#].*$/s, "");
}
