import {
  NEUTRAL_OUTCOMES,
  NOTICE_STARTS_WITHIN_MS,
  NOTICE_TASK_PREFIX,
  NOTICE_TASKS_END,
} from "../../../records/notice.ts";
import type { TaskRecord } from "../../../records/task.ts";
import { validJson } from "../sql-and-json.ts";

type NamesOfNotices = Readonly<
  Record<"tasks" | "schedules" | "jobs" | "histories" | "runs" | "changes" | "overdue", string>
>;

/**
 * The statements that make the triggers of notices, unless they are there. A trigger adds notices, as jobs, in the
 * commit of the change of state, whichever statement makes it, because each change of state is a new row of the ledger.
 * The triggers come into being with the first task of notices: they double what the end of a job costs.
 */
export function noticeTriggers(names: NamesOfNotices): Readonly<Record<"changes" | "successes", readonly string[]>> {
  const { schedules, jobs, histories, runs, changes, overdue } = names;
  const isFailing = `(SELECT failing FROM ${histories} WHERE number = NEW.history)`;
  // In the text of a run, its end is a difference to when the job was made, and that one to the fire time.
  const facts = "substr(NEW.run, 1, instr(NEW.run, '/') - 1)";
  const fact = (place: number): string =>
    `coalesce(json_extract('[' || replace(replace(rtrim(${facts}), ' - ', ' null '), ' ', ',') || ']', ` +
    `'$[${place}]'), 0)`;
  const jobId = "substr(NEW.run, instr(NEW.run, '/') + 1)";
  const ofRun = {
    at: `NEW.fire_time + ${fact(1)} + ${fact(3)}`,
    scheduleId: `(SELECT schedule_id FROM ${histories} WHERE number = NEW.history)`,
    taskId: `(SELECT task_id FROM ${jobs} WHERE id = ${jobId})`,
    facts: `'fireTime', NEW.fire_time, 'jobId', ${jobId}, 'outcome', NEW.outcome`,
  };
  // A run of another store, which is restored, has no job any more.
  const isLive = `EXISTS (SELECT 1 FROM ${jobs} WHERE id = ${jobId})`;
  const neutral = NEUTRAL_OUTCOMES.map((outcome) => `'${outcome}'`).join(", ");
  const hasTurned = `${isFailing} = (NEW.outcome = 'success')`;
  const turn = "CASE NEW.outcome WHEN 'success' THEN 'recovered' ELSE 'failed' END";
  const before =
    `(SELECT kind FROM ${changes} WHERE task_id = NEW.task_id AND key IS NEW.key AND seq < NEW.seq ` +
    "ORDER BY seq DESC LIMIT 1)";
  const ofChanges = [
    trigger(
      runs,
      "turned",
      `NEW.outcome NOT IN (${neutral}) AND ${hasTurned} AND ${isLive}`,
      addNotices(names, { ...ofRun, type: turn }),
      `UPDATE ${histories} SET failing = NEW.outcome <> 'success' WHERE number = NEW.history`,
    ),
    trigger(
      overdue,
      "noticed",
      "true",
      addNotices(names, {
        type: "'overdue'",
        at: "NEW.raised_at",
        scheduleId: "NEW.schedule_id",
        taskId: "NEW.task_id",
        facts: "'fireTime', NEW.fire_time, 'jobId', NEW.job_id, 'kind', NEW.kind, 'dueAt', NEW.due_at",
      }),
    ),
    trigger(
      changes,
      "noticed",
      `NEW.kind = 'failed' OR NEW.kind = 'taskPaused' AND ${before} IS NOT 'taskPaused' ` +
        "OR NEW.kind = 'changed' AND NEW.former->>'paused' = 0 AND NEW.latter->>'paused' = 1",
      addNotices(names, {
        type: "'paused'",
        at: "NEW.at",
        scheduleId: "NEW.schedule_id",
        taskId: `coalesce(NEW.task_id, (SELECT task_id FROM ${schedules} WHERE id = NEW.schedule_id))`,
        facts:
          "'key', NEW.key, 'by', NEW.made_by, " +
          "'reason', coalesce(NEW.latter->>'pauseReason', NEW.latter->>'reason'), " +
          "'until', coalesce(NEW.latter->>'pausedUntil', NEW.latter->>'until')",
      }),
    ),
  ];
  const succeeded = addNotices(names, { ...ofRun, type: "'succeeded'" });
  return {
    changes: ofChanges,
    successes: [trigger(runs, "succeeded", `NEW.outcome = 'success' AND ${isLive}`, succeeded)],
  };
}

/** A trigger after the insertion of a row. */
function trigger(table: string, name: string, condition: string, ...statements: readonly string[]): string {
  return (
    `CREATE TRIGGER IF NOT EXISTS ${table}_${name} AFTER INSERT ON ${table} WHEN ${condition} BEGIN ` +
    `${statements.map((sql) => `${sql}; `).join("")}END`
  );
}

/** The statements that tasks need which are to be put, because some of them are those of notices. */
export function triggersFor(
  tasks: readonly TaskRecord[],
  { changes, successes }: ReturnType<typeof noticeTriggers>,
): readonly string[] {
  const ofNotices = tasks.filter(({ id }) => id.startsWith(NOTICE_TASK_PREFIX));
  if (ofNotices.length === 0) return [];
  const hasSuccesses = ofNotices.some(({ metadata: { on } }) => Array.isArray(on) && on.includes("succeeded"));
  return hasSuccesses ? [...changes, ...successes] : changes;
}

const IS_NOTICE_TASK = `id > '${NOTICE_TASK_PREFIX}' AND id < '${NOTICE_TASKS_END}'`;

/** What a notice says, in SQL; `facts` are pairs of names and values. */
interface NoticeSql {
  readonly type: string;
  readonly at: string;
  readonly scheduleId: string;
  readonly taskId: string;
  readonly facts: string;
}

/** SQL that adds a notice for each channel that asks for it. The jobs are delayed, and due: the
 *  next commit with them makes them ready, or has them admitted. */
function addNotices({ tasks, jobs }: NamesOfNotices, { type, at, scheduleId, taskId, facts }: NoticeSql): string {
  const details = validJson("details");
  const random = (bytes: number): string => `hex(randomblob(${bytes}))`;
  const id =
    "lower(printf('%.8s-%s-7%.3s-8%.3s-%s', substr(hex, 1, 8), substr(hex, 9), " +
    `${random(2)}, ${random(2)}, ${random(6)}))`;
  const metadata = `json_object('type', notice, 'at', at, 'scheduleId', schedule, 'taskId', ${taskId}, ${facts})`;
  const job =
    "json_object('createdAt', at, 'startDeadline', deadline, " +
    `'resultExpirationMs', coalesce(task->>'resultExpirationMs', 0), ` +
    `'maxRecoveries', coalesce(task->>'maxRecoveries', 0), 'metadata', ${metadata})`;
  return (
    `INSERT INTO ${jobs} (id, task_id, executor, priority, run_at, state, fence, failed_attempts, recoveries, ` +
    "cancel_requested, details, start_deadline, concurrency_key) " +
    `SELECT ${id}, id, coalesce(task->>'executor', 'inline'), 0, at, 0, 0, 0, 0, 0, ${job}, deadline, own_key ` +
    `FROM (SELECT id, own_key, task, at, at + ${NOTICE_STARTS_WITHIN_MS} AS deadline, printf('%012x', at) AS hex, ` +
    `${scheduleId} AS schedule, ${type} AS notice ` +
    `FROM (SELECT id, own_key, declaration, ${details} AS task, ${at} AS at ` +
    `FROM ${tasks} WHERE ${IS_NOTICE_TASK} AND declaration IS NOT '')) ` +
    `WHERE EXISTS (SELECT 1 FROM json_each(task, '$.metadata.on') WHERE value = notice) ` +
    "AND (task->'$.metadata.schedules' IS NULL " +
    "OR schedule IN (SELECT value FROM json_each(task, '$.metadata.schedules')))"
  );
}
