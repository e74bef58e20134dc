import { describe, expect, test } from "vitest";
import { CronBatch, CronTrigger, DateTrigger, OptionsError } from "../../src/cron.ts";

const NOON = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;

function triggers(): CronTrigger[] {
  const zones = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"];
  return Array.from({ length: 5000 }, (_, index) =>
    CronTrigger.fromCrontab(`${index % 60} ${index % 24} ${index % 3 === 0 ? "29 2 *" : "* * 1-5"}`, {
      timeZone: zones[index % zones.length],
    }),
  );
}

describe("CronBatch", () => {
  test("answers as each trigger does, after one instant and after one each", () => {
    const all = triggers();
    const batch = new CronBatch(all);
    expect(batch.size).toBe(5000);
    expect([...batch.nextMs(NOON)]).toEqual(all.map((trigger) => trigger.nextMs(NOON)));
    const afters = Float64Array.from(all, (_, index) => index * 812_345_678);
    expect([...batch.nextMs(afters)]).toEqual(all.map((trigger, index) => trigger.nextMs(afters[index] ?? 0)));
  });

  test("keeps to the start and the end of each", () => {
    const all = [
      new CronTrigger("0 12 * * *", { startTime: new Date(NOON + 10 * DAY_MS) }),
      new CronTrigger("0 12 * * *", { endTime: new Date(NOON) }),
      new CronTrigger("0 12 * * *"),
    ];
    const batch = new CronBatch(all);
    expect([...batch.nextMs(NOON)]).toEqual([NOON + 10 * DAY_MS, Number.NaN, NOON + DAY_MS]);
    expect([...batch.nextMs(new Float64Array([NOON + 20 * DAY_MS, NOON - 1, Number.NaN]))]).toEqual([
      NOON + 21 * DAY_MS,
      NOON,
      Number.NaN,
    ]);
  });

  test("writes into an array of the caller's, and copies the list", () => {
    const all = [new CronTrigger("0 12 * * *")];
    const batch = new CronBatch(all);
    all.length = 0;
    const out = new Float64Array(1);
    expect(batch.nextMs(NOON, out)).toBe(out);
    expect(out[0]).toBe(NOON + DAY_MS);
    expect(new CronBatch([]).nextMs(NOON)).toHaveLength(0);
  });

  test.each([[{}], [{ startTime: new Date(NOON) }]])("refuses arrays of another length and NaN (%j)", (options) => {
    const batch = new CronBatch([new CronTrigger("0 12 * * *", options)]);
    expect(() => batch.nextMs(new Float64Array(2))).toThrow("afters must have 1 items; got 2");
    expect(() => batch.nextMs(NOON, new Float64Array(2))).toThrow("out must have 1 items; got 2");
    expect(() => batch.nextMs(Number.NaN)).toThrow(OptionsError);
  });

  test("refuses what is neither a number nor an array of them", () => {
    const batch = new CronBatch([new CronTrigger("0 12 * * *")]);
    for (const after of ["5", null, undefined, new Date(0), [0], 5n, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => batch.nextMs(after as unknown as number)).toThrow(
        "CronBatch: after must be a finite number of epoch milliseconds or a Float64Array; got ",
      );
    }
    expect(() => batch.nextMs(NOON, [0] as unknown as Float64Array)).toThrow(
      "CronBatch: out must be a Float64Array; got a list of 1",
    );
  });

  test("refuses what is no list, and other triggers by their place", () => {
    const other = new DateTrigger(new Date(NOON)) as unknown as CronTrigger;
    for (const list of [null, undefined, 5, "* * * * *", new Set()]) {
      expect(() => new CronBatch(list as unknown as CronTrigger[])).toThrow(
        "CronBatch: triggers must be a list of cron triggers",
      );
    }
    expect(() => new CronBatch([new CronTrigger("0 12 * * *"), other])).toThrow(
      expect.objectContaining({
        name: "OptionsError",
        message: "CronBatch: triggers.1 must be a cron trigger; got a DateTrigger",
        issues: [{ path: "triggers.1", message: "must be a cron trigger; got a DateTrigger" }],
      }),
    );
  });

  test("answers its example", () => {
    const batch = new CronBatch([CronTrigger.fromCrontab("@hourly"), CronTrigger.fromCrontab("@daily")]);
    expect([...batch.nextMs(Date.UTC(2030, 0, 1, 12))]).toEqual([1893502800000, 1893542400000]);
  });
});
