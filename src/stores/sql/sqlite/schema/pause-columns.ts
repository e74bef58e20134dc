import { PAUSES_ENDED_PER_COMMIT_MAX } from "../../../shared/limits.ts";
import { FAR_FUTURE_MS } from "../../limits.ts";

/** SQL that selects the `rowid` of the rows whose pause has come to its end, as many as a commit ends. `now` is SQL. */
export function endingPauses(table: string, now: string): string {
  return (
    `SELECT rowid FROM ${table} WHERE paused_until <= ${now} ` +
    `ORDER BY paused_until, rowid LIMIT ${PAUSES_ENDED_PER_COMMIT_MAX}`
  );
}

/** The same of the pauses of keys, which have no `rowid`. */
export function endingKeyPauses(table: string, now: string): string {
  return (
    `SELECT task_id, key FROM ${table} WHERE paused_until <= ${now} ` +
    `ORDER BY paused_until, task_id, key LIMIT ${PAUSES_ENDED_PER_COMMIT_MAX}`
  );
}

/** SQL of when the first pause of a row of the table ends. A text in a damaged row is greater than every number. */
export function firstPauseEnd(table: string): string {
  return `SELECT min(paused_until) AS at FROM ${table} WHERE paused_until <= ${FAR_FUTURE_MS}`;
}
