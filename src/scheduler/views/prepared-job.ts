import type { SqlStatement } from "../../stores/sql/driver/driver-and-failures.ts";
import type { Job } from "./job.ts";

/** A job that the application's own transaction adds. See `LocalSchedulerClient.prepareJob`. */
export interface PreparedJob<R = unknown> {
  /** The job as it will be. It exists once the transaction is committed. If another job stands for it by then (because
   *  of its `idempotencyKey`, `uniqueFor`, `throttle` or `debounce`), this one never exists: `job.refresh()` tells. */
  readonly job: Job<R>;
  /**
   * The statements that add the job, in order. Each has plain `?` parameters, and `args` with their values: text,
   * numbers and null. They may be run in any transaction of the store's database, and again if that transaction is
   * repeated.
   */
  readonly statements: SqlStatement[];
  /** Tells schedulers and listeners that the job is there, so that the job starts at once. Call it after the commit.
   *  Without this call nothing is lost: a scheduler finds the job when it next looks: soon on a file, else after
   *  `maxIdle`, 10 seconds by default. It never rejects; a failure is logged. */
  readonly committed: () => Promise<void>;
}
