import type { AlarmRecord, ResolvedAlarmRecord } from "../records/alarm.ts";

// What looks and steps say of alarms.

export interface SeenAlarms {
  /** The earliest time at which an alarm may become due; null for never. See rules O10 and O11. */
  readonly nextAt: number | null;
  /** Whether alarms are open. */
  readonly isOpen: boolean;
}

/** An alarm that a step raised and resolved is in both. */
export interface AlarmReport {
  readonly raised: readonly AlarmRecord[];
  readonly resolved: readonly ResolvedAlarmRecord[];
}
