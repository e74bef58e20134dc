import { describe, expect, test } from "vitest";
import type { LookRequest, ScheduleChanges } from "../../src/contracts.ts";
import { instantText } from "../../src/core/temporal.ts";
import { zoneFingerprint } from "../../src/cron/zone-fingerprint.ts";
import { CronTrigger, MemoryDataStore, type SchedulerEvent } from "../../src/mod.ts";
import { updateSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { at, rejectionOf, type Setup, setUp } from "./support.ts";

const OWN = `Europe/Berlin ${zoneFingerprint("Europe/Berlin", 2028)}`;
const OTHER = "Europe/Berlin 2028 00000001";
const HOUR = 3600;
/** 09:00 in Berlin on the first day, in seconds after the start. */
const NINE = 8 * HOUR;
const daily = new CronTrigger({ hour: 9 }, { timeZone: "Europe/Berlin" });

interface Forged extends Setup {
  readonly changes: SchedulerEvent<"zoneRulesChanged">[];
}

/** A schedule whose next fire time a runtime with other rules computed: an hour late. */
async function forged(
  changes: ScheduleChanges = { zoneRules: OTHER, nextFireTime: at(NINE + HOUR).epochMilliseconds },
  options: Parameters<typeof setUp>[0] = {},
): Promise<Forged> {
  const setup = setUp(options);
  await setup.scheduler.addSchedule(
    setup.scheduler.task("t", () => {}),
    daily,
    { id: "report" },
  );
  await updateSchedule(setup.store, "report", changes);
  const changed: SchedulerEvent<"zoneRulesChanged">[] = [];
  setup.scheduler.subscribe("zoneRulesChanged", (event) => {
    changed.push(event);
  });
  return { ...setup, changes: changed };
}

async function stored({ store }: Setup, id = "report"): Promise<[at: string | null, zoneRules: string | null]> {
  const schedule = await store.getSchedule(id);
  const next = schedule?.nextFireTime ?? null;
  return [next === null ? null : instantText(next), schedule?.zoneRules ?? null];
}

/** Starts the scheduler, and lets its first look and what follows happen. */
async function start({ scheduler, clock }: Setup): Promise<void> {
  await scheduler.start();
  await clock.advance("PT1S");
}

const RIGHT: [string, string] = ["2030-01-01T08:00:00Z", OWN];
const LATE: [string, string] = ["2030-01-01T09:00:00Z", OTHER];

describe("a next fire time carries the time zone rules that made it", () => {
  test("when the schedule is added, fires, or changes its rule", async () => {
    const setup = await forged({});
    expect(await stored(setup)).toEqual(RIGHT);
    await updateSchedule(setup.store, "report", { zoneRules: OTHER });
    await setup.clock.advanceTo(at(NINE));
    await setup.scheduler.tick();
    expect(await stored(setup)).toEqual(["2030-01-02T08:00:00Z", OWN]);
    const gaza = new CronTrigger({ hour: 9 }, { timeZone: "Asia/Gaza" });
    await setup.scheduler.updateSchedule("report", { trigger: gaza });
    expect((await stored(setup))[1]).toBe(`Asia/Gaza ${zoneFingerprint("Asia/Gaza", 2028)}`);
    await setup.scheduler.updateSchedule("report", { trigger: new CronTrigger({ hour: 9 }) });
    expect((await stored(setup))[1]).toBeNull();
  });

  test("and none when a caller chose it", async () => {
    const setup = await forged({});
    await setup.scheduler.updateSchedule("report", { nextFireTime: at(NINE + 60) });
    expect(await stored(setup)).toEqual(["2030-01-01T08:01:00Z", null]);
    await setup.scheduler.unpauseSchedule("report", { resumeFrom: at(48 * HOUR) });
    expect(await stored(setup)).toEqual(["2030-01-03T08:00:00Z", null]);
    await setup.clock.advanceTo(at(60 * HOUR));
    await setup.scheduler.unpauseSchedule("report", { resumeFrom: "now" });
    expect(await stored(setup)).toEqual(["2030-01-04T08:00:00Z", OWN]);
  });
});

describe("at the start of a scheduler, a next fire time by other rules", () => {
  test("is computed anew, and told", async () => {
    const setup = await forged();
    const before = await setup.store.getSchedule("report");
    await start(setup);
    expect(await stored(setup)).toEqual(RIGHT);
    // Nobody has changed the schedule, but plans from before count no more.
    const { fence = 0, revision } = before ?? {};
    expect(await setup.store.getSchedule("report")).toMatchObject({ fence: fence + 1, revision });
    expect(setup.changes).toMatchObject([
      {
        schedulerId: setup.scheduler.identity,
        zones: [{ zone: "Europe/Berlin", former: "2028 00000001", present: OWN.slice(14) }],
        schedules: [
          {
            scheduleId: "report",
            formerFireTimeMs: at(NINE + HOUR).epochMilliseconds,
            nextFireTimeMs: at(NINE).epochMilliseconds,
          },
        ],
        total: 1,
      },
    ]);
    expect(setup.log.map(({ message }) => message)).toEqual([
      "escapement: this runtime knows newer time zone rules, by which 1 schedule fires at another time: " +
        '"report" at 2030-01-01T08:00:00Z instead of 2030-01-01T09:00:00Z; ' +
        `Europe/Berlin (2028 00000001, here ${OWN.slice(14)})`,
    ]);
    await setup.clock.advanceTo(at(NINE));
    await setup.clock.advance("PT1S");
    expect((await stored(setup))[0]).toBe("2030-01-02T08:00:00Z");
  });

  test("is computed anew by a tick too, which tells when to come again", async () => {
    const setup = await forged();
    const { nextWakeAt } = await setup.scheduler.tick();
    expect(nextWakeAt).toEqual(at(NINE));
    expect(await stored(setup)).toEqual(RIGHT);
    expect(setup.changes).toHaveLength(1);
  });

  test("that has moved into the past fires at once", async () => {
    const setup = await forged();
    await setup.clock.advanceTo(at(NINE + 60));
    expect(await setup.scheduler.tick()).toMatchObject({
      schedulesProcessed: 1,
      jobsRun: 1,
      nextWakeAt: at(NINE + 24 * HOUR),
    });
  });

  test("only gets the newer rules where it does not move", async () => {
    const setup = await forged({ zoneRules: OTHER });
    const fence = (await setup.store.getSchedule("report"))?.fence;
    await start(setup);
    expect(await stored(setup)).toEqual(RIGHT);
    expect((await setup.store.getSchedule("report"))?.fence).toBe(fence);
    expect([setup.changes, setup.log]).toEqual([[], []]);
  });

  test("stays when its rules are newer than those here, and the log says what to do", async () => {
    const dataStore = new MemoryDataStore();
    const own = [{ zone: "Europe/Berlin", fingerprint: OWN.slice(14) }];
    const other = [{ zone: "Europe/Berlin", fingerprint: "2028 00000001" }];
    await dataStore.zoneRules.rank({ now: 0, own: other, seen: own, adopts: false });
    const setup = await forged(undefined, { dataStore });
    await start(setup);
    await setup.clock.advance("PT3H");
    expect(await stored(setup)).toEqual(LATE);
    expect(setup.changes).toEqual([]);
    expect(setup.log.map(({ message }) => message)).toEqual([
      "escapement: schedules stay as they are that were planned by newer time zone rules than those of this runtime: " +
        `Europe/Berlin (2028 00000001, here ${OWN.slice(14)}); update this runtime, or, if its rules are the right ` +
        'ones, start it once with new Scheduler({ zoneRules: "adopt" }); with "keep" it never compares',
    ]);
    const adopting = setUp({ dataStore, zoneRules: "adopt" });
    await adopting.scheduler.tick();
    expect(await stored(setup)).toEqual(RIGHT);
  });

  test('stays with zoneRules: "keep", which does not even ask', async () => {
    const asked: LookRequest["zoneRules"][] = [];
    class Asked extends MemoryDataStore {
      override look(request: LookRequest) {
        asked.push(request.zoneRules);
        return super.look(request);
      }
    }
    const setup = await forged(undefined, { zoneRules: "keep", dataStore: new Asked() });
    await setup.scheduler.tick();
    expect(await stored(setup)).toEqual(LATE);
    expect(asked.filter((zoneRules) => zoneRules !== undefined)).toEqual([]);
  });

  test.each([
    "rubbish",
    "Europe/Berlin 2028",
    "No/Such_Zone 2028 00000001",
    "Europe/Berlin 1972 00000001",
    "Europe/Berlin 2029 00000001",
    "UTC 2028 00000001",
  ])("stays beside a text that was damaged: %j", async (zoneRules) => {
    const setup = await forged({ zoneRules, nextFireTime: at(NINE + HOUR).epochMilliseconds });
    await start(setup);
    expect(await stored(setup)).toEqual([LATE[0], zoneRules]);
    expect([setup.changes, setup.log]).toEqual([[], []]);
  });

  test("stays where the trigger cannot be read, and holds up no other", async () => {
    const setup = await forged();
    await setup.scheduler.addSchedule("t", daily, { id: "a" });
    await updateSchedule(setup.store, "a", { zoneRules: OTHER, trigger: "{}", nextFireTime: LATE_MS });
    await start(setup);
    expect(await stored(setup, "a")).toEqual(LATE);
    expect(await stored(setup)).toEqual(RIGHT);
  });

  test("is found among the texts of hundreds of zones, by the loop and by ticks", async () => {
    for (const isTick of [false, true]) {
      const setup = await forged();
      const zones = Intl.supportedValuesOf("timeZone").slice(0, 120);
      for (const zone of zones) {
        await setup.scheduler.addSchedule("t", daily, { id: zone });
        await updateSchedule(setup.store, zone, { zoneRules: `${zone} ${zoneFingerprint(zone, 2028) ?? "2028 0"}` });
      }
      await updateSchedule(setup.store, "report", {
        zoneRules: "Pacific/Tongatapu 2028 00000001,Europe/Berlin 2028 00000001",
      });
      if (isTick) for (let tick = 0; tick < 3; tick++) await setup.scheduler.tick();
      else await start(setup);
      expect([isTick, ...(await stored(setup))]).toEqual([isTick, ...RIGHT]);
    }
  });

  test("is looked for again after an hour, because processes of a release before may still have planned", async () => {
    const setup = await forged({});
    await start(setup);
    await updateSchedule(setup.store, "report", { zoneRules: OTHER, nextFireTime: LATE_MS });
    await setup.clock.advance("PT30M");
    expect(await stored(setup)).toEqual(LATE);
    await setup.clock.advance("PT32M");
    expect(await stored(setup)).toEqual(RIGHT);
  });
});

const LATE_MS = at(NINE + HOUR).epochMilliseconds;

test("an unknown policy is refused", async () => {
  expect(await rejectionOf(Promise.resolve().then(() => setUp({ zoneRules: "newest" as "auto" })))).toMatchObject({
    message: expect.stringContaining("zoneRules"),
  });
});
