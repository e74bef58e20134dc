import { HEARTBEATS_MAX } from "../../../shared/limits.ts";
import type { LeaseStatements } from "../../jobs/leases-and-heartbeats.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";

const { delayed, ready, leased } = JOB_STATE;

/** A comment before each statement lists its arguments. */
export function leaseStatements({ jobs, schedulers }: TableNames): LeaseStatements {
  return lazily<LeaseStatements>({
    // ?1 rows [jobId, fence, whether the job has started, progress as JSON or nothing], ?2 schedulerId, ?3 until. An
    // extension that arrives late shortens no lease.
    extend: () =>
      `UPDATE ${jobs} SET acquired_until = max(acquired_until, ?3), ` +
      "started_fence = CASE WHEN r.value->>2 THEN fence ELSE started_fence END, " +
      `progress = coalesce(r.value->>3, progress) FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2 RETURNING id, cancel_requested`,
    // ?1 rows [jobId, fence, ...] of the jobs that run, ?2 schedulerId, ?3 now, ?4 instance id, ?5 the last commit
    // whose answer is known, or null. A job that is to be cancelled does not go back to the queue: its lease ends at
    // ?3, so that recovery ends the job.
    // A job with a key is delayed, so that a commit with flow control blocks it, and marks its limiter.
    giveUpStrays: () =>
      `UPDATE ${jobs} SET state = CASE WHEN cancel_requested THEN ${leased} ` +
      `WHEN concurrency_key IS NULL THEN ${ready} ELSE ${delayed} END, ` +
      "virtual_time = NULL, " +
      "acquired_by = CASE WHEN cancel_requested THEN acquired_by END, " +
      "acquired_until = CASE WHEN cancel_requested THEN ?3 END, acquisition_id = NULL " +
      `WHERE seq IN (SELECT seq FROM ${jobs} WHERE state = ${leased} AND acquired_until > 0 ` +
      "AND substr(acquisition_id, 1, length(?4)) = ?4 AND acquisition_id <= ?5 AND acquired_by = ?2 " +
      "AND (id, fence) NOT IN (SELECT value->>0, value->>1 FROM json_each(?1)))",
    // ?1 identity, ?2 instance id, ?3 role, ?4 whether resident, ?5 tasks, ?6 executors, ?7 until when it counts as
    // alive, ?8 now
    keepAlive: () =>
      `INSERT OR REPLACE INTO ${schedulers} (identity, instance_id, role, resident, tasks, executors, alive_until, ` +
      "heartbeat_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    // ?1 instance id. Whoever signs off says that it is alive until now.
    getHeartbeats: () =>
      `SELECT identity, instance_id, resident, heartbeat_at, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > 0 AND instance_id <> ?1 AND alive_until > heartbeat_at " +
      `ORDER BY alive_until DESC LIMIT ${HEARTBEATS_MAX}`,
    // ?1 identity, ?2 instance id
    forgetOthers: () => `DELETE FROM ${schedulers} WHERE identity = ?1 AND instance_id <> ?2`,
    // ?1 now
    getSchedulers: () =>
      `SELECT identity, instance_id, role, resident, tasks, executors, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > ?1 ORDER BY +identity, instance_id",
    // ?1 the instant up to which resident schedulers are removed, ?2 now
    removeDead: () => `DELETE FROM ${schedulers} WHERE alive_until <= ?2 AND (resident = 0 OR alive_until <= ?1)`,
  });
}
