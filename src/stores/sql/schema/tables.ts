/** The tables of a store. */
const TABLES = {
  schema: "schema",
  tasks: "tasks",
  schedules: "schedules",
  jobs: "jobs",
  results: "results",
  /** Jobs that make up for past fire times, and how far their addition has come. */
  backfills: "backfills",
  /** Stamps of additions whose jobs leave no result. */
  commits: "commits",
  /** The instances of schedulers that are alive. */
  schedulers: "schedulers",
  /** One row per task and concurrency key that flow control limits. */
  keyLimiters: "key_limiters",
  /** What `throttle` and `uniqueFor` let happen once in a time. */
  windows: "windows",
  /** The recorded steps of jobs (`context.step`). */
  jobSteps: "job_steps",
  /** What handlers logged. */
  jobLogs: "job_logs",
  /** What labels tell of: a row for each label of a schedule, an unfinished job or a result. */
  labels: "labels",
  /** Which job waits for which. */
  dependencies: "dependencies",
  /** The schedules of whose fire times the store keeps a history. */
  histories: "histories",
  /** Fire times whose jobs have ended. */
  runs: "runs",
  /** Ranges of fire times without a run. */
  skips: "skips",
  /** Who changed a schedule, or paused a task. */
  changes: "changes",
  /** Changes within the commit that makes them. */
  changeDrafts: "change_drafts",
  /** When schedulers were up. */
  uptimes: "uptimes",
  /** How many jobs ended, in which way, and how long they took. */
  stats: "stats",
  /** Occurrences that are overdue. */
  overdue: "overdue",
  /** Times in which fire times make no job. */
  blackouts: "blackouts",
  /** The time zone rules that schedulers had. */
  zoneRules: "zone_rules",
};

/** The names of the tables in a database. */
export type TableNames = Readonly<Record<keyof typeof TABLES, string>>;

export function tableNames(prefix: string): TableNames {
  return Object.fromEntries(Object.entries(TABLES).map(([table, name]) => [table, prefix + name])) as TableNames;
}

/** The values of the column `state` of a job. The first three have a partial index each; the others are found by their
 *  keys, and counted, in one more. */
export const JOB_STATE: {
  readonly delayed: 0;
  readonly ready: 1;
  readonly leased: 2;
  readonly blocked: 3;
  readonly dependent: 4;
} = Object.freeze({
  /** The job's `run_at` was in the future when the job was last looked at. */
  delayed: 0,
  /** The job waits for a worker. */
  ready: 1,
  /** The job is under a lease, live or not. */
  leased: 2,
  /** The job is due, and waits until the limiter of its concurrency key admits it. */
  blocked: 3,
  /** The job waits for the jobs that it depends on to end. */
  dependent: 4,
});

/** SQL of whether a job is blocked, or waits for others. The condition of an index has this very text. */
export const IS_BLOCKED_OR_DEPENDENT: string = `state >= ${JOB_STATE.blocked}`;

/** SQL of whether a job waits to start for the first time. The condition of an index has this very text. */
export const IS_UNSTARTED: string = `state <> ${JOB_STATE.leased} AND failed_attempts = 0 AND started_fence = 0`;

/** The `declaration` of a task that was removed. Its row stays, because its limit still counts for jobs that come
 *  afterwards. */
export const REMOVED = "''";

/** The columns of a job that its row is read from, whatever the dialect. */
export const JOB_COLUMNS: readonly string[] = [
  "id",
  "task_id",
  "schedule_id",
  "executor",
  "priority",
  "run_at",
  "fire_time",
  "idempotency_key",
  "failed_attempts",
  "recoveries",
  "cancel_requested",
  "acquired_by",
  "acquired_until",
  "fence",
  "started_fence",
  "state",
  "concurrency_key",
  "virtual_time",
];

/** The columns of a schedule that planners need. */
export const SCHEDULE_COLUMNS: readonly string[] = [
  "id",
  "task_id",
  "trigger_json",
  "trigger_rule",
  "paused",
  "created_at",
  "next_fire_time",
  "last_fire_time",
  "fence",
  "pace_until",
  "zone_rules",
];

/** The column `kind` of a label. */
export const LABELLED: { readonly schedule: 0; readonly job: 1; readonly result: 2 } = Object.freeze({
  schedule: 0,
  job: 1,
  result: 2,
});
