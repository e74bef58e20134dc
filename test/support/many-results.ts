import type { LibsqlClient } from "../../src/stores/libsql/client.ts";

/** How much to write of each. */
export interface Amounts {
  readonly schedules: number;
  readonly results: number;
}

const [TASKS, DAYS, DAY_MS, HOUR_MS] = [20, 30, 86_400_000, 3_600_000];

/**
 * Copies the one schedule of an opened store, and writes results and counts of 30 days until `now`, by SQL alone: a
 * tenth of the results are failures, with as many messages as there are numbers.
 */
export async function fillStore(
  client: Pick<LibsqlClient, "execute">,
  now: number,
  { schedules, results }: Amounts,
): Promise<void> {
  const numbers = (count: number): string =>
    `WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < ${count - 1}) SELECT `;
  const columns = "task_id, trigger_json, trigger_rule, created_at, fence, revision, metadata, details";
  const stepMs = Math.max(1, Math.floor((DAYS * DAY_MS) / results));
  const endedAt = `${now} - i * ${stepMs}`;
  const copy = `printf('copy %06d', i % ${schedules})`;
  const [hour, day] = [Math.floor(now / HOUR_MS), Math.floor(now / DAY_MS)];
  // Ten cells of run times for all jobs and each task in each hour, and one for a schedule in each day.
  const [cell, inHour] = ["65536 * (1 + (i % 10 = 9)) + 256 * (10 + i % 10)", (TASKS + 1) * 10];
  const task = `(i / 10) % ${TASKS + 1}`;
  for (const sql of [
    `INSERT INTO escapement_schedules (id, paused, next_fire_time, failures, ${columns}) ${numbers(schedules)} ` +
      `${copy}, i % 50 = 0, ${now} + i * 1000, CASE WHEN i % 100 = 0 THEN 3 ELSE 0 END, ${columns} ` +
      "FROM c CROSS JOIN escapement_schedules WHERE id = 'first'",
    "INSERT INTO escapement_results (job_id, task_id, schedule_id, outcome, finished_at, expires_at, details) " +
      `${numbers(results)} printf('job %08d', i), 't' || (i % ${TASKS}), ${copy}, ` +
      `CASE i % 10 WHEN 0 THEN 'error' ELSE 'success' END, ${endedAt}, ${now + DAYS * DAY_MS}, ` +
      `json_object('scheduledFireTime', ${endedAt} - 500, 'startedAt', ${endedAt} - 400, 'attempts', 1, ` +
      "'error', CASE i % 10 WHEN 0 THEN json_object('name', 'Error', 'message', 'no paper in tray ' || i) END) FROM c",
    `INSERT INTO escapement_stats (hour, schedule_id, task_id, cell, n) ${numbers(DAYS * 24 * inHour)} ` +
      `${hour} - i / ${inHour}, '', CASE ${task} WHEN 0 THEN '' ELSE 't' || (${task}) END, ${cell}, 7 FROM c`,
    `INSERT INTO escapement_stats (hour, schedule_id, task_id, cell, n) ${numbers(DAYS * schedules)} ` +
      `(${day} - i / ${schedules}) * 24, ${copy}, 't0', ${cell} + 9, 3 FROM c`,
  ]) {
    await client.execute({ sql, args: [] });
  }
}
