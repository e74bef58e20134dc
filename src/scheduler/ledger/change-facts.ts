import { SCHEDULE_OPTIONS } from "../../records/fields/schedule.ts";
import type { ScheduleChangeRecord, ScheduleState } from "../../records/ledger.ts";
import { wrongCursor } from "../../stores/shared/cursors-and-search.ts";
import type { ScheduleChangeFacts, SnapshotFacts } from "../views/schedule-change.ts";
import { Rule } from "./rule.ts";

/** How many fire times to come a snapshot shows. */
const NEXT_FIRE_TIMES = 3;

/** What is shown of a change. */
export function changeFactsOf(record: ScheduleChangeRecord): ScheduleChangeFacts {
  const { seq, scheduleId, at, by, kind, before, after } = record;
  return {
    ...{ seq, scheduleId, at, by, kind },
    changed: kind === "changed" && before !== null && after !== null ? changedOptions(record, before, after) : [],
    before: before === null ? null : snapshotOf(before),
    after: after === null ? null : snapshotOf(after),
  };
}

function snapshotOf(state: ScheduleState): SnapshotFacts {
  const { trigger, nextFireTime, paused, pausedUntil = null, pauseReason = null } = state;
  const rule = new Rule(trigger);
  const nextFireTimes: number[] = [];
  for (let at = nextFireTime; at !== null && nextFireTimes.length < NEXT_FIRE_TIMES; at = rule.next(at)) {
    nextFireTimes.push(at);
  }
  return { rule: rule.words, timeZone: rule.timeZone, paused, pausedUntil, pauseReason, nextFireTimes };
}

function changedOptions(record: ScheduleChangeRecord, before: ScheduleState, after: ScheduleState): string[] {
  const names = new Set([...Object.keys(before.settings), ...Object.keys(after.settings)]);
  const hasNewRule = before.trigger !== after.trigger;
  return [
    ...(before.taskId === after.taskId ? [] : ["task"]),
    ...(hasNewRule ? ["trigger"] : []),
    ...(hasNewRule || before.nextFireTime === after.nextFireTime ? [] : ["nextFireTime"]),
    ...(before.paused === after.paused ? [] : ["paused"]),
    ...(record.changesPayload ? ["payload"] : []),
    ...(isSame(before.metadata, after.metadata) ? [] : ["metadata"]),
    ...[...names].filter((name) => !isSame(before.settings[name], after.settings[name])).map(optionOf),
  ];
}

/** The option that sets a field: `maxJitter` sets `maxJitterMs`. */
function optionOf(field: string): string {
  return Object.keys(SCHEDULE_OPTIONS).find((name) => SCHEDULE_OPTIONS[name] === field) ?? field;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The number of the change after which a page begins. @throws {OptionsError} when the text is no such cursor */
export function changeOfCursor(cursor: string): number {
  const seq = /^\d{1,15}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw wrongCursor("getScheduleChanges()");
}
