import { MISSED_PER_STEP_MAX } from "../../../core/limits.ts";
import { guardSql } from "../driver/failures.ts";
import { wakeGates, wokenAt } from "../flow/gate-sql.ts";
import { lazily } from "../lazily.ts";
import { enterEnded } from "../ledger/history.ts";
import { detail, endedJobAsJson, IDEMPOTENCY_KEY } from "../rows.ts";
import { hasMissedStart, JOB_STATE, type TableNames } from "../schema/schema.ts";

const { ready, leased, held, blocked } = JOB_STATE;

/**
 * The statements that take back leases that have ended, and that end jobs without a run. The arguments of `keepLost`,
 * `enterLost`, `removeLost`, `removeLostParents`, `noteLost` and `putBackLost`: ?1 the latest end of the leases, ?2
 * their holder or null for every holder, ?3 now, ?4 the step that put the jobs back or null for every job, ?5 limit, ?6
 * the incarnation whose leases are left alone, besides those of the living, or null for none, ?7 the step or null.
 */
export interface RecoveryStatements {
  readonly moveLeases: string;
  readonly keepLost: string;
  readonly enterLost: string;
  readonly removeLost: string;
  readonly removeLostParents: string;
  readonly noteLost: string;
  readonly putBackLost: string;
  /** The same statements as those above, for those who heed flow control (see `Awareness`). They follow `wakeLost`. */
  readonly keepLostAware: string;
  readonly enterLostAware: string;
  readonly removeLostAware: string;
  readonly putBackLostAware: string;
  readonly wakeLost: string;
  /** These end jobs that have missed their start, and run one after the other. ?1 now. */
  readonly keepMissed: string;
  readonly enterMissed: string;
  readonly wakeMissed: string;
  readonly noteMissed: string;
  readonly unlinkMissed: string;
  readonly removeMissed: string;
  readonly stampCancel: string;
  readonly readStamp: string;
  readonly requestCancel: string;
  readonly keepCancelled: string;
  readonly enterCancelled: string;
  readonly removeCancelled: string;
  readonly removeCancelledParent: string;
  readonly wakeCancelled: string;
}

export function recoveryStatements(names: TableNames): RecoveryStatements {
  const { jobs, results, schedulers, steps, links } = names;
  // The steps of an incarnation begin with its name.
  const isOfAnother = "substr(coalesce(acquisition_id, ''), 1, length(?6)) <> ?6";
  const isOfTheDead =
    `NOT EXISTS (SELECT 1 FROM ${schedulers} i WHERE i.identity = acquired_by AND i.alive_until > ?3 ` +
    "AND substr(acquisition_id, 1, length(i.incarnation)) = i.incarnation)";
  // Those who do not heed flow control leave jobs that need it to others, and to their own next step.
  const lostJobs = (isAware: boolean, limit = "+?5"): string =>
    `seq IN (SELECT seq FROM ${jobs} WHERE state = ${leased} AND acquired_until <= ?1 ` +
    "AND (?2 IS NULL OR acquired_by = ?2) AND (?4 IS NULL OR acquisition_id = ?4) " +
    `AND (?6 IS NULL OR ${isOfAnother} AND ${isOfTheDead}) ` +
    `${isAware ? "" : "AND concurrency_key IS NULL "}ORDER BY acquired_until, seq LIMIT ${limit})`;
  const missedJobs =
    `seq IN (SELECT seq FROM ${jobs} WHERE ${hasMissedStart("?1")} ` +
    `ORDER BY start_deadline, seq LIMIT ${MISSED_PER_STEP_MAX})`;
  // A job that was lost before starts only after the store was told so.
  const mayHaveStarted = "(recoveries = 0 OR started_fence = fence)";
  const isForGood = `(cancel_requested OR ${mayHaveStarted} AND recoveries >= coalesce(${detail("maxRecoveries")}, 0))`;
  const keep = (outcome: string, now: string): string =>
    `INSERT OR REPLACE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, ` +
    "details) " +
    endedResult(jobs, outcome, now);
  const isKept = `${detail("resultExpirationMs")} > 0`;
  const isLeased = `id = ?1 AND state = ${leased}`;
  const endedRecord = `${endedJobAsJson(jobs)} AS record`;
  const hasNoChildren = guardSql("has_children = 0");

  const keepLost = (isAware: boolean): string =>
    `${keep("CASE WHEN cancel_requested THEN 'cancelled' ELSE 'abandoned' END", "?3")} ` +
    `WHERE ${lostJobs(isAware)} AND ${isForGood} AND ${isKept}`;
  const enterLost = (isAware: boolean): string =>
    `${enterEnded(names, "CASE WHEN cancel_requested THEN 'cancelled' ELSE 'abandoned' END", "?3")} ` +
    `WHERE ${lostJobs(isAware)} AND ${isForGood}`;
  const removeLostJobs = (isAware: boolean): string =>
    `DELETE FROM ${jobs} WHERE ${lostJobs(isAware)} AND ${isForGood}`;
  // Undoes the batch when a job has children, of which `removeLostParents` knows.
  const removeLost = (isAware: boolean): string =>
    `${removeLostJobs(isAware)} RETURNING ${endedRecord}, ${hasNoChildren} AS guard`;
  const keyed = `CASE WHEN concurrency_key IS NULL THEN ${ready} ELSE ${held} END`;
  const putBackLost = (isAware: boolean): string =>
    `UPDATE ${jobs} SET state = ${isAware ? `${keyed}, turn = NULL` : ready}, ` +
    `recoveries = recoveries + ${mayHaveStarted}, acquired_by = NULL, ` +
    "acquired_until = NULL, acquisition_id = CASE WHEN acquisition_id = ?7 THEN acquisition_id END " +
    `WHERE ${lostJobs(isAware)} AND NOT ${isForGood} ` +
    "RETURNING id, task_id, schedule_id, failed_attempts + recoveries AS attempt";

  return lazily<RecoveryStatements>({
    // ?1 the ends of leases by incarnation, as a JSON list of pairs, ?2 and ?3 of which leases: of those that end after
    // ?2, and not after ?3
    moveLeases: () =>
      `UPDATE ${jobs} SET acquired_until = value->>1 FROM json_each(?1) WHERE state = ${leased} ` +
      "AND acquired_until > ?2 AND acquired_until <= ?3 " +
      "AND substr(acquisition_id, 1, length(value->>0)) = value->>0",
    keepLost: () => keepLost(false),
    // Those that enter runs into the ledger run before the jobs are removed.
    enterLost: () => enterLost(false),
    removeLost: () => removeLost(false),
    putBackLost: () => putBackLost(false),
    keepLostAware: () => keepLost(true),
    enterLostAware: () => enterLost(true),
    removeLostAware: () => removeLost(true),
    removeLostParents: () => `${removeLostJobs(true)} RETURNING ${endedRecord}`,
    // Runs before the jobs are removed.
    noteLost: () =>
      `UPDATE ${links} SET outcome = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'abandoned' END FROM ${jobs} ` +
      `WHERE ${lostJobs(true)} AND ${isForGood} AND has_children = 1 AND parent_id = id AND outcome IS NULL`,
    putBackLostAware: () => putBackLost(true),
    // The arguments of the others. When jobs have been removed, putBackLost reaches as many jobs further.
    wakeLost: () =>
      wakeGates(
        names,
        `SELECT DISTINCT task_id, concurrency_key, ${wokenAt("?3")} FROM ${jobs} ` +
          `WHERE ${lostJobs(true, "2 * ?5")} AND concurrency_key IS NOT NULL`,
      ),
    keepMissed: () => `${keep("'missedStartDeadline'", "?1")} WHERE ${missedJobs} AND ${isKept}`,
    enterMissed: () => `${enterEnded(names, "'missedStartDeadline'", "?1")} WHERE ${missedJobs}`,
    wakeMissed: () =>
      wakeGates(
        names,
        `SELECT DISTINCT task_id, concurrency_key, ${wokenAt("?1")} FROM ${jobs} ` +
          `WHERE ${missedJobs} AND state = ${ready} AND concurrency_key IS NOT NULL`,
      ),
    noteMissed: () =>
      `UPDATE ${links} SET outcome = 'missedStartDeadline' ` +
      `WHERE outcome IS NULL AND parent_id IN (SELECT id FROM ${jobs} WHERE ${missedJobs} AND has_children = 1)`,
    unlinkMissed: () =>
      `DELETE FROM ${links} WHERE child_id IN ` + `(SELECT id FROM ${jobs} WHERE ${missedJobs} AND state = ${blocked})`,
    removeMissed: () => `DELETE FROM ${jobs} WHERE ${missedJobs} RETURNING ${endedRecord}`,

    // ?1 id, ?2 stamp, ?3 now. The stamp carries the job as the first try finds it.
    stampCancel: () =>
      `INSERT INTO ${steps} (id, at, answer) SELECT ?2, ?3, ${endedJobAsJson(jobs)} FROM ${jobs} WHERE id = ?1 ` +
      "ON CONFLICT DO NOTHING",
    // ?1 stamp
    readStamp: () => `SELECT answer AS record FROM ${steps} WHERE id = ?1 AND answer IS NOT NULL`,
    // ?1 id
    requestCancel: () => `UPDATE ${jobs} SET cancel_requested = 1 WHERE ${isLeased} RETURNING task_id, acquired_by`,
    // ?1 id, ?2 now
    keepCancelled: () => `${keep("'cancelled'", "?2")} WHERE id = ?1 AND state <> ${leased} AND ${isKept}`,
    // ?1 id, ?2 now
    enterCancelled: () => `${enterEnded(names, "'cancelled'", "?2")} WHERE id = ?1 AND state <> ${leased}`,
    // ?1 id. Undoes the batch when the job has children or parents, of which `removeCancelledParent` knows.
    removeCancelled: () =>
      `DELETE FROM ${jobs} WHERE id = ?1 AND state <> ${leased} ` +
      `RETURNING ${endedRecord}, ${guardSql(`has_children = 0 AND state <> ${blocked}`)} AS guard`,
    // ?1 id, ?2 now. Precedes removeCancelled.
    wakeCancelled: () =>
      wakeGates(
        names,
        `SELECT task_id, concurrency_key, ${wokenAt("?2")} FROM ${jobs} WHERE id = ?1 AND state = ${ready} ` +
          "AND concurrency_key IS NOT NULL",
      ),
    // ?1 id
    removeCancelledParent: () => `DELETE FROM ${jobs} WHERE id = ?1 AND state <> ${leased} RETURNING ${endedRecord}`,
  });
}

/** The result of a job that ends without a run: the fields that `endedWithoutRun` gives it, and what `withKeptFacts`
 *  keeps of the job. Merging into `{}` leaves out fields that are null; it would do so within metadata, too. */
export function endedResult(jobs: string, outcome: string, now: string): string {
  const valid = (column: string): string => `json(CASE WHEN json_valid(${column}) THEN ${column} END)`;
  const metadata = "json(CASE WHEN json_valid(details) THEN details->'metadata' END)";
  const after = "json(CASE WHEN json_valid(details) THEN details->'after' END)";
  const details = ["payload", "maxRecoveries", "createdAt"].map((name) => `'${name}', ${detail(name)}`);
  const kept =
    `json_object(${details.join(", ")}, 'metadata', ${metadata}, 'executor', executor, 'priority', priority, ` +
    `'fireTime', fire_time, 'idempotencyKey', ${IDEMPOTENCY_KEY}, 'after', ${after}, ` +
    "'concurrencyKey', nullif(concurrency_key, ''), " +
    "'omitsPayload', json(CASE WHEN NOT json_valid(details) THEN 'true' END))";
  return (
    `SELECT id, task_id, schedule_id, ${outcome}, ${now} + ${detail("resultExpirationMs")}, CAST(${now} AS INTEGER), ` +
    `json_set(json_patch('{}', json_object('scheduledFireTime', ${detail("scheduledFireTime")}, ` +
    `'retryOf', ${detail("retryOf")}, ` +
    "'attempts', failed_attempts + recoveries + (acquired_by IS NOT NULL))), " +
    `'$.job', ${kept}, '$.attemptHistory', ${valid("attempt_history")}, '$.progress', ${valid("progress")}) ` +
    `FROM ${jobs}`
  );
}
