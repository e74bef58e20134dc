import { describe, expect, test } from "vitest";
import { zoneFingerprint } from "../../src/cron/zone-fingerprint.ts";
import {
  AndTrigger,
  CalendarIntervalTrigger,
  CronTrigger,
  DateTrigger,
  ExcludingTrigger,
  IntervalTrigger,
  OrTrigger,
  Trigger,
} from "../../src/mod.ts";
import { ownFingerprint, readZoneRules, zoneRulesOf, zoneRulesText } from "../../src/triggers/stored-zone-rules.ts";

const NOW = Date.UTC(2026, 5, 1);
const cron = (timeZone: string) => new CronTrigger({ hour: 9 }, { timeZone });
const interval = new IntervalTrigger({ hours: 1 });

/** A trigger of the user's. */
class Own extends Trigger {
  readonly #zone: string;
  constructor(zone: string) {
    super();
    this.#zone = zone;
  }
  override get timeZone(): string {
    return this.#zone;
  }
  nextMs(afterMs: number): number {
    return afterMs + 1;
  }
  previousMs(beforeMs: number): number {
    return beforeMs - 1;
  }
  toJSON() {
    return { type: "own", version: 1 };
  }
  describe(): string {
    return "Own";
  }
}

describe("the zones by whose clocks a trigger goes", () => {
  test.each<[string, Trigger, string[]]>([
    ["a cron trigger", cron("Europe/Berlin"), ["Europe/Berlin"]],
    ["a calendar interval", new CalendarIntervalTrigger({ days: 1, timeZone: "Asia/Gaza" }), ["Asia/Gaza"]],
    ["an interval, which counts elapsed time", interval, ["UTC"]],
    ["a date, which is an instant", new DateTrigger("2030-01-31 09:00", { timeZone: "Europe/Berlin" }), []],
    ["any of some", new OrTrigger([cron("Europe/Paris"), interval, cron("Europe/Paris")]), ["Europe/Paris", "UTC"]],
    ["all of some", new AndTrigger([cron("Asia/Gaza"), cron("Europe/Paris")]), ["Asia/Gaza", "Europe/Paris"]],
    ["dates left out", new ExcludingTrigger(cron("Asia/Gaza"), ["2026-10-03"]), ["Asia/Gaza"]],
    [
      "dates of another zone left out",
      new ExcludingTrigger(interval, ["2026-10-03"], { timeZone: "Europe/Berlin" }),
      ["UTC", "Europe/Berlin"],
    ],
    ["a trigger left out", new ExcludingTrigger(interval, cron("Asia/Gaza")), ["UTC", "Asia/Gaza"]],
    ["one of the user's", new Own("Europe/Rome"), ["Europe/Rome"]],
  ])("%s", (_, trigger, zones) => {
    expect(trigger.ruleZones).toEqual(zones);
  });
});

describe("the text of a trigger's zone rules", () => {
  test("has the fingerprint of each zone, by name, for the window of the present", () => {
    const trigger = new OrTrigger([cron("Europe/Paris"), cron("Asia/Gaza"), interval]);
    const [gaza, paris] = ["Asia/Gaza", "Europe/Paris"].map((zone) => `${zone} ${zoneFingerprint(zone, 2024)}`);
    expect(zoneRulesOf(trigger, NOW)).toBe(`${gaza},${paris}`);
    expect(zoneRulesOf(trigger, Date.UTC(2028, 0, 1))).toMatch(/^Asia\/Gaza 2028 .{8},Europe\/Paris 2028 .{8}$/);
    expect(zoneRulesOf(trigger, NOW)).toBe(`${gaza},${paris}`);
  });

  test("is missing where no clock change can move a fire time", () => {
    expect(
      [interval, cron("UTC"), cron("+05:30"), new Own("No/Such_Zone")].map((one) => zoneRulesOf(one, NOW)),
    ).toEqual([null, null, null, null]);
  });

  test("is read as it was written", () => {
    const text = zoneRulesText(new OrTrigger([cron("Europe/Paris"), cron("Asia/Gaza")]), 2024, (zone) =>
      zone === "Asia/Gaza" ? "2024 00000001" : "2024 00000002",
    );
    expect(readZoneRules(text ?? "")).toEqual([
      { zone: "Asia/Gaza", fingerprint: "2024 00000001", window: 2024 },
      { zone: "Europe/Paris", fingerprint: "2024 00000002", window: 2024 },
    ]);
  });

  test.each([
    "",
    ",",
    "Europe/Berlin",
    "Europe/Berlin 2024",
    "Europe/Berlin 2024 xyz",
    "a b 2024 00000001",
    "🕐 1 00000001",
  ])("that was damaged tells nothing: %j", (text) => {
    expect(readZoneRules(text)).toBeNull();
    expect(readZoneRules(`Asia/Gaza 2024 00000001,${text}`)).toBeNull();
  });

  test("of a zone that is unknown here has no fingerprint", () => {
    expect(ownFingerprint("No/Such_Zone", 2024, zoneFingerprint)).toBeNull();
  });
});
