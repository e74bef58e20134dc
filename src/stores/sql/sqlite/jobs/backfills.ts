import type { BackfillStatements } from "../../jobs/backfills.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";

/** A comment before each statement lists its arguments. */
export function backfillStatements({ backfills, jobs }: TableNames): BackfillStatements {
  const greatestSeq = (scheduleId: string): string =>
    `coalesce((SELECT max(seq) FROM ${backfills} WHERE schedule_id = ${scheduleId}), 0)`;
  return lazily<BackfillStatements>({
    // ?1 scheduleId, ?2 key, ?3 fire times
    seeBackfill: () =>
      `SELECT coalesce((SELECT CAST(details AS TEXT) FROM ${backfills} WHERE schedule_id = ?1 AND key = ?2 ` +
      `AND cancelled = 0), 'null') AS record, ${greatestSeq("?1")} AS seq, ` +
      "(SELECT json_group_array(value) FROM json_each(?3) f WHERE EXISTS " +
      `(SELECT 1 FROM ${jobs} WHERE schedule_id = ?1 AND fire_time = f.value)) AS taken`,
    // ?1 id, ?2 scheduleId, ?3 key, ?4 seq, ?5 changedAt, ?6 the record, ?7 the seq that is expected, ?8 fire times.
    // Undoes the batch where another one came first, or where a fire time has an unfinished job.
    commitBackfill: () =>
      `INSERT INTO ${backfills} (id, schedule_id, key, seq, changed_at, details) SELECT ?1, ?2, ?3, ?4, ?5, ?6 ` +
      `WHERE ${guardSql(
        `${greatestSeq("?2")} = ?7 AND NOT EXISTS (SELECT 1 FROM json_each(?8) f CROSS JOIN ${jobs} j ` +
          "ON j.schedule_id = ?2 AND j.fire_time = f.value)",
      )} IS NOT NULL ` +
      "ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, changed_at = excluded.changed_at, details = excluded.details",
    // ?1 id, ?2 now
    cancelBackfill: () =>
      `UPDATE ${backfills} SET cancelled = 1, changed_at = ?2, ` +
      `seq = max(?2, (SELECT max(b.seq) + 1 FROM ${backfills} b WHERE b.schedule_id = ${backfills}.schedule_id)) ` +
      "WHERE id = ?1 AND cancelled = 0 RETURNING 1 AS changed",
    // ?1 the instant up to which backfills are removed that nobody has changed since, ?2 limit
    removeBackfills: () =>
      `DELETE FROM ${backfills} WHERE id IN (SELECT id FROM ${backfills} WHERE changed_at <= ?1 ` +
      "ORDER BY changed_at LIMIT +?2)",
  });
}
