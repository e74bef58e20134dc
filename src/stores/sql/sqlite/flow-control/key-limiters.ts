import { CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import { FAIR_ADMITTED_MAX, FAR_FUTURE_MS, LIMITERS_PER_STATEMENT_MAX, UNLIMITED } from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";

const { ready, leased, blocked } = JOB_STATE;

/** SQL that marks key limiters dirty, and makes those that do not exist. `select` yields rows of a task, a key and the
 *  present; it must have a WHERE. A limiter that is dirty already keeps its place among the dirty ones. */
export function markDirty({ keyLimiters }: TableNames, select: string): string {
  return (
    `INSERT INTO ${keyLimiters} (task_id, key, dirty_since) ${select} ON CONFLICT (task_id, key) ` +
    `DO UPDATE SET ${becomesDirty("excluded.dirty_since")}`
  );
}

/** SQL of the columns of a limiter that becomes dirty. `now` is the SQL of the present. */
export function becomesDirty(now: string): string {
  return `dirty_since = coalesce(dirty_since, ${now}), admit_at = NULL`;
}

/** SQL of whether a limiter has blocked jobs. `limiter` is the alias of its row. */
export function hasBlocked({ jobs }: TableNames, limiter: string): string {
  return `EXISTS (SELECT 1 FROM ${blockedJobs(jobs, limiter)})`;
}

/** SQL of the blocked jobs of a limiter, for FROM. */
export function blockedJobs(jobs: string, limiter: string): string {
  return `${jobs} WHERE state = ${blocked} AND ${isOfLimiter(limiter)}`;
}

/** SQL of the priority of a limiter's most urgent blocked job. */
export function topPriority({ jobs }: TableNames, limiter: string): string {
  return `(SELECT priority FROM ${blockedJobs(jobs, limiter)} ORDER BY priority DESC, run_at, seq LIMIT 1)`;
}

/** SQL of whether an admitted job of a limiter waits that is less urgent than a blocked one. */
export function isInverted(names: TableNames, limiter: string): string {
  const lowest = `SELECT min(priority) FROM ${admittedJobs(names.jobs, limiter)}`;
  const hasAdmitted = `EXISTS (SELECT 1 FROM ${admittedJobs(names.jobs, limiter)})`;
  return `(${hasAdmitted} AND (${lowest}) < ${topPriority(names, limiter)})`;
}

/** SQL of the admitted jobs of a limiter that wait to be acquired, for FROM. */
export function admittedJobs(jobs: string, limiter: string): string {
  return `${jobs} WHERE state = ${ready} AND ${isOfLimiter(limiter)}`;
}

function isOfLimiter(limiter: string): string {
  return `task_id = ${limiter}.task_id AND concurrency_key = ${limiter}.key`;
}

/** SQL of whether a task has a rate or is fair. */
export function hasAccounts({ tasks }: TableNames): string {
  return `EXISTS (SELECT 1 FROM ${tasks} WHERE own_key IS NOT NULL AND id > '')`;
}

/** SQL of whether there is a dirty limiter. */
export function isAnyDirty({ keyLimiters }: TableNames): string {
  return `EXISTS (SELECT 1 FROM ${keyLimiters} WHERE dirty_since IS NOT NULL)`;
}

/** SQL of the limiters whose next token has come, as rows of a task, a key and the present; and of those whose next
 *  token would come later than a burst can owe, because a wrong clock took the last one. ?1 now. */
export function limitersWithToken({ keyLimiters, tasks }: TableNames): string {
  const limiters = (when: string): string =>
    `SELECT l.task_id, l.key, CAST(?1 AS INTEGER) FROM ${tasks} t CROSS JOIN ${keyLimiters} l ON l.task_id = t.id ` +
    `WHERE t.own_key IS NOT NULL AND t.id > '' AND l.admit_at ${when}`;
  const latest = `${CLOCK_TOLERANCE_MS} + t.rate_burst * t.rate_per / t.rate_limit`;
  return (
    `SELECT * FROM (${limiters("<= ?1")} UNION ALL ${limiters(`> CAST(?1 AS INTEGER) + ${latest}`)}) ` +
    `LIMIT ${LIMITERS_PER_STATEMENT_MAX}`
  );
}

/** SQL of the earliest time later than ?1 at which a limiter has its next token. */
export function nextToken({ keyLimiters, tasks }: TableNames): string {
  const isLater = `admit_at > ?1 AND admit_at <= ${FAR_FUTURE_MS}`;
  const first = `SELECT min(admit_at) FROM ${keyLimiters} WHERE task_id = t.id AND ${isLater}`;
  return `SELECT min((${first})) FROM ${tasks} t WHERE t.own_key IS NOT NULL AND t.id > ''`;
}

/** SQL of whether a commit has to admit jobs, or to block some again. ?1 now. */
export function needsAdmission(names: TableNames): string {
  const { tasks } = names;
  const isOpen = "d.paused = 0 AND t.paused IS NOT 1";
  const canAdmit = `(${freeSlots(names, "d")} > 0 AND ${hasBlocked(names, "d")} OR ${isInverted(names, "d")})`;
  return (
    `EXISTS (SELECT 1 FROM ${firstDirty(names)} d LEFT JOIN ${tasks} t ON t.id = d.task_id ` +
    `WHERE ${isOpen} AND ${canAdmit}) ` +
    `OR EXISTS (${limitersWithToken(names)})`
  );
}

/** SQL of the limiters that have been dirty for the longest time, for FROM. */
export function firstDirty({ keyLimiters }: TableNames): string {
  return (
    `(SELECT task_id, key, tat, virtual_time, paused FROM ${keyLimiters} WHERE dirty_since IS NOT NULL ` +
    `ORDER BY dirty_since LIMIT ${LIMITERS_PER_STATEMENT_MAX})`
  );
}

/** SQL of how many more jobs of a limiter may run by the `maxRunningPerKey` of its task `t`. Admitted jobs count as
 *  running. They are counted anew each time, because a stored count could leak. */
function freeSlots({ jobs }: TableNames, limiter: string): string {
  const running = `SELECT count(*) FROM ${jobs} WHERE ${isOfLimiter(limiter)} AND state IN (${ready}, ${leased})`;
  const isUnlimited = `t.max_running_per_key IS NULL OR ${limiter}.key = ''`;
  return `CASE WHEN ${isUnlimited} THEN ${UNLIMITED} ELSE t.max_running_per_key - (${running}) END`;
}

/**
 * SQL of a table for FROM: the limiters `l` of a condition, with their limits and counts. ?1 now. The bound keeps
 * SQLite from computing columns more than once.
 * - `free`: see {@link freeSlots}.
 * - `admitted`: how many jobs are admitted and wait to be acquired; zero for tasks without a rate that are not fair.
 * - `tat`: of the generic cell rate algorithm (GCRA) as a virtual scheduling algorithm, see ITU-T I.371. A `tat` that
 *   is later than a burst can owe was written by a wrong clock: the bucket then counts as empty.
 */
export function limitersWithLimits(names: TableNames, limiters: string, condition = "true"): string {
  const { tasks, jobs } = names;
  const empty = "CAST(?1 AS INTEGER) * t.rate_limit + t.rate_burst * t.rate_per";
  const tat = `CASE WHEN l.tat > ${empty} + ${CLOCK_TOLERANCE_MS} * t.rate_limit THEN ${empty} ELSE l.tat END`;
  const admitted = `CASE WHEN t.own_key IS NOT NULL THEN (SELECT count(*) FROM ${admittedJobs(jobs, "l")}) ELSE 0 END`;
  return (
    `(SELECT l.task_id, l.key, ${tat} AS tat, l.virtual_time, (l.paused = 1 OR t.paused IS 1) AS is_paused, ` +
    `coalesce(t.fair, 0) AS fair, t.rate_limit, t.rate_per, t.rate_burst, ${freeSlots(names, "l")} AS free, ` +
    `${admitted} AS admitted FROM ${limiters} l LEFT JOIN ${tasks} t ON t.id = l.task_id ` +
    `WHERE ${condition} LIMIT ${LIMITERS_PER_STATEMENT_MAX})`
  );
}

/** SQL of a table for FROM: the limiters of {@link limitersWithLimits}, with the `room` of each: how many jobs it can
 *  admit. */
export function limitersWithRoom(names: TableNames, limiters: string, condition: string): string {
  const debt = "(tat - CAST(?1 AS INTEGER) * rate_limit + rate_per - 1) / rate_per";
  const tokens =
    `CASE WHEN rate_limit IS NULL THEN ${UNLIMITED} WHEN tat IS NULL THEN rate_burst ` +
    `ELSE max(0, min(rate_burst, rate_burst - ${debt})) END`;
  const fairShare = `CASE WHEN fair = 1 THEN ${FAIR_ADMITTED_MAX} - admitted ELSE ${UNLIMITED} END`;
  return (
    `(SELECT *, CASE WHEN is_paused THEN 0 ELSE min(free, ${fairShare}, ${tokens} - admitted) END AS room ` +
    `FROM ${limitersWithLimits(names, limiters, condition)})`
  );
}
