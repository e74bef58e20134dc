import type { CommitRequest, EndedPauses, PausedSchedule } from "../../data-store.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { TaskStatements } from "../flow-control/tasks.ts";
import type { ChangeStatements } from "../history/audit-of-changes.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import type { ScheduleStatements } from "../schedules/schedule-statements.ts";

type StatementsOfPauseEnds = TaskStatements & ScheduleStatements & ChangeStatements & LedgerSwitch;

/** The statements of a commit that end the pauses whose end has come. */
export function endingPausesOf(statements: StatementsOfPauseEnds, { now, commitId }: CommitRequest): SqlStatement[] {
  const { keepsLedger, draftPauseEnds, recordChanges, removeDrafts } = statements;
  const { recordTaskPauseEnds, recordKeyPauseEnds } = statements;
  const { endSchedulePauses, reopenLimiters, endTaskPauses, endKeyPauses } = statements;
  const drafts = [draftPauseEnds, recordTaskPauseEnds, recordKeyPauseEnds].map((sql) => statement(sql, now));
  return [
    ...(keepsLedger ? drafts : []),
    statement(endSchedulePauses, now, commitId),
    ...[reopenLimiters, endTaskPauses, endKeyPauses].map((sql) => statement(sql, now)),
    ...(keepsLedger ? [statement(recordChanges), statement(removeDrafts)] : []),
  ];
}

/** The statements of a commit that pause the schedules of which too many runs have failed in a row. */
export function pausingFailing(
  statements: StatementsOfPauseEnds,
  { now, schedulerId, commitId }: CommitRequest,
): SqlStatement[] {
  const { keepsLedger, draftFailing, pauseFailing, recordChanges, removeDrafts } = statements;
  return [
    ...(keepsLedger ? [statement(draftFailing, now, schedulerId)] : []),
    statement(pauseFailing, now, schedulerId, commitId),
    ...(keepsLedger ? [statement(recordChanges), statement(removeDrafts)] : []),
  ];
}

/** The schedules that they paused; undefined for none. */
export function pausedSchedulesOf(answers: readonly Row[][]): PausedSchedule[] | undefined {
  const paused = answers.flat().flatMap(({ id, task_id: taskId, next_fire_time: next, pause_reason: reason }) => {
    if (id === undefined) return [];
    const nextFireTime = next === null ? null : Number(next);
    return [{ id: String(id), taskId: String(taskId), nextFireTime, pauseReason: String(reason) }];
  });
  return paused.length === 0 ? undefined : paused;
}

/** What the answers tell; undefined for nothing. */
export function endedPausesOf(answers: readonly Row[][]): EndedPauses | undefined {
  const rows = answers.flat();
  const schedules = rows
    .filter((row) => row.id !== undefined)
    .map(({ id, task_id: taskId, next_fire_time: next }) => ({
      id: String(id),
      taskId: String(taskId),
      nextFireTime: next === null ? null : Number(next),
    }));
  const tasks = rows
    .filter((row) => row.id === undefined && row.task_id !== undefined)
    .map(({ task_id: taskId, key }) => ({ taskId: String(taskId), key: typeof key === "string" ? key : null }));
  return schedules.length + tasks.length === 0 ? undefined : { schedules, tasks };
}
