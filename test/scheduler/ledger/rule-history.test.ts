import { describe, expect, test } from "vitest";
import type { ScheduleChangeRecord, ScheduleState } from "../../../src/records/ledger.ts";
import { RuleHistory } from "../../../src/scheduler/ledger/rule-history.ts";
import { makeSchedule } from "../../../src/testing/data-store-contract/makers.ts";
import { cron } from "../explain-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** 2030-01-01, in days. */
const T0 = Date.parse("2030-01-01T00:00:00Z");

function stateOf(rule: string, nextFireTime: number | null): ScheduleState {
  const trigger = JSON.stringify(cron(rule));
  return { trigger, nextFireTime, paused: false, taskId: "t", settings: {}, metadata: {} };
}

function change(
  seq: number,
  effectiveFrom: number,
  before: ScheduleState | null,
  after: ScheduleState | null,
): ScheduleChangeRecord {
  const kind = before === null ? "added" : after === null ? "removed" : "changed";
  return {
    seq,
    scheduleId: "s",
    at: effectiveFrom - 1,
    by: "a",
    kind,
    effectiveFrom,
    before,
    after,
    changesPayload: false,
  };
}

/** Fire times as hours since {@link T0}, in both orders, which must agree. */
function hours(history: RuleHistory, from: number, until: number): number[] {
  const inHours = (times: Iterable<number>): number[] => [...times].map((at) => (at - T0) / HOUR);
  const oldest = inHours(history.fireTimes(T0 + from * HOUR, T0 + until * HOUR, "oldest"));
  const newest = inHours(history.fireTimes(T0 + from * HOUR, T0 + until * HOUR, "newest"));
  expect(newest.reverse()).toEqual(oldest);
  return oldest;
}

const at = (hour: number): number => T0 + hour * HOUR;
const DAILY = "0 9 * * *";
const EVENING = "0 21 * * *";

describe("the history of a rule", () => {
  test("has no fire times before the addition and after the removal", () => {
    const added = change(1, at(24) + 1, null, stateOf(DAILY, at(33)));
    const removed = change(2, at(100) + 1, stateOf(DAILY, at(105)), null);
    expect(hours(new RuleHistory([added, removed], null, at(500)), 0, 400)).toEqual([33, 57, 81]);
  });

  test("goes from one rule to the next", () => {
    const added = change(1, at(0) + 1, null, stateOf(DAILY, at(9)));
    const changed = change(2, at(36) + 1, stateOf(DAILY, at(57)), stateOf(EVENING, at(45)));
    const history = new RuleHistory([added, changed], null, at(500));
    expect(hours(history, 0, 100)).toEqual([9, 33, 45, 69, 93]);
    expect([history.periodAt(at(33)).change?.seq, history.periodAt(at(45)).change?.seq]).toEqual([1, 2]);
  });

  test("begins with what the oldest known change found", () => {
    const changed = change(7, at(36) + 1, stateOf(DAILY, at(57)), stateOf(EVENING, at(45)));
    expect(hours(new RuleHistory([changed], null, at(500)), 0, 100)).toEqual([9, 33, 45, 69, 93]);
  });

  test("has a fire time that a caller chose, and none of the rule before it", () => {
    const added = change(1, at(0) + 1, null, stateOf(DAILY, at(9)));
    const chosen = change(2, at(12) + 1, stateOf(DAILY, at(33)), stateOf(DAILY, at(60.5)));
    expect(hours(new RuleHistory([added, chosen], null, at(500)), 0, 110)).toEqual([9, 60.5, 81, 105]);
  });

  test("forgets a chosen fire time that was changed before it came", () => {
    const added = change(1, at(0) + 1, null, stateOf(DAILY, at(9)));
    const chosen = change(2, at(12) + 1, stateOf(DAILY, at(33)), stateOf(DAILY, at(60.5)));
    const undone = change(3, at(14) + 1, stateOf(DAILY, at(60.5)), stateOf(DAILY, at(33)));
    expect(hours(new RuleHistory([added, chosen, undone], null, at(500)), 0, 80)).toEqual([9, 33, 57]);
  });

  test("lets the last change count where a later one holds from an earlier instant on", () => {
    const added = change(1, at(0) + 1, null, stateOf(DAILY, at(9)));
    const first = change(2, at(36) + 1, stateOf(DAILY, at(57)), stateOf(EVENING, at(45)));
    const second = change(3, at(20), stateOf(EVENING, at(45)), stateOf("0 20 * * *", at(20)));
    expect(hours(new RuleHistory([added, first, second], null, at(500)), 0, 80)).toEqual([9, 20, 44, 68]);
  });

  test("does not know since when the rule of now holds, where no change tells of it", () => {
    const added = change(1, at(0) + 1, null, stateOf(DAILY, at(9)));
    const changed = change(2, at(36) + 1, stateOf(DAILY, at(57)), stateOf(EVENING, at(45)));
    const schedule = { ...makeSchedule(), trigger: JSON.stringify(cron("0 12 * * *")), nextFireTime: at(108) };
    const history = new RuleHistory([added, changed], schedule, at(100));
    expect(history.periods.map(({ isGuess }) => isGuess)).toEqual([false, false, true]);
    expect(hours(history, 0, 140)).toEqual([9, 33, 60, 84, 108, 132]);
    const same = { ...schedule, trigger: stateOf(EVENING, null).trigger };
    const known = new RuleHistory([added, changed], same, at(100));
    expect(known.periods.some(({ isGuess }) => isGuess)).toBe(false);
  });

  test("has no fire times of a rule that cannot be read, and says why", () => {
    const state = { ...stateOf(DAILY, at(9)), trigger: '{"type":"nobody knows","version":1}' };
    const history = new RuleHistory([change(1, at(0) + 1, null, state)], null, at(500));
    const { rule } = history.periodAt(at(9));
    expect([hours(history, 10, 100), rule?.problem]).toEqual([
      [],
      expect.stringContaining('"nobody knows" is unknown'),
    ]);
  });

  test("costs what is asked for, however long the time is", () => {
    const added = change(1, at(0) + 1, null, stateOf("* * * * * *", at(1)));
    const history = new RuleHistory([added], null, at(24 * 365));
    const times = history.fireTimes(at(0), at(0) + 300 * DAY, "newest")[Symbol.iterator]();
    expect([times.next().value, times.next().value]).toEqual([at(0) + 300 * DAY, at(0) + 300 * DAY - 1000]);
  });
});
