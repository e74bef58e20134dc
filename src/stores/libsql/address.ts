import { shownAddress } from "../../core/shown-address.ts";

/** What a url stands for. */
export type DatabaseKind = "memory" | "file" | "replica" | "remote";

export function databaseKind({
  url,
  syncUrl,
}: {
  readonly url: string;
  readonly syncUrl?: string | undefined;
}): DatabaseKind {
  if (/^(file:)?:memory:/.test(url)) return "memory";
  if (!/^file:/i.test(url)) return "remote";
  return syncUrl === undefined ? "file" : "replica";
}

/** The url as errors may show it: without its token and password. */
export function shownUrl(url: string): string {
  return /^file:/i.test(url) ? url.replace(/\?.*$/s, "") : shownAddress(url);
}
