import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, instantText, type Temporal } from "../../core/temporal.ts";
import type { JobLogLevel, JobLogLineRecord, JobLogRecord } from "../../records/job-log.ts";

/** A line that a handler logged by `context.logger`. */
export interface JobLogLine {
  readonly at: Temporal.Instant;
  readonly level: JobLogLevel;
  readonly message: string;
  /** What was logged with it, as JSON data: plain objects together, an error as `error`, and anything else in `values`;
   *  null for nothing. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/**
 * What is kept of the log of one attempt of a job, see `keepLogs` of its task.
 *
 * @example
 * for (const { attempt, lines } of await scheduler.getJobLogs(job.id)) console.log(attempt, lines.at(-1)?.message);
 */
export class JobLog {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** How many lines were dropped before those that are kept. */
  readonly dropped: number;
  readonly #lines: readonly JobLogLineRecord[];

  static {
    printAsJSON(JobLog.prototype);
  }

  constructor({ attempt, dropped, lines }: JobLogRecord) {
    this.attempt = attempt;
    this.dropped = dropped;
    this.#lines = lines;
  }

  /** The last lines, in their order. */
  get lines(): JobLogLine[] {
    return this.#lines.map(({ at, level, message, fields = null }) => ({ at: instantOf(at), level, message, fields }));
  }

  toJSON(): Record<string, unknown> {
    const lines = this.#lines.map(({ at, level, message, fields = null }) => ({
      ...{ at: instantText(at), level, message, fields },
    }));
    return { attempt: this.attempt, dropped: this.dropped, lines };
  }
}
