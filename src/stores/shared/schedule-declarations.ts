import type { ScheduleAddition, ScheduleAdditionChange } from "../data-store.ts";
import { declarationOf, type StoredDeclaration, versionOf } from "./task-declarations.ts";

/** What becomes of a schedule that is added, see rules S1 to S9. `stored` is undefined when the id is free;
 *  the conflict of `error` is not decided here. */
export function additionChange(
  stored: StoredDeclaration | undefined,
  { schedule, conflictPolicy }: ScheduleAddition,
): ScheduleAdditionChange {
  if (stored === undefined) return "added";
  if (conflictPolicy === "replace") return "replaced";
  if (conflictPolicy !== "update") return "kept";
  if (stored.declaration !== undefined && stored.declaration === schedule.declaration) return "kept";
  return versionOf(stored) > versionOf(schedule) ? "outdated" : "updated";
}

/** Whether a stored schedule is as a program declares it, so that adding it with the policy `update` would write
 *  nothing. */
export function isDeclaredAs(stored: StoredDeclaration, given: StoredDeclaration): boolean {
  const isSame = given.declaration !== undefined && stored.declaration === given.declaration;
  return isSame && versionOf(stored) >= versionOf(given);
}

/** The declaration that a store keeps after the change. */
export function keptDeclaration(
  stored: StoredDeclaration,
  { schedule, conflictPolicy }: ScheduleAddition,
  change: ScheduleAdditionChange,
): StoredDeclaration {
  if (change === "replaced" || change === "updated") return declarationOf(schedule, versionOf(schedule));
  if (change === "outdated" || conflictPolicy !== "update") return stored;
  return declarationOf(stored, Math.max(versionOf(stored), versionOf(schedule)));
}
