import {
  ALARM_KEPT_MS,
  ALARMS_CHECKED_PER_STEP_MAX,
  ALARMS_PER_STEP_MAX,
  ALARMS_SHOWN_MAX,
} from "../../core/limits.ts";
import { compareTexts } from "../../core/text.ts";
import type { AlarmEnd, AlarmKind, AlarmRecord } from "../../records/alarm.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { AlarmReport, SeenAlarms } from "../alarms.ts";
import type { StepRequest, StoreInspection } from "../data-store.ts";
import { isMissed, type JobEntry } from "./gate.ts";
import type { JobTable } from "./job-table.ts";
import type { MemoryLedger } from "./ledger.ts";
import { SortedList } from "./sorted-list.ts";

/** A schedule that expects something of its runs. */
interface Watch {
  readonly id: string;
  record: ScheduleRecord;
  /** The next fire time for which an alarm was raised before there was a job; null for none. */
  alarmedFor: number | null;
  /** Whether no other alarm of that fire time is to come. */
  isDone: boolean;
  /** When the next fire time is overdue; null for never. */
  at: number | null;
}

interface Alarm {
  /** As it was raised. */
  readonly record: AlarmRecord;
  /** The job that is known to stand for the fire time. */
  jobId: string | null;
  readonly raisedBy: string;
  /** The fire time whose job counts. */
  follows: number;
  end: { readonly reason: AlarmEnd; readonly at: number; readonly by: string } | null;
}

interface Parts {
  readonly table: JobTable;
  readonly ledger: MemoryLedger;
  readonly scheduleOf: (id: string) => Readonly<ScheduleRecord> | undefined;
}

/** The alarms of a `MemoryDataStore` that has a ledger. */
export class MemoryAlarms {
  readonly #parts: Parts;
  readonly #watches = new Map<string, Watch>();
  readonly #unmade = new SortedList<Watch>(inOrderOfAlarms);
  /** Those that are open, the one first that was not looked at for the longest time. */
  readonly #open = new Map<string, Alarm>();
  /** Those that are over, the oldest first. */
  readonly #over = new Map<string, Alarm>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Heeds a schedule as it is now. */
  watch(record: ScheduleRecord): void {
    const { id, expectStartMs, expectFinishMs } = record;
    const known = this.#watches.get(id);
    if (expectStartMs === undefined && expectFinishMs === undefined) {
      if (known !== undefined) this.forget(id);
      return;
    }
    const watch: Watch = known ?? { id, record, alarmedFor: null, isDone: false, at: null };
    if (known === undefined) this.#watches.set(id, watch);
    watch.record = record;
    this.#place(watch);
  }

  /** A schedule was removed. */
  forget(id: string): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    if (watch.at !== null) this.#unmade.remove(watch);
    this.#watches.delete(id);
  }

  /** A schedule goes on after a pause, which is no reason for an alarm. */
  unpaused({ id, nextFireTime }: ScheduleRecord, now: number): void {
    const watch = this.#watches.get(id);
    if (watch === undefined || nextFireTime === null || nextFireTime > now) return;
    watch.alarmedFor = nextFireTime;
    watch.isDone = true;
    this.#place(watch);
  }

  see(): SeenAlarms | undefined {
    const instants = [this.#unmade.first?.at ?? null, this.#parts.table.toAlarm.first?.alarmAt ?? null];
    const known = instants.filter((at) => at !== null);
    const isOpen = this.#open.size > 0;
    if (known.length === 0 && !isOpen) return undefined;
    return { nextAt: known.length === 0 ? null : Math.min(...known), isOpen };
  }

  /** For people. */
  inspect(): Pick<StoreInspection, "alarms"> {
    if (this.#open.size === 0) return {};
    const shown = [...this.#open.values()].map((alarm) => {
      const jobId = this.#jobOf(alarm)?.record.id ?? alarm.jobId;
      return { ...alarm.record, jobId };
    });
    // An alarm of a start comes before that of the end.
    shown.sort((a, b) => a.dueAt - b.dueAt || compareTexts(keyOf(a), keyOf(b)));
    return { alarms: { open: shown.slice(0, ALARMS_SHOWN_MAX), count: this.#open.size } };
  }

  /** Raises the alarms of what is overdue. */
  raise(step: StepRequest): void {
    this.#raiseUnmade(step);
    const late: JobEntry[] = [];
    this.#parts.table.toAlarm.visitFrom(
      () => true,
      (entry) => {
        const isDue = (entry.alarmAt ?? 0) <= step.now && late.length < ALARMS_PER_STEP_MAX;
        if (isDue) late.push(entry);
        return isDue;
      },
    );
    for (const entry of late) {
      const { id: jobId, scheduleId, fireTime } = entry.record;
      const schedule = this.#parts.scheduleOf(scheduleId ?? "");
      if (schedule === undefined || fireTime === null) {
        this.#parts.table.setAlarm(entry, null);
        continue;
      }
      const due = dueTimes(schedule, fireTime);
      for (const { kind, dueAt } of due) {
        const isLate = dueAt <= step.now && (kind === "finish" || !hasStarted(entry)) && !isMissed(entry, step.now);
        if (isLate) this.#add(schedule, fireTime, kind, dueAt, jobId, step);
      }
      this.#parts.table.setAlarm(entry, due.find(({ dueAt }) => dueAt > step.now)?.dueAt ?? null);
    }
  }

  #raiseUnmade(step: StepRequest): void {
    const overdue: Watch[] = [];
    this.#unmade.visitFrom(
      () => true,
      (watch) => {
        const isDue = (watch.at ?? 0) <= step.now && overdue.length < ALARMS_PER_STEP_MAX;
        if (isDue) overdue.push(watch);
        return isDue;
      },
    );
    for (const watch of overdue) {
      const fireTime = watch.record.nextFireTime ?? 0;
      const due = dueTimes(watch.record, fireTime);
      for (const { kind, dueAt } of due) {
        const isKnown = kind === "start" && watch.alarmedFor === fireTime;
        if (dueAt <= step.now && !isKnown) this.#add(watch.record, fireTime, kind, dueAt, null, step);
      }
      watch.alarmedFor = fireTime;
      watch.isDone = due.every(({ dueAt }) => dueAt <= step.now);
      this.#place(watch);
    }
  }

  #add(
    { id: scheduleId, taskId }: Readonly<ScheduleRecord>,
    fireTime: number,
    kind: AlarmKind,
    dueAt: number,
    jobId: string | null,
    { now, stepId }: StepRequest,
  ): void {
    const key = `${fireTime} ${kind} ${scheduleId}`;
    if (this.#open.has(key) || this.#over.has(key)) return;
    const record = { scheduleId, taskId, fireTime, kind, dueAt, raisedAt: now, jobId };
    this.#open.set(key, { record, jobId, raisedBy: stepId, follows: fireTime, end: null });
  }

  /** Resolves alarms that are over, and returns what the step did to alarms; undefined for nothing. */
  resolve({ now, stepId }: StepRequest): AlarmReport | undefined {
    for (const [key, { end }] of this.#over) {
      if (end === null || end.at > now - ALARM_KEPT_MS) break;
      this.#over.delete(key);
    }
    // What stays open goes to the end, so that other steps look at the others.
    for (const [key, alarm] of [...this.#open].slice(0, ALARMS_CHECKED_PER_STEP_MAX)) {
      this.#open.delete(key);
      const reason = this.#endOf(alarm);
      if (reason === null) this.#open.set(key, alarm);
      else {
        alarm.end = { reason, at: now, by: stepId };
        this.#over.set(key, alarm);
      }
    }
    const ended = [...this.#over.values()];
    const raised = [...this.#open.values(), ...ended].filter(({ raisedBy }) => raisedBy === stepId);
    const resolved = ended.flatMap(({ record, jobId, end }) =>
      end?.by === stepId ? [{ ...record, jobId, reason: end.reason }] : [],
    );
    if (raised.length === 0 && resolved.length === 0) return undefined;
    return { raised: raised.map(({ record }) => ({ ...record })), resolved };
  }

  /** Why an alarm is over; null while it is open. */
  #endOf(alarm: Alarm): AlarmEnd | null {
    const { scheduleId, fireTime, kind } = alarm.record;
    const schedule = this.#parts.scheduleOf(scheduleId);
    const isWaiting = schedule !== undefined && schedule.nextFireTime !== null && schedule.nextFireTime <= fireTime;
    if (isWaiting) return schedule.paused ? "paused" : null;
    let entry = this.#parts.ledger.entryOf(scheduleId, alarm.follows);
    if (entry?.kind === "skip" && (entry.into ?? alarm.follows) > alarm.follows) {
      alarm.follows = entry.into ?? alarm.follows;
      entry = this.#parts.ledger.entryOf(scheduleId, alarm.follows);
    }
    const job = this.#jobOf(alarm);
    if (job !== undefined) {
      if (kind !== "start" || !hasStarted(job)) return null;
      alarm.jobId = job.record.id;
      return "started";
    }
    if (entry === undefined) return schedule === undefined ? "removed" : "finished";
    if (entry.kind === "run") {
      alarm.jobId = entry.jobId;
      return kind === "start" && entry.startedAt !== null ? "started" : "finished";
    }
    if (entry.verdict === "paused" || entry.verdict === "removed") return entry.verdict;
    return (entry.into ?? alarm.follows) > alarm.follows ? null : "skipped";
  }

  #jobOf({ record, follows }: Alarm): JobEntry | undefined {
    return this.#parts.table.fired(record.scheduleId, follows);
  }

  /** Puts a schedule where the time of its next alarm says. */
  #place(watch: Watch): void {
    if (watch.at !== null) this.#unmade.remove(watch);
    const { nextFireTime, paused } = watch.record;
    const isDone = nextFireTime === watch.alarmedFor && watch.isDone;
    watch.at = nextFireTime === null || paused || isDone ? null : nextAlarmOf(watch, nextFireTime);
    if (watch.at !== null) this.#unmade.add(watch);
  }
}

function keyOf({ scheduleId, kind }: AlarmRecord): string {
  return `${scheduleId}\0${kind === "start" ? 0 : 1}`;
}

function nextAlarmOf({ record, alarmedFor }: Watch, nextFireTime: number): number | null {
  const due = dueTimes(record, nextFireTime);
  if (alarmedFor !== nextFireTime) return due[0]?.dueAt ?? null;
  return due.find(({ kind }) => kind === "finish")?.dueAt ?? null;
}

/** When an occurrence is overdue, the earliest first. */
function dueTimes(
  { expectStartMs, expectFinishMs }: Readonly<ScheduleRecord>,
  fireTime: number,
): { readonly kind: AlarmKind; readonly dueAt: number }[] {
  return [
    ...(expectStartMs === undefined ? [] : [{ kind: "start" as const, dueAt: fireTime + expectStartMs }]),
    ...(expectFinishMs === undefined ? [] : [{ kind: "finish" as const, dueAt: fireTime + expectFinishMs }]),
  ];
}

function hasStarted({ record: { acquiredBy, failedAttempts, recoveries } }: JobEntry): boolean {
  return acquiredBy !== null || failedAttempts > 0 || recoveries > 0;
}

function inOrderOfAlarms(a: Watch, b: Watch): number {
  return (a.at ?? 0) - (b.at ?? 0) || compareTexts(a.id, b.id);
}
