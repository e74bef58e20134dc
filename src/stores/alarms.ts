import type { AlarmRecord, ResolvedAlarmRecord } from "../records/alarm.ts";

// What looks and steps say of alarms.

export interface SeenAlarms {
  /** The earliest instant at which an alarm may be to raise; null for never. A step with `alarms` at that instant or
   *  later raises the alarm, or finds out that there is none to raise: so this instant moves on, after as many steps as
   *  there is to do. */
  readonly nextAt: number | null;
  /** Whether alarms are open. */
  readonly isOpen: boolean;
}

/** An alarm that a step raised and resolved is in both. */
export interface AlarmReport {
  readonly raised: readonly AlarmRecord[];
  readonly resolved: readonly ResolvedAlarmRecord[];
}
