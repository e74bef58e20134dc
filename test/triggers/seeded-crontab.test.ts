import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CronSyntaxError, OptionsError } from "../../src/core/errors.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";

const resolved = (text: string, seed: string): string => String(CronTrigger.fromCrontab(text, { seed }));

describe("H in crontab text", () => {
  // Stored schedules depend on these values: they never change. A second program, in another language, gave them.
  test.each([
    ["H H * * *", "backup", "38 17 * * *"],
    ["H H * * *", "report", "58 5 * * *"],
    ["H/15 * * * *", "backup", "8/15 * * * *"],
    ["H(0-29) 2-5 * * *", "backup", "8 2-5 * * *"],
    ["H H H H H", "backup", "38 17 7 9 sat"],
    ["H H H * * *", "backup", "29 38 17 * * *"],
    ["H H(0-7) * * mon-fri", "Übung 🚀", "10 4 * * mon-fri"],
    ["H(0-9),H(30-39) * * * *", "backup", "8,38 * * * *"],
    ["0 9 * * H(mon-fri)", "backup", "0 9 * * tue"],
    ["h h * * *", "backup", "38 17 * * *"],
    ["H H * * * week=10-20", "backup", "38 17 * * * week=10-20"],
  ])("%s with the seed %j is %s, now and in every release", (text, seed, expected) => {
    expect(resolved(text, seed)).toBe(expected);
  });

  test("is written and resolved in JSON, and comes back from there", () => {
    const trigger = CronTrigger.fromCrontab("H H * * *", { seed: "backup", timeZone: "Europe/Berlin" });
    expect(trigger.toJSON()).toEqual({
      type: "cron",
      version: 1,
      expression: "38 17 * * *",
      written: "H H * * *",
      timeZone: "Europe/Berlin",
    });
    expect(trigger.describe()).toBe("At 17:38, in Europe/Berlin (H H * * *)");
    const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
    expect(copy.isSameRule(trigger)).toBe(true);
    expect(copy.describe()).toBe(trigger.describe());
    expect((copy as CronTrigger).written).toBe("H H * * *");
    expect(CronTrigger.fromCrontab("0 9 * * *", { seed: "backup" }).written).toBeNull();
  });

  test("lies in its field or range, for every seed, and spreads evenly", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 59 }), (seed, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const [minute = "", hour = "", day = ""] = resolved(`H(${from}-${to}) H H * *`, seed).split(" ");
        expect(Number(minute)).toBeGreaterThanOrEqual(from);
        expect(Number(minute)).toBeLessThanOrEqual(to);
        expect(Number(hour)).toBeLessThanOrEqual(23);
        expect(Number(day)).toBeGreaterThanOrEqual(1);
        expect(Number(day)).toBeLessThanOrEqual(28);
      }),
    );
    const counts = new Map<string, number>();
    for (let index = 0; index < 6000; index++) {
      const [minute = ""] = resolved("H * * * *", `schedule ${index}`).split(" ");
      counts.set(minute, (counts.get(minute) ?? 0) + 1);
    }
    expect(counts.size).toBe(60);
    // 100 are expected; six standard deviations are 60.
    expect(Math.max(...counts.values())).toBeLessThan(160);
    expect(Math.min(...counts.values())).toBeGreaterThan(40);
  });

  test("a step keeps its distance, from one of its first values on", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 60 }), (seed, step) => {
        const trigger = CronTrigger.fromCrontab(`H/${step} 0 1 1 *`, { seed });
        const fires = [...trigger.expand({ from: "2030-01-01T00:00:00Z", until: "2030-01-01T00:59:59Z" })];
        const minutes = fires.map((ms) => new Date(ms).getUTCMinutes());
        const [first = 0] = minutes;
        expect(first).toBeLessThan(step);
        expect(minutes).toEqual(Array.from({ length: Math.ceil((60 - first) / step) }, (_, n) => first + n * step));
      }),
    );
  });

  test.each([
    ["H * * * * * H", /year "H" has an H that cannot be read.*write a value here/],
    ["0 0 * * * week=H", /has an H that cannot be read/],
    ["H-5 * * * *", /minute "H-5" has an H that cannot be read.*"H\(0-29\)"/],
    ["H(0,29) * * * *", /minute "H\(0" has an H that cannot be read/],
    ["H(30-10) * * * *", /runs backwards.*did you mean "H\(10-30\)"/],
    ["H(0-60) * * * *", /has "60", which is outside 0-59/],
    ["0 0 * * H(fri-7)", /has "7", which is outside 0-6.*0 \(Sunday\) to 6/],
    ["0 0 * * H(mon-fry)", /unknown value "fry"/],
    ["H/0 * * * *", /has a step of 0/],
    ["H/61 * * * *", /has a step larger than its range of 60/],
    ["H(0-9)/11 * * * *", /has a step larger than its range of 10/],
    ["H H 30 2 *", /day "30" never comes.*it comes of "H H 30 2 \*"/],
    ["H H * *", /has 4 fields/],
  ])("%s is refused: %s", (text, message) => {
    expect(() => resolved(text, "backup")).toThrow(CronSyntaxError);
    expect(() => resolved(text, "backup")).toThrow(message);
  });

  test("without a seed says what to do", () => {
    expect(() => CronTrigger.fromCrontab("H H * * *")).toThrow(
      'minute "H" has a "H", whose value follows from a seed (position 0 in "H H * * *"); give the schedule an id, or ' +
        "write CronTrigger.fromCrontab(text, { seed })",
    );
  });

  test("a seed or spread that nothing takes is refused", () => {
    expect(() => new CronTrigger({ hour: 9 }, { seed: "a" })).toThrow(/seed is for crontab text/);
    expect(() => CronTrigger.fromCrontab("@daily", { spread: true })).toThrow(/spread goes together with a seed/);
    expect(() => CronTrigger.fromCrontab("0 9 * * *", { spread: true, seed: "a" })).toThrow(/spread is for nicknames/);
    expect(() => CronTrigger.fromCrontab("H 9 * * *", { seed: 7 as never })).toThrow(OptionsError);
  });
});

describe("spread", () => {
  test.each([
    ["@yearly", "38 17 7 9 *"],
    ["@monthly", "38 17 7 * *"],
    ["@weekly", "38 17 * * sat"],
    ["@daily", "38 17 * * *"],
    ["@midnight", "38 2 * * *"],
    ["@hourly", "38 * * * *"],
  ])('%s becomes %s for the seed "backup"', (nickname, expected) => {
    const trigger = CronTrigger.fromCrontab(nickname, { seed: "backup", spread: true });
    expect([String(trigger), trigger.written]).toEqual([expected, nickname]);
  });

  test("an interval with a seed fires at the same times, whenever it is asked", () => {
    const trigger = new IntervalTrigger({ minutes: 5, seed: "backup" });
    expect(trigger.describe()).toBe("Every 5 minutes, 181 s past whole periods (seed: backup)");
    const first = trigger.firstMs(Date.parse("2030-01-31T09:00:00Z"));
    expect(new Date(first ?? 0).toISOString()).toBe("2030-01-31T09:03:01.000Z");
    expect(trigger.firstMs(Date.parse("2030-01-31T09:04:00Z"))).toBe(Date.parse("2030-01-31T09:08:01Z"));
    expect(trigger.startingAt("2030-01-31T09:00:00Z")).toBe(trigger);
    expect(trigger.previousMs(Date.parse("2030-01-31T09:03:01Z"))).toBe(Date.parse("2030-01-31T08:58:01Z"));
    const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
    expect(copy.toJSON()).toEqual({ type: "interval", version: 1, milliseconds: 300_000, seed: "backup" });
    expect(copy.nextMs(first ?? 0)).toBe((first ?? 0) + 300_000);
  });

  test("an interval of less than a second is moved by milliseconds", () => {
    const trigger = new IntervalTrigger({ milliseconds: 250, seed: "backup" });
    const next = trigger.nextMs(1_000_000) ?? 0;
    expect(next - 1_000_000).toBeLessThanOrEqual(250);
    expect(trigger.nextMs(next)).toBe(next + 250);
  });

  test("a seed goes without startTime and firstRun", () => {
    const options = { minutes: 5, seed: "a" };
    expect(() => new IntervalTrigger({ ...options, startTime: "2030-01-01T00:00:00Z" })).toThrow(
      /seed goes without startTime/,
    );
    expect(() => new IntervalTrigger({ ...options, firstRun: "afterInterval" })).toThrow(/seed goes without/);
  });
});
