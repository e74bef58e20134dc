import type { TableNames } from "./schema.ts";

/**
 * Statements that make every id, key and name of earlier versions a text that clients can read: halves of surrogate
 * pairs, which end the native client's process, and NUL characters become U+FFFD. Of two rows that become equal the
 * older goes.
 */
export function neutralTexts({ tasks, schedules, jobs, results, schedulers }: Tables): string[] {
  const columns: Readonly<Record<string, readonly string[]>> = {
    [tasks]: ["id"],
    [schedules]: ["id", "task_id", "acquired_by"],
    [jobs]: ["id", "task_id", "executor", "schedule_id", "idempotency_key", "acquired_by"],
    [results]: ["job_id", "task_id", "schedule_id"],
    [schedulers]: ["identity"],
  };
  const executor = "details->>'executor'";
  const setExecutor = (mended: string): string =>
    `UPDATE ${schedules} SET details = json_set(details, '$.executor', ${mended}) WHERE json_valid(details) AND`;
  return [
    ...Object.entries(columns).flatMap(([table, names]) =>
      names.flatMap((name) => [
        `UPDATE OR REPLACE ${table} SET ${name} = ${withoutNul(name)} WHERE ${hasNul(name)}`,
        `UPDATE OR REPLACE ${table} SET ${name} = ${wellFormed(name)} WHERE ${mayBeIllFormed(name)}`,
      ]),
    ),
    `${setExecutor(withoutNul(executor))} ${hasNul(executor)}`,
    `${setExecutor(wellFormed(executor))} ${mayBeIllFormed(executor)}`,
  ];
}

type Tables = Pick<TableNames, "tasks" | "schedules" | "jobs" | "results" | "schedulers">;

function hasNul(text: string): string {
  return `instr(CAST(${text} AS BLOB), x'00') > 0`;
}

/** SQLite's functions of text end at a NUL, so that only bytes can be searched for one. */
function withoutNul(text: string): string {
  const next = "CAST(substr(b, 1, instr(b, x'00') - 1) || x'EFBFBD' || substr(b, instr(b, x'00') + 1) AS BLOB)";
  return (
    `(WITH RECURSIVE n (b) AS (SELECT CAST(${text} AS BLOB) UNION ALL SELECT ${next} FROM n ` +
    "WHERE instr(b, x'00') > 0) SELECT CAST(b AS TEXT) FROM n WHERE instr(b, x'00') = 0)"
  );
}

/** SQLite reads half of a surrogate pair as U+FFFD, but keeps its bytes. */
function mayBeIllFormed(text: string): string {
  return `${text} GLOB '*' || char(65533) || '*'`;
}

/** Writes each character as SQLite reads it. */
function wellFormed(text: string): string {
  const at = (place: string): string => `char(unicode(substr(${text}, ${place}, 1)))`;
  return (
    `(WITH RECURSIVE n (i, t) AS (SELECT 1, ${at("1")} UNION ALL SELECT i + 1, t || ${at("i + 1")} FROM n ` +
    `WHERE i < length(${text})) SELECT t FROM n ORDER BY i DESC LIMIT 1)`
  );
}
