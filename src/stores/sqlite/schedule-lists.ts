import type { ScheduleFilter } from "../data-store.ts";
import { FAR_FUTURE_MS } from "./limits.ts";
import { detail } from "./rows.ts";
import { scheduleAsJson } from "./schedule-rows.ts";
import type { TableNames } from "./schema.ts";
import { foundIn, type Walk, walkStatement } from "./walks.ts";

/** The conditions of the walks in the order of ids. */
const BY_ID: Readonly<Record<string, string>> = {
  all: "",
  task: "task_id = ?4 AND ",
  paused: "paused = 1 AND ",
  ended: "next_fire_time IS NULL AND ",
};

/** The kinds of schedules, each with an index. No index has the paused ones in the order of their fire times, because
 *  they are few. */
const KINDS = {
  waiting: "paused = 0 AND next_fire_time IS NOT NULL",
  paused: "paused = 1 AND id > '' AND next_fire_time IS NOT NULL",
  ended: "next_fire_time IS NULL",
} as const;

/** The walks in the order of fire times. */
const BY_TIME: Readonly<Record<string, readonly (keyof typeof KINDS)[]>> = {
  all: ["waiting", "paused", "ended"],
  active: ["waiting"],
  paused: ["paused"],
  ended: ["ended"],
};

/** The walk that fits a filter best, and whether the filter takes every row of the walk. */
export function scheduleWalkOf({ taskId, paused, state, search, sort }: ScheduleFilter): [name: string, boolean] {
  const areAbsent = (...parts: unknown[]): boolean => parts.every((part) => part === undefined);
  if (sort === "nextFireTime") return [`${state ?? "all"} by time`, areAbsent(taskId, paused, search)];
  if (taskId !== undefined) return ["task by id", areAbsent(paused, state, search)];
  if (state === "ended") return ["ended by id", areAbsent(paused, search)];
  if (paused === true || state === "paused") return ["paused by id", areAbsent(state, search)];
  return ["all by id", areAbsent(paused, state, search)];
}

/**
 * By walk. ?3 id to start after, or null, ?4 taskId or null, ?5 paused or null, ?6 state or null, ?7 search or null. In
 * the order of times also ?8, the fire time of ?3: `FAR_FUTURE_MS` for none.
 */
export function scheduleLists(names: TableNames): Readonly<Record<string, string>> {
  const { schedules } = names;
  const state = "CASE WHEN t.next_fire_time IS NULL THEN 'ended' WHEN t.paused = 1 THEN 'paused' ELSE 'active' END";
  const list = {
    table: schedules,
    key: "seq",
    record: scheduleAsJson("t"),
    isTaken:
      `(?4 IS NULL OR t.task_id = ?4) AND (?5 IS NULL OR t.paused = ?5) AND (?6 IS NULL OR ?6 = ${state}) ` +
      `AND ${foundIn("?7", ["t.id", detail("name", "t")])}`,
  };
  const byId = (condition: string): Walk => ({
    rows: `SELECT seq, id FROM ${schedules} WHERE ${condition}id > coalesce(?3, '') ORDER BY id`,
    place: ["id"],
  });
  return Object.fromEntries([
    ...Object.entries(BY_ID).map(([name, condition]) => [`${name} by id`, walkStatement(list, byId(condition))]),
    ...Object.entries(BY_TIME).map(([name, kinds]) => [
      `${name} by time`,
      walkStatement(list, { rows: rowsByTime(schedules, kinds), place: ["at", "id"] }),
    ]),
  ]);
}

function rowsByTime(schedules: string, kinds: readonly (keyof typeof KINDS)[]): string {
  const parts = kinds.map((kind) => {
    const rows = (time: string): string => `SELECT seq, ${time} AS at, id FROM ${schedules} WHERE ${KINDS[kind]} AND `;
    const isAfter = "next_fire_time >= ?8 AND (next_fire_time > ?8 OR id > coalesce(?3, ''))";
    if (kind !== "ended") return rows("next_fire_time") + isAfter;
    // SQLite would sort all of them, because it does not see that they have one time.
    const start = `id > CASE WHEN ?8 < ${FAR_FUTURE_MS} THEN '' ELSE coalesce(?3, '') END`;
    return `SELECT * FROM (${rows(`${FAR_FUTURE_MS}`)}${start} ORDER BY id LIMIT +?2)`;
  });
  return `${parts.join(" UNION ALL ")} ORDER BY at, id`;
}
