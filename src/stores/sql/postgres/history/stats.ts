import type { JobOutcome } from "../../../../records/policies.ts";
import { DAY_HOURS, FIRST_ENDED_CELL, HOUR_MS, outcomeCell } from "../../../../records/stats.ts";
import type { StatsStatements } from "../../history/stats.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import type { PostgresNames } from "../schema/names.ts";
import { type Stored, storedWrite } from "../schema/stored.ts";
import { counted, rowsOf, textsOf } from "../sql-and-json.ts";

/** SQL that adds to counts. `rows` yields hour, schedule, task, cell and number. */
function adding({ stats }: TableNames, rows: string): string {
  return (
    `INSERT INTO ${stats} AS s (hour, schedule_id, task_id, cell, n) ` +
    `SELECT c.hour, c.schedule_id, c.task_id, c.cell, sum(c.n) FROM (${rows}) c (hour, schedule_id, task_id, ` +
    `cell, n) ` +
    "GROUP BY 1, 2, 3, 4 ON CONFLICT (hour, schedule_id, task_id, cell) DO UPDATE SET n = s.n + excluded.n"
  );
}

/** A statement that counts the jobs `j` of a condition, which the store ends by itself. It precedes the one that
 *  removes
 *  the jobs. `outcome` is SQL of one of the two, which `isFirst` tells apart; `now` is SQL. */
export function countEnded(
  names: TableNames,
  [outcome, other = outcome]: readonly [JobOutcome, JobOutcome?],
  now: string,
  condition: string,
  isFirst = "true",
): string {
  const hour = `${now}::bigint / ${HOUR_MS}`;
  const cell = `CASE WHEN ${isFirst} THEN ${outcomeCell(outcome)} ELSE ${outcomeCell(other)} END`;
  // All jobs, their tasks, their schedules.
  return adding(
    names,
    `SELECT CASE level WHEN 2 THEN ${hour} / ${DAY_HOURS} * ${DAY_HOURS} ELSE ${hour} END, ` +
      "CASE level WHEN 2 THEN j.schedule_id ELSE '' END, CASE level WHEN 0 THEN '' ELSE j.task_id END, " +
      `${cell}, 1 FROM ${names.jobs} j CROSS JOIN generate_series(0, 2) level ` +
      `WHERE ${condition} AND (level < 2 OR j.schedule_id IS NOT NULL)`,
  );
}

const KEY = "hour bigint, schedule_id text, task_id text, cell bigint";

/** The statement that counts the jobs of a commit. */
export function storedCounts(names: PostgresNames): Stored {
  const rows = rowsOf("?1", "r", `${KEY}, n bigint`);
  const sql = adding(names, `SELECT r.hour, r.schedule_id, r.task_id, r.cell, r.n FROM ${rows}`);
  return storedWrite(names, { name: "add_counts", types: ["json"], sql });
}

/** The arguments are those of the statements on SQLite's SQL. */
export function statsStatements(names: PostgresNames): StatsStatements {
  const { stats, jobs } = names;
  const counts = (id: string, hours: number, source: string): string =>
    `WITH c AS MATERIALIZED (SELECT ${id} AS id, s.hour, s.cell, s.n ` +
    `FROM generate_series(?1::bigint, greatest(?1, ?2 - 1)::bigint, ${hours}) h (hour) ${source} LIMIT ?4), ` +
    "most AS MATERIALIZED (SELECT c.id FROM c GROUP BY c.id " +
    `ORDER BY sum(CASE WHEN c.cell >= ${FIRST_ENDED_CELL} THEN c.n ELSE 0 END) DESC, c.id LIMIT ?5) ` +
    "SELECT (SELECT count(*) FROM c) AS seen, " +
    "(SELECT json_agg(json_build_array(b.id, b.bucket, b.cell, b.n) ORDER BY b.id, b.bucket, b.cell)::text FROM (" +
    "SELECT c.id, (c.hour - ?1::bigint) / ?3::bigint AS bucket, c.cell, sum(c.n) AS n FROM c " +
    "WHERE c.id IN (SELECT m.id FROM most m) GROUP BY 1, 2, 3) b) AS counts";
  const ofTasks = "s.hour = h.hour AND s.schedule_id = ''";
  const each = `CROSS JOIN ${textsOf("?6", "i")}`;
  return lazily<StatsStatements>({
    addCounts: () => storedCounts(names).statement,
    addCountsOfLeased: () =>
      adding(
        names,
        `SELECT r.hour, r.schedule_id, r.task_id, r.cell, 1 FROM ` +
          `${rowsOf("?1", "r", `id text, fence bigint, ${KEY}`)} ` +
          `JOIN ${jobs} j ON j.id = r.id WHERE j.fence = r.fence AND j.acquired_by = ?2`,
      ),
    removeCounts: () =>
      counted(
        `DELETE FROM ${stats} WHERE (hour, schedule_id, task_id, cell) IN ` +
          `(SELECT hour, schedule_id, task_id, cell FROM ${stats} WHERE hour < ?1 LIMIT ?2)`,
      ),
    readCounts: () => ({
      all: counts("''::text", 1, `JOIN ${stats} s ON ${ofTasks} AND s.task_id = ''`),
      "all tasks": counts("s.task_id", 1, `JOIN ${stats} s ON ${ofTasks} AND s.task_id > ''`),
      tasks: counts("s.task_id", 1, `${each} JOIN ${stats} s ON ${ofTasks} AND s.task_id = i.value`),
      "all schedules": counts(
        "s.schedule_id",
        DAY_HOURS,
        `JOIN ${stats} s ON s.hour = h.hour AND s.schedule_id > '' AND (?6::text IS NULL OR s.task_id = ?6)`,
      ),
      schedules: counts(
        "s.schedule_id",
        DAY_HOURS,
        `${each} JOIN ${stats} s ON s.hour = h.hour AND s.schedule_id = i.value`,
      ),
    }),
  });
}
