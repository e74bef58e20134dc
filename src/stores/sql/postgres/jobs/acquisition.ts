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
import type { PostgresNames } from "../schema/names.ts";
import { type Stored, storedBlock, storedRead, storedWrite } from "../schema/stored.ts";
import { joinedJson, rowsOf, sizeInBytes } from "../sql-and-json.ts";
import { jobAsJson } from "./job-rows.ts";

// How a worker gets its jobs, see `sqlite/jobs/acquisition.ts`. A LIMIT may depend on a row of an outer table here, so
// that one form of statement serves few queues and many.

const { delayed, ready, leased } = JOB_STATE;

/** How the queues come to a function: few as two arrays, the tasks and the executors; more as JSON. */
type QueuesAsArguments = "few" | "many" | "bounded";

const QUEUES = ["few", "many", "bounded"] as const;
const FLOWS = ["off", "on"] as const;

/** The types of the parameters that queues are, from the third on. */
function queueTypes(queues: QueuesAsArguments): readonly string[] {
  return queues === "few" ? ["text[]", "text[]"] : ["json"];
}

function queuesOfForm(form: QueueForm): QueuesAsArguments {
  return typeof form === "number" ? "few" : form;
}

/** The parameters of a statement with queues, as a function takes them. */
function queueArguments(form: QueueForm): readonly string[] {
  if (typeof form === "string") return [`?${FIRST_QUEUE_PARAMETER}::json`];
  const list = (from: number): string =>
    `ARRAY[${Array.from({ length: form }, (_, index) => `?${from + 2 * index}`).join(", ")}]::text[]`;
  return [list(FIRST_QUEUE_PARAMETER), list(FIRST_QUEUE_PARAMETER + 1)];
}

interface StoredAcquisitions {
  readonly readyDue: Stored;
  readonly acquire: Readonly<Record<string, Stored>>;
  readonly hasReady: Readonly<Record<string, Stored>>;
  readonly acquired: Stored;
}

export function storedAcquisitions(names: PostgresNames): StoredAcquisitions {
  const { jobs } = names;
  const forms = FLOWS.flatMap((flow) => QUEUES.map((queues) => ({ flow, queues })));
  return lazily<StoredAcquisitions>({
    readyDue: () =>
      storedWrite(names, {
        name: "ready_due",
        types: ["bigint"],
        sql:
          `UPDATE ${jobs} SET state = ${ready} WHERE seq = ANY (ARRAY(SELECT seq FROM ${jobs} ` +
          `WHERE state = ${delayed} AND run_at <= ?1 AND concurrency_key IS NULL ` +
          `ORDER BY run_at, seq LIMIT ${DUE_PER_COMMIT_MAX}))`,
      }),
    acquire: () =>
      Object.fromEntries(
        forms.map(({ flow, queues }) => [
          `${flow} ${queues}`,
          storedBlock(
            names,
            {
              name: `acquire_${flow}_${queues}`,
              types: ["bigint", "bigint", ...queueTypes(queues), "text", "bigint", "text"],
              sql: acquire(names, flow, queues),
            },
            { lease_end: "bigint", wanted: "bigint", picked: "tid[]", seen: "bigint" },
          ),
        ]),
      ),
    hasReady: () =>
      Object.fromEntries(
        forms.flatMap(({ flow, queues }) =>
          [true, false].map((endsCommit) => [
            `${flow} ${queues} ${endsCommit}`,
            storedRead(
              names,
              {
                name: `has_ready_${flow}_${queues}${endsCommit ? "_after_commit" : ""}`,
                types: ["bigint", "bigint", ...queueTypes(queues), ...(endsCommit ? ["text"] : [])],
                sql: hasReady(names, queues, flow, endsCommit),
              },
              "boolean",
            ),
          ]),
        ),
      ),
    acquired: () =>
      storedRead(
        names,
        {
          name: "acquired_jobs",
          types: ["bigint", "text", "text"],
          sql:
            `SELECT ${joinedJson(jobAsJson(names, "j", "j.seq"))} FROM ${jobs} j WHERE j.state = ${leased} ` +
            "AND j.acquired_until > ?1 AND j.acquired_by = ?2 AND j.acquisition_id = ?3",
        },
        "text",
      ),
  });
}

export function acquisitionStatements(names: PostgresNames): AcquisitionStatements {
  const forms: QueueForm[] = [
    "many",
    "bounded",
    ...Array.from({ length: ACQUISITION_ARMS_MAX }, (_, index) => index + 1),
  ];
  const functions = storedAcquisitions(names);
  const acquisition = (flow: FlowMode, form: QueueForm): string => {
    const next = FIRST_QUEUE_PARAMETER + queueParameterCount(form);
    const others = [0, 1, 2].map((place) => `?${next + place}`);
    const call = functions.acquire[`${flow} ${queuesOfForm(form)}`]?.call(
      "?1",
      "?2",
      ...queueArguments(form),
      ...others,
    );
    return `SELECT ${call} AS done`;
  };
  return lazily<AcquisitionStatements>({
    readyDue: () => functions.readyDue.statement,
    acquire: () =>
      lazily(
        Object.fromEntries(
          FLOWS.flatMap((flow) =>
            [false, true].flatMap((bounds) => forms.map((form) => [flow, bounds, form] as const)),
          ).map(([flow, bounds, form]) => [acquisitionName(flow, bounds, form), () => acquisition(flow, form)]),
        ),
      ),
  });
}

/** What {@link acquire} has seen, for the look that ends its commit: a second scan would pass all dead entries of the
 *  index once more, of which there are very many beside a transaction that stays open. Empty where it did not look. */
const LEASE_END = "escapement.lease_end";
const HAS_MORE = "escapement.has_more";
const NO_LEASE = "none";

/** Leases the first candidates, which are found by their places in the table, because nobody else writes meanwhile. It
 *  leases none while a lease has ended and is not taken back yet, because recovery comes first. It looks for one
 *  candidate more than it may lease, which tells whether more are ready. */
function acquire(names: PostgresNames, flow: FlowMode, queues: QueuesAsArguments): string {
  const { jobs, tasks } = names;
  const [schedulerId = "", until = "", commitId = ""] = [0, 1, 2].map(
    (place) => `?${FIRST_QUEUE_PARAMETER + queueTypes(queues).length + place}`,
  );
  const held =
    `SELECT count(*) FROM ${jobs} WHERE state = ${leased} ` +
    `AND acquired_until > ?1 AND acquisition_id = ${commitId}`;
  const inOrder = `ORDER BY ${orderOf(flow, "k")} LIMIT wanted + 1`;
  const first = `SELECT * FROM (${candidates(names, queues, flow, commitId)}) k ${inOrder}`;
  const fitting =
    "SELECT c.row, row_number() OVER w AS place, " +
    `sum(${sizeInBytes("j.details")}) OVER w AS bytes FROM (${first}) c JOIN ${jobs} j ON j.ctid = c.row ` +
    `WINDOW w AS (ORDER BY ${orderOf(flow, "c")})`;
  const isPicked = `f.place <= wanted AND (f.place = 1 OR f.bytes <= ${ACQUIRED_BYTES_MAX})`;
  // A ready job that has not the key that its task gives it (see `backfillKeys`) is left. This is tested after the
  // LIMIT, and the look of the same commit tells that there is more to do.
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = j.task_id)`;
  const hasItsKey = ` AND (j.concurrency_key IS NOT NULL OR ${ownKey} IS NULL)`;
  const update =
    `UPDATE ${jobs} AS j SET state = ${leased}, acquired_by = ${schedulerId}, acquired_until = ${until}, ` +
    `acquisition_id = ${commitId}, fence = j.fence + 1 WHERE j.ctid = ANY (picked)${flow === "on" ? hasItsKey : ""}`;
  // With flow control, what a commit leaves is asked for anew.
  const more = `PERFORM set_config('${HAS_MORE}', (seen > coalesce(cardinality(picked), 0))::text, true);`;
  return (
    `lease_end := (${nextLeaseEnd(names)}); ` +
    `PERFORM set_config('${LEASE_END}', coalesce(lease_end::text, '${NO_LEASE}'), true); ` +
    "IF lease_end <= ?1 THEN RETURN; END IF; " +
    `wanted := greatest(0, ?2 - (${held})); ` +
    `SELECT array_agg(f.row) FILTER (WHERE ${isPicked}), count(*) INTO picked, seen FROM (${fitting}) f; ` +
    `${update}; ${flow === "on" ? "" : more}`
  );
}

/** When the first lease ends. */
export function nextLeaseEnd({ jobs }: TableNames): string {
  return `SELECT min(acquired_until) FROM ${jobs} WHERE state = ${leased}`;
}

/** The same after the acquisition of a commit, with its own leases. */
export function nextLeaseEndAfter(names: TableNames, commitId: string): string {
  const before = `current_setting('${LEASE_END}', true)`;
  const own = `${nextLeaseEnd(names)} AND acquisition_id = ${commitId}`;
  return (
    `CASE coalesce(${before}, '') WHEN '' THEN (${nextLeaseEnd(names)}) ` +
    `ELSE least(nullif(${before}, '${NO_LEASE}')::bigint, (${own})) END`
  );
}

/** The order of the jobs of one queue. Only those of fair tasks have a virtual time. */
const IN_QUEUE = "priority DESC, virtual_time NULLS FIRST, run_at, seq";

function inQueue(alias: string): string {
  return IN_QUEUE.split(", ")
    .map((column) => `${alias}.${column}`)
    .join(", ");
}

/** Between tasks the age of the jobs counts: all jobs that have a virtual time of a fair task count as due when the
 *  first of their queue was. */
function orderOf(flow: FlowMode, alias: string): string {
  const columns = ["priority DESC", ...(flow === "on" ? ["age", "virtual_time NULLS FIRST"] : []), "run_at", "seq"];
  return columns.map((column) => `${alias}.${column}`).join(", ");
}

/** No more jobs of a task than it may start, and of an executor with a bound than it has room for. */
function candidates(names: TableNames, form: QueuesAsArguments, flow: FlowMode, commitId: string): string {
  const { jobs } = names;
  const isBounded = form === "bounded";
  const most = isBounded ? "least(?2 + 1, q.free, q.bound)" : "least(?2 + 1, q.free)";
  const inQueues = readyIn("i", "q.task_id", "q.executor");
  const age =
    flow === "on"
      ? `CASE WHEN i.virtual_time IS NOT NULL THEN (SELECT f.run_at FROM ${jobs} f ` +
        `WHERE ${readyIn("f", "q.task_id", "q.executor")} ORDER BY ${inQueue("f")} LIMIT 1) ELSE i.run_at END`
      : "0";
  const found =
    `SELECT n.*, q.task_id, q.executor, q.free${isBounded ? ", q.bound" : ""} FROM q CROSS JOIN LATERAL (` +
    `SELECT i.ctid AS row, i.seq, i.priority, i.run_at, i.virtual_time, ${age} AS age FROM ${jobs} i ` +
    `WHERE ${inQueues} ` +
    `ORDER BY ${inQueue("i")} LIMIT greatest(0, ${most})) n`;
  const ranked = (rows: string, of: string, order: string, limit: string): string =>
    `SELECT * FROM (SELECT r.*, row_number() OVER (PARTITION BY r.${of} ORDER BY ${order}) AS place_of_${of} ` +
    `FROM (${rows}) r) p WHERE p.place_of_${of} <= p.${limit}`;
  const queues = queuesOf(names, form, flow, commitId);
  // No task comes twice among few queues.
  if (form === "few") return `WITH ${queues} ${found}`;
  const ofTasks = ranked(found, "task_id", flow === "on" ? inQueue("r") : orderOf(flow, "r"), "free");
  return `WITH ${queues} ${isBounded ? ranked(ofTasks, "executor", orderOf(flow, "r"), "bound") : ofTasks}`;
}

/** SQL that is true when there are jobs of the queues that could be leased now, see the function of this name on
 *  SQLite's SQL. */
export function hasReadyJobs(
  names: PostgresNames,
  form: QueueForm,
  { commitId, flow }: { readonly commitId: string | null; readonly flow: FlowMode },
): string {
  const stored = storedAcquisitions(names).hasReady[`${flow} ${queuesOfForm(form)} ${commitId !== null}`];
  return stored?.call("?1", "?2", ...queueArguments(form), ...(commitId === null ? [] : [commitId])) ?? "";
}

function hasReady(names: PostgresNames, queues: QueuesAsArguments, flow: FlowMode, endsCommit: boolean): string {
  const { jobs } = names;
  const commitId = endsCommit ? `?${FIRST_QUEUE_PARAMETER + queueTypes(queues).length}` : null;
  const due = `FROM ${jobs} WHERE state = ${delayed} AND run_at <= ?1 ORDER BY run_at`;
  const seen = `SELECT task_id, executor ${due} LIMIT ${DUE_DELAYED_SEEN_MAX}`;
  // No EXISTS, because for many queues the planner would rather read all ready jobs once.
  const any = (rows: string): string => `((SELECT true FROM ${rows} LIMIT 1) IS TRUE)`;
  const isReady = any(`${jobs} i WHERE ${readyIn("i", "q.task_id", "q.executor")}`);
  const isDue = any(`(${seen}) seen WHERE seen.task_id = q.task_id AND seen.executor = q.executor`);
  const isWaiting = endsCommit ? isReady : `(${isReady} OR ${isDue})`;
  const asked =
    `(WITH ${queuesOf(names, queues, flow, commitId)} SELECT EXISTS (SELECT 1 FROM q WHERE q.free > 0 ` +
    `${queues === "bounded" ? "AND q.bound > 0 " : ""}AND ${isWaiting}))`;
  const known = `current_setting('${HAS_MORE}', true)`;
  const inQueues =
    endsCommit && flow === "off"
      ? `CASE coalesce(${known}, '') WHEN '' THEN ${asked} ELSE ${known}::boolean END`
      : asked;
  // A commit leaves only those limiters dirty that have something to admit.
  const admission = endsCommit ? isAnyDirty(names) : needsAdmission(names);
  return (
    `${inQueues} OR EXISTS (SELECT 1 ${due} LIMIT 1 OFFSET ${endsCommit ? 0 : DUE_DELAYED_SEEN_MAX})` +
    (flow === "off" ? "" : ` OR ${admission}`)
  );
}

/** SQL of the text of the jobs that a commit leased and still holds. `inOrder` sorts them. */
export function acquiredJobs(names: PostgresNames, schedulerId: string, commitId: string): string {
  return storedAcquisitions(names).acquired.call("?1", schedulerId, commitId);
}

const IS_LEASE_LIVE = `state = ${leased} AND acquired_until > ?1 AND acquired_until <= ${FAR_FUTURE_MS}`;

/** A job that was once found to be due stays ready, even for a scheduler whose clock is behind. */
function readyIn(job: string, taskId: string, executor: string): string {
  return `${job}.state = ${ready} AND ${job}.task_id = ${taskId} AND ${job}.executor = ${executor}`;
}

/** The queues as the table `q`, with the free slots of their tasks; and with what is left of the bounds of their
 *  executors (`bound`), where these have bounds, after what a commit has leased. A task without a limit gets one more
 *  than the limit of the acquisition. */
function queuesOf(
  { jobs, tasks }: TableNames,
  form: QueuesAsArguments,
  flow: FlowMode,
  commitId: string | null,
): string {
  const isClosed = flow === "on" ? "t.paused = 1" : "t.limited = 1";
  const limit = `CASE WHEN ${isClosed} THEN 0 ELSE t.max_running_jobs END`;
  const isBounded = form === "bounded";
  const isTaken = isBounded && commitId !== null;
  // Known before anything is counted.
  const isAnyLimited =
    `EXISTS (SELECT 1 FROM ${given(form)} JOIN ${tasks} t ON t.id = e.task_id ` +
    "WHERE t.max_running_jobs IS NOT NULL)";
  const taken =
    `taken AS MATERIALIZED (SELECT executor, count(*) AS n FROM ${jobs} ` +
    `WHERE ${IS_LEASE_LIVE} AND acquisition_id = ${commitId} GROUP BY executor), `;
  const bound = `coalesce(e.bound, ?2 + 1)${isTaken ? " - coalesce(k.n, 0)" : ""} AS bound, `;
  return (
    `${isTaken ? taken : ""}running AS MATERIALIZED (SELECT task_id, count(*) AS n FROM ${jobs} ` +
    `WHERE ${IS_LEASE_LIVE} AND ${isAnyLimited} GROUP BY task_id), ` +
    `q AS MATERIALIZED (SELECT e.executor, e.task_id, ${isBounded ? bound : ""}` +
    `coalesce(${limit} - coalesce(r.n, 0), ?2 + 1) AS free FROM ${given(form)} LEFT JOIN ${tasks} t ON t.id = ` +
    `e.task_id ` +
    `LEFT JOIN running r ON r.task_id = e.task_id${isTaken ? " LEFT JOIN taken k ON k.executor = e.executor" : ""})`
  );
}

/** The queues of the parameters from ?3 on, for FROM. */
function given(queues: QueuesAsArguments): string {
  const list = `?${FIRST_QUEUE_PARAMETER}`;
  if (queues === "bounded") return rowsOf(list, "e", "executor text, task_id text, bound bigint");
  if (queues === "many") return rowsOf(list, "e", "executor text, task_id text");
  return `unnest(${list}, ?${FIRST_QUEUE_PARAMETER + 1}) e (task_id, executor)`;
}
