import { type FailureKind, messageOf } from "../sql/driver/driver-and-failures.ts";
import { sqliteFailureKind } from "../sql/sqlite/driver/driver-and-failures.ts";
import { TooLargeRecord } from "./largest-record.ts";

// What D1 and Durable Objects say. Both are SQLite within workerd, whose errors have a text and no code.

/** The database was lost or begun anew under way (developers.cloudflare.com/d1, "Debug D1"; and /durable-objects,
 *  "Troubleshooting"). It is unknown whether the statements took effect. */
const LOST = [
  /network connection lost/i,
  /caused object to be reset|reset because its code was updated/i,
  /cannot resolve D1 DB due to transient issue/i,
  /client disconnected/i,
  // What stands in front of D1 answered in its place.
  /failed to parse body as json/i,
  /\binternal error\b/i,
];

const OVERLOADED = /\boverloaded\b|requests queued for too long|too many requests queued/i;
const EXHAUSTED = /exceeded its (CPU time|memory) limit/i;
/** Limits of the invocation. The request was not sent. */
const SPENT = /too many (subrequests|API requests)/i;
const FULL = /exceeded maximum DB size|maximum account storage/i;

/** What an error of SQLite within workerd means for what to do next. */
export function cloudflareFailureKind(error: unknown): FailureKind {
  if (error instanceof TooLargeRecord) return "tooLarge";
  const kind = sqliteFailureKind(error);
  if (kind !== "unavailable") return kind;
  const message = messageOf(error);
  if (message.includes("D1_TYPE_ERROR")) return "refused";
  // A database that is asked again at once would only have more to do.
  if (isOverloaded(error) || [EXHAUSTED, SPENT, FULL].some((text) => text.test(message))) return "unavailable";
  return LOST.some((text) => text.test(message)) || isMarked(error, "retryable") ? "connection" : "unavailable";
}

/** What users should do about a failure that is not SQLite's own; empty where the advice is unknown. */
export function cloudflareAdviceFor(error: unknown): string {
  const message = messageOf(error);
  if (FULL.test(message)) return "the database or the account is full; remove what is not needed";
  if (SPENT.test(message)) return "the invocation has used up its requests; do less in one invocation";
  if (EXHAUSTED.test(message)) return "do less in one call";
  return isOverloaded(error) ? "the database has too much to do; ask it less often" : "";
}

function isOverloaded(error: unknown): boolean {
  return isMarked(error, "overloaded") || OVERLOADED.test(messageOf(error));
}

/** How workerd marks an error, or its cause (developers.cloudflare.com/durable-objects, "Error handling"). */
function isMarked(error: unknown, mark: "retryable" | "overloaded"): boolean {
  if (!(error instanceof Error)) return false;
  return Reflect.get(error, mark) === true || (error.cause instanceof Error && Reflect.get(error.cause, mark) === true);
}
