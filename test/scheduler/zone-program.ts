import process from "node:process";
import { zoneTable } from "../../src/cron/zone.ts";
import { CronTrigger, Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

// What a runtime knows of time zones, or does with a schedule; the test runs it on several runtimes.

const [, , verb = "", ...args] = process.argv;

/** The offset at the start of the window, and the clock changes in it, for each zone that this runtime has. */
function zones(): Record<string, readonly [instant: number, offset: number][]> {
  const [from = 0, until = 0] = [2024, 2032].map((year) => Date.UTC(year, 0, 1) / 1000);
  return Object.fromEntries(
    Intl.supportedValuesOf("timeZone").map((zone) => {
      const { rules } = zoneTable(zone);
      const changes = rules.changes(from, until).map(({ instant, offset }): [number, number] => [instant, offset]);
      return [zone, [[from, rules.offsetAt(from)], ...changes]];
    }),
  );
}

/** Adds a schedule, or ticks, at an instant; and tells what is stored then, and what was published and logged. */
async function act(path: string, at: string, policy: string, zone: string, crontab: string): Promise<unknown> {
  const warnings: string[] = [];
  const silent = (): void => {};
  const dataStore = new LibsqlDataStore({ url: `file:${path}` });
  const scheduler = new Scheduler({
    dataStore,
    clock: new VirtualClock(at),
    zoneRules: policy === "adopt" ? "adopt" : "auto",
    logger: { debug: silent, info: silent, warn: (text) => warnings.push(text), error: (text) => warnings.push(text) },
  });
  let moved = 0;
  scheduler.subscribe("zoneRulesChanged", ({ total }) => {
    moved += total;
  });
  scheduler.task("t", silent);
  if (policy === "add") {
    await scheduler.addSchedule("t", CronTrigger.fromCrontab(crontab, { timeZone: zone }), { id: "report" });
  } else await scheduler.tick();
  const nextFireTime = (await dataStore.getSchedule("report"))?.nextFireTime ?? null;
  await scheduler.stop();
  return { nextFireTime, moved, warnings: warnings.length };
}

const [path = "", at = "", policy = "", zone = "", crontab = ""] = args;
console.log(JSON.stringify(verb === "zones" ? zones() : await act(path, at, policy, zone, crontab)));
