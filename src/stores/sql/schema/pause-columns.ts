// Schedules, tasks and key limiters have the same columns for what is said of their pauses.

/** When the pause ends by itself, why it is there, and who asked for it; NULL for none, and for no pause. */
export const PAUSE_COLUMNS = ["paused_until", "pause_reason", "paused_by"] as const;

/** SQL that sets them; NULL unless `values` are given. */
export function setPauseColumns(values: readonly string[] = []): string {
  return PAUSE_COLUMNS.map((column, index) => `${column} = ${values[index] ?? "NULL"}`).join(", ");
}
