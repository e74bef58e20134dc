import { lazily } from "./lazily.ts";
import { FAIR_PROMOTED_MAX } from "./limits.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready } = JOB_STATE;

/** The statement that gives jobs the key of their task. */
export interface CaptureStatements {
  readonly capture: string;
}

/**
 * A process that does not know yet that a task has got a rate or turns adds jobs without the key that the task gives
 * them (`own_key`): they are ready although nobody has admitted them. No acquisition takes such a job, see
 * `isCaptured`.
 *
 * The statement delays these jobs, whose time has come. So the statements that follow in the same step, `wakeDue` and
 * `promoteAware`, find them due, give them their key, hold them, and wake their gate. A repetition finds none that an
 * earlier try has captured, because those are no longer ready without a key.
 */
export function captureStatements({ jobs, tasks }: TableNames): CaptureStatements {
  return lazily<CaptureStatements>({
    // ?1 limit, ?2 rows [executor, taskId]. Looks where the acquisition of the same step looks, and a little further:
    // so a worker that takes one job at a time lets all keys take turns. Jobs without a turn are the first of their
    // queue and priority.
    capture: () =>
      `UPDATE ${jobs} SET state = ${delayed} WHERE seq IN (` +
      `SELECT j.seq FROM json_each(?2) e CROSS JOIN ${tasks} t ON t.id = e.value->>1 CROSS JOIN ${jobs} j ` +
      `ON j.seq IN (SELECT seq FROM ${jobs} WHERE state = ${ready} AND task_id = e.value->>1 ` +
      `AND executor = e.value->>0 ORDER BY priority DESC, turn, run_at, seq LIMIT max(?1, ${FAIR_PROMOTED_MAX})) ` +
      "WHERE t.own_key IS NOT NULL AND j.concurrency_key IS NULL)",
  });
}

/** SQL of whether a ready job has the key that its task gives it, if any. An acquisition heeds it after its LIMIT: it
 *  may take fewer jobs than it could, and then the look of the same step tells that there is more to do. */
export function isCaptured({ jobs, tasks }: TableNames): string {
  return `(concurrency_key IS NOT NULL OR (SELECT own_key FROM ${tasks} WHERE id = ${jobs}.task_id) IS NULL)`;
}
