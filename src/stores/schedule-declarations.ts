import type { ScheduleRecord } from "../records/schedule.ts";
import type { ScheduleAddition, ScheduleAdditionChange } from "./data-store.ts";
import { NO_VERSION } from "./task-declarations.ts";

/** What a store knows of a program's declaration of a schedule. */
export type StoredDeclaration = Pick<ScheduleRecord, "declaration" | "version">;

/** What becomes of a schedule that is added, see `DataStore.addSchedules`. `stored` is undefined when the id is free;
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

/** The declaration that a store keeps after the change. */
export function keptDeclaration(
  stored: StoredDeclaration,
  { schedule, conflictPolicy }: ScheduleAddition,
  change: ScheduleAdditionChange,
): StoredDeclaration {
  if (change === "replaced" || change === "updated") return declarationOf(schedule.declaration, versionOf(schedule));
  if (change === "outdated" || conflictPolicy !== "update") return stored;
  return declarationOf(stored.declaration, Math.max(versionOf(stored), versionOf(schedule)));
}

function versionOf({ version }: StoredDeclaration): number {
  return version ?? NO_VERSION;
}

function declarationOf(declaration: string | undefined, version: number): StoredDeclaration {
  return {
    ...(declaration === undefined ? {} : { declaration }),
    ...(version === NO_VERSION ? {} : { version }),
  };
}
