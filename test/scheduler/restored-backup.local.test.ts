import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { LOCAL_STORES } from "../stores/local-stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { START, START_MS } from "./support.ts";

const SCHEDULES = 200;
const WEEK_HOURS = 168;

describe.each(LOCAL_STORES)("a backup on a file of a $name", ({ make, whyMissing }) => {
  test("that is a week old comes back without a stampede, and nothing is lost that is young enough", async (context) => {
    if (whyMissing !== null) return context.skip(whyMissing);
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const clock = new VirtualClock(START);
    const ran: { readonly minute: number; readonly hour: number }[] = [];

    /** A new process of the program. */
    function start(file: string): Scheduler {
      const scheduler = new Scheduler({
        clock,
        dataStore: make(join(folder.path, file), { durability: "normal" }),
        maxConcurrentJobs: 1000,
        taskDefaults: { misfireGraceTime: "1m", maxRunningJobs: null },
        scheduleDefaults: { coalesce: "all", catchUp: { maxAge: "1d", maxCount: 3, pace: "20m" } },
      });
      scheduler.task("t", (_: undefined, { job }) => {
        const fireMs = job.fireTime?.epochMilliseconds ?? Number.NaN;
        const minute = (clock.now() - START_MS) / 60_000 - WEEK_HOURS * 60;
        ran.push({ minute, hour: (fireMs - START_MS) / 3_600_000 - WEEK_HOURS });
      });
      return scheduler;
    }

    const first = start("jobs.db");
    const hourly = new IntervalTrigger({ hours: 1, startTime: START });
    for (let index = 0; index < SCHEDULES; index++) {
      const own = index % 2 === 0 ? {} : { catchUp: { maxAge: "5h", pace: "20m" } };
      await first.addSchedule("t", hourly, { id: `s${index}`, ...own });
    }
    await first.tick();
    await first.stop();
    expect(ran.splice(0)).toHaveLength(SCHEDULES);
    const copy = (suffix: string): Promise<void> =>
      copyFile(join(folder.path, `jobs.db${suffix}`), join(folder.path, `backup.db${suffix}`));
    // The newest pages may stand in the write-ahead log, unless the runtime has closed the file, or does so just now.
    // Therefore the log is copied first: what is in the file itself by then is the same.
    await copy("-wal").catch((error) => expect(error.code).toBe("ENOENT"));
    await copy("");

    await clock.jumpTo(new Date(START_MS + WEEK_HOURS * 3_600_000).toISOString());
    let scheduler = start("backup.db");
    await scheduler.tick();
    // 3 jobs of each schedule with a count, and the 6 that are at most 5 hours old of each other one.
    const { items: waiting } = await scheduler.getJobs({ limit: 1000 });
    expect(ran.length + waiting.length).toBe(100 * 3 + 100 * 6);
    for (let minute = 20; minute <= 100; minute += 20) {
      await clock.advance({ minutes: 20 });
      if (minute === 40) {
        await scheduler.stop();
        scheduler = start("backup.db");
      }
      await scheduler.tick();
    }
    await scheduler.stop();
    const counts: Record<number, Record<number, number>> = {};
    for (const { minute, hour } of ran) {
      const ofMinute = counts[minute] ?? {};
      counts[minute] = { ...ofMinute, [hour]: (ofMinute[hour] ?? 0) + 1 };
    }
    expect(counts).toEqual({
      0: { [-5]: 100, [-2]: 100 },
      20: { [-4]: 100, [-1]: 100 },
      40: { [-3]: 100, 0: 100 },
      // What is on time does not wait for what is made up for.
      60: { [-2]: 100, 1: 200 },
      80: { [-1]: 100 },
      100: { 0: 100 },
    });
  });
});
