/** Levels of the lines that a handler logs. */
export const JOB_LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** The level of a line that a handler logged. */
export type JobLogLevel = (typeof JOB_LOG_LEVELS)[number];

/** A line that a handler logged. */
export interface JobLogLineRecord {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly level: JobLogLevel;
  readonly message: string;
  /** JSON data that was logged with it; absent for none. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What is kept of the log of one attempt. */
export interface JobLogRecord {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The last lines, in their order. */
  readonly lines: readonly JobLogLineRecord[];
  /** How many lines before them were dropped. */
  readonly dropped: number;
}
