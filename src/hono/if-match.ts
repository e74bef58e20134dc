import { Refusal } from "./refusal.ts";

/** The revision in the header `If-Match`, which is an `ETag` of a schedule; undefined for any.
 *  @throws {Refusal} for what was no `ETag` of ours */
export function revisionOf({ headers }: Request): number | undefined {
  const text = headers.get("if-match")?.trim();
  if (text === undefined || text === "*") return undefined;
  // Proxies that compress answers make their ETags weak (nginx: gzip). A revision is the same all the same.
  const revision = /^(?:W\/)?"(\d{1,15})"$/.exec(text)?.[1];
  if (revision !== undefined) return Number(revision);
  throw new Refusal(400, "badRequest", 'If-Match takes the ETag of a schedule, such as "1893456000000", or *');
}

/** The header `ETag` of a schedule. */
export function etagOf({ revision }: { readonly revision: number }): { readonly etag: string } {
  return { etag: `"${revision}"` };
}
