import { CLOCK_TOLERANCE_MS } from "../../../core/limits.ts";
import { FAIR_PROMOTED_MAX, GATES_PER_STATEMENT_MAX, UNLIMITED, WOKEN_AGO_MS } from "../limits.ts";
import { JOB_STATE, type TableNames } from "../schema/schema.ts";

const { ready, leased, held } = JOB_STATE;

/** SQL of the `wake_at` of a gate that admission is to look at at once. `now` is the SQL of the present. */
export function wokenAt(now: string): string {
  return `CAST(${now} AS INTEGER) - ${WOKEN_AGO_MS}`;
}

/** SQL that wakes gates, and makes those that do not exist. `select` yields rows of a task, a key and a `wake_at`; it
 *  must have a WHERE. */
export function wakeGates({ gates }: TableNames, select: string): string {
  return `INSERT INTO ${gates} (task_id, key, wake_at) ${select} ON CONFLICT (task_id, key) DO UPDATE SET ${WAKES}`;
}

/** A gate that was woken before stays where it is among the woken. */
const WAKES = "wake_at = min(coalesce(wake_at, excluded.wake_at), excluded.wake_at)";

/** SQL of whether jobs of a gate are held. `gate` is the alias of the gate's row. */
export function hasHeld({ jobs }: TableNames, gate: string): string {
  return `EXISTS (SELECT 1 FROM ${heldOf(jobs, gate)})`;
}

/** SQL of the held jobs of a gate, for FROM. */
export function heldOf(jobs: string, gate: string): string {
  return `${jobs} WHERE state = ${held} AND task_id = ${gate}.task_id AND concurrency_key = ${gate}.key`;
}

/** SQL of the promoted jobs of a gate that wait, for FROM. */
export function promotedOf(jobs: string, gate: string): string {
  return `${jobs} WHERE state = ${ready} AND task_id = ${gate}.task_id AND concurrency_key = ${gate}.key`;
}

/** SQL of the priority of the most urgent held job of a gate. */
export function topPriority({ jobs }: TableNames, gate: string): string {
  return `(SELECT priority FROM ${heldOf(jobs, gate)} ORDER BY priority DESC, run_at, seq LIMIT 1)`;
}

/** SQL of whether a promoted job of a gate waits that is less urgent than a held one. */
export function isInverted(names: TableNames, gate: string): string {
  return `(SELECT min(priority) FROM ${promotedOf(names.jobs, gate)}) < ${topPriority(names, gate)}`;
}

/** SQL of whether there is a gate that admission has to look at. ?1 now. */
export function isAnyWoken({ gates }: TableNames): string {
  return `EXISTS (SELECT 1 FROM ${gates} WHERE wake_at <= ?1)`;
}

/** SQL of the gates whose next token would come later than a burst can owe, because a wrong clock took the last one:
 *  nobody would look at them before. ?1 now. */
export function farGates({ gates, tasks }: TableNames): string {
  return (
    `SELECT g.task_id, g.key, ${wokenAt("?1")} FROM ${tasks} t CROSS JOIN ${gates} g ON g.task_id = t.id ` +
    "WHERE t.own_key IS NOT NULL AND t.id > '' AND t.rate_limit IS NOT NULL AND g.tat IS NOT NULL " +
    `AND g.wake_at > CAST(?1 AS INTEGER) + ${CLOCK_TOLERANCE_MS} + t.rate_burst * t.rate_per / t.rate_limit ` +
    `LIMIT ${GATES_PER_STATEMENT_MAX}`
  );
}

/** SQL of whether admission would promote something, or hold it again, for those who heed so much. ?1 now. */
export function hasPromotable(names: TableNames, flow: "keys" | "all"): string {
  const [start, isOpen] =
    flow === "keys"
      ? [`SELECT 1 FROM (${keyRooms(names)}) r WHERE`, ""]
      : [`WITH ${wokenRooms(names)} SELECT 1 FROM rooms r WHERE`, "NOT r.is_paused AND "];
  const promotable = `EXISTS (${start} ${isOpen}(r.room > 0 AND ${hasHeld(names, "r")} OR ${isInverted(names, "r")}))`;
  return flow === "keys" ? promotable : `${promotable} OR EXISTS (${farGates(names)})`;
}

/**
 * SQL of the gates that admission has to look at, for those who heed keys alone, with the `room` of each (see
 * `gateRooms`). It leaves out the gates about which a rate, turns or a pause decide too. ?1 now.
 */
export function keyRooms({ gates, tasks, jobs }: TableNames): string {
  const running =
    `SELECT count(*) FROM ${jobs} WHERE task_id = g.task_id AND concurrency_key = g.key ` +
    `AND state IN (${ready}, ${leased})`;
  return (
    `SELECT g.task_id, g.key, coalesce(t.max_running_per_key - (${running}), ${UNLIMITED}) AS room ` +
    `FROM ${gates} g LEFT JOIN ${tasks} t ON t.id = g.task_id WHERE g.wake_at <= ?1 AND g.paused = 0 ` +
    `AND t.paused IS NOT 1 AND t.own_key IS NULL ORDER BY g.wake_at LIMIT ${GATES_PER_STATEMENT_MAX}`
  );
}

/** The gates that admission has to look at. ?1 now. */
export function wokenRooms(names: TableNames): string {
  return gateRooms(names, `g.wake_at <= ?1 ORDER BY g.wake_at LIMIT ${GATES_PER_STATEMENT_MAX}`);
}

/**
 * SQL of the table `rooms`, for WITH: the gates that `condition` selects, and what decides about them. ?1 now.
 * - `free`: how many more jobs of the key may run, counting those that are promoted. Jobs are counted anew each time,
 *   because a stored count could leak.
 * - `waiting`: how many jobs are promoted and wait. Zero where nobody asks.
 * - `tokens`: how many jobs may start now by the rate. It is the generic cell rate algorithm (GCRA) as a virtual
 *   scheduling algorithm, see ITU-T I.371. All of its instants are multiplied by the rate's limit, so that they are
 *   whole numbers, and nothing is rounded. A `tat` that is later than a burst can owe was written by a wrong clock: the
 *   bucket then counts as empty.
 * - `room`: how many jobs may be promoted.
 */
export function gateRooms({ gates, tasks, jobs }: TableNames, condition: string): string {
  const count = (states: string): string =>
    `(SELECT count(*) FROM ${jobs} WHERE task_id = g.task_id AND concurrency_key = g.key AND state ${states})`;
  const empty = "CAST(?1 AS INTEGER) * t.rate_limit + t.rate_burst * t.rate_per";
  const tat = `CASE WHEN g.tat > ${empty} + ${CLOCK_TOLERANCE_MS} * t.rate_limit THEN ${empty} ELSE g.tat END`;
  const debt = `((${tat}) - CAST(?1 AS INTEGER) * t.rate_limit + t.rate_per - 1) / t.rate_per`;
  const columns = [
    `g.task_id, g.key, g.wake_at, ${tat} AS tat, g.turn, (g.paused = 1 OR coalesce(t.paused, 0) = 1) AS is_paused`,
    "coalesce(t.fair, 0) AS fair, t.turn AS round, t.rate_limit, t.rate_per, t.rate_burst",
    `CASE WHEN t.max_running_per_key IS NULL OR g.key = '' THEN ${UNLIMITED} ` +
      `ELSE t.max_running_per_key - ${count(`IN (${ready}, ${leased})`)} END AS free`,
    `CASE WHEN t.fair = 1 OR t.rate_limit IS NOT NULL THEN ${count(`= ${ready}`)} ELSE 0 END AS waiting`,
    `CASE WHEN t.rate_limit IS NULL THEN ${UNLIMITED} WHEN g.tat IS NULL THEN t.rate_burst ` +
      `ELSE max(0, min(t.rate_burst, t.rate_burst - ${debt})) END AS tokens`,
  ];
  const turns = `CASE WHEN fair = 1 THEN ${FAIR_PROMOTED_MAX} - waiting ELSE ${UNLIMITED} END`;
  return (
    `seen AS MATERIALIZED (SELECT ${columns.join(", ")} FROM ${gates} g LEFT JOIN ${tasks} t ON t.id = g.task_id ` +
    `WHERE ${condition}), ` +
    `rooms AS MATERIALIZED (SELECT *, CASE WHEN is_paused THEN 0 ELSE min(free, ${turns}, tokens - waiting) END ` +
    "AS room FROM seen)"
  );
}
