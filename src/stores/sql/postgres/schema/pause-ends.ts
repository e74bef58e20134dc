import { PAUSES_ENDED_PER_COMMIT_MAX } from "../../../shared/limits.ts";

/** SQL that selects the keys of the rows whose pause has come to its end, as many as a commit ends. `now` is SQL. */
export function endingPauses(table: string, key: string, now: string): string {
  return (
    `SELECT ${key} FROM ${table} WHERE paused_until <= ${now} ` +
    `ORDER BY paused_until, ${key} LIMIT ${PAUSES_ENDED_PER_COMMIT_MAX}`
  );
}

/** The same of the pauses of keys. */
export function endingKeyPauses(table: string, now: string): string {
  return endingPauses(table, "task_id, key", now);
}
