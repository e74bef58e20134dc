import { messageOf } from "../sqlite/failures.ts";
import { type FailureKind, sqliteFailureKind } from "../sqlite/mod.ts";

// What D1 and Durable Objects say. Both are SQLite within workerd, whose errors have no code, but a text.

/** The database was lost, moved or begun anew under way (developers.cloudflare.com/d1, "Debug D1"; and
 *  /durable-objects, "Troubleshooting"). It is unknown whether the statements took effect. */
const LOST = [
  /network connection lost/i,
  /(caused object|because its code was updated|object) to be reset|reset because its code was updated/i,
  /cannot resolve D1 DB due to transient issue/i,
  /client disconnected|connection (was )?(reset|closed|refused)/i,
  // What stands in front of D1 answered in its place.
  /failed to parse body as json/i,
  /\binternal error\b/i,
];

/** The database is there, and does not want to work now. Whoever asks again at once makes it worse. */
const UNWILLING = [
  /\boverloaded\b|requests queued for too long|too many requests queued/i,
  /exceeded its (CPU time|memory) limit/i,
  /too many (subrequests|API requests)/i,
];

/** There is no room left: for the database, or for the account. */
const FULL = /exceeded maximum DB size|maximum account storage|SQLITE_FULL|database or disk is full/i;

/** What an error of SQLite within workerd means for the next step. */
export function cloudflareFailureKind(error: unknown): FailureKind {
  const message = messageOf(error);
  const kind = sqliteFailureKind(error);
  if (kind !== "unavailable") return kind;
  if (/\bD1_TYPE_ERROR\b/.test(message)) return "refused";
  if (FULL.test(message) || isUnwilling(error, message)) return "unavailable";
  return LOST.some((text) => text.test(message)) || isMarked(error, "retryable") ? "connection" : kind;
}

/** What users should do about a failure that is not SQLite's own; empty where the advice is unknown. */
export function cloudflareAdviceFor(error: unknown): string {
  const message = messageOf(error);
  if (FULL.test(message)) return "the database is full; remove results sooner (resultExpirationTime), or clear tables";
  if (/too many (subrequests|API requests)/i.test(message)) {
    return "the invocation has used up its requests; do less in one invocation";
  }
  if (/exceeded its (CPU time|memory) limit/i.test(message)) return "do less in one call";
  return isUnwilling(error, message) ? "the database has too much to do; ask it less often" : "";
}

function isUnwilling(error: unknown, message: string): boolean {
  return isMarked(error, "overloaded") || UNWILLING.some((text) => text.test(message));
}

/** How workerd marks an Error (developers.cloudflare.com/durable-objects, "Error handling"). */
function isMarked(error: unknown, mark: "retryable" | "overloaded"): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, mark) === true;
}
