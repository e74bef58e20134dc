import { describe, expect, test } from "vitest";
import { CronTrigger, Trigger } from "../../src/mod.ts";
import { movedFireTime } from "../../src/scheduler/firing/moved-fire-time.ts";

const HOUR = 3_600_000;

/** Fires at these hours since 1970. */
class Listed extends Trigger {
  readonly #hours: readonly number[];
  constructor(...hours: readonly number[]) {
    super();
    this.#hours = hours;
  }
  nextMs(afterMs: number): number | null {
    const hour = this.#hours.find((one) => one * HOUR > afterMs);
    return hour === undefined ? null : hour * HOUR;
  }
  previousMs(beforeMs: number): number | null {
    const hour = this.#hours.findLast((one) => one * HOUR < beforeMs);
    return hour === undefined ? null : hour * HOUR;
  }
  toJSON() {
    return { type: "listed", version: 1 };
  }
  describe(): string {
    return "Listed";
  }
}

interface Moved {
  /** All in hours since 1970. */
  readonly last?: number;
  readonly createdAt?: number;
  readonly next: number | null;
  readonly now: number;
}

function hourOf({ last, createdAt = 0, next, now }: Moved, trigger: Trigger): number | null {
  const record = {
    createdAt: createdAt * HOUR,
    lastFireTime: last === undefined ? null : last * HOUR,
    nextFireTime: next === null ? null : next * HOUR,
  };
  const ms = movedFireTime(record, trigger, now * HOUR);
  return ms === null ? null : ms / HOUR;
}

// A rule that fires daily. Former rules had it at hour 8 of each day: 32, 56, 80, ...
describe("the next fire time by other rules of the zone", () => {
  test.each<[string, Moved, readonly number[], number | null]>([
    ["stays where both rules have it", { last: 32, next: 56, now: 40 }, [32, 56, 80], 56],
    ["stays in a schedule that never fired", { next: 56, now: 40 }, [32, 56, 80], 56],
    ["moves to a later hour", { last: 32, next: 56, now: 40 }, [32, 57, 81], 57],
    ["moves to an earlier hour", { last: 32, next: 56, now: 40 }, [32, 55, 79], 55],
    ["moves into the past, and is due at once", { last: 32, next: 56, now: 55.5 }, [32, 55, 79], 55],
    ["moves into the past before the first fire", { next: 56, now: 55.5 }, [31, 55, 79], 55],
    ["moves to an instant before the schedule was added", { createdAt: 55.2, next: 56, now: 55.5 }, [31, 55, 79], 79],
    ["does not repeat a last fire that has moved behind now", { last: 32, next: 56, now: 32.5 }, [33, 57, 81], 57],
    ["does not repeat a last fire that has moved before itself", { last: 32, next: 56, now: 32.5 }, [31, 55, 79], 55],
    ["has what only the new rules know, if it is to come", { last: 32, next: 80, now: 40 }, [32, 56, 80], 56],
    ["leaves out what only the new rules know, if it is past", { last: 32, next: 80, now: 60 }, [32, 56, 80], 80],
    ["is the next one where it falls into a gap", { last: 32, next: 56, now: 40 }, [32, 80, 104], 80],
    ["is the next one of a rare rule where it falls into a gap", { last: 32, next: 5000, now: 40 }, [32, 9000], 9000],
    ["does not go back to what a pause skipped", { last: 32, next: 152, now: 140 }, [32, 56, 80, 104, 128, 153], 153],
    ["is that of a new rule right after the last fire", { last: 10, next: 10.5, now: 10.2 }, [10.5, 34.5], 10.5],
    ["moves with a new rule right after the last fire", { last: 10, next: 10.5, now: 10.2 }, [11.5, 35.5], 11.5],
    ["is none where the new rules have none left", { last: 32, next: 56, now: 40 }, [32], null],
    ["stays for a schedule that is due", { last: 32, next: 56, now: 56 }, [32, 57], 56],
    ["stays for a schedule that has ended", { last: 32, next: null, now: 40 }, [32, 57], null],
  ])("%s", (_, schedule, hours, expected) => {
    expect(hourOf(schedule, new Listed(...hours))).toBe(expected);
  });

  test("stays for a rule of many fires an hour, however far clocks move", () => {
    const trigger = new CronTrigger({ minute: "*/5" }, { timeZone: "Europe/Berlin" });
    const next = 495_000 + 5 / 60;
    expect(hourOf({ last: 495_000, next, now: 495_000 + 2 / 60 }, trigger)).toBe(next);
  });

  test("is later than the last fire time, and nothing before it is left out, whatever has moved", () => {
    for (let shift = -11; shift <= 11; shift++) {
      for (let now = 33; now < 56; now++) {
        const all = [8, 32, 56, 80, 104].map((hour) => hour + shift);
        const moved = hourOf({ last: 32, next: 56, now }, new Listed(...all));
        expect([shift, now, moved]).toEqual([shift, now, 56 + shift]);
      }
    }
  });
});
