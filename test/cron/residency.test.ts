import { describe, expect, test } from "vitest";
import { CompiledBatch, CompiledCron } from "../../src/cron/compiled-cron.ts";
import { kernel } from "../../src/cron/kernel.ts";
import { parseCrontab } from "../../src/cron/parse.ts";
import { oldestTicket, SPECS_MAX } from "../../src/cron/residency.ts";
import { sharedCron } from "../../src/cron/shared-crons.ts";
import type { CronSpec } from "../../src/cron/spec.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";

const NOW = Date.UTC(2026, 0, 1);
const MIB = 1024 * 1024;
/** More specs than may lie in memory at once. */
const TOO_MANY = SPECS_MAX + 10_000;

const specOf = (text: string): CronSpec => parseCrontab(text, { timeZone: "UTC", dst: "auto", dayMatch: "or" });
/** Texts that differ in the time of the day: 86,400 of them, and then in the month. */
const textOf = (index: number): string =>
  `${index % 60} ${Math.floor(index / 60) % 60} ${Math.floor(index / 3600) % 24} * ${1 + Math.floor(index / 86_400)} *`;

describe("linear memory", () => {
  test("stays within its bound, however many specs are made and dropped", () => {
    for (let index = 0; index < TOO_MANY; index++) new CompiledCron(specOf(textOf(index)));
    const before = kernel.memory.buffer.byteLength;
    expect(before).toBeLessThan(32 * MIB);
    for (let index = 0; index < TOO_MANY; index++) new CompiledCron(specOf(textOf(index)));
    expect(kernel.memory.buffer.byteLength).toBe(before);
  });

  test("stays within its bound when every spec has a list of years of its own", () => {
    for (let index = 0; index < 20_000; index++) {
      new CompiledCron(specOf(`0 0 9 1 1 * 2026,2028,${2031 + (index % 1000)},${4000 + Math.floor(index / 1000)}`));
    }
    expect(kernel.memory.buffer.byteLength).toBeLessThan(32 * MIB);
  });

  test("gets a removed spec again when somebody asks it, which answers as before", () => {
    const texts = ["30 9 * * *", "0 0 12 29 2 *", "0 0 0 1 1 * 2028,2031,2050", "*/7 3 * * mon"];
    const crons = texts.map((text) => new CompiledCron(specOf(text)));
    const asked = (cron: CompiledCron) => [
      cron.nextMs(NOW),
      cron.previousMs(NOW),
      cron.matches(NOW),
      cron.count(NOW, NOW + 1e12),
      [...cron.expand(NOW, NOW + 1e12, 3)],
    ];
    const before = crons.map(asked);
    const tickets = crons.map(({ ticket }) => ticket);
    for (let index = 0; index < TOO_MANY; index++) new CompiledCron(specOf(textOf(index)));
    expect(tickets.every((ticket) => ticket < oldestTicket)).toBe(true);
    expect(crons.map(asked)).toEqual(before);
    expect(new Set(crons.map(({ address }) => address)).size).toBe(crons.length);
  });

  test("holds a batch of any size, also after its specs were removed", () => {
    const crons = Array.from({ length: 10_000 }, (_, index) => new CompiledCron(specOf(textOf(index))));
    const batch = new CompiledBatch(crons);
    const before = batch.nextMs(NOW);
    for (let index = 0; index < TOO_MANY; index++) new CompiledCron(specOf(textOf(index)));
    expect(batch.nextMs(NOW)).toEqual(before);
    const { ticket = 0 } = crons[0] ?? {};
    batch.nextMs(NOW);
    expect(crons[0]?.ticket).toBe(ticket);
  });
});

describe("equal specs", () => {
  test("share their place in memory, whatever their text, also with lists of years", () => {
    for (const [one, other] of [
      ["0 9 * * 1-5", "0 9 * * mon,tue,wed,thu,fri"],
      ["0 0 9 1 1 * 2026,2028,2031", "0 0 9 1 jan * 2031,2028,2026"],
    ] as const) {
      expect(sharedCron(specOf(one))).toBe(sharedCron(specOf(other)));
    }
  });

  test("do not share when they differ in anything", () => {
    const base = specOf("0 9 * * *");
    const none = { lo: 0, hi: 0 };
    const changes: Partial<CronSpec>[] = [
      { seconds: { lo: 2, hi: 0 } },
      { minutes: { lo: 2, hi: 0 } },
      { hours: 1 },
      { daysOfMonth: 2 },
      { lastDayOffsets: 1 },
      { nearestWeekdays: 2 },
      { hasLastWeekday: true },
      { nthOfDay: { lo: 1, hi: 0 } },
      { nthOfWeekday: { lo: 0, hi: 1 } },
      { daysOfWeek: 1 },
      { months: 2 },
      { isoWeeks: none },
      { years: Uint32Array.of(1) },
      { years: Uint32Array.of(2) },
      { dayMatch: "or" },
      { gap: "shift" },
      { overlap: "both" },
      { timeZone: "Asia/Tokyo" },
    ];
    const shared = [base, ...changes.map((change) => ({ ...base, ...change }))].map((spec) => sharedCron(spec));
    expect(new Set(shared).size).toBe(changes.length + 1);
  });

  test("of triggers that are made and dropped leave memory as it is", () => {
    const make = (index: number) =>
      CronTrigger.fromCrontab(`${index % 60} ${index % 24} ${1 + (index % 28)} * *`).nextMs(NOW);
    for (let index = 0; index < 10_000; index++) make(index);
    const before = kernel.memory.buffer.byteLength;
    for (let index = 0; index < 200_000; index++) make(index);
    expect(kernel.memory.buffer.byteLength).toBe(before);
  });
});
