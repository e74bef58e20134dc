import { keepLedger } from "./ledger-tables.ts";
import { neutralTexts } from "./neutral-texts.ts";

/** The names of a store's tables in its database. */
export interface TableNames {
  readonly schema: string;
  readonly tasks: string;
  readonly schedules: string;
  readonly jobs: string;
  readonly results: string;
  /** The schedulers of version 2 that are alive. Version 3 has `incarnations` instead, and leaves this table to
   *  processes of version 2 that still run. */
  readonly schedulers: string;
  /** Stamps of additions whose jobs leave no result (from version 2 on). */
  readonly steps: string;
  /** The runs of schedulers that are alive (since version 3). */
  readonly incarnations: string;
  /** One row per task and concurrency key that admission knows (since version 5). */
  readonly gates: string;
  /** What `throttle` and `uniqueFor` let happen once in a time (since version 5). */
  readonly windows: string;
  /** Which job waits for which (since version 5). */
  readonly links: string;
  /** Which schedules the ledger knows (since version 6, as all that follow). */
  readonly books: string;
  /** What became of fire times. */
  readonly occurrences: string;
  /** Who changed a schedule, or paused a task. */
  readonly changes: string;
  /** When schedulers lived. */
  readonly lives: string;
  /** Occurrences that are overdue. */
  readonly alarms: string;
  /** The time zone rules that schedulers had. */
  readonly zoneRules: string;
}

/** The values of the column `state` of a job. The first three have a partial index each; the others are found by their
 *  keys, and counted, in one more. */
export const JOB_STATE: {
  readonly delayed: 0;
  readonly ready: 1;
  readonly leased: 2;
  readonly held: 3;
  readonly blocked: 4;
} = Object.freeze({
  /** The job's `run_at` was in the future when the job was last looked at. */
  delayed: 0,
  /** The job waits for a worker. */
  ready: 1,
  /** The job is under a lease, live or not. */
  leased: 2,
  /** The job is due, and waits until the limits of its concurrency key admit it. */
  held: 3,
  /** The job waits for its parents to end. */
  blocked: 4,
});

/** SQL of whether a job is held or blocked. The condition of an index has this very text. */
export const IS_HELD_OR_BLOCKED: string = `state >= ${JOB_STATE.held}`;

/** SQL of whether a job waits to start for the first time. The condition of an index has this very text. */
export const IS_UNSTARTED: string = `state <> ${JOB_STATE.leased} AND failed_attempts = 0 AND started_fence = 0`;

/** SQL of whether a job has missed its start, see `DataStore.step`; NULL for a job without a `startDeadline`. `now` is
 *  the SQL of the present, `job` the alias of the job's row. */
export function hasMissedStart(now: string, job?: string): string {
  const isUnstarted = job === undefined ? IS_UNSTARTED : `${job}.${IS_UNSTARTED.replaceAll(" AND ", ` AND ${job}.`)}`;
  return `${job === undefined ? "" : `${job}.`}start_deadline < ${now} AND ${isUnstarted}`;
}

/** The `declaration` of a task that was removed. Its row stays, because its limit still counts for jobs that come
 *  afterwards. */
export const REMOVED = "''";

/** SQL of the instant at which a result's job ended. Processes of earlier versions that still run leave the column
 *  empty. Indexes have this very text. */
export const FINISHED_AT =
  "coalesce(finished_at, CASE WHEN json_valid(details) THEN details->>'finishedAt' END, expires_at)";

export function tableNames(prefix: string): TableNames {
  return Object.freeze({
    schema: `${prefix}schema`,
    tasks: `${prefix}tasks`,
    schedules: `${prefix}schedules`,
    jobs: `${prefix}jobs`,
    results: `${prefix}results`,
    schedulers: `${prefix}schedulers`,
    steps: `${prefix}steps`,
    incarnations: `${prefix}incarnations`,
    gates: `${prefix}gates`,
    windows: `${prefix}windows`,
    links: `${prefix}links`,
    books: `${prefix}books`,
    occurrences: `${prefix}occurrences`,
    changes: `${prefix}changes`,
    lives: `${prefix}lives`,
    alarms: `${prefix}alarms`,
    zoneRules: `${prefix}zone_rules`,
  });
}

/** One step of the schema's history. Released steps never change. */
export interface Migration {
  readonly version: number;
  readonly statements: (names: TableNames) => readonly string[];
}

/** Text in the definition of the schema table, by which we recognize a table of ours. */
export const SCHEMA_TABLE_MARK = "escapement schema versions";

export function createSchemaTable(names: TableNames): string {
  return (
    `CREATE TABLE ${names.schema} (version INTEGER PRIMARY KEY, ` +
    `applied_at INTEGER NOT NULL /* ${SCHEMA_TABLE_MARK} */)`
  );
}

/**
 * Times are epoch milliseconds in INTEGER columns, because as text they are a third larger and half as fast. Fields
 * that only travel with a row, and that are never searched for, form one JSON object in `details`, which leaves out
 * null.
 */
export const MIGRATIONS: readonly Migration[] = Object.freeze([
  {
    version: 1,
    statements: ({ tasks, schedules, jobs, results }: TableNames): readonly string[] => [
      `CREATE TABLE ${tasks} (
        id TEXT PRIMARY KEY NOT NULL,
        max_running_jobs INTEGER,
        details TEXT NOT NULL
      )`,

      `CREATE TABLE ${schedules} (
        seq INTEGER PRIMARY KEY,
        id TEXT UNIQUE NOT NULL,
        task_id TEXT NOT NULL,
        trigger_json TEXT NOT NULL,
        trigger_rule TEXT NOT NULL,
        paused INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        next_fire_time INTEGER,
        last_fire_time INTEGER,
        acquired_by TEXT,
        acquired_until INTEGER,
        acquisition_id TEXT,
        fence INTEGER NOT NULL,
        metadata TEXT NOT NULL,
        details TEXT NOT NULL
      )`,
      `CREATE INDEX ${schedules}_due ON ${schedules} (next_fire_time, id)
        WHERE paused = 0 AND acquired_until IS NULL AND next_fire_time IS NOT NULL`,
      `CREATE INDEX ${schedules}_leased ON ${schedules} (acquired_until, acquisition_id) ` +
        "WHERE acquired_until IS NOT NULL",
      `CREATE INDEX ${schedules}_task ON ${schedules} (task_id, id)`,
      `CREATE INDEX ${schedules}_paused ON ${schedules} (id) WHERE paused = 1`,
      `CREATE INDEX ${schedules}_exhausted ON ${schedules} (id) WHERE next_fire_time IS NULL`,

      // Rows have small integers as keys: `seq` is the order of addition, and the other indexes carry it.
      `CREATE TABLE ${jobs} (
        seq INTEGER PRIMARY KEY,
        id TEXT UNIQUE NOT NULL,
        task_id TEXT NOT NULL,
        executor TEXT NOT NULL,
        schedule_id TEXT,
        fire_time INTEGER,
        idempotency_key TEXT,
        priority NUMERIC NOT NULL,
        run_at INTEGER NOT NULL,
        state INTEGER NOT NULL,
        acquired_by TEXT,
        acquired_until INTEGER,
        acquisition_id TEXT,
        fence INTEGER NOT NULL,
        failed_attempts INTEGER NOT NULL,
        recoveries INTEGER NOT NULL,
        cancel_requested INTEGER NOT NULL,
        details TEXT NOT NULL
      )`,
      `CREATE INDEX ${jobs}_delayed ON ${jobs} (run_at, task_id) WHERE state = ${JOB_STATE.delayed}`,
      `CREATE INDEX ${jobs}_ready ON ${jobs} (task_id, executor, priority DESC, run_at, seq) ` +
        `WHERE state = ${JOB_STATE.ready}`,
      `CREATE INDEX ${jobs}_leased ON ${jobs} (acquired_until, task_id, acquisition_id) ` +
        `WHERE state = ${JOB_STATE.leased}`,
      `CREATE UNIQUE INDEX ${jobs}_schedule ON ${jobs} (schedule_id, fire_time) WHERE schedule_id IS NOT NULL`,
      `CREATE UNIQUE INDEX ${jobs}_key ON ${jobs} (idempotency_key) WHERE idempotency_key IS NOT NULL`,

      `CREATE TABLE ${results} (
        job_id TEXT PRIMARY KEY NOT NULL,
        task_id TEXT NOT NULL,
        schedule_id TEXT,
        outcome TEXT NOT NULL,
        expires_at INTEGER NOT NULL,
        details TEXT NOT NULL
      )`,
      `CREATE INDEX ${results}_expiry ON ${results} (expires_at)`,
      `CREATE INDEX ${results}_task ON ${results} (task_id, job_id)`,
      `CREATE INDEX ${results}_schedule ON ${results} (schedule_id, job_id) WHERE schedule_id IS NOT NULL`,
      `CREATE INDEX ${results}_unsuccessful ON ${results} (outcome, job_id) WHERE outcome <> 'success'`,
    ],
  },
  {
    version: 2,
    statements: ({ schedules, schedulers, steps }: TableNames): readonly string[] => [
      `CREATE TABLE ${schedulers} (
        identity TEXT PRIMARY KEY NOT NULL,
        incarnation TEXT NOT NULL,
        alive_until INTEGER NOT NULL
      )`,
      `CREATE INDEX ${schedulers}_alive ON ${schedulers} (alive_until)`,

      `CREATE TABLE ${steps} (
        id TEXT PRIMARY KEY NOT NULL,
        at INTEGER NOT NULL
      ) WITHOUT ROWID`,
      `CREATE INDEX ${steps}_at ON ${steps} (at)`,

      // Schedules are no longer leased: `acquired_by` without `acquired_until` names the favourite. A process of
      // version 1 that still runs goes on leasing schedules, see `freeSchedules`.
      `UPDATE ${schedules} SET acquired_by = NULL, acquired_until = NULL, acquisition_id = NULL, fence = fence + 1
        WHERE acquired_until IS NOT NULL`,
    ],
  },
  {
    version: 3,
    statements: (names: TableNames): readonly string[] => {
      const { tasks, jobs, schedulers, steps, incarnations } = names;
      return [
        ...neutralTexts(names),

        `ALTER TABLE ${tasks} ADD COLUMN declaration TEXT`,
        `ALTER TABLE ${tasks} ADD COLUMN version INTEGER`,

        // The fence of the last lease under which the job is known to have started.
        `ALTER TABLE ${jobs} ADD COLUMN started_fence INTEGER NOT NULL DEFAULT 0`,
        `DROP INDEX ${jobs}_key`,
        `CREATE UNIQUE INDEX ${jobs}_key ON ${jobs} (task_id, idempotency_key) WHERE idempotency_key IS NOT NULL`,
        `CREATE INDEX ${jobs}_task ON ${jobs} (task_id, id)`,

        // What the step answered, as JSON, where that cannot be read from the other tables.
        `ALTER TABLE ${steps} ADD COLUMN answer TEXT`,

        // A new table, because processes of version 2 that still run write into the old one.
        `CREATE TABLE ${incarnations} (
          identity TEXT NOT NULL,
          incarnation TEXT NOT NULL,
          role TEXT NOT NULL,
          resident INTEGER NOT NULL,
          tasks TEXT NOT NULL,
          executors TEXT NOT NULL,
          alive_until INTEGER NOT NULL,
          -- When it said so last, by its own clock.
          heartbeat_at INTEGER NOT NULL,
          PRIMARY KEY (identity, incarnation)
        ) WITHOUT ROWID`,
        `CREATE INDEX ${incarnations}_alive ON ${incarnations} (alive_until)`,
        `INSERT INTO ${incarnations} ` +
          `SELECT identity, incarnation, 'both', 1, '[]', '[]', alive_until, 0 FROM ${schedulers}`,
      ];
    },
  },
  {
    version: 4,
    statements: (names: TableNames): readonly string[] => {
      const { schedules } = names;
      return [
        `ALTER TABLE ${schedules} ADD COLUMN declaration TEXT`,
        `ALTER TABLE ${schedules} ADD COLUMN version INTEGER`,
        `ALTER TABLE ${schedules} ADD COLUMN skipped_count INTEGER NOT NULL DEFAULT 0`,
        // What the last commit of a plan did because of the schedule's overlap policy, as JSON.
        `ALTER TABLE ${schedules} ADD COLUMN overlap_note TEXT`,

        ...keepMoreOfJobs(names),
      ];
    },
  },
  {
    version: 5,
    statements: (names: TableNames): readonly string[] => [
      ...admitByKey(names),
      ...addOnceInATime(names),
      ...linkJobs(names),
    ],
  },
  { version: 6, statements: (names: TableNames): readonly string[] => [...keepLedger(names), ...findMissed(names)] },
]);

/** Jobs that wait by a `startDeadline` are found by it. It is in `details` too, where those read it who read a job. */
function findMissed({ jobs }: TableNames): string[] {
  return [
    `ALTER TABLE ${jobs} ADD COLUMN start_deadline INTEGER`,
    `CREATE INDEX ${jobs}_deadline ON ${jobs} (start_deadline) WHERE start_deadline IS NOT NULL AND ${IS_UNSTARTED}`,
  ];
}

/** Flow control of tasks: a task that has limits of keys, a rate, turns or a pause has 0 as `max_running_jobs`, so that
 *  no statement acquires its jobs that does not know about them, and its true limit in `running_limit`. */
function admitByKey({ tasks, jobs, gates }: TableNames): string[] {
  return [
    `ALTER TABLE ${tasks} ADD COLUMN running_limit INTEGER`,
    `ALTER TABLE ${tasks} ADD COLUMN max_running_per_key INTEGER`,
    // How many starts in how many milliseconds, and how many may start at once after a pause.
    `ALTER TABLE ${tasks} ADD COLUMN rate_limit INTEGER`,
    `ALTER TABLE ${tasks} ADD COLUMN rate_per INTEGER`,
    `ALTER TABLE ${tasks} ADD COLUMN rate_burst INTEGER`,
    `ALTER TABLE ${tasks} ADD COLUMN fair INTEGER NOT NULL DEFAULT 0`,
    // The last turn of a fair task that was taken.
    `ALTER TABLE ${tasks} ADD COLUMN turn INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE ${tasks} ADD COLUMN paused INTEGER NOT NULL DEFAULT 0`,
    // The concurrency key of jobs without a key of their own: '' where such jobs are admitted too, else null.
    `ALTER TABLE ${tasks} ADD COLUMN own_key TEXT`,
    // Whether the columns above limit the task, see max_running_jobs.
    `ALTER TABLE ${tasks} ADD COLUMN limited INTEGER NOT NULL DEFAULT 0`,
    // Within a commit that changes the limits: what they were, as JSON. Null outside of such a commit.
    `ALTER TABLE ${tasks} ADD COLUMN former TEXT`,
    // Tells at once whether any task needs more than the limits of its keys.
    `CREATE INDEX ${tasks}_governed ON ${tasks} (id) WHERE paused = 1 OR own_key IS NOT NULL`,

    `ALTER TABLE ${jobs} ADD COLUMN concurrency_key TEXT`,
    // The true `run_at` of a job that has a turn of a fair task in the place of its `run_at`.
    `ALTER TABLE ${jobs} ADD COLUMN due_at INTEGER`,
    // One index, because each costs every addition: of jobs with a key by their gate, in the order in which they are
    // promoted, and of those that are held or blocked, to be counted.
    `CREATE INDEX ${jobs}_keyed ON ${jobs} (task_id, state, concurrency_key, priority DESC, run_at, seq) ` +
      `WHERE concurrency_key IS NOT NULL OR ${IS_HELD_OR_BLOCKED}`,

    // `wake_at`: when admission has to look at the key, long ago for at once, null while nothing can change. `tat`: the
    // theoretical arrival time of GCRA, in milliseconds times the task's `rate_limit`, so that all of them are whole
    // numbers. `turn`: the turn after that of the key's last acquired job.
    `CREATE TABLE ${gates} (
      task_id TEXT NOT NULL,
      key TEXT NOT NULL,
      wake_at INTEGER,
      tat INTEGER,
      turn INTEGER NOT NULL DEFAULT 0,
      paused INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (task_id, key)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${gates}_wake ON ${gates} (wake_at) WHERE wake_at IS NOT NULL`,
    // Of gates with a rate alone: finds those that a wrong clock would have wait for too long, see farGates.
    `CREATE INDEX ${gates}_token ON ${gates} (task_id, wake_at) WHERE tat IS NOT NULL AND wake_at IS NOT NULL`,
    `CREATE INDEX ${gates}_paused ON ${gates} (task_id, key) WHERE paused = 1`,
  ];
}

function addOnceInATime({ jobs, windows }: TableNames): string[] {
  return [
    // A job that was acquired once is no longer debounced. Its fence tells so, whoever acquired it and put it back.
    `ALTER TABLE ${jobs} ADD COLUMN debounce_key TEXT`,
    `CREATE UNIQUE INDEX ${jobs}_debounce ON ${jobs} (task_id, debounce_key) ` +
      "WHERE debounce_key IS NOT NULL AND fence = 0",
    // The last addition: its `createdAt`, in digits of one length, and its id.
    `ALTER TABLE ${jobs} ADD COLUMN debounced_by TEXT`,

    `CREATE TABLE ${windows} (
      task_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      until INTEGER NOT NULL,
      opened_at INTEGER NOT NULL,
      job_id TEXT NOT NULL,
      PRIMARY KEY (task_id, kind, key)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${windows}_until ON ${windows} (until)`,
  ];
}

function linkJobs({ jobs, links }: TableNames): string[] {
  return [
    // Whether other jobs wait for this job. A release that does not know so is undone by its guard.
    `ALTER TABLE ${jobs} ADD COLUMN has_children INTEGER NOT NULL DEFAULT 0`,
    // `outcome`: how the parent ended; null while it is unfinished. The commit that writes an outcome also removes the
    // link, unless it has very many to remove.
    `CREATE TABLE ${links} (
      parent_id TEXT NOT NULL,
      child_id TEXT NOT NULL,
      cancels INTEGER NOT NULL,
      outcome TEXT,
      PRIMARY KEY (parent_id, child_id)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${links}_child ON ${links} (child_id, outcome)`,
    `CREATE INDEX ${links}_settled ON ${links} (parent_id, child_id, cancels, outcome) WHERE outcome IS NOT NULL`,
  ];
}

function keepMoreOfJobs({ jobs, results }: TableNames): string[] {
  return [
    // What people see of a job, as JSON.
    `ALTER TABLE ${jobs} ADD COLUMN attempt_history TEXT`,
    `ALTER TABLE ${jobs} ADD COLUMN progress TEXT`,

    // The lists of results are in the order of `FINISHED_AT`. The key of the rows, which every index carries, orders
    // the results of one instant.
    `ALTER TABLE ${results} ADD COLUMN finished_at INTEGER`,
    `DROP INDEX ${results}_task`,
    `DROP INDEX ${results}_schedule`,
    `DROP INDEX ${results}_unsuccessful`,
    `CREATE INDEX ${results}_finished ON ${results} (${FINISHED_AT})`,
    `CREATE INDEX ${results}_task ON ${results} (task_id, ${FINISHED_AT})`,
    `CREATE INDEX ${results}_schedule ON ${results} (schedule_id, ${FINISHED_AT}) WHERE schedule_id IS NOT NULL`,
    `CREATE INDEX ${results}_unsuccessful ON ${results} (outcome, ${FINISHED_AT}) WHERE outcome <> 'success'`,
  ];
}
