import { showFor, shownPage } from "../../src/hono/show.ts";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { median } from "../store/median.ts";
import { addSchedules } from "./contestants.ts";
import { LENGTH } from "./rows.ts";

const PAGES = 200;

/** Milliseconds of CPU for what the router makes of a page: the first one, and the median of many. Each page has
 *  schedules that nobody has read before. */
export async function measureJson(): Promise<(readonly [string, number])[]> {
  const scheduler = new Scheduler({ dataStore: new MemoryDataStore(), logLevel: "silent" });
  await addSchedules(scheduler);
  const { schedule } = showFor("write", null);
  const samples: number[] = [];
  for (let page = 0; page < PAGES; page++) {
    const schedules = await scheduler.getSchedules({ limit: LENGTH });
    const before = process.cpuUsage();
    const json = JSON.stringify(shownPage(schedules, schedule));
    const { user, system } = process.cpuUsage(before);
    if (json.length < LENGTH) throw new Error("the page is empty");
    samples.push((user + system) / 1000);
  }
  return [
    ["the first page", samples[0] ?? Number.NaN],
    [`the median of ${PAGES} pages`, median(samples.slice(1))],
  ];
}
