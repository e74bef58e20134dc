import { afterEach, describe, expect, test, vi } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { ZoneTable } from "../../src/cron/zone.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { preloadZones } from "../../src/triggers/preload-zones.ts";

afterEach(() => vi.restoreAllMocks());

/** Each test takes zones that no other test of this file has asked about. */
describe("preloading zones", () => {
  test("leaves nothing to learn to a trigger that is asked about the present", () => {
    const present = Date.UTC(2027, 6, 1);
    vi.spyOn(Date, "now").mockReturnValue(present);
    preloadZones(["Europe/Vienna", "asia/tokyo", "+05:30", "UTC"]);
    const extend = vi.spyOn(ZoneTable.prototype, "extend");
    for (const timeZone of ["Europe/Vienna", "Asia/Tokyo", "+05:30", "UTC"]) {
      const trigger = new CronTrigger({ hour: 9 }, { timeZone });
      const next = trigger.nextMs(present) ?? 0;
      expect(trigger.previousMs(next + 1)).toBe(next);
    }
    expect(extend).not.toHaveBeenCalled();
    new CronTrigger({ hour: 9 }, { timeZone: "Europe/Prague" }).nextMs(present);
    expect(extend).toHaveBeenCalled();
  });

  test("learns the years to come where the clock does not run yet, as in the modules of a Worker", () => {
    const clock = vi.spyOn(Date, "now").mockReturnValue(0);
    preloadZones(["America/Denver"]);
    clock.mockRestore();
    const extend = vi.spyOn(ZoneTable.prototype, "extend");
    const trigger = new CronTrigger({ hour: 9 }, { timeZone: "America/Denver" });
    for (const year of [2026, 2029, 2032]) {
      expect(trigger.nextMs(Date.UTC(year, 6, 1))).toBe(Date.UTC(year, 6, 1, 15));
    }
    expect(extend).not.toHaveBeenCalled();
  });

  test("of no zones does nothing, and of the host's own is possible", () => {
    preloadZones([]);
    preloadZones(["local"]);
  });

  test.each<[unknown, string, string]>([
    ["Europe/Berlin", "timeZones", 'must be a list of time zones such as ["Europe/Berlin"]; got "Europe/Berlin"'],
    [[5], "timeZones.0", "must be a time zone; got 5"],
  ])("of %j is refused", (zones, path, message) => {
    expect(() => preloadZones(zones as string[])).toThrow(
      expect.objectContaining({ code: "options", issues: [{ path, message }] }),
    );
  });

  test("of an unknown zone is refused as everywhere", () => {
    expect(() => preloadZones(["Europe/Berlim"])).toThrow(OptionsError);
    expect(() => preloadZones(["Europe/Berlim"])).toThrow('did you mean "Europe/Berlin"?');
  });
});
