/** Which counts of jobs that ended, see {@link StatsCount}. Times are epoch milliseconds. */
export interface StatsFilter {
  /** `all` of all jobs together, or by their tasks or schedules. Of schedules, `from`, `until` and `bucketMs` are whole
   *  days, else whole hours. */
  readonly of: "all" | "tasks" | "schedules";
  readonly from: number;
  /** This instant is not included. */
  readonly until: number;
  readonly bucketMs: number;
  /** These tasks or schedules alone; absent for all. */
  readonly ids?: readonly string[];
  /** Of schedules: the jobs of this task alone; absent for all. Not together with `ids`. */
  readonly taskId?: string;
  /** Most tasks or schedules, those of which the most jobs ended, then by id. */
  readonly limit: number;
}

/** How many jobs of a task, a schedule, or all together, a cell has in one bucket. */
export interface StatsCount {
  /** Empty for all jobs together. */
  readonly id: string;
  /** The first bucket is 0. */
  readonly bucket: number;
  /** See `records/stats.ts`: an outcome times 65,536, a step of run times times 256, and a step of latenesses. */
  readonly cell: number;
  readonly count: number;
}

export interface StatsCounts {
  /** In any order. */
  readonly counts: readonly StatsCount[];
  /** Whether the filter reaches over more than 200,000 counts, so that some are left out. */
  readonly isCut: boolean;
}
