import {
  STEPS_CHECKED_EVERY_MS,
  STEPS_CHECKED_PER_CLEANUP_MAX,
  STEPS_REMOVED_PER_CLEANUP_MAX,
} from "../../../core/limits.ts";
import type { JobStepRecord } from "../../../records/job-step.ts";
import type { JobStepReport, JobStepSave } from "../../data-store.ts";
import type { Connection } from "../driver/connection.ts";
import { LEASE_GUARD, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { TableNames } from "../schema/tables.ts";
import { instant, lazily } from "../sql-and-json.ts";

/** The steps of the jobs of a `SqlDataStore`. */
export class SqliteJobSteps {
  readonly #connection: Connection;
  readonly #statements: StepStatements;

  constructor(connection: Connection, statements: StepStatements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async save(save: JobStepSave): Promise<JobStepReport> {
    const { jobId, fence, schedulerId, now, until } = save;
    const write = this.#write(save);
    const extend = statement(this.#statements.extendForStep, jobId, fence, schedulerId, now, until);
    const [, rows] = await this.#connection.write(() => [write, extend]);
    const [row] = rows ?? [];
    return { isSaved: row !== undefined, cancelRequested: Number(row?.cancel_requested) === 1 };
  }

  async get(jobId: string, now: number): Promise<JobStepRecord[]> {
    return (await this.#connection.read(statement(this.#statements.getSteps, jobId, now))).map(toStep);
  }

  /** The statements that save a step in somebody else's transaction, which fails when the lease is lost. */
  prepare(save: JobStepSave): SqlStatement[] {
    const { jobId, fence, step } = save;
    const guard = statement(this.#statements.guardStep, jobId, step.name, fence);
    return this.#connection.prepared([this.#write(save), guard]);
  }

  #write({ now, jobId, fence, schedulerId, number, isFirst, step }: JobStepSave): SqlStatement {
    const { name, startedAt, endedAt, wakeAt, attempts, version, value, cursor } = step;
    const checkAt = isFirst ? now + STEPS_CHECKED_EVERY_MS : null;
    const lease = [jobId, fence, schedulerId, now] as const;
    const facts = [name, number, checkAt, startedAt, endedAt, wakeAt, attempts, version, value, cursor] as const;
    return statement(this.#statements.saveStep, ...lease, ...facts);
  }
}

function toStep(row: Row): JobStepRecord {
  return {
    name: String(row.name),
    startedAt: Number(row.started_at),
    endedAt: numberIn(row.ended_at),
    wakeAt: numberIn(row.wake_at),
    attempts: Number(row.attempts),
    version: numberIn(row.version),
    value: textIn(row.value),
    cursor: textIn(row.cursor),
  };
}

function numberIn(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function textIn(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

const COLUMNS =
  "job_id, name, fence, number, check_at, started_at, ended_at, wake_at, attempts, version, value, cursor";

/** The statements about steps of jobs. */
export interface StepStatements {
  readonly saveStep: string;
  readonly extendForStep: string;
  readonly guardStep: string;
  readonly getSteps: string;
  readonly copySteps: string;
  readonly putOffSteps: string;
  readonly removeCommits: string;
  readonly hasMoreSteps: string;
}

/** A comment before each statement lists its arguments. */
export function stepStatements({ jobs, jobSteps, results }: TableNames): StepStatements {
  const isLeased = "id = ?1 AND fence = ?2 AND acquired_by = ?3 AND acquired_until > ?4";
  const times = ["started_at", "ended_at", "wake_at"].map((column) => `${instant(column)} AS ${column}`);
  // Of the jobs whose rows are to be checked.
  const hasJob = `EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = job_id)`;
  const hasResult = `EXISTS (SELECT 1 FROM ${results} r WHERE r.job_id = ${jobSteps}.job_id AND r.expires_at > ?1)`;
  return lazily<StepStatements>({
    // ?1 jobId, ?2 fence, ?3 schedulerId, ?4 now, ?5 name, ?6 number, ?7 check_at or null, ?8 startedAt, ?9 endedAt,
    // ?10 wakeAt, ?11 attempts, ?12 version, ?13 value, ?14 cursor. A row that has ended, and one of a later save,
    // stay.
    saveStep: () =>
      `INSERT INTO ${jobSteps} (${COLUMNS}) SELECT id, ?5, fence, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 ` +
      `FROM ${jobs} WHERE ${isLeased} ` +
      "ON CONFLICT (job_id, name) DO UPDATE SET fence = excluded.fence, number = excluded.number, " +
      "check_at = coalesce(excluded.check_at, check_at), started_at = excluded.started_at, " +
      "ended_at = excluded.ended_at, wake_at = excluded.wake_at, attempts = excluded.attempts, " +
      "version = excluded.version, value = excluded.value, cursor = excluded.cursor " +
      "WHERE ended_at IS NULL AND (fence, number) <= (excluded.fence, excluded.number)",
    // ?1 jobId, ?2 fence, ?3 schedulerId, ?4 now, ?5 until
    extendForStep: () =>
      `UPDATE ${jobs} SET acquired_until = max(acquired_until, ?5), started_fence = fence WHERE ${isLeased} ` +
      "RETURNING cancel_requested",
    // ?1 jobId, ?2 name, ?3 fence. Undoes the transaction of an application whose step was not written, or was before
    // under another lease.
    guardStep: () =>
      `SELECT json_extract('{}', CASE WHEN EXISTS (SELECT 1 FROM ${jobSteps} WHERE job_id = ?1 AND name = ?2 ` +
      `AND fence = ?3 AND ended_at IS NOT NULL) THEN '$' ELSE '${LEASE_GUARD}' END) AS guard`,
    // ?1 jobId, ?2 now
    getSteps: () =>
      `SELECT name, ${times.join(", ")}, attempts, version, value, cursor FROM ${jobSteps} WHERE job_id = ?1 ` +
      `AND (EXISTS (SELECT 1 FROM ${jobs} WHERE id = ?1) ` +
      `OR EXISTS (SELECT 1 FROM ${results} WHERE job_id = ?1 AND expires_at > ?2)) ORDER BY started_at, name`,
    // ?1 rows [jobId, the job whose steps it gets]
    copySteps: () =>
      `INSERT INTO ${jobSteps} (${COLUMNS}) SELECT a.value->>0, s.name, 0, 0, s.check_at, s.started_at, s.ended_at, ` +
      "s.wake_at, s.attempts, s.version, s.value, s.cursor " +
      `FROM json_each(?1) a CROSS JOIN ${jobSteps} s ON s.job_id = a.value->>1 ` +
      `WHERE EXISTS (SELECT 1 FROM ${jobs} WHERE id = a.value->>0) ON CONFLICT DO NOTHING`,
    // ?1 now, ?2 when to ask again for unfinished jobs
    putOffSteps: () =>
      `UPDATE ${jobSteps} SET check_at = coalesce((SELECT expires_at FROM ${results} r ` +
      `WHERE r.job_id = ${jobSteps}.job_id AND expires_at > ?1), ?2) WHERE (job_id, name) IN (SELECT job_id, name ` +
      `FROM ${jobSteps} WHERE check_at <= ?1 ORDER BY check_at LIMIT ${STEPS_CHECKED_PER_CLEANUP_MAX}) ` +
      `AND (${hasJob} OR ${hasResult})`,
    // ?1 now
    removeCommits: () =>
      `DELETE FROM ${jobSteps} WHERE job_id IN (SELECT job_id FROM ${jobSteps} WHERE check_at <= ?1 ` +
      `AND NOT ${hasJob} AND NOT ${hasResult} ORDER BY check_at LIMIT ${STEPS_REMOVED_PER_CLEANUP_MAX})`,
    // ?1 now
    hasMoreSteps: () => `SELECT EXISTS (SELECT 1 FROM ${jobSteps} WHERE check_at <= ?1) AS has_more`,
  });
}
