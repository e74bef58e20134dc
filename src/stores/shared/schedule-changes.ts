import { SCHEDULE_OPTIONS } from "../../records/fields/schedule.ts";
import type { AuditRecord, ScheduleChangeRecord, ScheduleState, Skip } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { ScheduleChanges } from "../data-store.ts";
import { CLOCK_TOLERANCE_MS } from "./limits.ts";
import { pauseFacts } from "./pauses.ts";

// What a change of a schedule leaves in a ledger. Pure, so that all stores say the same.

/** A change, before the store has numbered it. */
export interface FoundChange {
  readonly record: Omit<ScheduleChangeRecord, "seq">;
  /** The fire times that were due and unprocessed, and that nobody processes any more; null for none. */
  readonly skip: Skip | null;
  /** Whether fire times are others from `effectiveFrom` on, so that skips end there: those of earlier changes, and
   *  those of plans from before the schedule was removed and added again. Other plans passed over nothing later. */
  readonly movesFireTimes: boolean;
}

/**
 * What a change leaves; null when nothing changed that a ledger tells.
 * @param before the schedule before the change; null when it was added
 * @param after the schedule after the change; null when it was removed
 */
export function changeOf(
  before: ScheduleRecord | null,
  after: ScheduleRecord | null,
  { at, by }: AuditRecord,
): FoundChange | null {
  const schedule = after ?? before;
  if (schedule === null) return null;
  const [stateBefore, stateAfter] = [stateOf(before), stateOf(after)];
  const isChange = stateBefore !== null && stateAfter !== null;
  const changesPayload = before !== null && after !== null && before.payload !== after.payload;
  const staysSame = isChange && textOf(stateBefore) === textOf(stateAfter);
  if (staysSame && !changesPayload) return null;
  const effectiveFrom = effectiveFromOf(before, after, at);
  const kind = isChange ? changeKind(stateBefore, stateAfter, changesPayload) : before === null ? "added" : "removed";
  const record: FoundChange["record"] = {
    scheduleId: schedule.id,
    at,
    by,
    kind,
    effectiveFrom,
    before: stateBefore,
    after: stateAfter,
    changesPayload,
  };
  const hasNewRule = before !== null && after !== null && before.trigger !== after.trigger;
  const movesFireTimes = hasNewRule || (before?.nextFireTime ?? null) !== (after?.nextFireTime ?? null);
  return { record, skip: before === null ? null : skipOf(before, after, effectiveFrom, at), movesFireTimes };
}

/** The state of a schedule, as changes tell it. */
function stateOf(schedule: ScheduleRecord | null): ScheduleState | null {
  if (schedule === null) return null;
  const { trigger, nextFireTime, paused, taskId, metadata } = schedule;
  const { pausedBy: _, ...pause } = pauseFacts(schedule);
  return { trigger, nextFireTime, paused, ...pause, taskId, settings: settingsOf(schedule), metadata };
}

/** The instant from which on the fire times are those of the state after the change. */
function effectiveFromOf(before: ScheduleRecord | null, after: ScheduleRecord | null, at: number): number {
  const next = after?.nextFireTime ?? null;
  const start = next === null || next > at ? at + 1 : next;
  const last = before?.lastFireTime ?? null;
  // A schedule that a wrong clock had moved ahead was taken back.
  if (next !== null && last !== null && next <= last && last > at + CLOCK_TOLERANCE_MS) return start;
  // A clock that is behind does not change what was fired.
  return Math.max(start, (before?.lastFireTime ?? Number.NEGATIVE_INFINITY) + 1);
}

/** The kind of a change of a schedule that was there before, and is there after it. */
export function changeKind(
  before: ScheduleState,
  after: ScheduleState,
  changesPayload: boolean,
): ScheduleChangeRecord["kind"] {
  const { paused, nextFireTime } = before;
  const isSamePause = paused === after.paused && pauseText(before) === pauseText(after);
  if (isSamePause || changesPayload) return "changed";
  // A schedule that goes on may do so from now on, and leave out what was due.
  const nextOfPause = paused === after.paused ? after.nextFireTime : nextFireTime;
  const unpaused = { paused, pausedUntil: undefined, pauseReason: undefined };
  const others = (state: ScheduleState): string => textOf({ ...state, ...unpaused, nextFireTime: nextOfPause });
  if (others(after) !== textOf({ ...before, ...unpaused })) return "changed";
  return after.paused ? "paused" : "unpaused";
}

function skipOf(before: ScheduleRecord, after: ScheduleRecord | null, effectiveFrom: number, at: number): Skip | null {
  const { nextFireTime, lastFireTime, paused } = before;
  if (nextFireTime === null || nextFireTime > at) return null;
  // A schedule whose rule changed may have a next fire time behind its last one, where nothing is processed again.
  const from = lastFireTime === null ? nextFireTime : Math.max(nextFireTime, lastFireTime + 1);
  if (from >= effectiveFrom) return null;
  const verdict = paused ? "paused" : after === null ? "removed" : "replaced";
  return { from, until: effectiveFrom - 1, verdict, count: null, into: null };
}

/** The same text for the same state. */
function textOf(state: Comparable): string {
  const { settings, trigger, nextFireTime, paused, taskId, metadata } = state;
  const sorted = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([trigger, nextFireTime, paused, taskId, metadata, sorted, pauseText(state)]);
}

function pauseText({ pausedUntil, pauseReason }: Pick<Comparable, "pausedUntil" | "pauseReason">): string {
  return JSON.stringify([pausedUntil ?? null, pauseReason ?? null]);
}

type Comparable = Omit<ScheduleState, "pausedUntil" | "pauseReason"> & {
  readonly pausedUntil?: number | undefined;
  readonly pauseReason?: string | undefined;
};

const OTHERS: readonly string[] = ["taskId", "triggerRule", "payload", "metadata"];

/** The fields of a schedule that somebody sets, besides those that {@link ScheduleState} names, and the payload. */
export const SCHEDULE_SETTINGS: readonly Setting[] = Object.freeze(
  Object.values(SCHEDULE_OPTIONS).filter((name) => !OTHERS.includes(name)) as Setting[],
);

type Setting = keyof ScheduleChanges & keyof ScheduleRecord;

/** Those that a schedule has. */
export function settingsOf(schedule: ScheduleRecord): ScheduleState["settings"] {
  return Object.fromEntries(
    SCHEDULE_SETTINGS.filter((name) => schedule[name] !== undefined).map((name) => [name, schedule[name]]),
  );
}
