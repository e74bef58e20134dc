import { CLOCK_TOLERANCE_MS } from "../../../core/limits.ts";
import { lazily } from "../lazily.ts";
import {
  ADMISSIONS_PER_KEY_MIN,
  ADMISSIONS_PER_STATEMENT,
  FAIR_PROMOTED_MAX,
  GATES_PER_STATEMENT_MAX,
  PROMOTIONS_PER_STEP_MAX,
} from "../limits.ts";
import { JOB_STATE, type TableNames } from "../schema/schema.ts";
import {
  farGates,
  gateRooms,
  hasHeld,
  heldOf,
  isInverted,
  keyRooms,
  promotedOf,
  topPriority,
  wakeGates,
  wokenAt,
  wokenRooms,
} from "./gate-sql.ts";

const { delayed, ready, leased, held, blocked } = JOB_STATE;

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

/**
 * The statements by which limits of concurrency keys, rates and turns count. A job with a key is held first, and
 * becomes ready when it is admitted. Each key of a task has a *gate*, a row that tells when admission has to look at
 * its held jobs: whatever makes room at a gate wakes the gate. So a step reads as many gates as were woken, however
 * many there are. A comment before each statement lists its arguments.
 */
export interface AdmissionStatements {
  readonly wakeDue: string;
  readonly promoteAware: string;
  readonly wakeFar: string;
  readonly demote: string;
  readonly admit: string;
  readonly spend: string;
  readonly takeTurns: string;
  readonly settle: string;
  /** The same statements as `demote`, `admit` and `settle`, for steps that heed keys alone (see `FlowControl`). */
  readonly demoteKeys: string;
  readonly admitKeys: string;
  readonly settleKeys: string;
  readonly findHeld: string;
  readonly wakeAdded: string;
  readonly wakeForgotten: string;
  readonly removeIdle: string;
}

export function admissionStatements(names: TableNames): AdmissionStatements {
  const { gates, jobs, tasks } = names;
  const due =
    `SELECT seq FROM ${jobs} WHERE state = ${delayed} AND run_at <= ?1 ` +
    `ORDER BY run_at LIMIT ${PROMOTIONS_PER_STEP_MAX}`;
  // The bound tells SQLite how few jobs there are.
  const admissionsMax = ADMISSIONS_PER_STATEMENT + ADMISSIONS_PER_KEY_MIN * GATES_PER_STATEMENT_MAX;
  const inOrder = "ORDER BY priority DESC, run_at, seq";
  // Nearly always there is room for one job, because another has ended.
  const next = (count: string): string =>
    `CASE WHEN r.room = 1 THEN (SELECT json_array(seq) FROM ${heldOf(jobs, "r")} ${inOrder} LIMIT 1) ` +
    `ELSE (SELECT json_group_array(seq) FROM (SELECT seq FROM ${heldOf(jobs, "r")} ${inOrder} ` +
    `LIMIT max(${ADMISSIONS_PER_KEY_MIN}, ${ADMISSIONS_PER_STATEMENT} / (${count})))) END`;
  const woken = `SELECT count(*) FROM (SELECT 1 FROM ${gates} WHERE wake_at <= ?1 LIMIT ${GATES_PER_STATEMENT_MAX})`;
  const admitted = "RETURNING seq, id, task_id, schedule_id, concurrency_key";
  // What a step acquired: ?1 now, ?2 schedulerId, ?3 stepId.
  const acquired = `state = ${leased} AND acquired_until > ?1 AND acquisition_id = ?3 AND acquired_by = ?2`;
  // Read from the jobs, so that a job that is held again gives its turn back to its key.
  const promotedTurn =
    `CASE WHEN r.fair = 1 THEN coalesce((SELECT max(turn) FROM ${jobs} WHERE task_id = r.task_id ` +
    `AND concurrency_key = r.key AND state = ${ready}) + 1, 0) ELSE 0 END`;
  // The first instant at which there is a token more than promoted jobs.
  const nextToken = "(r.tat - (r.rate_burst - r.waiting - 1) * r.rate_per + r.rate_limit - 1) / r.rate_limit";

  return lazily<AdmissionStatements>({
    // ?1 now. Precedes promoteAware.
    wakeDue: () =>
      wakeGates(
        names,
        `SELECT DISTINCT j.task_id, ${keyOf("j", "t.own_key")}, ${wokenAt("?1")} FROM ${jobs} j ` +
          `LEFT JOIN ${tasks} t ON t.id = j.task_id WHERE j.seq IN (${due}) AND ${keyOf("j", "t.own_key")} IS NOT NULL`,
      ),
    // ?1 now. Yields a row per job, with the `seq` of those that are now held. A job that waited when its task got
    // limits, or lost them, gets its key here.
    promoteAware: () =>
      `UPDATE ${jobs} SET concurrency_key = ${keyOf(jobs, ownKeyOf(names))}, ` +
      `state = CASE WHEN ${keyOf(jobs, ownKeyOf(names))} IS NULL THEN ${ready} ELSE ${held} END ` +
      `WHERE seq IN (${due}) RETURNING CASE WHEN state = ${held} THEN seq END AS seq`,
    // ?1 now. Precedes demote.
    wakeFar: () => wakeGates(names, `SELECT * FROM (${farGates(names)}) WHERE true`),
    // ?1 now. Holds promoted jobs again where the gate has no room for held jobs that are more urgent: the least urgent
    // ones, as many as have to make room. Precedes admit, which promotes the others: so no job makes room for one that
    // is as urgent, and it ends.
    demote: () =>
      `UPDATE ${jobs} SET state = ${held}, turn = NULL WHERE seq IN (` +
      `WITH ${wokenRooms(names)}, urgent AS MATERIALIZED (SELECT r.task_id, r.key, max(r.room, 0) AS room, ` +
      `${topPriority(names, "r")} AS top FROM rooms r WHERE NOT r.is_paused AND r.room < ${ADMISSIONS_PER_KEY_MIN}), ` +
      "ranked AS (SELECT j.seq, u.room + row_number() OVER " +
      "(PARTITION BY u.task_id, u.key ORDER BY j.priority, j.turn DESC, j.run_at DESC, j.seq DESC) AS place, " +
      `(SELECT count(*) FROM (SELECT 1 FROM ${heldOf(jobs, "u")} AND priority > j.priority ` +
      `LIMIT ${2 * ADMISSIONS_PER_KEY_MIN})) AS higher FROM urgent u CROSS JOIN ${jobs} j ON j.task_id = u.task_id ` +
      `AND j.concurrency_key = u.key AND j.state = ${ready} WHERE j.priority < u.top) ` +
      "SELECT seq FROM ranked WHERE place <= higher)",
    // ?1 now. Promotes the first held jobs of each woken gate that has room. A job of a fair task gets its turn by
    // start-time fair queueing (Goyal, Vin and Cheng, 1996): no turn is earlier than the last that was taken, so that a
    // key that was idle has nothing to catch up.
    admit: () =>
      `UPDATE ${jobs} SET state = ${ready}, turn = CASE WHEN p.fair = 1 THEN p.turn END ` +
      `FROM (WITH ${wokenRooms(names)} SELECT e.value AS seq, r.fair, ` +
      `max(r.turn, r.round, ${promotedTurn}) + e.key AS turn ` +
      `FROM rooms r CROSS JOIN json_each(${next("SELECT count(*) FROM rooms")}) e ` +
      `WHERE r.room > 0 AND e.key < r.room LIMIT ${admissionsMax}) p ` +
      `WHERE ${jobs}.seq = p.seq ${admitted}`,
    // ?1 now, ?2 schedulerId, ?3 stepId, ?4 1 to take the tokens of the jobs that the step acquired, or -1 to give them
    // back. A repetition gives back those of its earlier tries, and takes them again together with its own.
    spend: () =>
      `UPDATE ${gates} SET tat = CASE WHEN a.rate_limit IS NULL THEN tat WHEN ?4 < 0 THEN tat - a.n * a.rate_per ` +
      "ELSE max(coalesce(tat, 0), CAST(?1 AS INTEGER) * a.rate_limit) + a.n * a.rate_per END, " +
      "turn = CASE WHEN a.fair = 1 THEN max(turn, coalesce(a.next, turn)) ELSE turn END, " +
      `wake_at = min(coalesce(wake_at, ${wokenAt("?1")}), ${wokenAt("?1")}) ` +
      `FROM (SELECT j.task_id, j.concurrency_key, count(*) AS n, max(j.turn) + 1 AS next, ` +
      `t.rate_limit, t.rate_per, t.fair FROM ${jobs} j CROSS JOIN ${tasks} t ON t.id = j.task_id ` +
      `WHERE ${acquired} AND +j.concurrency_key IS NOT NULL AND (t.rate_limit IS NOT NULL OR t.fair = 1) ` +
      "GROUP BY j.task_id, j.concurrency_key) a " +
      `WHERE ${gates}.task_id = a.task_id AND ${gates}.key = a.concurrency_key`,
    // ?1 now, ?2 schedulerId, ?3 stepId
    takeTurns: () =>
      `UPDATE ${tasks} SET turn = max(turn, a.last) FROM (SELECT task_id, max(turn) AS last ` +
      `FROM ${jobs} WHERE ${acquired} AND turn IS NOT NULL GROUP BY task_id) a WHERE ${tasks}.id = a.task_id`,
    // ?1 now. Says of each woken gate when admission has to look at it again. A gate with room and held jobs stays
    // woken, and so does one that has jobs to demote. It keeps what `rooms` made of the `tat` of a wrong clock.
    settle: () =>
      `UPDATE ${gates} SET wake_at = s.next, tat = s.tat FROM (WITH ${wokenRooms(names)} ` +
      "SELECT r.task_id, r.key, r.tat, " +
      `CASE WHEN r.is_paused OR NOT ${hasHeld(names, "r")} THEN NULL WHEN r.room > 0 OR ${isInverted(names, "r")} ` +
      "THEN r.wake_at " +
      `WHEN r.free <= 0 OR r.fair = 1 AND r.waiting >= ${FAIR_PROMOTED_MAX} OR r.waiting >= r.rate_burst THEN NULL ` +
      `ELSE ${nextToken} END AS next FROM rooms r) s ` +
      `WHERE ${gates}.task_id = s.task_id AND ${gates}.key = s.key`,
    // ?1 now. The next three do the same for gates about which only `maxRunningPerKey` decides, and leave alone the
    // others. The first yields what it holds again: admitKeys may promote some of it at once, because there may be less
    // that is more urgent.
    demoteKeys: () =>
      `UPDATE ${jobs} SET state = ${held} ` +
      `WHERE seq IN (SELECT j.seq FROM (${keyRooms(names)}) r CROSS JOIN ${jobs} j ` +
      `ON j.seq IN (SELECT seq FROM ${promotedOf(jobs, "r")} AND priority < ${topPriority(names, "r")} ` +
      `ORDER BY priority, run_at DESC, seq DESC LIMIT ${2 * ADMISSIONS_PER_KEY_MIN}) WHERE r.room <= 0) RETURNING seq`,
    admitKeys: () =>
      `UPDATE ${jobs} SET state = ${ready} WHERE seq IN (SELECT e.value FROM (${keyRooms(names)}) r ` +
      `CROSS JOIN json_each(${next(woken)}) e WHERE r.room > 0 AND e.key < r.room) ${admitted}`,
    settleKeys: () =>
      `UPDATE ${gates} SET wake_at = NULL FROM (${keyRooms(names)}) r WHERE ${gates}.task_id = r.task_id ` +
      `AND ${gates}.key = r.key AND (NOT ${hasHeld(names, "r")} ` +
      `OR r.room <= 0 AND NOT coalesce(${isInverted(names, "r")}, 0))`,
    // ?1 ids of jobs. Yields those that are held, with their states.
    findHeld: () =>
      `SELECT j.id AS id, j.state AS state FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.id = a.value ` +
      `WHERE j.state >= ${held}`,
    // ?1 rows [taskId, key], ?2 now
    wakeAdded: () =>
      wakeGates(names, `SELECT DISTINCT value->>0, value->>1, ${wokenAt("?2")} FROM json_each(?1) WHERE true`),
    // ?1 now. There should be none: this is for what nobody thought of.
    wakeForgotten: () =>
      `UPDATE ${gates} SET wake_at = ${wokenAt("?1")} FROM (WITH ` +
      `${gateRooms(names, `g.task_id > '' AND (g.wake_at IS NULL OR g.wake_at > ?1) AND ${hasHeld(names, "g")}`)} ` +
      "SELECT task_id, key FROM rooms WHERE room > 0) r " +
      `WHERE ${gates}.task_id = r.task_id AND ${gates}.key = r.key`,
    // ?1 now, ?2 limit. The gates of the jobs without a key stay, because they tell looks that there is flow control.
    removeIdle: () =>
      `DELETE FROM ${gates} WHERE (task_id, key) IN (SELECT g.task_id, g.key FROM ${gates} g ` +
      `LEFT JOIN ${tasks} t ON t.id = g.task_id WHERE g.task_id > '' AND g.key <> '' AND g.paused = 0 ` +
      "AND (t.rate_limit IS NULL OR g.tat IS NULL " +
      `OR g.tat <= (CAST(?1 AS INTEGER) - ${CLOCK_TOLERANCE_MS}) * t.rate_limit) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} WHERE task_id = g.task_id AND concurrency_key = g.key ` +
      `AND state IN (${delayed}, ${ready}, ${leased}, ${held}, ${blocked})) LIMIT +?2)`,
  });
}

/** SQL of the key that counts for a job: its own, else that of its task. `job` is the table, or its alias. */
function keyOf(job: string, ownKey: string): string {
  return `coalesce(nullif(${job}.concurrency_key, ''), ${ownKey})`;
}

function ownKeyOf({ jobs, tasks }: TableNames): string {
  return `(SELECT own_key FROM ${tasks} WHERE id = ${jobs}.task_id)`;
}
