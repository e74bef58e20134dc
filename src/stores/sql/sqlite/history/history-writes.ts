import type { HistoryStatements } from "../../history/history-writes.ts";
import { FAR_PAST_MS, HISTORIES_PER_PARTITION, OLDEST_ROWS_SEEN_MAX, TRIM_HOURLY_MS } from "../../limits.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { detail, KEY_ID, KEY_INSTANT } from "../sql-and-json.ts";

// How the history of a schedule is written and trimmed. It consists of *runs* (a fire time whose job has ended) and
// *skips* (a range of fire times that made no run). `ledger-reads.ts` reads it.

/** SQL of the partition of a history. The runs of one partition lie together, in the order of their fire times. */
function partitionOf(history: string): string {
  return `${history} / ${HISTORIES_PER_PARTITION}`;
}

/** SQL of whether a row of `runs` is of a history. */
export function isOf(history: string, run: string): string {
  return `${run}.partition = ${partitionOf(history)} AND ${run}.history = ${history}`;
}

/** SQL of the last skip of a history that begins at a time or before it. No other one can reach that time. */
export function lastSkipFrom({ skips }: TableNames, history: string, time: string): string {
  return `SELECT max(from_time) FROM ${skips} WHERE history = ${history} AND from_time <= ${time}`;
}

/**
 * A statement that writes skips. They leave out the fire times of unfinished jobs and of earlier skips: the schedule
 * may have been removed, and added again with a start that has passed.
 * @param rows SQL that selects rows `history, schedule_id, from_time, until_time, verdict, count, into_time`
 */
export function insertSkips(names: TableNames, rows: string): string {
  const { skips, jobs } = names;
  const reaching = `coalesce((${lastSkipFrom(names, "k.history", "k.from_time")}), k.from_time)`;
  const before = "ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING";
  const taken = [
    `SELECT k.*, j.fire_time AS start, j.fire_time AS stop FROM k CROSS JOIN ${jobs} j ` +
      "ON j.schedule_id = k.schedule_id AND j.fire_time BETWEEN k.from_time AND k.until_time",
    `SELECT k.*, s.from_time, s.until_time FROM k CROSS JOIN ${skips} s ` +
      `ON s.history = k.history AND s.from_time BETWEEN ${reaching} AND k.until_time`,
    "SELECT k.*, until_time + 1, until_time + 1 FROM k",
  ];
  return (
    `INSERT OR IGNORE INTO ${skips} (history, from_time, until_time, verdict, count, into_time) WITH k AS (${rows}) ` +
    "SELECT history, part, start - 1, verdict, CASE WHEN part = from_time AND start > until_time THEN count END, " +
    "into_time FROM (SELECT *, max(from_time, coalesce(" +
    `max(stop) OVER (PARTITION BY history, from_time ${before}) + 1, from_time)) AS part ` +
    `FROM (${taken.join(" UNION ALL ")})) WHERE part < start`
  );
}

/** SQL that joins the histories of jobs. Jobs that no fire time made have none, nor have those of schedules that a
 *  store with `ledger: false` added. The columns have names of their own, so that conditions on jobs need no alias. */
function joinHistories({ histories }: TableNames): string {
  return (
    `CROSS JOIN (SELECT number AS history, schedule_id AS history_of FROM ${histories}) h ` +
    "ON h.history_of = schedule_id AND fire_time IS NOT NULL"
  );
}

/** The beginning of a statement that writes runs. A run of the same fire time is replaced: that of the job which this
 *  job repeats, or that of an earlier try. */
function insertInto({ runs }: TableNames): string {
  return `INSERT OR REPLACE INTO ${runs} (partition, history, fire_time, outcome, run)`;
}

/** SQL that selects the run of a job, to go on with `FROM` the jobs. The fields are SQL; `startedAt` and `finishedAt`
 *  are epoch milliseconds. The text is that of {@link runText}. */
function selectRun(
  { jobs }: TableNames,
  run: Readonly<Record<"outcome" | "startedAt" | "finishedAt" | "attempts" | "reason", string>>,
): string {
  const createdAt = `coalesce(${detail("createdAt")}, fire_time)`;
  const facts = [
    `coalesce(${detail("scheduledFireTime")}, fire_time) - fire_time`,
    `${createdAt} - fire_time`,
    `${run.startedAt} - ${createdAt}`,
    `${run.finishedAt} - ${createdAt}`,
    run.attempts,
    "concurrency_key IS NOT NULL",
  ];
  const texts = facts.map((fact) => `coalesce(CAST(${fact} AS INTEGER), '-') || ' '`);
  const text = `${texts.join(" || ")} || ${run.reason} || '/' || ${jobs}.id`;
  return `SELECT ${partitionOf("history")}, history, fire_time, ${run.outcome}, ${text}`;
}

/** A statement that writes the runs of jobs which the store ends by itself, without its condition. It writes what
 *  `endedWithoutRun` tells. Both parameters are SQL. */
export function enterEnded(names: TableNames, outcome: string, now: string): string {
  const attempts = "failed_attempts + recoveries + (acquired_by IS NOT NULL)";
  const run = selectRun(names, { outcome, startedAt: "NULL", finishedAt: now, attempts, reason: "''" });
  return `${insertInto(names)} ${run} FROM ${names.jobs} ${joinHistories(names)}`;
}

/** A comment before each statement lists its arguments. */
export function historyStatements(names: TableNames): HistoryStatements {
  const { schedules, jobs, histories, runs, skips, changes } = names;
  const since = "max(s.created_at, coalesce(s.last_fire_time + 1, s.created_at))";
  // The partition to trim. ?1 now
  const firstDue = "WHERE next_trim_at <= ?1 ORDER BY next_trim_at LIMIT 1";
  const due = `(SELECT ${partitionOf("number")} FROM ${histories} ${firstDue})`;
  const inDue = (history: string): string =>
    `${history} >= ${due} * ${HISTORIES_PER_PARTITION} AND ${history} < (${due} + 1) * ${HISTORIES_PER_PARTITION}`;
  const excess =
    `SELECT history, runs + (SELECT count(*) FROM ${skips} s WHERE s.history = c.history) - ?3 AS excess ` +
    `FROM (SELECT number AS history, coalesce(runs, 0) AS runs FROM ${histories} LEFT JOIN ` +
    `(SELECT history, count(*) AS runs FROM ${runs} WHERE partition = ${due} GROUP BY history) ON history = number ` +
    `WHERE ${inDue("number")}) c`;
  const isOver = "history IN (SELECT history FROM counted WHERE excess > 0)";
  const oldest =
    `SELECT history, fire_time AS start FROM ${runs} WHERE partition = ${due} AND ${isOver} ` +
    `UNION ALL SELECT history, from_time FROM ${skips} WHERE ${inDue("history")} AND ${isOver} ` +
    `ORDER BY start LIMIT ${OLDEST_ROWS_SEEN_MAX}`;
  // A skip that reaches into the time that is kept stays.
  const keptByAge =
    `coalesce((SELECT s.from_time FROM ${skips} s WHERE s.history = h.number ` +
    `AND s.from_time = (${lastSkipFrom(names, "h.number", "?2")}) AND s.until_time >= ?2), ?2)`;
  const keptByCount =
    "coalesce((SELECT max(start) + 1 FROM numbered n CROSS JOIN counted c ON c.history = n.history " +
    `WHERE n.history = h.number AND place <= excess), ${FAR_PAST_MS})`;
  const lastRun = `SELECT max(fire_time) FROM ${runs} r WHERE ${isOf("v.number", "r")} AND fire_time < v.kept_from`;
  const lastSkip =
    `SELECT until_time FROM ${skips} WHERE history = v.number AND from_time < v.kept_from ` +
    "ORDER BY from_time DESC LIMIT 1";
  const removableRuns =
    `SELECT r.partition, r.fire_time, r.history FROM ${runs} r CROSS JOIN ${histories} h ` +
    "ON h.number = r.history AND r.fire_time < h.kept_from " +
    `WHERE r.partition = ${due} AND r.fire_time < (SELECT max(kept_from) FROM ${histories} WHERE ${inDue("number")})`;
  const removableSkips =
    `SELECT s.history, s.from_time FROM ${histories} h CROSS JOIN ${skips} s ` +
    `ON s.history = h.number AND s.from_time < h.kept_from WHERE ${inDue("h.number")}`;
  const hasMoreThan = (rows: string): string => `EXISTS (SELECT 1 FROM ${rows} LIMIT 1 OFFSET +?3)`;
  const none = (rows: string): string => `NOT EXISTS (${rows})`;

  return lazily<HistoryStatements>({
    // ?1 ids of schedules. A history that is there stays.
    openHistories: () =>
      `INSERT OR IGNORE INTO ${histories} (schedule_id, since, next_trim_at) ` +
      `SELECT s.id, ${since}, s.created_at + ${TRIM_HOURLY_MS} ` +
      `FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = a.value`,

    // ?1 members: fireTime and the text of the run, then the scheduleId; ?2 the outcome that they share. For jobs
    // without a concurrency key that are released for sure.
    enterRuns: () =>
      `${insertInto(names)} SELECT ${partitionOf("h.number")}, h.number, ${KEY_INSTANT}, ?2, ${KEY_ID} ` +
      `FROM json_each(?1) r CROSS JOIN ${histories} h ON h.schedule_id = r.value`,
    // ?1 rows [jobId, fence, outcome, startedAt, finishedAt, attempts, reasonText], ?2 schedulerId. Precedes the
    // statements that remove the jobs.
    enterBlockedRuns: () =>
      `${insertInto(names)} ${selectRun(names, {
        outcome: "r.value->>2",
        startedAt: "(r.value->>3)",
        finishedAt: "(r.value->>4)",
        attempts: "r.value->>5",
        reason: "(r.value->>6)",
      })} FROM json_each(?1) r CROSS JOIN ${jobs} ON ${jobs}.id = r.value->>0 ${joinHistories(names)} ` +
      "WHERE fence = r.value->>1 AND acquired_by = ?2",

    // The next three write what another store remembers. ?1 rows [scheduleId, fireTime, outcome, text of the run]
    restoreRuns: () =>
      `INSERT OR IGNORE INTO ${runs} (partition, history, fire_time, outcome, run) ` +
      `SELECT ${partitionOf("h.number")}, h.number, r.value->>1, r.value->>2, r.value->>3 ` +
      `FROM json_each(?1) r CROSS JOIN ${histories} h ON h.schedule_id = r.value->>0`,
    // ?1 rows [scheduleId, from, until, verdict, count, into]
    restoreSkips: () =>
      insertSkips(
        names,
        "SELECT h.number AS history, h.schedule_id AS schedule_id, r.value->>1 AS from_time, " +
          "r.value->>2 AS until_time, r.value->>3 AS verdict, r.value->>4 AS count, r.value->>5 AS into_time " +
          `FROM json_each(?1) r CROSS JOIN ${histories} h ON h.schedule_id = r.value->>0`,
      ),
    // ?1 rows [scheduleId, since]
    restoreSince: () =>
      `UPDATE ${histories} SET since = min(since, r.value->>1) FROM json_each(?1) r WHERE schedule_id = r.value->>0`,

    // The next six trim a partition, because its runs are counted in one go. They run one after the other.
    // ?1 now. Removes the histories of schedules that are gone, without rows, without changes, and without a job that
    // could leave a run.
    removeHistories: () =>
      `DELETE FROM ${histories} WHERE ${inDue("number")} ` +
      `AND NOT EXISTS (SELECT 1 FROM ${schedules} s WHERE s.id = schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${changes} c WHERE c.schedule_id = ${histories}.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.schedule_id = ${histories}.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${skips} WHERE history = number) ` +
      // Last, because it reads the whole partition.
      `AND NOT EXISTS (SELECT 1 FROM ${runs} r WHERE ${isOf("number", "r")})`,
    // ?1 now, ?2 the time before which rows are too old, ?3 most rows of a history. Decides what to remove.
    raiseKeptFrom: () =>
      `WITH counted AS MATERIALIZED (${excess}), ` +
      `numbered AS MATERIALIZED (SELECT history, start, row_number() OVER (PARTITION BY history ORDER BY start) ` +
      `AS place FROM (${oldest})), ` +
      // The cast is there because some clients bind every number as a REAL.
      `v AS MATERIALIZED (SELECT h.number, CAST(max(${keptByAge}, ${keptByCount}) AS INTEGER) AS kept_from ` +
      `FROM ${histories} h WHERE ${inDue("h.number")}) ` +
      `UPDATE ${histories} SET kept_from = v.kept_from, ` +
      `since = max(since, coalesce((${lastRun}) + 1, since), coalesce((${lastSkip}) + 1, since)) ` +
      `FROM v WHERE ${histories}.number = v.number`,
    // ?1 now, ?2 after how many milliseconds most partitions are trimmed again, ?3 half of how many rows a history may
    // have, less one. While there is anything to remove, the partition stays due.
    postponeTrim: () =>
      `UPDATE ${histories} SET next_trim_at = ?1 + CASE WHEN ${hasMoreThan(`${runs} WHERE partition = ${due}`)} ` +
      `OR ${hasMoreThan(`${skips} WHERE ${inDue("history")}`)} THEN ${TRIM_HOURLY_MS} ELSE ?2 END ` +
      `WHERE ${inDue("number")} AND ${none(removableRuns)} AND ${none(removableSkips)}`,
    // ?1 now, ?2 limit
    trimRuns: () => `DELETE FROM ${runs} WHERE (partition, fire_time, history) IN (${removableRuns} LIMIT +?2)`,
    // ?1 now, ?2 limit
    trimSkips: () => `DELETE FROM ${skips} WHERE (history, from_time) IN (${removableSkips} LIMIT +?2)`,
    // ?1 now. Columns: whether a partition is due.
    hasMoreToTrim: () => `SELECT EXISTS (SELECT 1 FROM ${histories} WHERE next_trim_at <= ?1) AS has_more`,
  });
}
