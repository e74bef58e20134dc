import { CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import type { AdmissionStatements } from "../../flow-control/admission.ts";
import {
  ADMISSIONS_PER_KEY_MIN,
  ADMISSIONS_PER_STATEMENT,
  DUE_PER_COMMIT_MAX,
  FAIR_ADMITTED_MAX,
  LIMITERS_PER_STATEMENT_MAX,
} from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import {
  admittedJobs,
  becomesDirty,
  blockedJobs,
  firstDirty,
  hasAccounts,
  hasBlocked,
  isInverted,
  limitersWithLimits,
  limitersWithRoom,
  limitersWithToken,
  markDirty,
  topPriority,
} from "./key-limiters.ts";

const { delayed, ready, leased, blocked, dependent } = JOB_STATE;

export function admissionStatements(names: TableNames): AdmissionStatements {
  const { keyLimiters, jobs, tasks } = names;
  const isDue = `state = ${delayed} AND run_at <= ?1`;
  const due = `SELECT seq FROM ${jobs} WHERE ${isDue} ORDER BY run_at LIMIT ${DUE_PER_COMMIT_MAX}`;
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = ${jobs}.task_id)`;
  /** The key that counts for a job: its own, else that of its task. */
  const keyOf = (job: string, ofTask: string): string => `coalesce(nullif(${job}.concurrency_key, ''), ${ofTask})`;
  // The bound tells SQLite how few jobs there are.
  const admissionsMax = ADMISSIONS_PER_STATEMENT + ADMISSIONS_PER_KEY_MIN * LIMITERS_PER_STATEMENT_MAX;
  const dirty = `(SELECT 1 FROM ${keyLimiters} WHERE dirty_since IS NOT NULL LIMIT ${LIMITERS_PER_STATEMENT_MAX})`;
  const isForgotten = `l.task_id > '' AND l.dirty_since IS NULL AND ${hasBlocked(names, "l")}`;
  const inOrder = "ORDER BY priority DESC, run_at, seq";
  const share = `max(${ADMISSIONS_PER_KEY_MIN}, ${ADMISSIONS_PER_STATEMENT} / (SELECT count(*) FROM ${dirty}))`;
  // Nearly always there is room for one job, because another has ended.
  const first =
    `CASE WHEN r.room = 1 THEN (SELECT json_array(seq) FROM ${blockedJobs(jobs, "r")} ${inOrder} LIMIT 1) ` +
    `ELSE (SELECT json_group_array(seq) FROM (SELECT seq FROM ${blockedJobs(jobs, "r")} ${inOrder} ` +
    `LIMIT ${share})) END`;
  // Read from the jobs, so that a job that is blocked again gives its virtual time back to its key.
  const afterAdmitted =
    `coalesce((SELECT max(virtual_time) FROM ${jobs} WHERE task_id = r.task_id ` +
    `AND concurrency_key = r.key AND state = ${ready}) + 1, 0)`;
  const lastAcquired =
    `coalesce((SELECT max(virtual_time) FROM ${keyLimiters} ` +
    "WHERE task_id = r.task_id AND virtual_time > 0) - 1, 0)";
  // The first instant at which there is a token more than admitted jobs. All instants of the rate are multiplied by its
  // limit, so that they are whole numbers, and nothing is rounded.
  const nextToken =
    "(coalesce(r.tat, 0) - (r.rate_burst - r.admitted - 1) * r.rate_per + r.rate_limit - 1) / r.rate_limit";

  return lazily<AdmissionStatements>({
    // ?1 limit, ?2 rows [executor, taskId]. The *backfill of the key*: delays the ready jobs that a store without flow
    // control added without the key of their task (`own_key`), so that the next two statements give them their key.
    // They are found where the acquisition of the same commit looks, and a little further: so a worker that takes one
    // job at a time lets all keys take turns.
    backfillKeys: () =>
      `UPDATE ${jobs} SET state = ${delayed} WHERE seq IN (SELECT j.seq ` +
      `FROM json_each(?2) e CROSS JOIN ${tasks} t ON t.id = e.value->>1 CROSS JOIN ${jobs} j ` +
      `ON j.seq IN (SELECT seq FROM ${jobs} WHERE state = ${ready} AND task_id = e.value->>1 ` +
      "AND executor = e.value->>0 ORDER BY priority DESC, virtual_time, run_at, seq " +
      `LIMIT max(?1, ${FAIR_ADMITTED_MAX})) ` +
      "WHERE t.own_key IS NOT NULL AND j.concurrency_key IS NULL)",
    // ?1 now. Marks the limiters of due jobs, and those whose next token has come. Precedes blockDue.
    markDue: () =>
      markDirty(
        names,
        `SELECT DISTINCT j.task_id, ${keyOf("j", "t.own_key")}, CAST(?1 AS INTEGER) FROM ${jobs} j ` +
          `LEFT JOIN ${tasks} t ON t.id = j.task_id WHERE j.seq IN (${due}) ` +
          `AND ${keyOf("j", "t.own_key")} IS NOT NULL ` +
          `UNION ALL SELECT * FROM (${limitersWithToken(names)}) WHERE true`,
      ),
    // ?1 now. Yields a row per job, with the `seq` of those that are now blocked. A job that waited when its task got
    // limits, or lost them, gets its key here.
    blockDue: () =>
      `UPDATE ${jobs} SET concurrency_key = ${keyOf(jobs, ownKey)}, ` +
      `state = CASE WHEN ${keyOf(jobs, ownKey)} IS NULL THEN ${ready} ELSE ${blocked} END ` +
      `WHERE seq IN (${due}) RETURNING CASE WHEN state = ${blocked} THEN seq END AS seq`,
    // No arguments. Blocks admitted jobs again that are less urgent than a blocked job of their limiter, and yields
    // them. Precedes admit, which admits the most urgent jobs, maybe some of these. No job makes room for one that is
    // as urgent, and it ends.
    blockLessUrgent: () =>
      `UPDATE ${jobs} SET state = ${blocked}, virtual_time = NULL ` +
      `WHERE seq IN (SELECT j.seq FROM ${firstDirty(names)} l ` +
      `CROSS JOIN ${jobs} j ON j.seq IN (SELECT seq FROM ${admittedJobs(jobs, "l")} ` +
      `AND priority < ${topPriority(names, "l")} ORDER BY priority, virtual_time DESC, run_at DESC, seq DESC ` +
      `LIMIT ${2 * ADMISSIONS_PER_KEY_MIN})) RETURNING seq`,
    // ?1 now. Admits the first blocked jobs of each dirty limiter that has room. No virtual time is earlier than the
    // last one that was acquired, so that a key that was idle has nothing to catch up.
    admit: () =>
      `UPDATE ${jobs} SET state = ${ready}, virtual_time = p.virtual_time ` +
      "FROM (SELECT e.value AS seq, " +
      `CASE WHEN r.fair = 1 THEN max(r.virtual_time, ${lastAcquired}, ${afterAdmitted}) + e.key END AS virtual_time ` +
      `FROM ${limitersWithRoom(names, firstDirty(names), hasBlocked(names, "l"))} r CROSS JOIN json_each(${first}) e ` +
      `WHERE r.room > 0 AND e.key < r.room LIMIT ${admissionsMax}) p ` +
      `WHERE ${jobs}.seq = p.seq RETURNING seq, id, task_id, schedule_id, concurrency_key`,
    // ?1 now, ?2 schedulerId, ?3 commitId, ?4 1 to take the tokens of the jobs that the commit acquired, or -1 to give
    // them back. A try gives back those of other tries of the commit, and takes them again together with its own: a
    // repetition those of earlier tries, and a try that comes late those of its repetition. A token that came in the
    // millisecond before now is taken on time.
    takeTokens: () =>
      `UPDATE ${keyLimiters} SET tat = CASE WHEN a.rate_limit IS NULL THEN tat ` +
      "WHEN ?4 < 0 THEN tat - a.n * a.rate_per " +
      "WHEN tat > (CAST(?1 AS INTEGER) - 1) * a.rate_limit THEN tat + a.n * a.rate_per " +
      "ELSE CAST(?1 AS INTEGER) * a.rate_limit + a.n * a.rate_per END, " +
      "virtual_time = CASE WHEN a.fair = 1 THEN max(virtual_time, coalesce(a.next, 0)) ELSE virtual_time END, " +
      `${becomesDirty("CAST(?1 AS INTEGER)")} ` +
      "FROM (SELECT j.task_id, j.concurrency_key, count(*) AS n, max(j.virtual_time) + 1 AS next, " +
      `t.rate_limit, t.rate_per, t.fair FROM ${jobs} j CROSS JOIN ${tasks} t ON t.id = j.task_id ` +
      `WHERE j.state = ${leased} AND j.acquired_until > ?1 AND j.acquisition_id = ?3 AND j.acquired_by = ?2 ` +
      "AND +j.concurrency_key IS NOT NULL AND t.own_key IS NOT NULL GROUP BY j.task_id, j.concurrency_key) a " +
      `WHERE ${keyLimiters}.task_id = a.task_id AND ${keyLimiters}.key = a.concurrency_key`,
    // No arguments. Undoes a batch without takeTokens where it is needed.
    guardAccounts: () => `SELECT ${guardSql(`NOT ${hasAccounts(names)}`)} AS guard`,
    // ?1 now. Cleans the dirty limiters, unless they still have jobs to admit or to block again, and notes when they
    // have their next token. They keep the corrected `tat` of a wrong clock. `next` is when a commit has to look at the
    // limiter again; the bound keeps SQLite from computing it more than once.
    cleanLimiters: () =>
      `UPDATE ${keyLimiters} SET dirty_since = CASE WHEN s.next <= ?1 THEN dirty_since END, ` +
      `admit_at = CASE WHEN s.next > ?1 THEN s.next END, tat = s.tat FROM (SELECT r.task_id, r.key, r.tat, ` +
      `CASE WHEN r.is_paused OR NOT ${hasBlocked(names, "r")} THEN NULL WHEN ${isInverted(names, "r")} THEN 0 ` +
      `WHEN r.free <= 0 OR r.fair = 1 AND r.admitted >= ${FAIR_ADMITTED_MAX} OR r.admitted >= r.rate_burst THEN NULL ` +
      `WHEN r.rate_limit IS NULL THEN 0 ELSE ${nextToken} END AS next ` +
      `FROM ${limitersWithLimits(names, firstDirty(names))} r LIMIT ${LIMITERS_PER_STATEMENT_MAX}) s ` +
      `WHERE ${keyLimiters}.task_id = s.task_id AND ${keyLimiters}.key = s.key`,
    // ?1 ids of jobs. Yields those that are blocked, or that wait for others, with their states.
    findBlocked: () =>
      `SELECT j.id AS id, j.state AS state FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.id = a.value ` +
      `WHERE j.state >= ${blocked}`,
    // ?1 rows [taskId, key], ?2 now
    markAdded: () =>
      markDirty(names, "SELECT DISTINCT value->>0, value->>1, CAST(?2 AS INTEGER) FROM json_each(?1) WHERE true"),
    // ?1 now. Marks limiters that have room and are not dirty. There should be none: this is for what nobody thought
    // of.
    markForgotten: () =>
      `UPDATE ${keyLimiters} SET dirty_since = CAST(?1 AS INTEGER), admit_at = NULL FROM ` +
      `${limitersWithRoom(names, keyLimiters, isForgotten)} r ` +
      `WHERE r.room > 0 AND ${keyLimiters}.task_id = r.task_id AND ${keyLimiters}.key = r.key`,
    // ?1 now, ?2 limit. The limiters of the jobs without a key stay, because they tell looks that there is flow
    // control.
    removeIdle: () =>
      `DELETE FROM ${keyLimiters} WHERE (task_id, key) IN (SELECT l.task_id, l.key FROM ${keyLimiters} l ` +
      `LEFT JOIN ${tasks} t ON t.id = l.task_id WHERE l.task_id > '' AND l.key <> '' AND l.paused = 0 ` +
      "AND (t.rate_limit IS NULL OR l.tat IS NULL " +
      `OR l.tat <= (CAST(?1 AS INTEGER) - ${CLOCK_TOLERANCE_MS}) * t.rate_limit) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} WHERE task_id = l.task_id AND concurrency_key = l.key ` +
      `AND state IN (${delayed}, ${ready}, ${leased}, ${blocked}, ${dependent})) LIMIT +?2)`,
  });
}
