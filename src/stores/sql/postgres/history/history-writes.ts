import type { HistoryStatements } from "../../history/history-writes.ts";
import { FAR_PAST_MS, HISTORIES_PER_PARTITION, OLDEST_ROWS_SEEN_MAX, TRIM_HOURLY_MS } from "../../limits.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { attemptsOf } from "../jobs/job-rows.ts";
import type { PostgresNames } from "../schema/names.ts";
import { type Stored, storedWrite } from "../schema/stored.ts";
import { counted, detailNumber, instantMembers, rowsOf, textsOf } from "../sql-and-json.ts";

// How the history of a schedule is written and trimmed, see `sqlite/history/history-writes.ts`.

/** SQL of the partition of a history. */
function partitionOf(history: string): string {
  return `${history} / ${HISTORIES_PER_PARTITION}`;
}

/** SQL of whether a row of `runs` is of a history. */
export function isOf(history: string, run: string): string {
  return `${run}.partition = ${partitionOf(history)} AND ${run}.history = ${history}`;
}

/** SQL of the last skip of a history that begins at a time or before it. No other one can reach that time. */
export function lastSkipFrom({ skips }: TableNames, history: string, time: string): string {
  return `SELECT max(ls.from_time) FROM ${skips} ls WHERE ls.history = ${history} AND ls.from_time <= ${time}`;
}

/** A statement that writes skips, which leave out the fire times of unfinished jobs and of earlier skips.
 *  @param rows SQL that selects rows `history, schedule_id, from_time, until_time, verdict, count, into_time` */
export function insertSkips(names: TableNames, rows: string): string {
  const { skips, jobs } = names;
  const reaching = `coalesce((${lastSkipFrom(names, "k.history", "k.from_time")}), k.from_time)`;
  const before = "ORDER BY t.start, t.stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING";
  const taken = [
    `SELECT k.*, j.fire_time AS start, j.fire_time AS stop FROM k JOIN ${jobs} j ` +
      "ON j.schedule_id = k.schedule_id AND j.fire_time BETWEEN k.from_time AND k.until_time",
    `SELECT k.*, s.from_time, s.until_time FROM k JOIN ${skips} s ` +
      `ON s.history = k.history AND s.from_time BETWEEN ${reaching} AND k.until_time`,
    "SELECT k.*, k.until_time + 1, k.until_time + 1 FROM k",
  ];
  return (
    `INSERT INTO ${skips} (history, from_time, until_time, verdict, count, into_time) ` +
    "WITH k (history, schedule_id, from_time, until_time, verdict, count, into_time) AS MATERIALIZED (" +
    `SELECT d.history::bigint, d.schedule_id::text, d.from_time::bigint, d.until_time::bigint, d.verdict::text, ` +
    `d.count::bigint, d.into_time::bigint FROM (${rows}) d (history, schedule_id, from_time, until_time, verdict, ` +
    "count, into_time)) " +
    "SELECT p.history, p.part, p.start - 1, p.verdict, " +
    "CASE WHEN p.part = p.from_time AND p.start > p.until_time THEN p.count END, p.into_time " +
    "FROM (SELECT t.*, greatest(t.from_time, coalesce(" +
    `max(t.stop) OVER (PARTITION BY t.history, t.from_time ${before}) + 1, t.from_time)) AS part ` +
    `FROM (${taken.join(" UNION ALL ")}) t) p WHERE p.part < p.start ON CONFLICT DO NOTHING`
  );
}

/** SQL that writes runs, of which later ones take the place of earlier ones: that of the job which the job repeats, or
 *  that of an earlier try. `select` yields partition, history, fire time, outcome, text and an order. */
function intoRuns({ runs }: TableNames, select: string): string {
  return (
    `INSERT INTO ${runs} (partition, history, fire_time, outcome, run) ` +
    "SELECT d.partition, d.history, d.fire_time, d.outcome, d.run FROM (" +
    "SELECT DISTINCT ON (e.partition, e.fire_time, e.history) e.* FROM (" +
    `${select}) e (partition, history, fire_time, outcome, run, nth) ` +
    "ORDER BY e.partition, e.fire_time, e.history, e.nth DESC) d ORDER BY d.nth " +
    "ON CONFLICT (partition, fire_time, history) DO UPDATE SET outcome = excluded.outcome, run = excluded.run"
  );
}

/** SQL that selects the runs of jobs `j`, to go on with `FROM`. The fields are SQL; `startedAt` and `finishedAt` are
 *  epoch milliseconds. The text is that of `runText`. */
function selectRun(
  run: Readonly<Record<"outcome" | "startedAt" | "finishedAt" | "attempts" | "reason" | "nth", string>>,
): string {
  const createdAt = `coalesce(${detailNumber("createdAt", "j")}, j.fire_time)`;
  const facts = [
    `coalesce(${detailNumber("scheduledFireTime", "j")}, j.fire_time) - j.fire_time`,
    `${createdAt} - j.fire_time`,
    `${run.startedAt} - ${createdAt}`,
    `${run.finishedAt} - ${createdAt}`,
    run.attempts,
    "CASE WHEN j.concurrency_key IS NOT NULL THEN 1 ELSE 0 END",
  ];
  const text = facts.map((fact) => `coalesce((${fact})::text, '-') || ' '`).join(" || ");
  return (
    `SELECT ${partitionOf("h.number")}, h.number, j.fire_time, ${run.outcome}, ` +
    `${text} || ${run.reason} || '/' || j.id, ${run.nth}`
  );
}

/** SQL that joins the histories of jobs. Jobs that no fire time made have none. */
function joinHistories({ histories }: TableNames): string {
  return `JOIN ${histories} h ON h.schedule_id = j.schedule_id AND j.fire_time IS NOT NULL`;
}

/** A statement that writes the runs of the jobs `j` of a condition, which the store ends by itself. */
export function enterEnded(names: TableNames, outcome: string, now: string, condition: string): string {
  const run = selectRun({
    outcome,
    startedAt: "NULL::bigint",
    finishedAt: `${now}::bigint`,
    attempts: attemptsOf("j"),
    reason: "''",
    nth: "j.seq",
  });
  return intoRuns(names, `${run} FROM ${names.jobs} j ${joinHistories(names)} WHERE ${condition}`);
}

/** The statement that writes the runs of jobs that ended. */
export function storedRuns(names: PostgresNames): Stored {
  const rows =
    `SELECT ${partitionOf("h.number")}, h.number, r.instant, ?2, r.id, r.key ` +
    `FROM ${instantMembers("?1", "r")} JOIN ${names.histories} h ON h.schedule_id = r.value #>> '{}'`;
  return storedWrite(names, { name: "enter_runs", types: ["json", "text"], sql: intoRuns(names, rows) });
}

/** The arguments are those of the statements on SQLite's SQL. */
export function historyStatements(names: PostgresNames): HistoryStatements {
  const { schedules, jobs, histories, runs, skips, changes } = names;
  const since = "greatest(s.created_at, coalesce(s.last_fire_time + 1, s.created_at))";
  // The partition to trim. ?1 now
  const due =
    `(SELECT ${partitionOf("f.number")} FROM ${histories} f WHERE f.next_trim_at <= ?1 ` +
    "ORDER BY f.next_trim_at, f.number LIMIT 1)";
  const inDue = (history: string): string =>
    `${history} >= ${due} * ${HISTORIES_PER_PARTITION} AND ${history} < (${due} + 1) * ${HISTORIES_PER_PARTITION}`;
  const excess =
    `SELECT c.number AS history, coalesce(n.runs, 0) + (SELECT count(*) FROM ${skips} s WHERE s.history = c.number) ` +
    `- ?3 AS excess FROM ${histories} c LEFT JOIN (SELECT r.history, count(*) AS runs FROM ${runs} r ` +
    `WHERE r.partition = ${due} GROUP BY r.history) n ON n.history = c.number WHERE ${inDue("c.number")}`;
  const isOver = (history: string): string => `${history} IN (SELECT k.history FROM counted k WHERE k.excess > 0)`;
  const oldest =
    `SELECT o.* FROM (SELECT r.history, r.fire_time AS start FROM ${runs} r ` +
    `WHERE r.partition = ${due} AND ${isOver("r.history")} UNION ALL ` +
    `SELECT s.history, s.from_time FROM ${skips} s WHERE ${inDue("s.history")} AND ${isOver("s.history")}) o ` +
    `ORDER BY o.start LIMIT ${OLDEST_ROWS_SEEN_MAX}`;
  // A skip that reaches into the time that is kept stays.
  const keptByAge =
    `coalesce((SELECT s.from_time FROM ${skips} s WHERE s.history = h.number ` +
    `AND s.from_time = (${lastSkipFrom(names, "h.number", "?2")}) AND s.until_time >= ?2), ?2)`;
  const keptByCount =
    "coalesce((SELECT max(n.start) + 1 FROM numbered n JOIN counted c ON c.history = n.history " +
    `WHERE n.history = h.number AND n.place <= c.excess), ${FAR_PAST_MS})`;
  const lastRun = `SELECT max(r.fire_time) FROM ${runs} r WHERE ${isOf("v.number", "r")} AND r.fire_time < v.kept_from`;
  const lastSkip =
    `SELECT s.until_time FROM ${skips} s WHERE s.history = v.number AND s.from_time < v.kept_from ` +
    "ORDER BY s.from_time DESC LIMIT 1";
  const removableRuns =
    `SELECT r.partition, r.fire_time, r.history FROM ${runs} r JOIN ${histories} g ` +
    `ON g.number = r.history AND r.fire_time < g.kept_from WHERE r.partition = ${due}`;
  const removableSkips =
    `SELECT s.history, s.from_time FROM ${histories} g JOIN ${skips} s ` +
    `ON s.history = g.number AND s.from_time < g.kept_from WHERE ${inDue("g.number")}`;
  const hasMoreThan = (rows: string): string => `EXISTS (SELECT 1 FROM ${rows} LIMIT 1 OFFSET ?3)`;
  const restored = rowsOf("?1", "r", "schedule_id text, fire_time bigint, outcome text, run text");
  const restoredSkips = rowsOf(
    "?1",
    "r",
    "schedule_id text, from_time bigint, until_time bigint, verdict text, count bigint, into_time bigint",
  );

  return lazily<HistoryStatements>({
    openHistories: () =>
      `INSERT INTO ${histories} (schedule_id, since, next_trim_at) ` +
      `SELECT s.id, ${since}, s.created_at + ${TRIM_HOURLY_MS} ` +
      `FROM ${textsOf("?1", "a")} JOIN ${schedules} s ON s.id = a.value ORDER BY a.key ON CONFLICT DO NOTHING`,
    enterRuns: () => storedRuns(names).statement,
    enterBlockedRuns: () => {
      const rows =
        "id text, fence bigint, outcome text, started_at bigint, finished_at bigint, attempts bigint, reason text";
      const run = selectRun({
        outcome: "r.outcome",
        startedAt: "r.started_at",
        finishedAt: "r.finished_at",
        attempts: "r.attempts",
        reason: "r.reason",
        nth: "r.key",
      });
      return intoRuns(
        names,
        `${run} FROM ${rowsOf("?1", "r", rows)} JOIN ${jobs} j ON j.id = r.id ${joinHistories(names)} ` +
          "WHERE j.fence = r.fence AND j.acquired_by = ?2",
      );
    },
    restoreRuns: () =>
      `INSERT INTO ${runs} (partition, history, fire_time, outcome, run) ` +
      `SELECT ${partitionOf("h.number")}, h.number, r.fire_time, r.outcome, r.run ` +
      `FROM ${restored} JOIN ${histories} h ON h.schedule_id = r.schedule_id ORDER BY r.key ON CONFLICT DO NOTHING`,
    restoreSkips: () =>
      insertSkips(
        names,
        "SELECT h.number, h.schedule_id, r.from_time, r.until_time, r.verdict, r.count, r.into_time " +
          `FROM ${restoredSkips} JOIN ${histories} h ON h.schedule_id = r.schedule_id`,
      ),
    restoreSince: () =>
      `UPDATE ${histories} AS h SET since = least(h.since, r.since) ` +
      `FROM ${rowsOf("?1", "r", "schedule_id text, since bigint")} WHERE h.schedule_id = r.schedule_id`,
    removeHistories: () =>
      `DELETE FROM ${histories} h WHERE ${inDue("h.number")} ` +
      `AND NOT EXISTS (SELECT 1 FROM ${schedules} s WHERE s.id = h.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${changes} c WHERE c.schedule_id = h.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.schedule_id = h.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${skips} s WHERE s.history = h.number) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${runs} r WHERE ${isOf("h.number", "r")})`,
    raiseKeptFrom: () =>
      `UPDATE ${histories} AS u SET kept_from = v.kept_from, ` +
      `since = greatest(u.since, coalesce((${lastRun}) + 1, u.since), coalesce((${lastSkip}) + 1, u.since)) ` +
      `FROM (WITH counted AS MATERIALIZED (${excess}), ` +
      "numbered AS MATERIALIZED (SELECT o.history, o.start, row_number() OVER (PARTITION BY o.history " +
      `ORDER BY o.start) AS place FROM (${oldest}) o) ` +
      `SELECT h.number, greatest(${keptByAge}, ${keptByCount}) AS kept_from ` +
      `FROM ${histories} h WHERE ${inDue("h.number")}) v WHERE u.number = v.number`,
    postponeTrim: () =>
      `UPDATE ${histories} AS u SET next_trim_at = ?1 + CASE WHEN ` +
      `${hasMoreThan(`${runs} r WHERE r.partition = ${due}`)} ` +
      `OR ${hasMoreThan(`${skips} s WHERE ${inDue("s.history")}`)} THEN ${TRIM_HOURLY_MS} ELSE ?2 END ` +
      `WHERE ${inDue("u.number")} AND NOT EXISTS (${removableRuns}) AND NOT EXISTS (${removableSkips})`,
    trimRuns: () => counted(`DELETE FROM ${runs} WHERE (partition, fire_time, history) IN (${removableRuns} LIMIT ?2)`),
    trimSkips: () => counted(`DELETE FROM ${skips} WHERE (history, from_time) IN (${removableSkips} LIMIT ?2)`),
    hasMoreToTrim: () => `SELECT EXISTS (SELECT 1 FROM ${histories} WHERE next_trim_at <= ?1) AS has_more`,
  });
}
