import type { JobResultRecord } from "../../../records/job-result.ts";
import { cellsOf, dayOf, HOUR_MS, hourOf } from "../../../records/stats.ts";
import type { StatsCounts, StatsFilter } from "../../contract/stats-types.ts";
import { STATS_COUNTS_SEEN_MAX } from "../../shared/limits.ts";
import type { Connection } from "../driver/connection.ts";
import { type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { jsonArray, numberOrNull, rowParameters } from "../sql-and-json.ts";
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
