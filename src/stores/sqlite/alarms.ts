import { ALARM_KEPT_MS, ALARMS_CHECKED_PER_STEP_MAX } from "../../core/limits.ts";
import type { AlarmEnd, AlarmKind, AlarmRecord, ResolvedAlarmRecord } from "../../records/alarm.ts";
import type { AlarmReport } from "../alarms.ts";
import type { StepRequest } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import type { Statements } from "./statements.ts";

/** The alarms of one step, as statements. */
export class StepAlarms {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  readonly #isRepetition: boolean;
  readonly #leftOut: number;
  readonly #isNeeded: boolean;

  /** @param leftOut how many open alarms the step does not look at, because other steps do */
  constructor(statements: Statements, request: StepRequest, isRepetition: boolean, leftOut: number) {
    this.#statements = statements;
    this.#request = request;
    this.#isRepetition = isRepetition;
    this.#leftOut = leftOut;
    this.#isNeeded = request.alarms === true && statements.keepsLedger;
  }

  raising(): SqlStatement[] {
    if (!this.#isNeeded) return [];
    const { now, stepId } = this.#request;
    const { raiseUnmade, markUnmade, raiseLate, markLate } = this.#statements;
    return [
      statement(raiseUnmade, now, stepId),
      statement(markUnmade, now),
      statement(raiseLate, now, stepId),
      statement(markLate, now),
    ];
  }

  resolving(): SqlStatement[] {
    if (!this.#isNeeded) return [];
    const { now, stepId } = this.#request;
    const { followSkips, resolveAlarms, forgetAlarms, getAlarmsOfStep } = this.#statements;
    return [
      statement(followSkips, this.#leftOut),
      statement(resolveAlarms, this.#leftOut, now, stepId),
      statement(forgetAlarms, now - ALARM_KEPT_MS),
      ...(this.#isRepetition ? [statement(getAlarmsOfStep, stepId)] : []),
    ];
  }

  /** What the answers of both tell; undefined for nothing. */
  report(raising: readonly Row[][], resolving: readonly Row[][]): AlarmReport | undefined {
    if (!this.#isNeeded) return undefined;
    const ofStep = resolving[3] ?? [];
    const raised = this.#isRepetition ? ofStep.filter(({ is_raised }) => is_raised === 1) : raising.flat();
    const resolved = this.#isRepetition ? ofStep.filter(({ is_resolved }) => is_resolved === 1) : (resolving[1] ?? []);
    if (raised.length === 0 && resolved.length === 0) return undefined;
    return { raised: raised.map(toAlarm), resolved: resolved.map(toResolvedAlarm) };
  }
}

/** How many open alarms each step leaves out, so that all of them are looked at in turn. */
export class AlarmTurns {
  #open = 0;
  #turn = 0;

  /** A look told how many are open. */
  heed(open: number): void {
    this.#open = open;
  }

  next(): number {
    if (this.#open <= ALARMS_CHECKED_PER_STEP_MAX) return 0;
    const start = this.#turn * ALARMS_CHECKED_PER_STEP_MAX;
    this.#turn = start + ALARMS_CHECKED_PER_STEP_MAX < this.#open ? this.#turn + 1 : 0;
    return start;
  }
}

function toAlarm(row: Row): AlarmRecord {
  return {
    scheduleId: String(row.schedule_id),
    taskId: String(row.task_id),
    fireTime: Number(row.at),
    kind: row.kind as AlarmKind,
    dueAt: Number(row.due_at),
    raisedAt: Number(row.raised_at),
    jobId: row.job_id === null ? null : String(row.job_id),
  };
}

function toResolvedAlarm(row: Row): ResolvedAlarmRecord {
  return { ...toAlarm(row), reason: row.reason as AlarmEnd };
}
