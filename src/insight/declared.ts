import { isPlain, listOf, optionError, shown, takes } from "../core/option-errors.ts";
import { checkId, checkScheduleOptions } from "../scheduler/options/check-options.ts";
import type { CheckedScheduleOptions } from "../scheduler/options/checked-options.ts";
import type { ScheduleDefaults, ScheduleOptions } from "../scheduler/options/options.ts";
import type { Task } from "../scheduler/scheduler-client.ts";
import { BULK_COMMIT_MAX } from "../scheduler/verbs/limits.ts";
import type { TriggerLike } from "../triggers/short-trigger.ts";
import { declaredSchemaText } from "./declared-schema.ts";

/** The label that names the owner of a schedule. */
export const OWNER_LABEL = "managedBy";

/** A schedule as a program, or a file of JSON, declares it. */
export interface DeclaredSchedule
  extends Omit<ScheduleOptions, "id" | "conflictPolicy" | "ifRevision" | "requestHash" | "by"> {
  readonly id: string;
  /** A task as `scheduler.task` returns it, or its id. */
  readonly task: Task | string;
  /** A trigger, crontab text, a short form such as `{ every: "5m" }`, or the JSON of a trigger. */
  readonly trigger: TriggerLike;
  /** The id that the schedule had before. Its history, results, jobs and counters are those of the new id then. */
  readonly renamedFrom?: string | undefined;
}

/** A declaration after the checks that need no store. */
export interface ReadDeclaration {
  readonly id: string;
  readonly task: unknown;
  readonly rule: TriggerLike;
  readonly renamedFrom: string | null;
  /** As given, without what stands apart from the options. */
  readonly given: ScheduleOptions;
  readonly options: CheckedScheduleOptions;
  /** The place of the declaration, in errors. */
  readonly where: string;
}

/**
 * The JSON Schema (draft 2020-12) of a list of declared schedules, for files of JSON.
 *
 * @example
 * await writeFile("schedules.schema.json", JSON.stringify(declaredSchema()));
 */
export function declaredSchema(): Record<string, unknown> {
  return JSON.parse(declaredSchemaText);
}

const NO_PART = ["conflictPolicy", "ifRevision", "requestHash", "by"];

/** @throws {OptionsError} @throws {CronSyntaxError} @throws {DeserializationError} */
export function readDeclarations(declared: unknown, owner: string, defaults: ScheduleDefaults): ReadDeclaration[] {
  const list = listOf(declared as readonly unknown[], "plan()", "declared", BULK_COMMIT_MAX);
  if (list === null) {
    throw optionError("plan()", "declared", takes(`a list of at most ${BULK_COMMIT_MAX} schedules`, declared));
  }
  const seen = new Set<string>();
  const take = (id: string, where: string, name: string): void => {
    if (seen.has(id)) throw optionError(where, name, `must be another one: ${shown(id)} comes twice`);
    seen.add(id);
  };
  return list.map((one, place) => {
    const at = `declared[${place}]`;
    if (!isPlain(one)) throw optionError(at, "", takes("{ id, task, trigger, ...options }", one));
    const { id: givenId, task, trigger, renamedFrom, ...others } = one as Record<string, unknown>;
    const id = checkId(givenId as string, `${at}.id`);
    const where = `${at} (id ${shown(id)})`;
    take(id, where, "id");
    const former = renamedFrom === undefined || renamedFrom === null ? null : checkId(renamedFrom as string, where);
    if (former !== null) take(former, where, "renamedFrom");
    for (const name of NO_PART) {
      if (others[name] !== undefined) throw optionError(where, name, "is no part of a declaration");
    }
    const given = { ...defaults, ...others, id, labels: labelsOf(others, owner, where) } as ScheduleOptions;
    const options = checkScheduleOptions(given, where);
    return { id, task, rule: trigger as TriggerLike, renamedFrom: former, given, options, where };
  });
}

function labelsOf({ labels }: Record<string, unknown>, owner: string, where: string): ScheduleOptions["labels"] {
  // What are no labels is left to the check of all options.
  if (labels !== undefined && !isPlain(labels)) return labels as ScheduleOptions["labels"];
  const { [OWNER_LABEL]: given = owner, ...others } = (labels ?? {}) as Record<string, string>;
  if (given === owner) return { ...others, [OWNER_LABEL]: owner };
  throw optionError(where, "labels", `must leave out ${OWNER_LABEL}, or name the owner ${shown(owner)} by it`);
}
