/** What a pool is told of its workers. */
export interface PoolSettings {
  /** The URL of the module that has the tasks; null when the workers have their tasks from elsewhere. */
  readonly module: string | null;
  readonly maxWorkers: number;
  readonly minWorkers: number;
  /** Calls that one worker runs at a time. */
  readonly jobsPerWorker: number;
  /** Calls after which a worker is replaced; null is unlimited. */
  readonly maxJobsPerWorker: number | null;
  /** How long a handler may still run after an abort. */
  readonly abortGraceMs: number;
  /** How long a worker stays without a call; null is for ever. */
  readonly idleTimeoutMs: number | null;
  /** How long a worker may take to load the module. */
  readonly startTimeoutMs: number;
}

/** What the parts of an executor are called in messages. */
export interface PoolWords {
  /** The class, such as `WorkerExecutor`. */
  readonly executor: string;
  /** One worker: `thread`, `process` or `worker`. */
  readonly worker: string;
}
