import type { JobOutcome } from "../../../../records/policies.ts";
import { DAY_HOURS, FIRST_ENDED_CELL, HOUR_MS, outcomeCell } from "../../../../records/stats.ts";
import type { StatsStatements } from "../../history/stats.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";

/** The beginning, and the end, of the statements that add to counts. */
function adding({ stats }: TableNames, rows: string): string {
  return (
    `INSERT INTO ${stats} (hour, schedule_id, task_id, cell, n) ${rows} ` +
    "ON CONFLICT (hour, schedule_id, task_id, cell) DO UPDATE SET n = n + excluded.n"
  );
}

/** A statement that counts the jobs of a condition, which the store ends by itself. It precedes the one that removes
 *  the jobs. `outcome` is SQL of one of the two, which `isFirst` tells apart; `now` is SQL. */
export function countEnded(
  names: TableNames,
  [outcome, other = outcome]: readonly [JobOutcome, JobOutcome?],
  now: string,
  condition: string,
  isFirst = "true",
): string {
  const hour = `CAST(${now} AS INTEGER) / ${HOUR_MS}`;
  const cell = `CASE WHEN ${isFirst} THEN ${outcomeCell(outcome)} ELSE ${outcomeCell(other)} END`;
  // All jobs, their tasks, their schedules.
  const levels = "(SELECT 0 AS level UNION ALL SELECT 1 UNION ALL SELECT 2)";
  return adding(
    names,
    `SELECT CASE level WHEN 2 THEN ${hour} / ${DAY_HOURS} * ${DAY_HOURS} ELSE ${hour} END, ` +
      "CASE level WHEN 2 THEN schedule ELSE '' END, CASE level WHEN 0 THEN '' ELSE task END, cell, count(*) " +
      `FROM (SELECT task_id AS task, schedule_id AS schedule, ${cell} AS cell FROM ${names.jobs} ` +
      `WHERE ${condition}) CROSS JOIN ${levels} WHERE level < 2 OR schedule IS NOT NULL GROUP BY 1, 2, 3, 4`,
  );
}

export function statsStatements(names: TableNames): StatsStatements {
  const { stats, jobs } = names;
  const fields = (first: number): string => [0, 1, 2, 3].map((place) => `r.value->>${first + place}`).join(", ");
  // ?1 from, ?2 until, ?3 bucket, in hours; ?4 most rows, ?5 most ids.
  const counts = (id: string, hours: number, source: string): string =>
    `WITH RECURSIVE h (hour) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT hour + ${hours} FROM h ` +
    `WHERE hour + ${hours} < ?2), ` +
    `c AS MATERIALIZED (SELECT ${id} AS id, s.hour, s.cell, s.n FROM h ${source} LIMIT +?4), ` +
    `most AS MATERIALIZED (SELECT id FROM c GROUP BY id ` +
    `ORDER BY sum(CASE WHEN cell >= ${FIRST_ENDED_CELL} THEN n ELSE 0 END) DESC, id LIMIT +?5) ` +
    "SELECT (SELECT count(*) FROM c) AS seen, " +
    "(SELECT json_group_array(json_array(id, bucket, cell, n)) FROM (SELECT id, " +
    "(hour - CAST(?1 AS INTEGER)) / CAST(?3 AS INTEGER) AS bucket, cell, sum(n) AS n FROM c " +
    "WHERE id IN (SELECT id FROM most) GROUP BY 1, 2, 3)) AS counts";
  const ofTasks = "s.hour = h.hour AND s.schedule_id = ''";
  const each = "CROSS JOIN json_each(?6) i";
  return lazily<StatsStatements>({
    // ?1 rows [hour, scheduleId, taskId, cell, n]
    addCounts: () => adding(names, `SELECT ${fields(0)}, r.value->>4 FROM json_each(?1) r WHERE true`),
    // ?1 rows [jobId, fence, hour, scheduleId, taskId, cell], ?2 schedulerId
    addCountsOfLeased: () =>
      adding(
        names,
        `SELECT ${fields(2)}, count(*) FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
          "WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 GROUP BY 1, 2, 3, 4",
      ),
    // ?1 the hour before which they are too old, ?2 limit
    removeCounts: () =>
      `DELETE FROM ${stats} WHERE (hour, schedule_id, task_id, cell) IN ` +
      `(SELECT hour, schedule_id, task_id, cell FROM ${stats} WHERE hour < ?1 LIMIT +?2)`,
    // and ?6 the ids, or the task of all schedules or null
    readCounts: () => ({
      all: counts("''", 1, `CROSS JOIN ${stats} s ON ${ofTasks} AND s.task_id = ''`),
      "all tasks": counts("s.task_id", 1, `CROSS JOIN ${stats} s ON ${ofTasks} AND s.task_id > ''`),
      tasks: counts("s.task_id", 1, `${each} CROSS JOIN ${stats} s ON ${ofTasks} AND s.task_id = i.value`),
      "all schedules": counts(
        "s.schedule_id",
        DAY_HOURS,
        `CROSS JOIN ${stats} s ON s.hour = h.hour AND s.schedule_id > '' AND (?6 IS NULL OR s.task_id = ?6)`,
      ),
      schedules: counts(
        "s.schedule_id",
        DAY_HOURS,
        `${each} CROSS JOIN ${stats} s ON s.hour = h.hour AND s.schedule_id = i.value`,
      ),
    }),
  });
}
