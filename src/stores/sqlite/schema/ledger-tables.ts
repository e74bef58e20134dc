/** SQL of when a schedule without a job for its next fire time is overdue, and of whether it can be. The index of such
 *  schedules has these very texts. */
export const UNMADE_ALARM_AT: string =
  "next_fire_time + CASE WHEN alarmed IS 2 * next_fire_time THEN expect_finish ELSE coalesce(expect_start, " +
  "expect_finish) END";
export const MAY_ALARM: string =
  "coalesce(expect_start, expect_finish) IS NOT NULL AND paused = 0 AND next_fire_time IS NOT NULL " +
  "AND alarmed IS NOT 2 * next_fire_time + 1";

type Names = Readonly<Record<"books" | "occurrences" | "changes" | "lives" | "alarms" | "zoneRules", string>>;

/** The tables of the ledger. */
export function keepLedger(names: Names): string[] {
  const { books, occurrences, changes, lives, alarms, zoneRules } = names;
  return [
    // A number for each schedule that the ledger knows, so that its rows are narrow. It outlives the schedule. `since`:
    // from when on the ledger has all fire times. `visit_at`: when the clean-up looks at it again. `reopened`: whether
    // the schedule was removed and added again, so that an earlier life may have fire times of the later one.
    `CREATE TABLE ${books} (
      seq INTEGER PRIMARY KEY,
      schedule_id TEXT UNIQUE NOT NULL,
      since INTEGER NOT NULL,
      visit_at INTEGER NOT NULL,
      reopened INTEGER NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX ${books}_visit ON ${books} (visit_at)`,

    // A run has `run`, and as `verdict` its outcome. A skip has `until`. `run` is one text, see `runText`, because each
    // column costs every job that ends. The key begins with the shelf of the book, so that the runs of one commit fall
    // on few pages: a page that is written costs ten times as much as a row.
    `CREATE TABLE ${occurrences} (
      shelf INTEGER NOT NULL,
      at INTEGER NOT NULL,
      book INTEGER NOT NULL,
      verdict INTEGER NOT NULL,
      run TEXT,
      until INTEGER,
      count INTEGER,
      target INTEGER,
      PRIMARY KEY (shelf, at, book)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${occurrences}_skips ON ${occurrences} (book, at) WHERE run IS NULL`,

    // Changes of schedules, and pauses of tasks.
    `CREATE TABLE ${changes} (
      seq INTEGER PRIMARY KEY,
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

    `CREATE TABLE ${lives} (
      identity TEXT NOT NULL,
      since INTEGER NOT NULL,
      until INTEGER NOT NULL,
      role TEXT NOT NULL,
      resident INTEGER NOT NULL,
      tasks TEXT NOT NULL,
      PRIMARY KEY (identity, since)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${lives}_until ON ${lives} (until)`,

    // The alarms that are open, and those that were resolved a moment ago. `follows`: the fire time whose job counts.
    // `raised_by` and `resolved_by` are steps.
    `CREATE TABLE ${alarms} (
      schedule_id TEXT NOT NULL,
      at INTEGER NOT NULL,
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
      PRIMARY KEY (schedule_id, at, kind)
    ) WITHOUT ROWID`,
    `CREATE INDEX ${alarms}_open ON ${alarms} (schedule_id, at, kind) WHERE resolved_at IS NULL`,
    `CREATE INDEX ${alarms}_resolved ON ${alarms} (resolved_at) WHERE resolved_at IS NOT NULL`,

    // Which rules of a zone the store has seen, and since when.
    `CREATE TABLE ${zoneRules} (
      zone TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      seen_at INTEGER NOT NULL,
      PRIMARY KEY (zone, fingerprint)
    ) WITHOUT ROWID`,
  ];
}
