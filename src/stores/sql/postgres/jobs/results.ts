import { FAILURE_MESSAGE_MAX, FAILURES } from "../../../../records/failure.ts";
import { JOB_OUTCOMES } from "../../../../records/policies.ts";
import { STAND_IN, TWICE } from "../../../postgres/driver/stand-ins.ts";
import { PAGE_BYTES_MAX } from "../../../shared/limits.ts";
import type { ResultStatements } from "../../jobs/results.ts";
import type { Scan, ScannedTable } from "../../lists/list-scans.ts";
import { lazily } from "../../sql-and-json.ts";
import { foundIn, hasAllLabels, isFirstLabel, scanStatement } from "../lists/lists.ts";
import type { PostgresNames } from "../schema/names.ts";
import { arrayOf, CHANGES, counted, shownJson, sizeInBytes, textList, textsOf } from "../sql-and-json.ts";
import { resultOfRow, resultRows } from "./releases.ts";

/** The conditions by which each index is chosen: a partial index needs its own condition in the statement. */
const INDEXES: Readonly<Record<string, string>> = {
  all: "true",
  task: "r.task_id = ?3",
  schedule: "r.schedule_id = ?4",
  ...Object.fromEntries(
    JOB_OUTCOMES.filter((outcome) => outcome !== "success").map((outcome) => [
      outcome,
      `r.outcome = '${outcome}' AND r.outcome <> 'success'`,
    ]),
  ),
};

/** The arguments are those of the statements on SQLite's SQL. */
export function resultStatements(names: PostgresNames): ResultStatements {
  const { results, jobSteps, labels, inSchema } = names;
  const isMatching =
    "(?3::text IS NULL OR r.task_id = ?3) AND (?4::text IS NULL OR r.schedule_id = ?4) " +
    "AND (?5::text IS NULL OR r.outcome = ?5) " +
    `AND ${hasAllLabels(names, "?7", { kind: "result", at: "r.finished_at", id: "r.job_id" })}`;
  const isIn = (time: string): string => `${time} >= ?1 AND ${time} < ?2`;
  /** A statement for each index, of the ids of the jobs whose results fit, the oldest first. */
  const ofMatching = (sql: (ids: string) => string): Readonly<Record<string, string>> => {
    const statements = Object.entries(INDEXES).map(([name, condition]) => [
      name,
      sql(
        `SELECT r.job_id FROM ${results} r WHERE ${condition} AND ${isIn("r.finished_at")} AND ${isMatching} ` +
          "ORDER BY r.finished_at, r.seq LIMIT ?6",
      ),
    ]);
    const ofLabel = sql(
      `SELECT r.job_id FROM ${labels} l JOIN ${results} r ON r.job_id = l.id AND r.finished_at = l.at ` +
        `WHERE ${isFirstLabel("?7", "result")} AND ${isIn("l.at")} AND ${isMatching} ORDER BY l.at, r.seq LIMIT ?6`,
    );
    return { ...Object.fromEntries(statements), label: ofLabel };
  };
  const record = `${resultAsJson(names, "r")} AS record`;
  return lazily<ResultStatements>({
    restoreResults: () =>
      `INSERT INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, details) ` +
      `SELECT ${resultOfRow(names)} FROM ${resultRows()} ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${names.jobs} j WHERE j.id = r.job_id) ORDER BY r.key ON CONFLICT DO NOTHING`,
    getResult: () => `SELECT ${record} FROM ${results} r WHERE r.job_id = ?1 AND r.expires_at > ?2`,
    getResultsOfJobs: () =>
      `SELECT w.place AS place, CASE WHEN w.bytes_so_far <= ${PAGE_BYTES_MAX} OR w.bytes_so_far = w.bytes ` +
      `THEN ${resultAsJson(names, "r")} END AS record FROM (SELECT k.*, sum(k.bytes) OVER (ORDER BY k.place ` +
      "ROWS UNBOUNDED PRECEDING) AS bytes_so_far FROM (SELECT a.key AS place, r.seq, " +
      `${sizeInBytes("r.details")} AS bytes FROM ${textsOf("?1", "a")} JOIN ${results} r ON r.job_id = a.value ` +
      `WHERE r.expires_at > ?2) k) w JOIN ${results} r ON r.seq = w.seq ORDER BY w.place`,
    getResults: () => resultLists(names),
    getFailures: () => {
      const parts = FAILURES.map(
        (outcome) =>
          `SELECT r.seq, r.finished_at AS at FROM ${results} r WHERE ${INDEXES[outcome]} AND ${isIn("r.finished_at")}`,
      );
      const columns = ["job_id", "task_id", "schedule_id", "outcome", "finished_at"].map((column) => `t.${column}`);
      const message = `left(${inSchema}text_of(t.details->'error'->'message'), ${FAILURE_MESSAGE_MAX})`;
      const error = ["t.details->'error'->>'name'", `replace(${message}, '${STAND_IN}', '${TWICE}')`];
      return (
        `WITH scanned AS MATERIALIZED (SELECT u.seq, u.at FROM (${parts.join(" UNION ALL ")}) u ` +
        "ORDER BY u.at DESC, u.seq DESC LIMIT ?6) " +
        `SELECT p.record, p.seen FROM (SELECT w.at, w.seq, ${arrayOf(...columns, ...error)} AS record, NULL AS seen ` +
        `FROM scanned w JOIN ${results} t ON t.seq = w.seq WHERE t.expires_at > ?5 ` +
        "AND (?3::text IS NULL OR t.task_id = ?3) AND (?4::text IS NULL OR t.schedule_id = ?4) " +
        "UNION ALL SELECT NULL, NULL, NULL, json_build_array((SELECT count(*) FROM scanned))::text) p " +
        "ORDER BY p.at DESC NULLS LAST, p.seq DESC"
      );
    },
    removeResults: () => ({
      ...ofMatching((ids) => counted(`DELETE FROM ${results} WHERE job_id IN (${ids})`)),
      jobs: counted(`DELETE FROM ${results} WHERE job_id IN (SELECT a.value FROM ${textsOf("?1", "a")})`),
    }),
    removeStepsOfResults: () => ({
      ...ofMatching((ids) => `DELETE FROM ${jobSteps} WHERE job_id IN (${ids})`),
      jobs:
        `DELETE FROM ${jobSteps} WHERE job_id IN (SELECT r.job_id FROM ${textsOf("?1", "a")} ` +
        `JOIN ${results} r ON r.job_id = a.value)`,
    }),
    removeExpired: () =>
      counted(
        `DELETE FROM ${results} WHERE seq IN (SELECT seq FROM ${results} WHERE expires_at <= ?1 ` +
          "ORDER BY expires_at LIMIT ?2)",
      ),
    countChanges: () => `SELECT ${CHANGES} AS changes`,
  });
}

/** By index and order, see the function of this name on SQLite's SQL. */
function resultLists(names: PostgresNames): Readonly<Record<string, string>> {
  const { results, labels } = names;
  const ofError = ["name", "message"].map((name) => `(t.details->'error'->>'${name}')`);
  const ofJob = ["idempotencyKey", "concurrencyKey"].map((name) => `(t.details->'job'->>'${name}')`);
  const columns = ["job_id", "task_id", "schedule_id"].map((column) => `t.${column}`);
  const runTime = "t.finished_at - (t.details->>'startedAt')::bigint";
  const list: ScannedTable = {
    table: results,
    key: "seq",
    record: resultAsJson(names, "t"),
    texts: ["details"],
    isTaken:
      "(?3::text IS NULL OR t.task_id = ?3) AND (?4::text IS NULL OR t.schedule_id = ?4) " +
      "AND (?5::text IS NULL OR t.outcome = ?5) " +
      `AND t.expires_at > ?10 AND ${foundIn("?11", [...columns, ...ofError, ...ofJob])} ` +
      `AND (?12::text IS NULL OR t.outcome IN (${textList("?12")})) AND ${foundIn("?13", ofError)} ` +
      `AND (?14::bigint IS NULL OR ${runTime} >= ?14) AND (?15::bigint IS NULL OR ${runTime} <= ?15) ` +
      "AND (?16::bigint IS NULL OR (t.details->>'attempts')::bigint >= ?16) " +
      `AND (?17::text IS NULL OR ?17 IN (${ofJob.join(", ")})) ` +
      `AND ${hasAllLabels(names, "?18", { kind: "result", at: "t.finished_at", id: "t.job_id" })}`,
  };
  const scan = (condition: string, isBackwards: boolean, from = `${results} r`, at = "r.finished_at"): Scan => {
    const [sign, order] = isBackwards ? ["<", "DESC"] : [">", "ASC"];
    return {
      rows:
        `SELECT r.seq, ${at} AS at FROM ${from} WHERE ${condition} AND ${at} >= ?6 AND ${at} < ?7 ` +
        `AND (${at} ${sign} ?8 OR ${at} = ?8 AND r.seq ${sign} ?9) ORDER BY ${at} ${order}, r.seq ${order}`,
      place: ["at", "seq"],
      isBackwards,
    };
  };
  const unsuccessful = `r.outcome = ANY (ARRAY(${textList("?12")})) AND r.outcome <> 'success'`;
  const labelled = `${labels} l JOIN ${results} r ON r.job_id = l.id AND r.finished_at = l.at`;
  return Object.fromEntries(
    [true, false].flatMap((isBackwards) => {
      const order = isBackwards ? "newest" : "oldest";
      return [
        ...Object.entries({ ...INDEXES, unsuccessful }).map(([name, condition]) => [
          `${name} ${order}`,
          scanStatement(list, scan(condition, isBackwards)),
        ]),
        [`label ${order}`, scanStatement(list, scan(isFirstLabel("?18", "result"), isBackwards, labelled, "l.at"))],
      ];
    }),
  );
}

function resultAsJson(names: PostgresNames, table: string): string {
  const columns = ["job_id", "task_id", "schedule_id", "outcome", "expires_at", "seq", "finished_at"];
  return arrayOf(
    `json_build_array(${columns.map((column) => `${table}.${column}`).join(", ")})`,
    shownJson(names, `${table}.details`),
  );
}
