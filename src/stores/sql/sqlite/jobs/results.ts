import { FAILURE_MESSAGE_MAX, FAILURES } from "../../../../records/failure.ts";
import { PAGE_BYTES_MAX } from "../../../shared/limits.ts";
import { INDEXES, MERGED, type ResultStatements } from "../../jobs/results.ts";
import type { Scan } from "../../lists/list-scans.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily, validJson } from "../../sql-and-json.ts";
import { hasAllLabels, isFirstLabel } from "../lists/label-index.ts";
import { foundIn, scanStatement } from "../lists/list-scans.ts";
import { rowAsJson, sizeInBytes } from "../sql-and-json.ts";

export function resultStatements(names: TableNames): ResultStatements {
  const { results, jobSteps, labels } = names;
  const select = `SELECT ${resultAsJson(results)} AS record`;
  // ?1 from, ?2 until, ?3 taskId or null, ?4 scheduleId or null, ?5 outcome or null, ?6 limit, ?7 labels or null
  const isMatching =
    "(?3 IS NULL OR task_id = ?3) AND (?4 IS NULL OR schedule_id = ?4) AND (?5 IS NULL OR outcome = ?5) " +
    `AND ${hasAllLabels(names, "?7", { kind: "result", at: `${results}.finished_at`, id: `${results}.job_id` })}`;
  /** A statement for each index, of the rows that fit, the oldest first. */
  const ofMatching = (sql: (rows: (column: string) => string) => string): Readonly<Record<string, string>> => {
    const matching = (condition: string) => (column: string) =>
      `SELECT ${column} FROM ${results} WHERE ${condition} AND finished_at >= ?1 AND finished_at < ?2 ` +
      `AND ${isMatching} ORDER BY finished_at, rowid LIMIT +?6`;
    const ofLabel = (column: string) =>
      `SELECT ${results}.${column} FROM ${labels} l CROSS JOIN ${results} ON job_id = l.id AND finished_at = l.at ` +
      `WHERE ${isFirstLabel("?7", "result")} AND l.at >= ?1 AND l.at < ?2 AND ${isMatching} ` +
      `ORDER BY l.at, ${results}.rowid LIMIT +?6`;
    const statements = Object.entries(INDEXES).map(([name, condition]) => [name, sql(matching(condition))]);
    return { ...Object.fromEntries(statements), label: sql(ofLabel) };
  };
  return lazily<ResultStatements>({
    // ?1 rows of resultRow
    restoreResults: () =>
      `INSERT OR IGNORE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, details) ` +
      "SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5, r.value->>6 " +
      `FROM json_each(?1) r WHERE NOT EXISTS (SELECT 1 FROM ${names.jobs} WHERE id = r.value->>0)`,
    // ?1 job id, ?2 now
    getResult: () => `${select} FROM ${results} WHERE job_id = ?1 AND expires_at > ?2`,
    // ?1 job ids, ?2 now. In the order of the ids; what has no room on a page has no record.
    getResultsOfJobs: () =>
      `SELECT w.place AS place, CASE WHEN w.bytes_so_far <= ${PAGE_BYTES_MAX} OR w.bytes_so_far = w.bytes ` +
      `THEN ${resultAsJson("r")} END AS record FROM (SELECT k.*, sum(k.bytes) OVER (ORDER BY k.place ` +
      "ROWS UNBOUNDED PRECEDING) AS bytes_so_far FROM (SELECT a.key AS place, r.rowid AS seq, " +
      `${sizeInBytes("r.details")} AS bytes FROM json_each(?1) a CROSS JOIN ${results} r ON r.job_id = a.value ` +
      `WHERE r.expires_at > ?2) k) w CROSS JOIN ${results} r ON r.rowid = w.seq ORDER BY w.place`,
    getResults: () => resultLists(names),
    // ?1 from, ?2 until, ?3 taskId or null, ?4 scheduleId or null, ?5 now, ?6 limit. The last row has how many were
    // looked through, as a JSON list. The parts are in the order already, so that SQLite merges them.
    getFailures: () => {
      const parts = FAILURES.map(
        (outcome) =>
          `SELECT rowid AS seq, finished_at AS at FROM ${results} WHERE ${INDEXES[outcome]} ` +
          "AND finished_at >= ?1 AND finished_at < ?2",
      );
      const columns = ["job_id", "task_id", "schedule_id", "outcome", "finished_at"].map((column) => `t.${column}`);
      const error = [jsonField("$.error.name"), `substr(${jsonField("$.error.message")}, 1, ${FAILURE_MESSAGE_MAX})`];
      return (
        `WITH scanned AS MATERIALIZED (${parts.join(" UNION ALL ")} ORDER BY at DESC, seq DESC LIMIT +?6) ` +
        `SELECT * FROM (SELECT json_array(${[...columns, ...error].join(", ")}) AS record, NULL AS seen ` +
        `FROM scanned w CROSS JOIN ${results} t ON t.rowid = w.seq WHERE t.expires_at > ?5 ` +
        "AND (?3 IS NULL OR t.task_id = ?3) AND (?4 IS NULL OR t.schedule_id = ?4) " +
        "ORDER BY w.at DESC, w.seq DESC) UNION ALL SELECT NULL, json_array((SELECT count(*) FROM scanned))"
      );
    },
    // the arguments of `isMatching`
    removeResults: () => ({
      ...ofMatching((rows) => `DELETE FROM ${results} WHERE rowid IN (${rows("rowid")})`),
      jobs: `DELETE FROM ${results} WHERE job_id IN (SELECT value FROM json_each(?1))`,
    }),
    removeStepsOfResults: () => ({
      ...ofMatching((rows) => `DELETE FROM ${jobSteps} WHERE job_id IN (${rows("job_id")})`),
      jobs:
        `DELETE FROM ${jobSteps} WHERE job_id IN (SELECT job_id FROM ${results} ` +
        "WHERE job_id IN (SELECT value FROM json_each(?1)))",
    }),
    // ?1 now, ?2 limit
    removeExpired: () =>
      `DELETE FROM ${results} WHERE rowid IN (SELECT rowid FROM ${results} WHERE expires_at <= ?1 ` +
      "ORDER BY expires_at LIMIT +?2)",
    // How many rows the statement before this one changed.
    countChanges: () => "SELECT changes() AS changes",
  });
}

/**
 * By index and order. ?3 taskId or null, ?4 scheduleId or null, ?5 outcome or null, ?6 from, ?7 until,
 * ?8 and ?9 the end and the row of the result after which the page begins, ?10 now, ?11 search or null, ?12 outcomes as
 * a JSON list or null, ?13 a text of the error or null, ?14 and ?15 the shortest and the longest run time or null,
 * ?16 the fewest attempts or null, ?17 a key or null, ?18 labels or null.
 */
function resultLists(names: TableNames): Readonly<Record<string, string>> {
  const { results, labels } = names;
  const ofError = (name: string): string => jsonField(`$.error.${name}`);
  const ofJob = (name: string): string => jsonField(`$.job.${name}`);
  const columns = ["job_id", "task_id", "schedule_id"].map((column) => `t.${column}`);
  const texts = [...columns, ofError("name"), ofError("message"), ofJob("idempotencyKey"), ofJob("concurrencyKey")];
  const list = {
    table: results,
    key: "rowid",
    record: resultAsJson("t"),
    texts: ["details"],
    isTaken:
      "(?3 IS NULL OR t.task_id = ?3) AND (?4 IS NULL OR t.schedule_id = ?4) AND (?5 IS NULL OR t.outcome = ?5) " +
      `AND t.expires_at > ?10 AND ${foundIn("?11", texts)} ` +
      "AND (?12 IS NULL OR t.outcome IN (SELECT value FROM json_each(?12))) " +
      `AND ${foundIn("?13", [ofError("name"), ofError("message")])} ` +
      `AND (?14 IS NULL OR t.finished_at - ${jsonField("$.startedAt")} >= ?14) ` +
      `AND (?15 IS NULL OR t.finished_at - ${jsonField("$.startedAt")} <= ?15) ` +
      `AND (?16 IS NULL OR ${jsonField("$.attempts")} >= ?16) ` +
      `AND (?17 IS NULL OR ?17 IN (${ofJob("idempotencyKey")}, ${ofJob("concurrencyKey")})) ` +
      `AND ${hasAllLabels(names, "?18", { kind: "result", at: "t.finished_at", id: "t.job_id" })}`,
  };
  const scan = (conditions: readonly string[], isBackwards: boolean, from = results, at = "finished_at"): Scan => {
    const [sign, order] = isBackwards ? ["<", "DESC"] : [">", "ASC"];
    const rowid = `${results}.rowid`;
    const rows = conditions.map(
      (condition) =>
        `SELECT ${rowid} AS seq, ${at} AS at FROM ${from} WHERE ${condition} AND ${at} >= ?6 AND ${at} < ?7 ` +
        `AND (${at} ${sign} ?8 OR ${at} = ?8 AND ${rowid} ${sign} ?9)`,
    );
    return {
      rows: `${rows.join(" UNION ALL ")} ORDER BY ${conditions.length > 1 ? "at" : at} ${order}, seq ${order}`,
      place: ["at", "seq"],
      isBackwards,
    };
  };
  // Each part is in the order already, so that SQLite merges them.
  const unsuccessful = MERGED.map(
    (outcome) => `'${outcome}' IN (SELECT value FROM json_each(?12)) AND ${INDEXES[outcome]}`,
  );
  const scans = Object.entries({ ...INDEXES, unsuccessful }).flatMap(([name, condition]) =>
    [true, false].map((isBackwards) => [
      `${name} ${isBackwards ? "newest" : "oldest"}`,
      scanStatement(list, scan([condition].flat(), isBackwards)),
    ]),
  );
  const labelled = `${labels} l CROSS JOIN ${results} ON job_id = l.id AND finished_at = l.at`;
  const ofLabel = [true, false].map((isBackwards) => [
    `label ${isBackwards ? "newest" : "oldest"}`,
    scanStatement(list, scan([isFirstLabel("?18", "result")], isBackwards, labelled, "l.at")),
  ]);
  return Object.fromEntries([...scans, ...ofLabel]);
}

function jsonField(path: string): string {
  return `CASE WHEN json_valid(t.details) THEN json_extract(t.details, '${path}') END`;
}

function resultAsJson(table: string): string {
  const columns = ["job_id", "task_id", "schedule_id", "outcome", "expires_at", "rowid", "finished_at"];
  return rowAsJson(table, columns, [validJson(`${table}.details`)]);
}
