import { MISSED_PER_COMMIT_MAX } from "../../../shared/limits.ts";
import type { CancellationStatements, RecoveryStatements } from "../../jobs/recovery-and-cancellation.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { enterEnded } from "../history/history-writes.ts";
import { countEnded } from "../history/stats.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { detail, detailNumber, inOrderOfKeys, rowsOf, textsOf } from "../sql-and-json.ts";
import { failEnded, keepEnded } from "./ended-jobs.ts";
import { endedJobAsJson, hasMissedStart } from "./job-rows.ts";

const { ready, leased, blocked, dependent } = JOB_STATE;

/** The arguments are those of the statements on SQLite's SQL. */
export function recoveryStatements(names: PostgresNames): RecoveryStatements {
  const { jobs, schedules, schedulers, dependencies } = names;
  // The commits of an instance begin with its name.
  const isOfAnother = "NOT starts_with(coalesce(l.acquisition_id, ''), ?6)";
  const isOfTheDead =
    `NOT EXISTS (SELECT 1 FROM ${schedulers} i WHERE i.identity = l.acquired_by AND i.alive_until > ?3 ` +
    "AND starts_with(l.acquisition_id, i.instance_id))";
  const lost = (limit = "?5::integer"): string =>
    `j.seq IN (SELECT l.seq FROM ${jobs} l WHERE l.state = ${leased} AND l.acquired_until <= ?1 ` +
    "AND (?2::text IS NULL OR l.acquired_by = ?2) AND (?4::text IS NULL OR l.acquisition_id = ?4) " +
    `AND (?6::text IS NULL OR ${isOfAnother} AND ${isOfTheDead}) ` +
    `ORDER BY l.acquired_until, l.seq LIMIT ${limit})`;
  const missedJobs =
    `j.seq IN (SELECT m.seq FROM ${jobs} m WHERE ${hasMissedStart("?1", "m")} ` +
    `ORDER BY m.start_deadline, m.seq LIMIT ${MISSED_PER_COMMIT_MAX})`;
  // A job that was lost before starts only after the store has recorded so.
  const mayHaveStarted = "(j.recoveries = 0 OR j.started_fence = j.fence)";
  const isForGood =
    `(j.cancel_requested = 1 OR ${mayHaveStarted} AND ` +
    `j.recoveries >= coalesce(${detailNumber("maxRecoveries", "j")}, 0))`;
  const endedRecord = `${endedJobAsJson("j")} AS record`;
  const lostForGood = `${lost()} AND ${isForGood}`;
  const outcomeOfLost = "CASE WHEN j.cancel_requested = 1 THEN 'cancelled' ELSE 'abandoned' END";

  const countFailures = (which: string): string =>
    `UPDATE ${schedules} AS s SET failures = s.failures + x.n FROM (SELECT j.schedule_id, count(*) AS n ` +
    `FROM ${jobs} j WHERE ${which} AND j.schedule_id IS NOT NULL AND j.fire_time IS NOT NULL ` +
    `AND ${detail("retryOf", "j")} IS NULL ` +
    `AND ${detail("pauseAfterFailures", "j")} IS NOT NULL GROUP BY j.schedule_id) x WHERE s.id = x.schedule_id`;
  const limitersOf = (which: string, now: string): string =>
    markDirty(
      names,
      `SELECT j.task_id, j.concurrency_key, ${now}::bigint FROM ${jobs} j WHERE ${which} ` +
        "AND j.concurrency_key IS NOT NULL",
    );

  return lazily<RecoveryStatements>({
    moveLeases: () =>
      `UPDATE ${jobs} AS j SET acquired_until = r.until FROM ${rowsOf("?1", "r", "instance text, until bigint")} ` +
      `WHERE j.state = ${leased} AND j.acquired_until > ?2 AND j.acquired_until <= ?3 ` +
      "AND starts_with(j.acquisition_id, r.instance)",
    markLost: () => limitersOf(lost("2 * ?5::integer"), "?3"),
    countLost: () => countFailures(`${lostForGood} AND j.cancel_requested = 0`),
    keepLost: () => keepEnded(names, outcomeOfLost, "?3", lostForGood),
    enterLost: () => enterEnded(names, outcomeOfLost, "?3", lostForGood),
    addLost: () => countEnded(names, ["cancelled", "abandoned"], "?3", lostForGood, "j.cancel_requested = 1"),
    failLost: () => failEnded(names, "'abandoned'", "?3", `${lostForGood} AND j.cancel_requested = 0`),
    endLost: () =>
      `UPDATE ${dependencies} AS d SET outcome = ${outcomeOfLost} FROM ${jobs} j ` +
      `WHERE ${lostForGood} AND j.has_children = 1 AND d.parent_id = j.id AND d.outcome IS NULL`,
    removeLost: () =>
      inOrderOfKeys(
        `DELETE FROM ${jobs} j WHERE ${lostForGood}`,
        "j",
        `${endedRecord}, ${guardSql(names, "?7::integer = 1 OR j.has_children = 0")} AS guard`,
      ),
    putBackLost: () =>
      inOrderOfKeys(
        `UPDATE ${jobs} AS j SET state = CASE WHEN j.concurrency_key IS NULL THEN ${ready} ELSE ${blocked} END, ` +
          `virtual_time = NULL, recoveries = j.recoveries + CASE WHEN ${mayHaveStarted} THEN 1 ELSE 0 END, ` +
          "acquired_by = NULL, acquired_until = NULL, " +
          "acquisition_id = CASE WHEN j.acquisition_id = ?7 THEN j.acquisition_id END " +
          `WHERE ${lost()} AND NOT ${isForGood}`,
        "j",
        "j.id, j.task_id, j.schedule_id, j.failed_attempts + j.recoveries AS attempt",
      ),
    countMissed: () => countFailures(missedJobs),
    keepMissed: () => keepEnded(names, "'missedStartDeadline'", "?1", missedJobs),
    enterMissed: () => enterEnded(names, "'missedStartDeadline'", "?1", missedJobs),
    addMissed: () => countEnded(names, ["missedStartDeadline"], "?1", missedJobs),
    failMissed: () => failEnded(names, "'missedStartDeadline'", "?1", missedJobs),
    markMissed: () => limitersOf(`${missedJobs} AND j.state = ${ready}`, "?1"),
    endMissed: () =>
      `UPDATE ${dependencies} SET outcome = 'missedStartDeadline' WHERE outcome IS NULL ` +
      `AND parent_id IN (SELECT j.id FROM ${jobs} j WHERE ${missedJobs} AND j.has_children = 1)`,
    forgetMissed: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN ` +
      `(SELECT j.id FROM ${jobs} j WHERE ${missedJobs} AND j.state = ${dependent})`,
    removeMissed: () => inOrderOfKeys(`DELETE FROM ${jobs} j WHERE ${missedJobs}`, "j", endedRecord),
  });
}

/** The arguments are those of the statements on SQLite's SQL. */
export function cancellationStatements(names: PostgresNames): CancellationStatements {
  const { jobs, commits } = names;
  const named = (condition: string): string =>
    `j.seq IN (SELECT i.seq FROM ${textsOf("?1", "c")} JOIN ${jobs} i ON i.id = c.value WHERE i.${condition})`;
  const endedRecord = `${endedJobAsJson("j")} AS record`;
  const isUnleased = named(`state <> ${leased}`);
  return lazily<CancellationStatements>({
    stampCancel: () =>
      `INSERT INTO ${commits} (id, at, answer) SELECT ?2, ?3::bigint, ` +
      `'[' || coalesce(string_agg(${endedJobAsJson("j")}, ','), '') || ']' ` +
      `FROM ${textsOf("?1", "c")} JOIN ${jobs} j ON j.id = c.value ON CONFLICT DO NOTHING`,
    readStamp: () => `SELECT answer AS record FROM ${commits} WHERE id = ?1 AND answer IS NOT NULL`,
    requestCancel: () =>
      `UPDATE ${jobs} AS j SET cancel_requested = 1 WHERE ${named(`state = ${leased}`)} RETURNING ${endedRecord}`,
    cancelRequests: () =>
      `SELECT id FROM ${jobs} WHERE state = ${leased} AND acquired_by = ?1 AND cancel_requested = 1`,
    keepCancelled: () => keepEnded(names, "'cancelled'", "?2", isUnleased),
    enterCancelled: () => enterEnded(names, "'cancelled'", "?2", isUnleased),
    addCancelled: () => countEnded(names, ["cancelled"], "?2", isUnleased),
    removeCancelled: () =>
      `DELETE FROM ${jobs} j WHERE ${isUnleased} RETURNING ${endedRecord}, ` +
      `${guardSql(names, `?2::integer = 1 OR j.has_children = 0 AND j.state <> ${dependent}`)} AS guard`,
    markCancelled: () =>
      markDirty(
        names,
        `SELECT j.task_id, j.concurrency_key, ?2::bigint FROM ${jobs} j ` +
          `WHERE ${named(`state = ${ready}`)} AND j.concurrency_key IS NOT NULL`,
      ),
  });
}
