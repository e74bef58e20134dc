import { CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import { FAIR_ADMITTED_MAX, FAR_FUTURE_MS, LIMITERS_PER_STATEMENT_MAX, UNLIMITED } from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";

// Key limiters, see `sqlite/flow-control/key-limiters.ts`.

const { ready, leased, blocked } = JOB_STATE;

/** SQL that marks key limiters dirty, and makes those that do not exist. `select` yields rows of a task, a key and the
 *  present. A limiter that is dirty already keeps its place among the dirty ones. */
export function markDirty({ keyLimiters }: TableNames, select: string): string {
  return (
    `INSERT INTO ${keyLimiters} AS l (task_id, key, dirty_since) ` +
    `SELECT DISTINCT ON (d.task_id, d.key) d.task_id, d.key, d.at::bigint FROM (${select}) d (task_id, key, at) ` +
    "ORDER BY d.task_id, d.key " +
    `ON CONFLICT (task_id, key) DO UPDATE SET ${becomesDirty("excluded.dirty_since", "l")}`
  );
}

/** SQL of the columns of a limiter `l` that becomes dirty. `now` is the SQL of the present. */
export function becomesDirty(now: string, limiter = "l"): string {
  return `dirty_since = coalesce(${limiter}.dirty_since, ${now}), admit_at = NULL`;
}

/** SQL of whether a limiter has blocked jobs. `limiter` is the alias of its row. No EXISTS, because for many limiters
 *  the planner would rather read all blocked jobs once, and compare each with each. */
export function hasBlocked({ jobs }: TableNames, limiter: string): string {
  return `((SELECT true FROM ${blockedJobs(jobs, limiter)} LIMIT 1) IS TRUE)`;
}

/** SQL of the blocked jobs of a limiter, for FROM. */
export function blockedJobs(jobs: string, limiter: string): string {
  return `${jobs} b WHERE b.state = ${blocked} AND ${isOfLimiter("b", limiter)}`;
}

/** SQL of the priority of a limiter's most urgent blocked job. */
export function topPriority({ jobs }: TableNames, limiter: string): string {
  return `(SELECT b.priority FROM ${blockedJobs(jobs, limiter)} ORDER BY b.priority DESC, b.run_at, b.seq LIMIT 1)`;
}

/** SQL of whether an admitted job of a limiter waits that is less urgent than a blocked one. */
export function isInverted(names: TableNames, limiter: string): string {
  const lowest = `SELECT min(a.priority) FROM ${admittedJobs(names.jobs, limiter)}`;
  return `coalesce((${lowest}) < ${topPriority(names, limiter)}, false)`;
}

/** SQL of the admitted jobs `a` of a limiter that wait to be acquired, for FROM. */
export function admittedJobs(jobs: string, limiter: string): string {
  return `${jobs} a WHERE ${isKeyed("a", ready)} AND ${isOfLimiter("a", limiter)}`;
}

/** SQL of the state of a job that has a key. The planner does not know which state it is, so that it cannot take the
 *  index of the ready jobs of a task, which seems as good to it where it knows little of the table. */
export function isKeyed(job: string, state: number): string {
  return `${job}.state = (SELECT ${state})`;
}

function isOfLimiter(job: string, limiter: string): string {
  return `${job}.task_id = ${limiter}.task_id AND ${job}.concurrency_key = ${limiter}.key`;
}

/** SQL of whether a task has a rate or is fair. */
export function hasAccounts({ tasks }: TableNames): string {
  return `EXISTS (SELECT 1 FROM ${tasks} WHERE own_key IS NOT NULL)`;
}

/** SQL of whether there is a dirty limiter. */
export function isAnyDirty({ keyLimiters }: TableNames): string {
  return `EXISTS (SELECT 1 FROM ${keyLimiters} WHERE dirty_since IS NOT NULL)`;
}

/** SQL of the limiters whose next token has come, as rows of a task, a key and the present; and of those whose next
 *  token would come later than a burst can owe, because a wrong clock took the last one. ?1 now. */
export function limitersWithToken({ keyLimiters, tasks }: TableNames): string {
  const latest = `${CLOCK_TOLERANCE_MS} + t.rate_burst * t.rate_per / t.rate_limit`;
  return (
    `SELECT l.task_id, l.key, ?1::bigint FROM ${tasks} t JOIN ${keyLimiters} l ON l.task_id = t.id ` +
    `WHERE t.own_key IS NOT NULL AND (l.admit_at <= ?1 OR l.admit_at > ?1::bigint + ${latest}) ` +
    `LIMIT ${LIMITERS_PER_STATEMENT_MAX}`
  );
}

/** SQL of the earliest time later than ?1 at which a limiter has its next token. */
export function nextToken({ keyLimiters, tasks }: TableNames): string {
  const isLater = `l.admit_at > ?1 AND l.admit_at <= ${FAR_FUTURE_MS}`;
  const first = `SELECT min(l.admit_at) FROM ${keyLimiters} l WHERE l.task_id = t.id AND ${isLater}`;
  return `SELECT min((${first})) FROM ${tasks} t WHERE t.own_key IS NOT NULL`;
}

/** SQL of whether a commit has to admit jobs, or to block some again. ?1 now. */
export function needsAdmission(names: TableNames): string {
  const { tasks } = names;
  const isOpen = "d.paused = 0 AND t.paused IS DISTINCT FROM 1";
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
  // Each state by itself, because it comes before the key in the index.
  const running = [ready, leased]
    .map((state) => `(SELECT count(*) FROM ${jobs} k WHERE ${isKeyed("k", state)} AND ${isOfLimiter("k", limiter)})`)
    .join(" + ");
  const isUnlimited = `t.max_running_per_key IS NULL OR ${limiter}.key = ''`;
  return `CASE WHEN ${isUnlimited} THEN ${UNLIMITED} ELSE t.max_running_per_key - (${running}) END`;
}

/** SQL of a table for FROM: the limiters `l` of a condition, with their limits and counts. ?1 now. See the function of
 *  this name on SQLite's SQL. */
export function limitersWithLimits(names: TableNames, limiters: string, condition = "true"): string {
  const { tasks, jobs } = names;
  const empty = "?1::bigint * t.rate_limit + t.rate_burst * t.rate_per";
  const tat = `CASE WHEN l.tat > ${empty} + ${CLOCK_TOLERANCE_MS} * t.rate_limit THEN ${empty} ELSE l.tat END`;
  const admitted = `CASE WHEN t.own_key IS NOT NULL THEN (SELECT count(*) FROM ${admittedJobs(jobs, "l")}) ELSE 0 END`;
  return (
    `(SELECT l.task_id, l.key, ${tat} AS tat, l.virtual_time, ` +
    "(l.paused = 1 OR t.paused IS NOT DISTINCT FROM 1) AS is_paused, " +
    `coalesce(t.fair, 0) AS fair, t.rate_limit, t.rate_per, t.rate_burst, ${freeSlots(names, "l")} AS free, ` +
    `${admitted} AS admitted FROM ${limiters} l LEFT JOIN ${tasks} t ON t.id = l.task_id ` +
    `WHERE ${condition} LIMIT ${LIMITERS_PER_STATEMENT_MAX})`
  );
}

/** SQL of a table for FROM: the limiters of {@link limitersWithLimits}, with the `room` of each: how many jobs it can
 *  admit. */
export function limitersWithRoom(names: TableNames, limiters: string, condition: string): string {
  const debt = "(w.tat - ?1::bigint * w.rate_limit + w.rate_per - 1) / w.rate_per";
  const tokens =
    `CASE WHEN w.rate_limit IS NULL THEN ${UNLIMITED} WHEN w.tat IS NULL THEN w.rate_burst ` +
    `ELSE greatest(0, least(w.rate_burst, w.rate_burst - ${debt})) END`;
  const fairShare = `CASE WHEN w.fair = 1 THEN ${FAIR_ADMITTED_MAX} - w.admitted ELSE ${UNLIMITED} END`;
  return (
    `(SELECT w.*, CASE WHEN w.is_paused THEN 0 ELSE least(w.free, ${fairShare}, ${tokens} - w.admitted) END AS room ` +
    `FROM ${limitersWithLimits(names, limiters, condition)} w)`
  );
}
