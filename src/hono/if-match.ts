import { RevisionConflictError } from "../core/errors.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { Refusal } from "./refusal.ts";

const TAGS = /^((W\/)?"[^"]*"([\s,]+|$))+$/;

/** The revision that the header `If-Match` asks for; undefined for any. Of several tags, one has to be that of the
 *  schedule. A weak tag counts as a strong one, which RFC 9110 (section 13.1.1) has not: proxies that compress answers
 *  make tags weak (nginx: gzip), and a revision is the same all the same.
 *  @throws {Refusal} for what is no list of tags
 *  @throws {RevisionConflictError} @throws {ScheduleLookupError} where the schedule has to be looked at */
export async function revisionOf(
  { headers }: Request,
  client: SchedulerClient,
  id: string,
): Promise<number | undefined> {
  const text = headers.get("if-match")?.trim();
  if (text === undefined || text === "*") return undefined;
  if (!TAGS.test(text)) {
    throw new Refusal(400, "badRequest", 'If-Match takes ETags such as "1893456000000", or *');
  }
  const revisions = [...text.matchAll(/"(\d{1,15})"/g)].map(([, digits]) => Number(digits));
  if (revisions.length === 1) return revisions[0];
  const { revision } = await client.getSchedule(id);
  if (revisions.includes(revision)) return revision;
  throw new RevisionConflictError(`the ETag of schedule "${id}" is "${revision}", and none of If-Match is`, id);
}
