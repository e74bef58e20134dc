import { STATS_COUNTS_SEEN_MAX } from "../../../core/limits.ts";
import type { JobResultRecord } from "../../../records/job-result.ts";
import type { JobOutcome } from "../../../records/policies.ts";
import { cellsOf, DAY_HOURS, dayOf, FIRST_ENDED_CELL, HOUR_MS, hourOf, outcomeCell } from "../../../records/stats.ts";
import type { StatsCounts, StatsFilter } from "../../contract/stats-types.ts";
import type { Connection } from "../driver/connection.ts";
import { type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { TableNames } from "../schema/tables.ts";
import { jsonArray, lazily, numberOrNull, rowParameters } from "../sql-and-json.ts";
import type { LedgerSwitch } from "./history-writes.ts";

// How many jobs ended, in which way, and how long they took: by the hour of all jobs together and of each task, by the
// day of each schedule. What is counted of a job is in `records/stats.ts`. Counts of an end and of a lateness are apart
// where there are many, so that there are few cells; of a schedule they are one cell, which is one row a run.

interface EndedJob {
  readonly jobId: string;
  readonly fence: number;
  readonly result: JobResultRecord;
}

/** A count without its number: hour, schedule, task, cell. */
type Key = readonly [hour: number, scheduleId: string, taskId: string, cell: number];

/** The statements that count jobs which end.
 *  @param isSure whether the releases count for sure. Else they precede those that remove the jobs */
export function countingEnds(
  {
    keepsLedger,
    addCounts,
    addCountsOfLeased,
  }: LedgerSwitch & Pick<StatsStatements, "addCounts" | "addCountsOfLeased">,
  finished: readonly EndedJob[],
  schedulerId: string,
  isSure: boolean,
): SqlStatement[] {
  if (!keepsLedger || finished.length === 0) return [];
  if (isSure) return rowParameters(summed(finished)).map(({ text }) => statement(addCounts, text));
  const rows = finished.flatMap(({ jobId, fence, result }) => keysOf(result).map((key) => [jobId, fence, ...key]));
  return rowParameters(rows).map(({ text }) => statement(addCountsOfLeased, text, schedulerId));
}

function keysOf(result: JobResultRecord): Key[] {
  const { taskId, scheduleId, finishedAt } = result;
  const { ended, late } = cellsOf(result);
  const hour = hourOf(finishedAt);
  const cells = late === 0 ? [ended] : [ended, late];
  const keys = cells.flatMap((cell): Key[] => [
    [hour, "", "", cell],
    [hour, "", taskId, cell],
  ]);
  return scheduleId === null ? keys : [...keys, [dayOf(hour), scheduleId, taskId, ended + late]];
}

/** The rows of `addCounts`. Nearly always all jobs end in one hour, and most of them are of few tasks. */
function summed(finished: readonly EndedJob[]): unknown[][] {
  const byTask = new Map<string, Map<number, number>>();
  const rows = new Map<string, unknown[]>();
  const firstHour = hourOf(finished[0]?.result.finishedAt ?? 0);
  const add = (key: Key): void => {
    const name = key.join("\n");
    const row = rows.get(name);
    if (row === undefined) rows.set(name, [...key, 1]);
    else row[4] = Number(row[4]) + 1;
  };
  for (const { result } of finished) {
    const { taskId, scheduleId, finishedAt } = result;
    const hour = hourOf(finishedAt);
    if (hour !== firstHour) {
      for (const key of keysOf(result)) add(key);
      continue;
    }
    const { ended, late } = cellsOf(result);
    let cells = byTask.get(taskId);
    if (cells === undefined) {
      cells = new Map();
      byTask.set(taskId, cells);
    }
    cells.set(ended, (cells.get(ended) ?? 0) + 1);
    if (late !== 0) cells.set(late, (cells.get(late) ?? 0) + 1);
    if (scheduleId !== null) add([dayOf(hour), scheduleId, taskId, ended + late]);
  }
  const all = new Map<number, number>();
  const result = [...rows.values()];
  for (const [taskId, cells] of byTask) {
    for (const [cell, count] of cells) {
      all.set(cell, (all.get(cell) ?? 0) + count);
      result.push([firstHour, "", taskId, cell, count]);
    }
  }
  for (const [cell, count] of all) result.push([firstHour, "", "", cell, count]);
  return result;
}

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

/** Reads counts, in one statement. */
export async function readStats(
  connection: Connection,
  { readCounts }: Pick<StatsStatements, "readCounts">,
  { of, from, until, bucketMs, ids, taskId, limit }: StatsFilter,
): Promise<StatsCounts> {
  if (ids?.length === 0) return { counts: [], isCut: false };
  const form = of === "all" ? of : `${ids === undefined ? "all " : ""}${of}`;
  const args = [hourOf(from), hourOf(until), bucketMs / HOUR_MS, STATS_COUNTS_SEEN_MAX, limit];
  const last = ids !== undefined ? [JSON.stringify(ids)] : form === "all schedules" ? [taskId ?? null] : [];
  const rows = await connection.read(statement(readCounts[form as CountsForm], ...args, ...last));
  const counts = jsonArray<[id: string, bucket: number, cell: number, count: number]>(rows, "counts");
  return {
    counts: counts.map(([id, bucket, cell, count]) => ({ id, bucket, cell, count })),
    isCut: numberOrNull(rows, "seen") === STATS_COUNTS_SEEN_MAX,
  };
}

type CountsForm = "all" | "all tasks" | "tasks" | "all schedules" | "schedules";

/** The statements that keep and read counts of jobs that ended. */
export interface StatsStatements {
  readonly addCounts: string;
  readonly addCountsOfLeased: string;
  readonly removeCounts: string;
  readonly readCounts: Readonly<Record<CountsForm, string>>;
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
