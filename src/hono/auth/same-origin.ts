/**
 * Whether no other site made a browser send this request. `Sec-Fetch-Site` says it on https and on loopback, and pages
 * cannot forge it. Elsewhere the `Origin` has to be that of the `Host`; browsers send it with every write. A request
 * that has neither header comes from no browser, and so it carries no cookie against its sender's will.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = request.headers.get("origin");
  return origin === null || hostOf(origin) === (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
}

/** The host and port of an origin; null for what is none, such as the `null` of a sandboxed page. */
function hostOf(origin: string): string | null {
  // Compared as text, because a URL would lose the default port of a Host.
  return /^https?:\/\/([^/?#@\\]+)$/i.exec(origin)?.[1]?.toLowerCase() ?? null;
}
