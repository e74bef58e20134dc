import { CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import type { AdmissionStatements } from "../../flow-control/admission.ts";
import {
  ADMISSIONS_PER_KEY_MIN,
  ADMISSIONS_PER_STATEMENT,
  DUE_PER_COMMIT_MAX,
  FAIR_ADMITTED_MAX,
  LIMITERS_PER_STATEMENT_MAX,
} from "../../limits.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { inOrderOfKeys, rowsOf, textsOf } from "../sql-and-json.ts";
import {
  admittedJobs,
  becomesDirty,
  blockedJobs,
  firstDirty,
  hasAccounts,
  hasBlocked,
  isInverted,
  isKeyed,
  limitersWithLimits,
  limitersWithRoom,
  limitersWithToken,
  markDirty,
  topPriority,
} from "./key-limiters.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The arguments are those of the statements on SQLite's SQL. */
export function admissionStatements(names: PostgresNames): AdmissionStatements {
  const { keyLimiters, jobs, tasks } = names;
  const due =
    `SELECT seq FROM ${jobs} WHERE state = ${delayed} AND run_at <= ?1 ORDER BY run_at, seq LIMIT ` +
    `${DUE_PER_COMMIT_MAX}`;
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = j.task_id)`;
  /** The key that counts for a job: its own, else that of its task. */
  const keyOf = (job: string, ofTask: string): string => `coalesce(nullif(${job}.concurrency_key, ''), ${ofTask})`;
  const dirty = `(SELECT 1 FROM ${keyLimiters} WHERE dirty_since IS NOT NULL LIMIT ${LIMITERS_PER_STATEMENT_MAX}) AS d`;
  const isForgotten = `l.dirty_since IS NULL AND ${hasBlocked(names, "l")}`;
  const share =
    `greatest(${ADMISSIONS_PER_KEY_MIN}, ${ADMISSIONS_PER_STATEMENT} / greatest(1, (SELECT count(*) ` +
    `FROM ${dirty})))`;
  // Read from the jobs, so that a job that is blocked again gives its virtual time back to its key.
  const afterAdmitted =
    `coalesce((SELECT max(v.virtual_time) FROM ${jobs} v WHERE v.task_id = r.task_id ` +
    `AND v.concurrency_key = r.key AND ${isKeyed("v", ready)}) + 1, 0)`;
  const lastAcquired =
    `coalesce((SELECT max(k.virtual_time) FROM ${keyLimiters} k ` +
    "WHERE k.task_id = r.task_id AND k.virtual_time > 0) - 1, 0)";
  // See the statement on SQLite's SQL.
  const nextToken =
    "(coalesce(r.tat, 0) - (r.rate_burst - r.admitted - 1) * r.rate_per + r.rate_limit - 1) / r.rate_limit";

  return lazily<AdmissionStatements>({
    backfillKeys: () =>
      `UPDATE ${jobs} SET state = ${delayed} WHERE seq IN (SELECT j.seq FROM ` +
      `${rowsOf("?2", "e", "executor text, task_id text")} JOIN ${tasks} t ON t.id = e.task_id ` +
      `CROSS JOIN LATERAL (SELECT i.seq, i.concurrency_key FROM ${jobs} i WHERE i.state = ${ready} ` +
      "AND i.task_id = e.task_id AND i.executor = e.executor " +
      "ORDER BY i.priority DESC, i.virtual_time NULLS FIRST, i.run_at, i.seq " +
      `LIMIT greatest(?1, ${FAIR_ADMITTED_MAX})) j WHERE t.own_key IS NOT NULL AND j.concurrency_key IS NULL)`,
    markDue: () =>
      markDirty(
        names,
        `SELECT j.task_id, ${keyOf("j", "t.own_key")}, ?1::bigint FROM ${jobs} j ` +
          `LEFT JOIN ${tasks} t ON t.id = j.task_id WHERE j.seq IN (${due}) ` +
          `AND ${keyOf("j", "t.own_key")} IS NOT NULL UNION ALL SELECT * FROM (${limitersWithToken(names)}) AS w`,
      ),
    blockDue: () =>
      `UPDATE ${jobs} AS j SET concurrency_key = ${keyOf("j", ownKey)}, ` +
      `state = CASE WHEN ${keyOf("j", ownKey)} IS NULL THEN ${ready} ELSE ${blocked} END ` +
      `WHERE j.seq IN (${due}) RETURNING CASE WHEN j.state = ${blocked} THEN j.seq END AS seq`,
    blockLessUrgent: () =>
      `UPDATE ${jobs} AS j SET state = ${blocked}, virtual_time = NULL ` +
      `WHERE j.seq IN (SELECT s.seq FROM ${firstDirty(names)} l ` +
      `CROSS JOIN LATERAL (SELECT a.seq FROM ${admittedJobs(jobs, "l")} AND a.priority < ${topPriority(names, "l")} ` +
      "ORDER BY a.priority, a.virtual_time DESC NULLS LAST, a.run_at DESC, a.seq DESC " +
      `LIMIT ${2 * ADMISSIONS_PER_KEY_MIN}) s) RETURNING j.seq`,
    admit: () =>
      inOrderOfKeys(
        `UPDATE ${jobs} AS j SET state = ${ready}, virtual_time = p.virtual_time FROM (SELECT e.seq, CASE WHEN ` +
          `r.fair = 1 ` +
          `THEN greatest(r.virtual_time, ${lastAcquired}, ${afterAdmitted}) + e.place - 1 END AS virtual_time ` +
          `FROM ${limitersWithRoom(names, firstDirty(names), hasBlocked(names, "l"))} r ` +
          `CROSS JOIN LATERAL (SELECT b.seq, row_number() OVER (ORDER BY b.priority DESC, b.run_at, b.seq) AS place ` +
          `FROM ${blockedJobs(jobs, "r")} ORDER BY b.priority DESC, b.run_at, b.seq LIMIT ${share}) e ` +
          "WHERE r.room > 0 AND e.place <= r.room) p WHERE j.seq = p.seq",
        "j",
        "j.seq, j.id, j.task_id, j.schedule_id, j.concurrency_key",
      ),
    takeTokens: () =>
      `UPDATE ${keyLimiters} AS l SET tat = CASE WHEN a.rate_limit IS NULL THEN l.tat ` +
      "WHEN ?4 < 0 THEN l.tat - a.n * a.rate_per " +
      "WHEN l.tat > (?1::bigint - 1) * a.rate_limit THEN l.tat + a.n * a.rate_per " +
      "ELSE ?1::bigint * a.rate_limit + a.n * a.rate_per END, virtual_time = " +
      "CASE WHEN a.fair = 1 THEN greatest(l.virtual_time, coalesce(a.next, 0)) ELSE l.virtual_time END, " +
      `${becomesDirty("?1::bigint")} ` +
      "FROM (SELECT j.task_id, j.concurrency_key, count(*) AS n, max(j.virtual_time) + 1 AS next, " +
      `t.rate_limit, t.rate_per, t.fair FROM ${jobs} j JOIN ${tasks} t ON t.id = j.task_id ` +
      `WHERE j.state = ${leased} AND j.acquired_until > ?1 AND j.acquisition_id = ?3 AND j.acquired_by = ?2 ` +
      "AND j.concurrency_key IS NOT NULL AND t.own_key IS NOT NULL " +
      "GROUP BY j.task_id, j.concurrency_key, t.rate_limit, t.rate_per, t.fair) a " +
      "WHERE l.task_id = a.task_id AND l.key = a.concurrency_key",
    guardAccounts: () => `SELECT ${guardSql(names, `NOT ${hasAccounts(names)}`)} AS guard`,
    cleanLimiters: () =>
      `UPDATE ${keyLimiters} AS l SET dirty_since = CASE WHEN s.next <= ?1 THEN l.dirty_since END, ` +
      `admit_at = CASE WHEN s.next > ?1 THEN s.next END, tat = s.tat FROM (SELECT r.task_id, r.key, r.tat, ` +
      `CASE WHEN r.is_paused OR NOT ${hasBlocked(names, "r")} THEN NULL WHEN ${isInverted(names, "r")} THEN 0 ` +
      `WHEN r.free <= 0 OR r.fair = 1 AND r.admitted >= ${FAIR_ADMITTED_MAX} OR r.admitted >= r.rate_burst THEN NULL ` +
      `WHEN r.rate_limit IS NULL THEN 0 ELSE ${nextToken} END AS next ` +
      `FROM ${limitersWithLimits(names, firstDirty(names))} r) s WHERE l.task_id = s.task_id AND l.key = s.key`,
    findBlocked: () =>
      `SELECT j.id AS id, j.state AS state FROM ${textsOf("?1", "a")} JOIN ${jobs} j ON j.id = a.value ` +
      `WHERE j.state >= ${blocked}`,
    markAdded: () =>
      markDirty(
        names,
        `SELECT a.task_id, a.limiter, ?2::bigint FROM ${rowsOf("?1", "a", "task_id text, limiter text")}`,
      ),
    markForgotten: () =>
      `UPDATE ${keyLimiters} AS k SET dirty_since = ?1::bigint, admit_at = NULL FROM ` +
      `${limitersWithRoom(names, keyLimiters, isForgotten)} r ` +
      "WHERE r.room > 0 AND k.task_id = r.task_id AND k.key = r.key",
    removeIdle: () =>
      `DELETE FROM ${keyLimiters} WHERE (task_id, key) IN (SELECT l.task_id, l.key FROM ${keyLimiters} l ` +
      "LEFT JOIN " +
      `${tasks} t ON t.id = l.task_id WHERE l.key <> '' AND l.paused = 0 ` +
      "AND (t.rate_limit IS NULL OR l.tat IS NULL " +
      `OR l.tat <= (?1::bigint - ${CLOCK_TOLERANCE_MS}) * t.rate_limit) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.task_id = l.task_id AND j.concurrency_key = l.key) LIMIT ?2)`,
  });
}
