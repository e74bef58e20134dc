import type { JobStepRecord } from "../../../records/job-step.ts";
import type { JobStepReport, JobStepSave } from "../../data-store.ts";
import type { Connection } from "../driver/connection.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { STEPS_CHECKED_EVERY_MS } from "../limits.ts";

/** The steps of the jobs of a `SqlDataStore`. */
export class SqlJobSteps {
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

/** The statements about steps of jobs. */
export interface StepStatements {
  readonly saveStep: string;
  readonly extendForStep: string;
  readonly guardStep: string;
  readonly getSteps: string;
  readonly copySteps: string;
  readonly putOffSteps: string;
  readonly removeSteps: string;
  readonly hasMoreSteps: string;
}
