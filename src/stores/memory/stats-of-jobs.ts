import { compareTexts } from "../../core/text.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { cellsOf, DAY_HOURS, dayOf, FIRST_ENDED_CELL, HOUR_MS, hourOf } from "../../records/stats.ts";
import type { StatsCount, StatsCounts, StatsFilter } from "../contract/stats-types.ts";
import { STATS_COUNTS_SEEN_MAX, STATS_MEMORY_COUNTS_MAX } from "../shared/limits.ts";

type Cells = Map<number, number>;

/** Counts of one hour, by task; or of one day, by schedule, then task. */
interface Counts {
  readonly tasks: Map<string, Cells>;
  readonly schedules: Map<string, Map<string, Cells>>;
  size: number;
}

/** How many jobs ended, in which way, and how long they took. Counts of all jobs together are added up when they are
 *  read. */
export class StatsOfJobs {
  /** By hour; schedules are in the first hour of the day. */
  readonly #hours = new Map<number, Counts>();
  #size = 0;

  ended(result: JobResultRecord): void {
    const { taskId, scheduleId, finishedAt } = result;
    const { ended, late } = cellsOf(result);
    const hour = hourOf(finishedAt);
    const counts = this.#at(hour);
    const cells = entry(counts.tasks, taskId, newCells);
    this.#add(counts, cells, ended);
    if (late !== 0) this.#add(counts, cells, late);
    if (scheduleId === null) return;
    const ofDay = this.#at(dayOf(hour));
    this.#add(ofDay, entry(entry(ofDay.schedules, scheduleId, newTasks), taskId, newCells), ended + late);
  }

  /** Gives the counts of a schedule to another id, where that one has none. */
  renameSchedule(from: string, to: string): void {
    for (const { schedules } of this.#hours.values()) {
      const moving = schedules.get(from);
      if (moving === undefined || schedules.has(to)) continue;
      schedules.delete(from);
      schedules.set(to, moving);
    }
  }

  /** Removes what is old. */
  cleanup(keptFrom: number): void {
    const first = hourOf(keptFrom);
    for (const hour of this.#hours.keys()) if (hour < first) this.#remove(hour);
  }

  read({ of, from, until, bucketMs, ids, taskId, limit }: StatsFilter): StatsCounts {
    const found = new Map<string, StatsCount[]>();
    const ends = new Map<string, number>();
    const [first, length] = [hourOf(from), bucketMs / HOUR_MS];
    let seen = 0;
    const add = (id: string, hour: number, cells: Cells): void => {
      const list = entry(found, id, newCounts);
      for (const [cell, count] of cells) {
        if (seen++ >= STATS_COUNTS_SEEN_MAX) return;
        list.push({ id, bucket: Math.floor((hour - first) / length), cell, count });
        if (cell >= FIRST_ENDED_CELL) ends.set(id, (ends.get(id) ?? 0) + count);
      }
    };
    for (let hour = first; hour < hourOf(until); hour += of === "schedules" ? DAY_HOURS : 1) {
      const counts = this.#hours.get(hour);
      if (counts === undefined) continue;
      if (of === "schedules") {
        for (const id of ids ?? counts.schedules.keys()) {
          for (const [task, cells] of counts.schedules.get(id) ?? []) {
            if (taskId === undefined || task === taskId) add(id, hour, cells);
          }
        }
      } else {
        for (const id of ids ?? counts.tasks.keys()) {
          const cells = counts.tasks.get(id);
          if (cells !== undefined) add(of === "all" ? "" : id, hour, cells);
        }
      }
    }
    const byEnds = [...found.keys()].sort((a, b) => (ends.get(b) ?? 0) - (ends.get(a) ?? 0) || compareTexts(a, b));
    const counts = byEnds.slice(0, limit).flatMap((id) => summed(found.get(id) ?? []));
    return { counts, isCut: seen >= STATS_COUNTS_SEEN_MAX };
  }

  #at(hour: number): Counts {
    let counts = this.#hours.get(hour);
    if (counts !== undefined) return counts;
    counts = { tasks: new Map(), schedules: new Map(), size: 0 };
    this.#hours.set(hour, counts);
    return counts;
  }

  #add(counts: Counts, cells: Cells, cell: number): void {
    const before = cells.get(cell);
    cells.set(cell, (before ?? 0) + 1);
    if (before !== undefined) return;
    counts.size++;
    if (++this.#size > STATS_MEMORY_COUNTS_MAX && this.#hours.size > 1) this.#remove(Math.min(...this.#hours.keys()));
  }

  #remove(hour: number): void {
    this.#size -= this.#hours.get(hour)?.size ?? 0;
    this.#hours.delete(hour);
  }
}

/** One count for each bucket and cell. */
function summed(counts: readonly StatsCount[]): StatsCount[] {
  const sums = new Map<string, StatsCount>();
  for (const one of counts) {
    const key = `${one.bucket} ${one.cell}`;
    sums.set(key, { ...one, count: one.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()];
}

function entry<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

const newCells = (): Cells => new Map();
const newTasks = (): Map<string, Cells> => new Map();
const newCounts = (): StatsCount[] => [];
