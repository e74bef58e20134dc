import type { SqlStatement } from "../../driver/driver-and-failures.ts";
import { BEGINNING } from "../../lists/label-index.ts";
import { LABELLED, type TableNames } from "../../schema/tables.ts";
import { validJson } from "../../sql-and-json.ts";
import { lateTrigger } from "../schema/late-triggers.ts";

// Labels travel in the details of their records. The table of labels is an index of them, which triggers keep. The
// triggers are made when the first record with labels is written, because they would make each write of a job a tenth
// dearer, labels or not.

type LabelledKind = keyof typeof LABELLED;

/** The same in SQL, with the labels of another record. @param details SQL of the details of that record */
export function beginDetailsAs(details: string): string {
  return `coalesce('${BEGINNING}' || (${details}->'labels') || ',', '{')`;
}

/** SQL of whether a record has all labels of a parameter.
 *  @param at SQL of the column `at` of its labels @param id SQL of its id */
export function hasAllLabels(
  { labels }: TableNames,
  parameter: string,
  { kind, at = "0", id }: { readonly kind: LabelledKind; readonly at?: string; readonly id: string },
): string {
  return (
    `(${parameter} IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(${parameter}) n WHERE NOT EXISTS (` +
    `SELECT 1 FROM ${labels} l WHERE l.kind = ${LABELLED[kind]} AND l.name = n.value->>0 ` +
    `AND l.value = n.value->>1 AND l.at = ${at} AND l.id = ${id})))`
  );
}

/** SQL condition of the rows `l` of the first label of a parameter. */
export function isFirstLabel(parameter: string, kind: LabelledKind): string {
  return `l.kind = ${LABELLED[kind]} AND l.name = ${parameter}->>'$[0][0]' AND l.value = ${parameter}->>'$[0][1]'`;
}

/** The statements that make the triggers, unless they are there. */
export function labelTriggers(names: TableNames): SqlStatement[] {
  const { labels, jobs, results, schedules } = names;
  // Damaged details make no statement fail.
  const rows = (kind: LabelledKind, row: string, id: string, at = "0"): string =>
    `SELECT ${LABELLED[kind]}, key, value, ${at}, ${id} FROM json_each(${validJson(`${row}.details`)}, '$.labels') ` +
    "WHERE type = 'text' AND typeof(key) = 'text'";
  const add = (...row: Parameters<typeof rows>): string => `INSERT OR IGNORE INTO ${labels} ${rows(...row)}; `;
  // Written so that the key finds each row: a list of whole keys would be compared with all rows.
  const removeOf = (kind: LabelledKind, details: string, id: string, at: string): string => {
    const of = (column: string): string => `(SELECT ${column} FROM json_each(${validJson(details)}, '$.labels'))`;
    return (
      `DELETE FROM ${labels} WHERE kind = ${LABELLED[kind]} AND name IN ${of("key")} AND value IN ${of("value")} ` +
      `AND at = ${at} AND id = ${id}; `
    );
  };
  const remove = (kind: LabelledKind, row: string, id: string, at = "0"): string =>
    removeOf(kind, `${row}.details`, id, at);
  const begins = (row: string): string => `substr(${row}.details, 1, ${BEGINNING.length}) = '${BEGINNING}'`;
  const trigger = (name: string, event: string, body: string): SqlStatement =>
    lateTrigger(`${labels}_of_${name}`, event, body);
  const [isNew, isOld] = [`WHEN ${begins("NEW")}`, `WHEN ${begins("OLD")}`];
  const at = (row: string): string => `${row}.finished_at`;
  // A result takes the place of another without a DELETE that a trigger could see.
  const former = (column: string): string => `(SELECT ${column} FROM ${results} WHERE job_id = NEW.job_id)`;
  const removeFormer = removeOf("result", former("details"), "NEW.job_id", former("finished_at"));
  return [
    trigger("new_jobs", `AFTER INSERT ON ${jobs} ${isNew}`, add("job", "NEW", "NEW.id")),
    trigger("old_jobs", `AFTER DELETE ON ${jobs} ${isOld}`, remove("job", "OLD", "OLD.id")),
    trigger(
      "changed_jobs",
      `AFTER UPDATE OF details ON ${jobs} WHEN ${begins("OLD")} OR ${begins("NEW")}`,
      remove("job", "OLD", "OLD.id") + add("job", "NEW", "NEW.id"),
    ),
    trigger("former_results", `BEFORE INSERT ON ${results} ${isNew}`, removeFormer),
    trigger("new_results", `AFTER INSERT ON ${results} ${isNew}`, add("result", "NEW", "NEW.job_id", at("NEW"))),
    trigger("old_results", `AFTER DELETE ON ${results} ${isOld}`, remove("result", "OLD", "OLD.job_id", at("OLD"))),
    trigger("new_schedules", `AFTER INSERT ON ${schedules}`, add("schedule", "NEW", "NEW.id")),
    trigger("old_schedules", `AFTER DELETE ON ${schedules}`, remove("schedule", "OLD", "OLD.id")),
    trigger(
      "changed_schedules",
      `AFTER UPDATE OF details ON ${schedules}`,
      remove("schedule", "OLD", "OLD.id") + add("schedule", "NEW", "NEW.id"),
    ),
  ];
}
