import type { FlowMode } from "../../flow-control/key-limiters.ts";
import {
  type AcquisitionStatements,
  acquisitionName,
  FIRST_QUEUE_PARAMETER,
  type QueueForm,
  queueParameterCount,
} from "../../jobs/acquisition.ts";
import {
  ACQUIRED_BYTES_MAX,
  ACQUISITION_ARMS_MAX,
  DUE_DELAYED_SEEN_MAX,
  DUE_PER_COMMIT_MAX,
  FAR_FUTURE_MS,
} from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { isAnyDirty, needsAdmission } from "../flow-control/key-limiters.ts";
import { sizeInBytes } from "../sql-and-json.ts";
import { jobAsJson } from "./job-rows.ts";

const { delayed, ready, leased } = JOB_STATE;

/**
 * How a worker gets its jobs. Every queue (a task and an executor) is asked separately, for no more jobs than its task
 * may start. One window over all ready jobs would fill up with the jobs of a task that is at its limit.
 *
 * Each of a few queues has a sub-select of its own, whose LIMIT is exact. A LIMIT cannot depend on a row. Therefore one
 * general statement serves many queues: it takes up to the whole limit from each queue, and ranks the jobs it took,
 * among those of their task, and where executors have bounds among those of their executor.
 *
 * Arguments: ?1 now, ?2 limit, from ?3 on the queues, then schedulerId, end of the leases, commitId.
 */
export function acquisitionStatements(names: TableNames): AcquisitionStatements {
  const { jobs } = names;
  const forms = [
    "many" as const,
    "bounded" as const,
    ...Array.from({ length: ACQUISITION_ARMS_MAX }, (_, index) => index + 1),
  ];
  return lazily<AcquisitionStatements>({
    // ?1 now. Without flow control. A job with a key is left to blockDue, of commits with flow control.
    readyDue: () =>
      `UPDATE ${jobs} SET state = ${ready} WHERE seq IN (SELECT seq FROM ${jobs} ` +
      `WHERE state = ${delayed} AND run_at <= ?1 AND +concurrency_key IS NULL ` +
      `ORDER BY run_at LIMIT ${DUE_PER_COMMIT_MAX})`,
    acquire: () =>
      lazily(
        Object.fromEntries(
          (["off", "on"] as const)
            .flatMap((flow) =>
              [false, true].flatMap((boundsBytes) => forms.map((form) => [flow, boundsBytes, form] as const)),
            )
            .map((kind) => [acquisitionName(...kind), () => acquire(names, ...kind)]),
        ),
      ),
  });
}

/** Leases the first candidates. It leases none while a lease has ended and is not taken back yet, because recovery
 *  comes first. */
function acquire(names: TableNames, flow: FlowMode, boundsBytes: boolean, form: QueueForm): string {
  const { jobs } = names;
  const [schedulerId, until, commitId] = [0, 1, 2].map(
    (place) => `?${FIRST_QUEUE_PARAMETER + queueParameterCount(form) + place}`,
  );
  const select = boundsBytes ? candidatesByBytes : firstCandidates;
  const candidates =
    typeof form === "number" ? candidatesOfFew(names, form, flow) : candidatesOfMany(names, form, flow, commitId ?? "");
  const limit =
    `CASE WHEN EXISTS (SELECT 1 FROM ${jobs} WHERE state = ${leased} AND acquired_until <= ?1) THEN 0 ` +
    `ELSE max(0, ?2 - (SELECT count(*) FROM ${jobs} WHERE state = ${leased} AND acquired_until > ?1 ` +
    `AND acquisition_id = ${commitId})) END`;
  return (
    `UPDATE ${jobs} SET state = ${leased}, acquired_by = ${schedulerId}, acquired_until = ${until}, ` +
    `acquisition_id = ${commitId}, fence = fence + 1 ` +
    `WHERE seq IN (${select(names, `${candidates} ORDER BY ${orderOf(flow)} LIMIT ${limit}`, orderOf(flow, "c."))})` +
    (flow === "on" ? ` AND ${hasItsKey(names)}` : "")
  );
}

/** SQL of whether a ready job has the key that its task gives it, if any (see `backfillKeys`). It is tested after the
 *  LIMIT: the acquisition may take fewer jobs than it could, and then the look of the same commit tells that there is
 *  more to do. */
function hasItsKey({ jobs, tasks }: TableNames): string {
  return `(concurrency_key IS NOT NULL OR (SELECT own_key FROM ${tasks} WHERE id = ${jobs}.task_id) IS NULL)`;
}

/** Between tasks the age of the jobs counts, see `ageOf`. */
function orderOf(flow: FlowMode, alias = ""): string {
  const columns = ["priority DESC", ...(flow === "on" ? ["age", "virtual_time"] : []), "run_at", "seq"];
  return columns.map((column) => `${alias}${column}`).join(", ");
}

function firstCandidates(_names: TableNames, candidates: string, _order: string): string {
  return `SELECT seq FROM (${candidates})`;
}

/** Only for answers that travel over a network, because the window costs half as much as the rest of the statement. */
function candidatesByBytes({ jobs }: TableNames, candidates: string, order: string): string {
  return (
    `SELECT seq FROM (SELECT j.seq, row_number() OVER w AS place, sum(${sizeInBytes("j.details")}) OVER w AS bytes ` +
    `FROM (${candidates}) c CROSS JOIN ${jobs} j ON j.seq = c.seq ` +
    `WINDOW w AS (ORDER BY ${order})) ` +
    `WHERE place = 1 OR bytes <= ${ACQUIRED_BYTES_MAX}`
  );
}

function candidatesOfFew(names: TableNames, count: number, flow: FlowMode): string {
  const kept = columnsOf(flow);
  const arms = fewQueues(count).map(({ taskId, executor }) => {
    const age = flow === "on" ? `, virtual_time, ${ageOf(names, "", readyIn(taskId, executor))} AS age` : "";
    return (
      `SELECT * FROM (SELECT seq, priority, run_at${age} FROM ${names.jobs} WHERE ${readyIn(taskId, executor)} ` +
      `ORDER BY ${IN_QUEUE} LIMIT max(0, min(?2, ${freeSlots(names, taskId, flow)})))`
    );
  });
  return `SELECT ${kept} FROM (${arms.join(" UNION ALL ")})`;
}

/** The order of the jobs of one queue and priority. Only those of fair tasks have a virtual time. */
const IN_QUEUE = "priority DESC, virtual_time, run_at, seq";

/** What candidates are put in order by. */
function columnsOf(flow: FlowMode): string {
  return flow === "on" ? "seq, priority, run_at, virtual_time, age" : "seq, priority, run_at";
}

/** SQL of when a job was due, so that jobs of several tasks can be put in order. All jobs that have a virtual time
 *  of a fair task count as due when the first of their queue was. `job` is the alias of the job's row, with a dot,
 *  or empty. */
function ageOf({ jobs }: TableNames, job: string, isInQueue: string): string {
  const first = `SELECT run_at FROM ${jobs} WHERE ${isInQueue} ORDER BY ${IN_QUEUE} LIMIT 1`;
  return `CASE WHEN ${job}virtual_time IS NOT NULL THEN (${first}) ELSE ${job}run_at END`;
}

function candidatesOfMany(names: TableNames, form: QueueList, flow: FlowMode, commitId: string): string {
  const { jobs } = names;
  const isBounded = form === "bounded";
  const isInQueue = readyIn("q.task_id", "q.executor");
  const age = flow === "on" ? `, j.virtual_time, ${ageOf(names, "j.", isInQueue)} AS age` : "";
  // Most tasks have one slot. Taking the whole limit of every task would read a hundred times the jobs that can be
  // acquired.
  const places = isBounded ? ", q.executor, q.bound" : "";
  const free = isBounded ? "min(q.free, q.bound)" : "q.free";
  const arm = (slots: string, limit: string): string =>
    `SELECT j.seq, j.priority, j.run_at${age}, q.task_id, q.free${places} FROM q CROSS JOIN ${jobs} j ` +
    `WHERE ${free} ${slots} ` +
    `AND j.seq IN (SELECT seq FROM ${jobs} WHERE ${isInQueue} ORDER BY ${IN_QUEUE} LIMIT ${limit})`;
  const queues = manyQueues(names, form, flow, commitId);
  const first = (rows: string, of: string, order: string, most: string): string =>
    `SELECT ${columnsOf(flow)}${isBounded ? ", executor, bound" : ""} FROM (SELECT *, ` +
    `row_number() OVER (PARTITION BY ${of} ORDER BY ${order}) AS place FROM ${rows}) WHERE place <= ${most}`;
  const ofTasks = first("candidates", "task_id", flow === "on" ? IN_QUEUE : "priority DESC, run_at, seq", "free");
  return (
    `WITH ${queues}, candidates AS (${arm("= 1", "1")} UNION ALL ${arm("> 1", "+?2")}) ` +
    (isBounded ? first(`(${ofTasks})`, "executor", orderOf(flow), "bound") : ofTasks)
  );
}

/**
 * SQL that is true when there are jobs of the queues that could be leased now. Jobs that are due and not yet ready
 * count too. At the end of a commit (`commitId`) such jobs are rare, and any one of them counts, whatever its
 * queue, because the next commit makes such jobs ready. With flow control, blocked jobs that a commit can admit now
 * count too, whatever their queue.
 */
export function hasReadyJobs(
  names: TableNames,
  form: QueueForm,
  { commitId, flow }: { readonly commitId: string | null; readonly flow: FlowMode },
): string {
  const { jobs } = names;
  const endsCommit = commitId !== null;
  const due = `FROM ${jobs} WHERE state = ${delayed} AND run_at <= ?1 ORDER BY run_at`;
  const seen = `SELECT task_id, executor ${due} LIMIT ${DUE_DELAYED_SEEN_MAX}`;
  const isWaiting = (taskId: string, executor: string): string => {
    const isReady = `EXISTS (SELECT 1 FROM ${jobs} WHERE ${readyIn(taskId, executor)})`;
    if (endsCommit) return isReady;
    const isDue = `(SELECT 1 FROM (${seen}) AS seen WHERE seen.task_id = ${taskId} AND seen.executor = ${executor})`;
    return `(${isReady} OR EXISTS ${isDue})`;
  };
  const inQueues =
    typeof form === "string"
      ? `(WITH ${manyQueues(names, form, flow, commitId)} SELECT EXISTS (SELECT 1 FROM q WHERE q.free > 0 ` +
        `${form === "bounded" ? "AND q.bound > 0 " : ""}AND ${isWaiting("q.task_id", "q.executor")}))`
      : fewQueues(form)
          .map(({ taskId, executor }) => {
            return `(${isWaiting(taskId, executor)} AND ${freeSlots(names, taskId, flow)} > 0)`;
          })
          .join(" OR ");
  // A commit leaves only those limiters dirty that have something to admit.
  const admission = endsCommit ? isAnyDirty(names) : needsAdmission(names);
  return (
    `${inQueues} OR EXISTS (SELECT 1 ${due} LIMIT 1 OFFSET ${endsCommit ? 0 : DUE_DELAYED_SEEN_MAX})` +
    (flow === "off" ? "" : ` OR ${admission}`)
  );
}

/** SQL of the text of the jobs that a commit leased and still holds. `inOrder` sorts them, because SQLite would sort
 *  the texts along with them. */
export function acquiredJobs({ jobs }: TableNames, schedulerId: string, commitId: string): string {
  return (
    `SELECT '[' || group_concat(${jobAsJson(jobs, "seq")}) || ']' FROM ${jobs} WHERE state = ${leased} ` +
    `AND acquired_until > ?1 AND acquisition_id = ${commitId} AND acquired_by = ${schedulerId}`
  );
}

/** The forms of queues that travel as a list. */
type QueueList = Exclude<QueueForm, number>;

function fewQueues(count: number): { taskId: string; executor: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    taskId: `?${FIRST_QUEUE_PARAMETER + 2 * index}`,
    executor: `?${FIRST_QUEUE_PARAMETER + 2 * index + 1}`,
  }));
}

/** A lease of a damaged row, whose end is no instant, would hold a slot of its task for ever. */
const isLeaseLive = `state = ${leased} AND acquired_until > ?1 AND acquired_until <= ${FAR_FUTURE_MS}`;

/** How many more jobs of a task may start. Jobs under live leases are counted anew each time: a stored count could
 *  leak. A task without a limit gets one more than the limit of the acquisition. The plus sign keeps SQLite from
 *  counting among all jobs of the task, because fewer jobs are leased. */
function freeSlots({ jobs, tasks }: TableNames, taskId: string, flow: FlowMode): string {
  const limit = limitOf(tasks, flow);
  return (
    `coalesce((SELECT ${limit} FROM ${tasks} WHERE id = ${taskId}) - (SELECT count(*) FROM ${jobs} ` +
    `WHERE ${isLeaseLive} AND +task_id = ${taskId}), ?2 + 1)`
  );
}

/** The task's running limit; 0 for a task that is paused, or that needs flow control where there is none. */
function limitOf(table: string, flow: FlowMode): string {
  const isClosed = flow === "on" ? `${table}.paused = 1` : `${table}.limited = 1`;
  return `CASE WHEN ${isClosed} THEN 0 ELSE ${table}.max_running_jobs END`;
}

/** A job that was once found to be due stays ready, even for a scheduler whose clock is behind. */
function readyIn(taskId: string, executor: string): string {
  return `state = ${ready} AND task_id = ${taskId} AND executor = ${executor}`;
}

/** The queues of ?3 with the free slots of their tasks, as the table `q`; and with what is left of the bounds of their
 *  executors (`bound`), where these have bounds, after what a commit has leased.
 *  @param commitId SQL of that commit; null for a look that ends none */
function manyQueues({ jobs, tasks }: TableNames, form: QueueList, flow: FlowMode, commitId: string | null): string {
  const limit = limitOf("t", flow);
  const isBounded = form === "bounded";
  const taken =
    isBounded && commitId !== null
      ? {
          rows:
            `taken AS MATERIALIZED (SELECT executor, count(*) AS n FROM ${jobs} ` +
            `WHERE ${isLeaseLive} AND acquisition_id = ${commitId} GROUP BY executor), `,
          count: " - coalesce(k.n, 0)",
          join: " LEFT JOIN taken k ON k.executor = e.value->>0",
        }
      : { rows: "", count: "", join: "" };
  const bound = isBounded ? `coalesce(e.value->>2, ?2 + 1)${taken.count} AS bound, ` : "";
  return (
    `${taken.rows}running AS MATERIALIZED (SELECT task_id, count(*) AS n FROM ${jobs} ` +
    `WHERE ${isLeaseLive} GROUP BY task_id), ` +
    `q AS MATERIALIZED (SELECT e.value->>0 AS executor, e.value->>1 AS task_id, ${bound}` +
    `coalesce(${limit} - coalesce(r.n, 0), ?2 + 1) AS free ` +
    `FROM json_each(?${FIRST_QUEUE_PARAMETER}) e LEFT JOIN ${tasks} t ON t.id = e.value->>1 ` +
    `LEFT JOIN running r ON r.task_id = e.value->>1${taken.join})`
  );
}
