/**
 * Statements that make every id, key and name of earlier versions a text that clients can read: halves of surrogate
 * pairs, which end the native client's process, and NUL characters become U+FFFD. Where two rows become equal, one of
 * them gets a number behind its text.
 */
export function neutralTexts({ tasks, schedules, jobs, results, schedulers }: Tables): string[] {
  const columns: Readonly<Record<string, readonly string[]>> = {
    [tasks]: ["id"],
    [schedules]: ["id", "task_id", "acquired_by"],
    [jobs]: ["id", "task_id", "executor", "schedule_id", "idempotency_key", "acquired_by"],
    [results]: ["job_id", "task_id", "schedule_id"],
    [schedulers]: ["identity"],
  };
  const mended = (table: string, column: string, text: string, isWrong: string): string[] => [
    `UPDATE OR IGNORE ${table} SET ${column} = ${text} WHERE ${isWrong}`,
    `UPDATE OR REPLACE ${table} SET ${column} = ${text} || ' ' || rowid WHERE ${isWrong}`,
  ];
  const executor = "details->>'executor'";
  const setExecutor = (text: string): string =>
    `UPDATE ${schedules} SET details = json_set(details, '$.executor', ${text}) WHERE json_valid(details) AND`;
  return [
    ...Object.entries(columns).flatMap(([table, names]) =>
      names.flatMap((name) => [
        ...mended(table, name, withoutNul(name), hasNul(name)),
        ...mended(table, name, wellFormed(name), isIllFormed(name)),
      ]),
    ),
    `${setExecutor(withoutNul(executor))} ${hasNul(executor)}`,
    `${setExecutor(wellFormed(executor))} ${isIllFormed(executor)}`,
  ];
}

/** The tables of version 2. */
type Tables = Readonly<Record<"tasks" | "schedules" | "jobs" | "results" | "schedulers", string>>;

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
function isIllFormed(text: string): string {
  return `${text} GLOB '*' || char(65533) || '*' AND ${text} <> ${wellFormed(text)}`;
}

/** Writes each character as SQLite reads it. */
function wellFormed(text: string): string {
  const at = (place: string): string => `char(unicode(substr(${text}, ${place}, 1)))`;
  return (
    `(WITH RECURSIVE n (i, t) AS (SELECT 1, ${at("1")} UNION ALL SELECT i + 1, t || ${at("i + 1")} FROM n ` +
    `WHERE i < length(${text})) SELECT t FROM n ORDER BY i DESC LIMIT 1)`
  );
}
