/** What an import did, or what it would do, with the records of one kind. */
export interface ImportCounts {
  /** Records whose ids the store did not have. */
  readonly added: number;
  /** Records that took the place of stored ones, by `conflictPolicy: "replace"`. */
  readonly replaced: number;
  /** Records that were left out, because the store has their ids, or for a job, its key or its fire time. */
  readonly kept: number;
}

/** A job of the text that is not imported. */
export interface NotImportedJob {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  /** `running`: it ran while its store was exported, slept, or had recorded steps, so that a copy of it could do its
   *  work twice. `waitsForRunning`: it waits for such a job. */
  readonly reason: "running" | "waitsForRunning";
}

/** What `importStore` did. Of a dry run, what it would do. */
export interface ImportReport {
  /** Whether nothing was written. */
  readonly dryRun: boolean;
  /** When the text was exported, in ISO 8601. */
  readonly exportedAt: string;
  /** What became of tasks. */
  readonly tasks: ImportCounts;
  /** What became of schedules. */
  readonly schedules: ImportCounts;
  /** What became of blackouts. */
  readonly blackouts: ImportCounts;
  /** What became of unfinished jobs. */
  readonly jobs: ImportCounts;
  /** Results of jobs that the store has, or has a result of, are kept. */
  readonly results: ImportCounts;
  /** How many runs and skips of the ledger the text has. Those of fire times that the store knows are kept. */
  readonly occurrences: number;
  /** How many pauses of tasks and of concurrency keys the text has. */
  readonly taskPauses: number;
  /** The first 10,000 jobs that are not imported. */
  readonly notImported: readonly NotImportedJob[];
}
