/** SQL of when a schedule whose next fire time has no job yet is overdue, and of whether it can be. The index of such
 *  schedules has these very texts. */
export const OVERDUE_AT: string =
  "next_fire_time + CASE WHEN raised_start_for IS next_fire_time THEN expect_finish ELSE coalesce(expect_start, " +
  "expect_finish) END";
export const MAY_BE_OVERDUE: string =
  "coalesce(expect_start, expect_finish) IS NOT NULL AND paused = 0 AND next_fire_time IS NOT NULL " +
  "AND raised_finish_for IS NOT next_fire_time";

type NamesOfLedger = Readonly<
  Record<
    "histories" | "runs" | "skips" | "changes" | "changeDrafts" | "uptimes" | "stats" | "overdue" | "zoneRules",
    string
  >
>;

/** The tables of the ledger. */
export function ledgerTables(names: NamesOfLedger): string[] {
  const { histories, runs, skips, changes, changeDrafts, uptimes, stats, overdue, zoneRules } = names;
  return [
    // The history of a schedule outlives the schedule. Its number keeps the rows of the next two tables narrow.
    // `since`: from when on the history has all fire times.
    // `next_trim_at`: when the clean-up looks at the history again.
    // `kept_from`: the clean-up removes the rows of the history that begin before this time.
    // `failing`: whether the run that ended last has failed, besides those that say nothing about it.
    `CREATE TABLE ${histories} (
      number INTEGER PRIMARY KEY,
      schedule_id TEXT UNIQUE NOT NULL,
      since INTEGER NOT NULL,
      next_trim_at INTEGER NOT NULL,
      kept_from INTEGER,
      failing INTEGER NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX ${histories}_trim ON ${histories} (next_trim_at)`,

    // Fire times whose jobs have ended. The key begins with the partition of the history, see HISTORIES_PER_PARTITION.
    // `run` holds all other facts as one text, see `runText`: a column for each fact would cost a half more.
    `CREATE TABLE ${runs} (
      partition INTEGER NOT NULL,
      fire_time INTEGER NOT NULL,
      history INTEGER NOT NULL,
      outcome TEXT NOT NULL,
      run TEXT NOT NULL,
      PRIMARY KEY (partition, fire_time, history)
    ) WITHOUT ROWID`,

    // Ranges of fire times without a run. The ranges of a history do not overlap.
    `CREATE TABLE ${skips} (
      history INTEGER NOT NULL,
      from_time INTEGER NOT NULL,
      until_time INTEGER NOT NULL,
      verdict TEXT NOT NULL,
      count INTEGER,
      into_time INTEGER,
      PRIMARY KEY (history, from_time)
    ) WITHOUT ROWID`,

    // Changes of schedules, and pauses of tasks. No `seq` is given again, not even that of a row that was removed.
    `CREATE TABLE ${changes} (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      schedule_id TEXT,
      task_id TEXT,
      key TEXT,
      at INTEGER NOT NULL,
      made_by TEXT,
      kind TEXT NOT NULL,
      effective_from INTEGER,
      former TEXT,
      latter TEXT,
      changes_payload INTEGER NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX ${changes}_schedule ON ${changes} (schedule_id, seq) WHERE schedule_id IS NOT NULL`,
    `CREATE INDEX ${changes}_task ON ${changes} (task_id, seq) WHERE task_id IS NOT NULL`,

    // Within a commit that changes schedules: what each of them was. Empty outside of such commits.
    `CREATE TABLE ${changeDrafts} (
      seq INTEGER PRIMARY KEY,
      schedule_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      made_by TEXT,
      removes INTEGER NOT NULL,
      state TEXT,
      payload TEXT,
      paused INTEGER NOT NULL,
      next_fire_time INTEGER,
      last_fire_time INTEGER
    )`,

    // When the schedulers of an identity were up. The spans of an identity do not overlap.
    `CREATE TABLE ${uptimes} (
      identity TEXT NOT NULL,
      since INTEGER NOT NULL,
      until INTEGER NOT NULL,
      role TEXT NOT NULL,
      resident INTEGER NOT NULL,
      tasks TEXT NOT NULL,
      PRIMARY KEY (identity, since)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${uptimes}_until ON ${uptimes} (until)`,

    // See `stats.ts`. `hour`: since 1970, when the jobs ended. `schedule_id`, `task_id`: empty for all of them.
    `CREATE TABLE ${stats} (
      hour INTEGER NOT NULL,
      schedule_id TEXT NOT NULL,
      task_id TEXT NOT NULL,
      cell INTEGER NOT NULL,
      n INTEGER NOT NULL,
      PRIMARY KEY (hour, schedule_id, task_id, cell)
    ) WITHOUT ROWID`,

    // The occurrences that are overdue, and those whose overdue state was resolved a moment ago.
    // `follows`: the fire time whose job counts: another one where another job stands for the occurrence.
    // `raised_by`, `resolved_by`: ids of commits.
    `CREATE TABLE ${overdue} (
      schedule_id TEXT NOT NULL,
      fire_time INTEGER NOT NULL,
      kind TEXT NOT NULL,
      follows INTEGER NOT NULL,
      task_id TEXT NOT NULL,
      job_id TEXT,
      due_at INTEGER NOT NULL,
      raised_at INTEGER NOT NULL,
      raised_by TEXT NOT NULL,
      resolved_at INTEGER,
      resolved_by TEXT,
      reason TEXT,
      PRIMARY KEY (schedule_id, fire_time, kind)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${overdue}_open ON ${overdue} (schedule_id, fire_time, kind) WHERE resolved_at IS NULL`,
    `CREATE INDEX ${overdue}_resolved ON ${overdue} (resolved_at) WHERE resolved_at IS NOT NULL`,

    // Which rules of a zone the store has seen, and since when.
    `CREATE TABLE ${zoneRules} (
      zone TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      seen_at INTEGER NOT NULL,
      PRIMARY KEY (zone, fingerprint)
    ) WITHOUT ROWID`,
  ];
}
