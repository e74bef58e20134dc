import { IS_BLOCKED_OR_DEPENDENT, IS_UNSTARTED, JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { ledgerTables, MAY_BE_OVERDUE, OVERDUE_AT } from "./tables-of-ledger.ts";

/** SQL of whether a job has missed its start, see rule D1; NULL for a job without a `startDeadline`. `now` is
 *  the SQL of the present, `job` the alias of the job's row. */
export function hasMissedStart(now: string, job?: string): string {
  const isUnstarted = job === undefined ? IS_UNSTARTED : `${job}.${IS_UNSTARTED.replaceAll(" AND ", ` AND ${job}.`)}`;
  return `${job === undefined ? "" : `${job}.`}start_deadline < ${now} AND ${isUnstarted}`;
}

/** One version of the schema. Released versions never change. */
export interface Migration {
  readonly version: number;
  readonly statements: (names: TableNames) => readonly string[];
}

/** The name of a constraint of the schema table, by which we recognize a table of ours. A comment would not do, because
 *  `wrangler d1 execute` takes comments out of a script. */
export const SCHEMA_TABLE_MARK = "made_by_escapement";

export function createSchemaTable(names: TableNames): string {
  return (
    `CREATE TABLE ${names.schema} (version INTEGER CONSTRAINT ${SCHEMA_TABLE_MARK} PRIMARY KEY, ` +
    "applied_at INTEGER NOT NULL)"
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
    statements: (names: TableNames): readonly string[] => [
      ...taskTables(names),
      ...scheduleTables(names),
      ...blackoutTables(names),
      ...jobTables(names),
      ...jobStepTables(names),
      ...resultTables(names),
      ...schedulerTables(names),
      ...labelTables(names),
      ...jobLogTables(names),
      ...ledgerTables(names),
    ],
  },
]);

function taskTables({ tasks, keyLimiters }: TableNames): string[] {
  return [
    // `rate_limit`: how many starts in how many milliseconds, and how many may start at once after a pause.
    // `own_key`: the concurrency key of jobs without a key of their own: '' where such jobs are admitted too, else
    // null.
    // `limited`: whether a limit of keys, a rate, fairness or a pause limits the task. Only statements with flow
    // control acquire jobs of such a task.
    // `former`: within a commit that changes the limits: what they were, as JSON. Null outside of such a commit.
    `CREATE TABLE ${tasks} (
      id TEXT PRIMARY KEY NOT NULL,
      max_running_jobs INTEGER,
      details TEXT NOT NULL,
      declaration TEXT,
      version INTEGER,
      max_running_per_key INTEGER,
      rate_limit INTEGER,
      rate_per INTEGER,
      rate_burst INTEGER,
      fair INTEGER NOT NULL DEFAULT 0,
      paused INTEGER NOT NULL DEFAULT 0,
      own_key TEXT,
      limited INTEGER NOT NULL DEFAULT 0,
      former TEXT,
      paused_until INTEGER,
      pause_reason TEXT,
      paused_by TEXT
    )`,
    `CREATE INDEX ${tasks}_pause_ends ON ${tasks} (paused_until) WHERE paused_until IS NOT NULL`,
    // Finds the few tasks that are paused, that have a rate, or that are fair.
    `CREATE INDEX ${tasks}_governed ON ${tasks} (id) WHERE paused = 1 OR own_key IS NOT NULL`,

    // `dirty_since`: since when the next commit has to look at the limiter; null for a limiter that is clean.
    // `admit_at`: when a clean limiter has its next token for a blocked job; null for never.
    // `tat`: the theoretical arrival time of GCRA, in milliseconds times the task's `rate_limit`, so that all of them
    // are whole numbers.
    // `virtual_time`: of a fair task, one more than that of the key's last acquired job; else 0.
    `CREATE TABLE ${keyLimiters} (
      task_id TEXT NOT NULL,
      key TEXT NOT NULL,
      dirty_since INTEGER,
      admit_at INTEGER,
      tat INTEGER,
      virtual_time INTEGER NOT NULL DEFAULT 0,
      paused INTEGER NOT NULL DEFAULT 0,
      paused_until INTEGER,
      pause_reason TEXT,
      paused_by TEXT,
      PRIMARY KEY (task_id, key)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${keyLimiters}_pause_ends ON ${keyLimiters} (paused_until) WHERE paused_until IS NOT NULL`,
    `CREATE INDEX ${keyLimiters}_dirty ON ${keyLimiters} (dirty_since) WHERE dirty_since IS NOT NULL`,
    `CREATE INDEX ${keyLimiters}_token ON ${keyLimiters} (task_id, admit_at) WHERE admit_at IS NOT NULL`,
    `CREATE INDEX ${keyLimiters}_time ON ${keyLimiters} (task_id, virtual_time) WHERE virtual_time > 0`,
    `CREATE INDEX ${keyLimiters}_paused ON ${keyLimiters} (task_id, key) WHERE paused = 1`,
  ];
}

function scheduleTables({ schedules }: TableNames): string[] {
  return [
    // `preferred_scheduler`: the scheduler that committed the last plan: others leave it a moment's advantage.
    // `changed_by`: the commit or call that changed the schedule last.
    // `overlap_note`: what the last commit of a plan did because of the schedule's overlap policy, as JSON.
    // `pace_until`: until when catch-up has spread the jobs of the schedule.
    // `zone_rules`: the time zone rules by which the next fire time was computed.
    // `expect_start`: within how many milliseconds after a fire time a run is to start and to end.
    // `paused_until`, `pause_reason`, `paused_by`: what was said of a pause; null for nothing, and for no pause.
    // `last_failure`: a `ScheduleFailure` as JSON; null for none.
    // `failures`: how many runs have failed in a row, where the schedule counts them.
    // `raised_start_for`, `raised_finish_for`: the next fire time that was found to be overdue before it had a job, or
    // that passed during a pause.
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
      preferred_scheduler TEXT,
      changed_by TEXT,
      fence INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      metadata TEXT NOT NULL,
      details TEXT NOT NULL,
      declaration TEXT,
      version INTEGER,
      skipped_count INTEGER NOT NULL DEFAULT 0,
      overlap_note TEXT,
      pace_until INTEGER,
      zone_rules TEXT,
      expect_start INTEGER,
      expect_finish INTEGER,
      raised_start_for INTEGER,
      raised_finish_for INTEGER,
      paused_until INTEGER,
      pause_reason TEXT,
      paused_by TEXT,
      last_failure TEXT,
      failures INTEGER NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX ${schedules}_failing ON ${schedules} (id) WHERE failures > 0`,
    `CREATE INDEX ${schedules}_due ON ${schedules} (next_fire_time, id) ` +
      "WHERE paused = 0 AND next_fire_time IS NOT NULL",
    `CREATE INDEX ${schedules}_task ON ${schedules} (task_id, id)`,
    `CREATE INDEX ${schedules}_paused ON ${schedules} (id) WHERE paused = 1`,
    `CREATE INDEX ${schedules}_exhausted ON ${schedules} (id) WHERE next_fire_time IS NULL`,
    `CREATE INDEX ${schedules}_pause_ends ON ${schedules} (paused_until) WHERE paused_until IS NOT NULL`,
    `CREATE INDEX ${schedules}_overdue ON ${schedules} (${OVERDUE_AT}) WHERE ${MAY_BE_OVERDUE}`,
    `CREATE INDEX ${schedules}_zone_rules ON ${schedules} (zone_rules, id) WHERE zone_rules IS NOT NULL`,
  ];
}

function blackoutTables({ blackouts }: TableNames): string[] {
  return [
    // `seq` grows with each change: a removal leaves a row without an id. So the greatest is the version of them all.
    // `until`: the end of a blackout that does not recur. `rule`: what it says.
    `CREATE TABLE ${blackouts} (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT UNIQUE,
      until INTEGER,
      rule TEXT NOT NULL,
      details TEXT NOT NULL
    )`,
    `CREATE INDEX ${blackouts}_until ON ${blackouts} (until) WHERE until IS NOT NULL`,
  ];
}

function jobTables({ jobs, windows, dependencies, backfills }: TableNames): string[] {
  return [
    // Rows have small integers as keys: `seq` is the order of addition, and the other indexes carry it.
    // `acquisition_id`: the commit that leased the job, or put it back.
    // `started_fence`: the fence of the last lease under which the job is known to have started.
    // `attempt_history`: what people see of a job, as JSON.
    // `virtual_time`: that of an admitted job of a fair task, which comes before its run_at; null for all others.
    // `debounce_key`: a job that was acquired once is no longer debounced. Its fence tells so, whoever acquired it and
    // put it back.
    // `debounced_by`: the last addition: its createdAt, in digits of one length, and its id.
    // `has_children`: whether other jobs wait for this job. A release that does not know so is undone by its guard.
    // `overdue_at`: when the job is overdue unless it has started, or has ended, by then; null for never.
    // `start_deadline`: it is in details too, where those read it who read a job.
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
      details TEXT NOT NULL,
      started_fence INTEGER NOT NULL DEFAULT 0,
      attempt_history TEXT,
      progress TEXT,
      concurrency_key TEXT,
      virtual_time INTEGER,
      debounce_key TEXT,
      debounced_by TEXT,
      has_children INTEGER NOT NULL DEFAULT 0,
      overdue_at INTEGER,
      start_deadline INTEGER
    )`,
    `CREATE INDEX ${jobs}_delayed ON ${jobs} (run_at, seq, task_id) WHERE state = ${JOB_STATE.delayed}`,
    `CREATE INDEX ${jobs}_ready ON ${jobs} (task_id, executor, priority DESC, virtual_time, run_at, seq) ` +
      `WHERE state = ${JOB_STATE.ready}`,
    `CREATE INDEX ${jobs}_leased ON ${jobs} (acquired_until, task_id, acquisition_id) ` +
      `WHERE state = ${JOB_STATE.leased}`,
    `CREATE UNIQUE INDEX ${jobs}_schedule ON ${jobs} (schedule_id, fire_time) WHERE schedule_id IS NOT NULL`,
    `CREATE UNIQUE INDEX ${jobs}_key ON ${jobs} (task_id, idempotency_key) WHERE idempotency_key IS NOT NULL`,
    // The jobs of a task in any other state are in the other indexes, see isJobOfTask.
    `CREATE INDEX ${jobs}_task ON ${jobs} (task_id) WHERE state = ${JOB_STATE.delayed}`,
    // One index, because each costs every addition: of jobs with a key by their limiter, in the order in which they are
    // admitted, and of jobs that are blocked or wait for others, to be counted.
    `CREATE INDEX ${jobs}_keyed ON ${jobs} (task_id, state, concurrency_key, priority DESC, run_at, seq) ` +
      `WHERE concurrency_key IS NOT NULL OR ${IS_BLOCKED_OR_DEPENDENT}`,
    `CREATE UNIQUE INDEX ${jobs}_debounce ON ${jobs} (task_id, debounce_key) ` +
      "WHERE debounce_key IS NOT NULL AND fence = 0",
    `CREATE INDEX ${jobs}_overdue ON ${jobs} (overdue_at) WHERE overdue_at IS NOT NULL`,
    `CREATE INDEX ${jobs}_deadline ON ${jobs} (start_deadline) WHERE start_deadline IS NOT NULL AND ${IS_UNSTARTED}`,

    // `details`: the whole record, as JSON.
    `CREATE TABLE ${backfills} (
      id TEXT PRIMARY KEY NOT NULL,
      schedule_id TEXT NOT NULL,
      key TEXT NOT NULL,
      seq INTEGER NOT NULL,
      changed_at INTEGER NOT NULL,
      cancelled INTEGER NOT NULL DEFAULT 0,
      details TEXT NOT NULL
    ) WITHOUT ROWID`,
    `CREATE INDEX ${backfills}_schedule ON ${backfills} (schedule_id, seq)`,
    `CREATE UNIQUE INDEX ${backfills}_key ON ${backfills} (schedule_id, key) WHERE cancelled = 0`,
    `CREATE INDEX ${backfills}_changed ON ${backfills} (changed_at)`,

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

    // `outcome`: how the parent ended; null while it is unfinished. The commit that writes an outcome also resolves the
    // dependency and removes it, unless there are very many to resolve.
    `CREATE TABLE ${dependencies} (
      parent_id TEXT NOT NULL,
      child_id TEXT NOT NULL,
      cancels INTEGER NOT NULL,
      outcome TEXT,
      PRIMARY KEY (parent_id, child_id)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${dependencies}_child ON ${dependencies} (child_id, outcome)`,
    `CREATE INDEX ${dependencies}_ended ON ${dependencies} (parent_id, child_id, cancels, outcome) ` +
      "WHERE outcome IS NOT NULL",
  ];
}

function jobStepTables({ jobSteps }: TableNames): string[] {
  return [
    // `fence`, `number`: of the write that a row has last.
    // `check_at`: of one row of a job at least, when the clean-up asks whether the job and its result are gone.
    `CREATE TABLE ${jobSteps} (
      job_id TEXT NOT NULL,
      name TEXT NOT NULL,
      fence INTEGER NOT NULL,
      number INTEGER NOT NULL,
      check_at INTEGER,
      started_at INTEGER NOT NULL,
      ended_at INTEGER,
      wake_at INTEGER,
      attempts INTEGER NOT NULL,
      version INTEGER,
      value TEXT,
      cursor TEXT,
      PRIMARY KEY (job_id, name)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${jobSteps}_check ON ${jobSteps} (check_at) WHERE check_at IS NOT NULL`,
  ];
}

function resultTables({ results }: TableNames): string[] {
  return [
    `CREATE TABLE ${results} (
      job_id TEXT PRIMARY KEY NOT NULL,
      task_id TEXT NOT NULL,
      schedule_id TEXT,
      outcome TEXT NOT NULL,
      finished_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      details TEXT NOT NULL
    )`,
    `CREATE INDEX ${results}_expiry ON ${results} (expires_at)`,
    // The lists of results are in this order. The key of the rows, which every index carries, orders the results of
    // one instant.
    `CREATE INDEX ${results}_finished ON ${results} (finished_at)`,
    `CREATE INDEX ${results}_task ON ${results} (task_id, finished_at)`,
    `CREATE INDEX ${results}_schedule ON ${results} (schedule_id, finished_at) WHERE schedule_id IS NOT NULL`,
    `CREATE INDEX ${results}_unsuccessful ON ${results} (outcome, finished_at) WHERE outcome <> 'success'`,
  ];
}

function jobLogTables({ jobLogs }: TableNames): string[] {
  return [
    // See `logs-of-jobs.ts`. `fence`: that of the lease under which the handler ran.
    `CREATE TABLE ${jobLogs} (
      job_id TEXT NOT NULL,
      fence INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      dropped INTEGER NOT NULL,
      lines TEXT NOT NULL,
      PRIMARY KEY (job_id, fence)
    )`,
  ];
}

function labelTables({ labels }: TableNames): string[] {
  return [
    // See `label-index.ts`. `at`: when a job ended, of a result; else 0.
    `CREATE TABLE ${labels} (
      kind INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      at INTEGER NOT NULL,
      id TEXT NOT NULL,
      PRIMARY KEY (kind, name, value, at, id)
    ) WITHOUT ROWID`,
  ];
}

function schedulerTables({ schedulers, commits }: TableNames): string[] {
  return [
    // `heartbeat_at`: when it said so last, by its own clock.
    `CREATE TABLE ${schedulers} (
      identity TEXT NOT NULL,
      instance_id TEXT NOT NULL,
      role TEXT NOT NULL,
      resident INTEGER NOT NULL,
      tasks TEXT NOT NULL,
      executors TEXT NOT NULL,
      alive_until INTEGER NOT NULL,
      heartbeat_at INTEGER NOT NULL,
      PRIMARY KEY (identity, instance_id)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${schedulers}_alive ON ${schedulers} (alive_until)`,

    // `answer`: what the commit answered, as JSON, where that cannot be read from the other tables.
    `CREATE TABLE ${commits} (
      id TEXT PRIMARY KEY NOT NULL,
      at INTEGER NOT NULL,
      answer TEXT
    ) WITHOUT ROWID`,
    `CREATE INDEX ${commits}_at ON ${commits} (at)`,
  ];
}
