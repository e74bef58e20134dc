import { withoutUndefined } from "../../core/without-undefined.ts";
import { type Field, recordName } from "../../records/fields/field.ts";
import { TASK_FIELDS } from "../../records/fields/task.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { ScheduleAddition, ScheduleAdditionChange, TaskChange, TaskPut } from "../data-store.ts";
import { pauseFacts } from "./pauses.ts";

/** What becomes of the stored task when `given` is put, see rules T1 to T5, and T16. `stored` is undefined when
 *  there is none. */
export function putTask(
  stored: TaskRecord | undefined,
  { replaces, ...given }: TaskPut,
): { readonly task: TaskRecord; readonly change: TaskChange } {
  const { task, change } = putSettings(stored, given, replaces);
  if (task === stored || task.paused === stored?.paused) return { task, change };
  const settings = withoutPause(task);
  const isPaused = stored?.paused !== undefined;
  return { task: isPaused ? { ...settings, paused: stored.paused, ...pauseFacts(stored) } : settings, change };
}

function putSettings(
  stored: TaskRecord | undefined,
  given: TaskRecord,
  replaces: string | null | undefined,
): { readonly task: TaskRecord; readonly change: TaskChange } {
  if (stored === undefined) return { task: given, change: "added" };
  if (given.declaration === undefined) {
    const { declaration: _, version: __, ...settings } = given;
    const change = isSame(stored, given) ? "unchanged" : "updated";
    return { task: { ...settings, ...declarationOf(stored, versionOf(stored)) }, change };
  }
  const version = Math.max(versionOf(stored), versionOf(given));
  if (stored.declaration === given.declaration) {
    return { task: { ...stored, ...declarationOf(stored, version) }, change: "unchanged" };
  }
  const isOther = replaces !== undefined && (stored.declaration ?? null) !== replaces;
  if (isOther) return { task: stored, change: "conflict" };
  if (versionOf(stored) > versionOf(given)) return { task: stored, change: "outdated" };
  return { task: given, change: "updated" };
}

/** Whether putting `given` would change something, or would be refused. */
export function isStaleTask(stored: TaskRecord | undefined, given: TaskRecord): boolean {
  if (stored === undefined) return true;
  if (given.declaration === undefined) return !isSame(stored, given);
  return stored.declaration !== given.declaration || versionOf(stored) < versionOf(given);
}

/** No version is lower than every version. */
export const NO_VERSION = -1;

/** What a store knows of a program's declaration of a task or a schedule. */
export interface StoredDeclaration {
  readonly declaration?: string;
  readonly version?: number;
}

export function versionOf({ version }: StoredDeclaration): number {
  return version ?? NO_VERSION;
}

function declarationOf({ declaration }: StoredDeclaration, version: number): StoredDeclaration {
  return withoutUndefined({ declaration, version: version === NO_VERSION ? undefined : version });
}

/** Whether two tasks have the same settings. The order of the keys in metadata counts. */
function isSame(a: TaskRecord, b: TaskRecord): boolean {
  return settingsText(a) === settingsText(b);
}

/** The settings of a task, whose pause is none of them. */
export function withoutPause(task: TaskRecord): TaskRecord {
  const { paused: _, pausedUntil: _until, pauseReason: _reason, pausedBy: _by, ...settings } = task;
  return settings;
}

function settingsText(task: TaskRecord): string {
  const settings = withoutPause(task);
  const keys = Object.entries<Field>(TASK_FIELDS).map(([name, field]) => recordName(name, field));
  return JSON.stringify(keys.map((key) => settings[key as keyof typeof settings] ?? false));
}

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
