import { FAILURE_KEPT_MS } from "../../../../records/limits.ts";
import { MISSED_PER_COMMIT_MAX } from "../../../shared/limits.ts";
import type { CancellationStatements, RecoveryStatements } from "../../jobs/recovery-and-cancellation.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { enterEnded } from "../history/history-writes.ts";
import { countEnded } from "../history/stats.ts";
import { hasMissedStart } from "../schema/tables.ts";
import { detail } from "../sql-and-json.ts";
import { endedJobAsJson } from "./job-rows.ts";

const { ready, leased, blocked, dependent } = JOB_STATE;

export function recoveryStatements(names: TableNames): RecoveryStatements {
  const { jobs, schedules, schedulers, dependencies } = names;
  // The commits of an instance begin with its name.
  const isOfAnother = "substr(coalesce(acquisition_id, ''), 1, length(?6)) <> ?6";
  const isOfTheDead =
    `NOT EXISTS (SELECT 1 FROM ${schedulers} i WHERE i.identity = acquired_by AND i.alive_until > ?3 ` +
    "AND substr(acquisition_id, 1, length(i.instance_id)) = i.instance_id)";
  const lost = (limit = "+?5"): string =>
    `seq IN (SELECT seq FROM ${jobs} WHERE state = ${leased} AND acquired_until <= ?1 ` +
    "AND (?2 IS NULL OR acquired_by = ?2) AND (?4 IS NULL OR acquisition_id = ?4) " +
    `AND (?6 IS NULL OR ${isOfAnother} AND ${isOfTheDead}) ` +
    `ORDER BY acquired_until, seq LIMIT ${limit})`;
  const missedJobs =
    `seq IN (SELECT seq FROM ${jobs} WHERE ${hasMissedStart("?1")} ` +
    `ORDER BY start_deadline, seq LIMIT ${MISSED_PER_COMMIT_MAX})`;
  // A job that was lost before starts only after the store has recorded so.
  const mayHaveStarted = "(recoveries = 0 OR started_fence = fence)";
  const isForGood = `(cancel_requested OR ${mayHaveStarted} AND recoveries >= coalesce(${detail("maxRecoveries")}, 0))`;
  const endedRecord = `${endedJobAsJson(jobs)} AS record`;
  const lostForGood = `${lost()} AND ${isForGood}`;
  const outcomeOfLost = "CASE WHEN cancel_requested THEN 'cancelled' ELSE 'abandoned' END";

  const countFailures = (which: string): string =>
    `UPDATE ${schedules} AS s SET failures = s.failures + x.n FROM (SELECT schedule_id, count(*) AS n FROM ${jobs} ` +
    `WHERE ${which} AND schedule_id IS NOT NULL AND fire_time IS NOT NULL AND ${detail("retryOf")} IS NULL ` +
    `AND ${detail("pauseAfterFailures")} IS NOT NULL GROUP BY schedule_id) x WHERE s.id = x.schedule_id`;

  return lazily<RecoveryStatements>({
    // ?1 the ends of leases by instance, as a JSON list of pairs, ?2 and ?3 of which leases: of those that end after
    // ?2, and not after ?3
    moveLeases: () =>
      `UPDATE ${jobs} SET acquired_until = value->>1 FROM json_each(?1) WHERE state = ${leased} ` +
      "AND acquired_until > ?2 AND acquired_until <= ?3 " +
      "AND substr(acquisition_id, 1, length(value->>0)) = value->>0",
    // When jobs have been removed, putBackLost reaches as many jobs further.
    markLost: () =>
      markDirty(
        names,
        `SELECT DISTINCT task_id, concurrency_key, CAST(?3 AS INTEGER) FROM ${jobs} ` +
          `WHERE ${lost("2 * ?5")} AND concurrency_key IS NOT NULL`,
      ),
    // Jobs that are lost for good, or miss their start, count as failures of their schedules.
    countLost: () => countFailures(`${lostForGood} AND cancel_requested = 0`),
    keepLost: () => keepEnded(names, outcomeOfLost, "?3", lostForGood),
    enterLost: () =>
      enterEnded(names, "CASE WHEN cancel_requested THEN 'cancelled' ELSE 'abandoned' END", "?3") +
      ` WHERE ${lostForGood}`,
    addLost: () => countEnded(names, ["cancelled", "abandoned"], "?3", lostForGood, "cancel_requested"),
    failLost: () => failEnded(names, "'abandoned'", "?3", `${lostForGood} AND NOT cancel_requested`),
    endLost: () =>
      `UPDATE ${dependencies} SET outcome = ${outcomeOfLost} FROM ${jobs} ` +
      `WHERE ${lostForGood} AND has_children = 1 AND parent_id = id AND outcome IS NULL`,
    // and ?7 whether endLost has run. If not, and a job has children, the batch is undone.
    removeLost: () =>
      `DELETE FROM ${jobs} WHERE ${lostForGood} ` +
      `RETURNING ${endedRecord}, ${guardSql("?7 OR has_children = 0")} AS guard`,
    // and ?7 the commit or null
    putBackLost: () =>
      `UPDATE ${jobs} SET state = CASE WHEN concurrency_key IS NULL THEN ${ready} ELSE ${blocked} END, ` +
      "virtual_time = NULL, " +
      `recoveries = recoveries + ${mayHaveStarted}, acquired_by = NULL, ` +
      "acquired_until = NULL, acquisition_id = CASE WHEN acquisition_id = ?7 THEN acquisition_id END " +
      `WHERE ${lost()} AND NOT ${isForGood} ` +
      "RETURNING id, task_id, schedule_id, failed_attempts + recoveries AS attempt",
    countMissed: () => countFailures(missedJobs),
    keepMissed: () => keepEnded(names, "'missedStartDeadline'", "?1", missedJobs),
    enterMissed: () => `${enterEnded(names, "'missedStartDeadline'", "?1")} WHERE ${missedJobs}`,
    addMissed: () => countEnded(names, ["missedStartDeadline"], "?1", missedJobs),
    failMissed: () => failEnded(names, "'missedStartDeadline'", "?1", missedJobs),
    markMissed: () =>
      markDirty(
        names,
        `SELECT DISTINCT task_id, concurrency_key, CAST(?1 AS INTEGER) FROM ${jobs} ` +
          `WHERE ${missedJobs} AND state = ${ready} AND concurrency_key IS NOT NULL`,
      ),
    endMissed: () =>
      `UPDATE ${dependencies} SET outcome = 'missedStartDeadline' ` +
      `WHERE outcome IS NULL AND parent_id IN (SELECT id FROM ${jobs} WHERE ${missedJobs} AND has_children = 1)`,
    forgetMissed: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN ` +
      `(SELECT id FROM ${jobs} WHERE ${missedJobs} AND state = ${dependent})`,
    removeMissed: () => `DELETE FROM ${jobs} WHERE ${missedJobs} RETURNING ${endedRecord}`,
  });
}

/** ?1 ids, as a JSON list, unless a comment says otherwise. */
export function cancellationStatements(names: TableNames): CancellationStatements {
  const { jobs, commits } = names;
  const named = (state: string): string =>
    `seq IN (SELECT j.seq FROM json_each(?1) c CROSS JOIN ${jobs} j ON j.id = c.value WHERE j.${state})`;
  const endedRecord = `${endedJobAsJson(jobs)} AS record`;
  const isUnleased = named(`state <> ${leased}`);
  return lazily<CancellationStatements>({
    // and ?2 stamp, ?3 now. The stamp carries the jobs as the first try finds them.
    stampCancel: () =>
      `INSERT INTO ${commits} (id, at, answer) SELECT ?2, ?3, json_group_array(${endedJobAsJson("j")}) ` +
      `FROM json_each(?1) c CROSS JOIN ${jobs} j ON j.id = c.value WHERE true ON CONFLICT DO NOTHING`,
    // ?1 stamp
    readStamp: () => `SELECT answer AS record FROM ${commits} WHERE id = ?1 AND answer IS NOT NULL`,
    requestCancel: () =>
      `UPDATE ${jobs} SET cancel_requested = 1 WHERE ${named(`state = ${leased}`)} RETURNING ${endedRecord}`,
    // ?1 schedulerId
    cancelRequests: () =>
      `SELECT id FROM ${jobs} WHERE state = ${leased} AND acquired_until > 0 ` +
      "AND acquired_by = ?1 AND cancel_requested = 1",
    // and ?2 now; and so for the next
    keepCancelled: () => keepEnded(names, "'cancelled'", "?2", isUnleased),
    enterCancelled: () => `${enterEnded(names, "'cancelled'", "?2")} WHERE ${isUnleased}`,
    addCancelled: () => countEnded(names, ["cancelled"], "?2", isUnleased),
    // and ?2 whether the batch resolves dependencies. If not, and a job has children or parents, the batch is undone.
    removeCancelled: () =>
      `DELETE FROM ${jobs} WHERE ${isUnleased} ` +
      `RETURNING ${endedRecord}, ${guardSql(`?2 OR has_children = 0 AND state <> ${dependent}`)} AS guard`,
    // and ?2 now. Precedes removeCancelled.
    markCancelled: () =>
      markDirty(
        names,
        `SELECT DISTINCT task_id, concurrency_key, CAST(?2 AS INTEGER) FROM ${jobs} ` +
          `WHERE ${named(`state = ${ready}`)} AND concurrency_key IS NOT NULL`,
      ),
  });
}

/** SQL that tells schedules of the jobs of a condition, which fail without a run: what `failureOf` makes of the result
 *  that `endedWithoutRun` gives. */
function failEnded({ schedules, jobs }: TableNames, outcome: string, now: string, condition: string): string {
  const failure =
    `json_object('jobId', id, 'outcome', ${outcome}, 'scheduledFireTime', ${detail("scheduledFireTime")}, ` +
    `'finishedAt', CAST(${now} AS INTEGER), ` +
    "'attempts', failed_attempts + recoveries + (acquired_by IS NOT NULL), 'error', NULL)";
  return (
    `UPDATE ${schedules} SET last_failure = f.failure FROM (SELECT schedule_id AS schedule, max(seq), ` +
    `${failure} AS failure FROM ${jobs} WHERE ${condition} AND schedule_id IS NOT NULL GROUP BY schedule_id) f ` +
    `WHERE ${schedules}.id = f.schedule`
  );
}

/** SQL that keeps the results of the jobs of a condition, which end without a run: the fields that `endedWithoutRun`
 *  gives a result, and what `withKeptFacts` keeps of the job. Merging into `{}` leaves out fields that are null; it
 *  would do so within metadata, too. */
export function keepEnded({ jobs, results }: TableNames, outcome: string, now: string, condition: string): string {
  const valid = (column: string): string => `json(CASE WHEN json_valid(${column}) THEN ${column} END)`;
  // The column of a job that missed its start is null where another has its key.
  const idempotencyKey = `coalesce(idempotency_key, ${detail("idempotencyKey")})`;
  const metadata = "json(CASE WHEN json_valid(details) THEN details->'metadata' END)";
  // Labels come first, see `label-index.ts`.
  const labels = "json(CASE WHEN json_valid(details) THEN details->'labels' END)";
  const after = "json(CASE WHEN json_valid(details) THEN details->'after' END)";
  const retry = "json(CASE WHEN json_valid(details) THEN details->'retry' END)";
  const details = ["payload", "maxRecoveries", "createdAt", "failureExpirationMs"].map(
    (name) => `'${name}', ${detail(name)}`,
  );
  // As `keptMsOf` says.
  const resultMs = detail("resultExpirationMs");
  const byDefault = `CASE WHEN ${resultMs} > 0 THEN max(${resultMs}, ${FAILURE_KEPT_MS}) ELSE 0 END`;
  const keptMs =
    `CASE WHEN (${outcome}) = 'cancelled' THEN ${resultMs} ` +
    `ELSE coalesce(${detail("failureExpirationMs")}, ${byDefault}) END`;
  const kept =
    `json_object(${details.join(", ")}, 'metadata', ${metadata}, 'executor', executor, 'priority', priority, ` +
    `'fireTime', fire_time, 'idempotencyKey', ${idempotencyKey}, 'after', ${after}, 'retry', ${retry}, ` +
    "'concurrencyKey', nullif(concurrency_key, ''), " +
    `'resultExpirationMs', CASE WHEN (${outcome}) <> 'cancelled' THEN ${resultMs} END, ` +
    "'omitsPayload', json(CASE WHEN NOT json_valid(details) THEN 'true' END))";
  return (
    `INSERT OR REPLACE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, details) ` +
    `SELECT id, task_id, schedule_id, ${outcome}, ${now} + ${keptMs}, CAST(${now} AS INTEGER), ` +
    `json_set(json_patch('{}', json_object('labels', ${labels}, 'scheduledFireTime', ${detail("scheduledFireTime")}, ` +
    `'retryOf', ${detail("retryOf")}, ` +
    "'attempts', failed_attempts + recoveries + (acquired_by IS NOT NULL))), " +
    `'$.job', ${kept}, '$.attemptHistory', ${valid("attempt_history")}, '$.progress', ${valid("progress")}) ` +
    `FROM ${jobs} WHERE ${condition} AND (${keptMs}) > 0`
  );
}
