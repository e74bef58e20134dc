import { ACQUISITION_ARMS_MAX } from "./limits.ts";
import { jobAsJson } from "./rows.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready, leased } = JOB_STATE;

/**
 * How a worker gets its jobs. Every queue (task and executor) is asked by itself for no more than it may start: one
 * window over all ready jobs would fill with those of a task at its limit.
 *
 * With few queues each has a sub-select whose LIMIT is exact. A LIMIT cannot depend on a row, so for many queues one
 * general statement takes up to the whole limit of each, and ranks what it took.
 *
 * Arguments: ?1 JSON rows [executor, taskId] (only of the general form), ?2 now, ?3 limit, ?4 schedulerId, ?5 end of
 * the leases, ?6 acquisitionId, from ?7 on, with few queues, taskId and executor of each.
 */
export interface AcquisitionStatements {
  /** By the number of queues, from one on. */
  readonly acquireFew: readonly string[];
  readonly acquireMany: string;
  /** Columns: `next_run_at` of delayed jobs, `next_lease_end`, `has_more`, and `records`, the jobs of this acquisition.
   *  */
  readonly lookFew: readonly string[];
  readonly lookMany: string;
  /** The first two columns alone. */
  readonly lookIdle: string;
}

export function acquisitionStatements(names: TableNames): AcquisitionStatements {
  const counts = Array.from({ length: ACQUISITION_ARMS_MAX }, (_, index) => index + 1);
  return {
    acquireFew: counts.map((count) => acquire(names, candidatesOfFew(names, count))),
    acquireMany: acquire(names, candidatesOfMany(names)),
    lookFew: counts.map((count) => look(names, hasMoreOfFew(names, count))),
    lookMany: look(names, hasMoreOfMany(names)),
    lookIdle: `SELECT ${nextInstants(names)}`,
  };
}

/** Leases the first candidates. While a lease has ended but is not taken back, none: recovery comes first. */
function acquire({ jobs }: TableNames, candidates: string): string {
  return (
    `UPDATE ${jobs} SET state = ${leased}, acquired_by = ?4, acquired_until = ?5, acquisition_id = ?6, fence = ` +
    `fence + 1 ` +
    `WHERE seq IN (${candidates} ORDER BY priority DESC, run_at, seq LIMIT CASE ` +
    `WHEN EXISTS (SELECT 1 FROM ${jobs} WHERE state = ${leased} AND acquired_until <= ?2) THEN 0 ` +
    `ELSE max(0, ?3 - (SELECT count(*) FROM ${jobs} WHERE state = ${leased} AND acquired_until > ?2 ` +
    "AND acquisition_id = ?6)) END)"
  );
}

function candidatesOfFew(names: TableNames, count: number): string {
  const arms = fewQueues(count).map(
    (queue) =>
      `SELECT * FROM (SELECT seq, priority, run_at FROM ${names.jobs} WHERE ${readyIn(queue.taskId, queue.executor)} ` +
      `ORDER BY priority DESC, run_at, seq LIMIT max(0, min(?3, ${freeSlots(names, queue.taskId)})))`,
  );
  return `SELECT seq FROM (${arms.join(" UNION ALL ")})`;
}

function hasMoreOfFew(names: TableNames, count: number): string {
  return fewQueues(count)
    .map(
      ({ taskId, executor }) =>
        `EXISTS (SELECT 1 FROM ${names.jobs} WHERE ${readyIn(taskId, executor)}) AND ${freeSlots(names, taskId)} > 0`,
    )
    .join(" OR ");
}

function fewQueues(count: number): { taskId: string; executor: string }[] {
  return Array.from({ length: count }, (_, index) => ({ taskId: `?${7 + 2 * index}`, executor: `?${8 + 2 * index}` }));
}

/** How many more jobs of a task may start; the count of those under live leases is never stored, so it cannot leak. */
function freeSlots({ jobs, tasks }: TableNames, taskId: string): string {
  return (
    `coalesce((SELECT max_running_jobs FROM ${tasks} WHERE id = ${taskId}) - (SELECT count(*) FROM ${jobs} ` +
    `WHERE state = ${leased} AND acquired_until > ?2 AND task_id = ${taskId}), ?3 + 1)`
  );
}

function readyIn(taskId: string, executor: string): string {
  return `state = ${ready} AND task_id = ${taskId} AND executor = ${executor} AND run_at <= ?2`;
}

/** The queues of ?1 with their free slots, as the table `q`. */
function manyQueues({ jobs, tasks }: TableNames): string {
  return (
    `running AS MATERIALIZED (SELECT task_id, count(*) AS n FROM ${jobs} ` +
    `WHERE state = ${leased} AND acquired_until > ?2 GROUP BY task_id), ` +
    "q AS MATERIALIZED (SELECT e.value->>0 AS executor, e.value->>1 AS task_id, " +
    "coalesce(t.max_running_jobs - coalesce(r.n, 0), ?3 + 1) AS free " +
    `FROM json_each(?1) e LEFT JOIN ${tasks} t ON t.id = e.value->>1 LEFT JOIN running r ON r.task_id = e.value->>1)`
  );
}

function candidatesOfMany(names: TableNames): string {
  const { jobs } = names;
  // Most tasks have one slot: taking the whole limit of each would read a hundred times what can be acquired.
  const arm = (slots: string, limit: string): string =>
    `SELECT j.seq, j.priority, j.run_at, q.task_id, q.free FROM q CROSS JOIN ${jobs} j WHERE q.free ${slots} AND ` +
    `j.seq IN (` +
    `SELECT seq FROM ${jobs} WHERE ${readyIn("q.task_id", "q.executor")} ORDER BY priority DESC, run_at, seq ` +
    `LIMIT ${limit})`;
  return (
    `WITH ${manyQueues(names)}, candidates AS (${arm("= 1", "1")} UNION ALL ${arm("> 1", "?3")}) ` +
    "SELECT seq FROM (SELECT seq, priority, run_at, free, " +
    "row_number() OVER (PARTITION BY task_id ORDER BY priority DESC, run_at, seq) AS place FROM candidates) " +
    "WHERE place <= free"
  );
}

function hasMoreOfMany(names: TableNames): string {
  return (
    `WITH ${manyQueues(names)} SELECT EXISTS (SELECT 1 FROM q WHERE q.free > 0 AND EXISTS (` +
    `SELECT 1 FROM ${names.jobs} WHERE ${readyIn("q.task_id", "q.executor")}))`
  );
}

function look(names: TableNames, hasMore: string): string {
  const { jobs } = names;
  return (
    `SELECT ${nextInstants(names)}, (${hasMore}) AS has_more, (SELECT '[' || group_concat(job) || ']' FROM (` +
    `SELECT ${jobAsJson(jobs)} AS job FROM ${jobs} WHERE state = ${leased} AND acquired_until > ?2 ` +
    "AND acquisition_id = ?6 AND acquired_by = ?4 ORDER BY priority DESC, run_at, seq)) AS records"
  );
}

function nextInstants({ jobs }: TableNames): string {
  return (
    `(SELECT min(run_at) FROM ${jobs} WHERE state = ${delayed}) AS next_run_at, ` +
    `(SELECT min(acquired_until) FROM ${jobs} WHERE state = ${leased}) AS next_lease_end`
  );
}
