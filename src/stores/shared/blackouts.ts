import type { BlackoutRecord } from "../../records/blackout.ts";
import type { BlackoutAddition, BlackoutAdditionReport } from "../contract/blackout-types.ts";

/** What a blackout says, as text: all but who added it, and when. */
export function blackoutRule({ by: _by, createdAt: _at, ...rule }: BlackoutRecord): string {
  const { id, from, until, trigger, durationMs, labels, taskIds, missed, reason } = rule;
  const sorted = labels === null ? null : Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([id, from, until, ruleOf(trigger), durationMs, sorted, taskIds, missed, reason]);
}

/** The trigger without its anchor, which each call sets anew. */
function ruleOf(trigger: string | null): unknown {
  return JSON.parse(trigger ?? "null", (name, value: unknown) => (name === "anchor" ? undefined : value));
}

/** What becomes of a blackout that is added where its id is in use. A repetition of the call that added it changes
 *  nothing, and answers as that call. */
export function blackoutChange(
  stored: BlackoutRecord,
  { blackout, conflictPolicy }: BlackoutAddition,
): Exclude<BlackoutAdditionReport["change"], "full"> {
  const isSame = blackoutRule(stored) === blackoutRule(blackout);
  if (isSame && stored.createdAt === blackout.createdAt) return "added";
  if (conflictPolicy === "error") return "conflict";
  return conflictPolicy === "doNothing" || isSame ? "kept" : "replaced";
}
