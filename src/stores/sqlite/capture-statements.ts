import { CAPTURED_QUEUES_MAX, FAIR_PROMOTED_MAX, TURNS_END } from "./limits.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready } = JOB_STATE;

/**
 * The statements that find jobs which were added without the key that their task gives them (`own_key`), and which are
 * ready although nobody has admitted them. Two kinds of processes add such jobs: those of earlier versions, and those
 * that do not know yet that the task has got a rate or turns. No acquisition takes such a job, see `isCaptured`.
 *
 * The statements delay these jobs, whose time has come. So the statements that follow in the same step, `wakeDue` and
 * `promoteAware`, find them due, give them their key, hold them, and wake their gate. A repetition finds none that an
 * earlier try has captured, because those are no longer ready without a key.
 */
export interface CaptureStatements {
  readonly capture: string;
  readonly captureForgotten: string;
}

export function captureStatements({ jobs, tasks }: TableNames): CaptureStatements {
  const capture = (found: string): string =>
    `UPDATE ${jobs} SET state = ${delayed} WHERE seq IN (${found} AND j.concurrency_key IS NULL)`;
  const first = (condition: string, order: string): string =>
    `(SELECT seq FROM ${jobs} WHERE state = ${ready} AND ${condition} ORDER BY ${order} LIMIT 1)`;
  const inOrder = "executor, priority DESC, run_at, seq";
  const next = [
    first("task_id = j.task_id AND executor = j.executor AND priority < j.priority", "priority DESC, run_at, seq"),
    first("task_id = j.task_id AND executor > j.executor", inOrder),
  ];
  return {
    // ?1 limit, ?2 rows [executor, taskId]. Looks where the acquisition of the same step looks, and a little further:
    // so a worker that takes one job at a time lets all keys take turns.
    capture: capture(
      `SELECT j.seq FROM json_each(?2) e CROSS JOIN ${tasks} t ON t.id = e.value->>1 CROSS JOIN ${jobs} j ` +
        `ON j.seq IN (SELECT seq FROM ${jobs} WHERE state = ${ready} AND task_id = e.value->>1 ` +
        `AND executor = e.value->>0 ORDER BY priority DESC, run_at, seq LIMIT max(?1, ${FAIR_PROMOTED_MAX})) ` +
        "WHERE t.own_key IS NOT NULL",
    ),
    // ?1 limit. Jobs that have a turn of a fair task sort before those that have none, and always may. Therefore this
    // one looks behind the turns, in each queue and priority.
    captureForgotten: capture(
      `WITH RECURSIVE heads (seq) AS (SELECT ${first("task_id = t.id", inOrder)} FROM ${tasks} t ` +
        "WHERE t.own_key IS NOT NULL AND t.id > '' " +
        `UNION ALL SELECT coalesce(${next.join(", ")}) FROM heads h CROSS JOIN ${jobs} j ON j.seq = h.seq ` +
        `LIMIT ${CAPTURED_QUEUES_MAX}) ` +
        `SELECT j.seq FROM heads h CROSS JOIN ${jobs} q ON q.seq = h.seq CROSS JOIN ${jobs} j ON j.seq IN ` +
        `(SELECT seq FROM ${jobs} WHERE state = ${ready} AND task_id = q.task_id AND executor = q.executor ` +
        `AND priority = q.priority AND run_at >= ${TURNS_END} ORDER BY run_at, seq LIMIT +?1) WHERE true`,
    ),
  };
}

/** SQL of whether a ready job has the key that its task gives it, if any. An acquisition heeds it after its LIMIT: it
 *  may take fewer jobs than it could, and then the look of the same step tells that there is more to do. */
export function isCaptured({ jobs, tasks }: TableNames): string {
  return `(concurrency_key IS NOT NULL OR (SELECT own_key FROM ${tasks} WHERE id = ${jobs}.task_id) IS NULL)`;
}
