import { describe, expect, test } from "vitest";
import { MemoryDataStore, type RunOverlapPolicy, Scheduler, type TaskSettings } from "../../src/mod.ts";
import { heldHandler, type Setup, setUp } from "./support.ts";

/** What the log says of runs that may hang. */
function warned({ log }: Setup): string[] {
  return log.map(({ message }) => message).filter((message) => message.includes("may hang"));
}

/** A scheduler of which a handler hangs. */
async function hanging(settings: TaskSettings, overlap: RunOverlapPolicy | null, maxConcurrentJobs = 100) {
  const setup = setUp({ identity: "worker", maxConcurrentJobs });
  const { scheduler } = setup;
  const { handler, held } = heldHandler();
  scheduler.task("t", settings, handler);
  if (overlap !== null) await scheduler.addSchedule("t", { every: "2s" }, { id: "s", overlap });
  await scheduler.start();
  return { ...setup, held };
}

describe("a run that may hang is named once, with what waits behind it:", () => {
  test.each<[what: string, settings: TaskSettings, overlap: RunOverlapPolicy, behind: string]>([
    ["fire times that are skipped", { maxRunningJobs: null }, "skip", 'schedule "s" leaves out its fire times'],
    ["a job that is replaced", {}, "replaceQueued", "1 due job waits"],
    ["jobs at the limit of the task", {}, "queue", "29 due jobs wait"],
  ])("%s", async (_, settings, overlap, behind) => {
    const setup = await hanging(settings, overlap);
    await setup.clock.advance({ seconds: 59 });
    expect(warned(setup)).toEqual([]);
    await setup.clock.advance({ seconds: 2 });
    const [warning, ...others] = warned(setup);
    expect(warning).toMatch(/^escapement: job \S+ of task "t" has run for 60 s on "worker", and may hang; behind it /);
    expect(warning).toContain(behind);
    expect(warning).toContain('give the task a timeout: task("t", { timeout }, handler)');
    await setup.clock.advance({ minutes: 30 });
    expect([others, warned(setup).length]).toEqual([[], 1]);
    for (const one of setup.held) one.finish("");
  });

  test("jobs of another task, where all places are taken", async () => {
    const setup = await hanging({}, null, 1);
    const { scheduler, clock, held } = setup;
    scheduler.task("other", () => {});
    await scheduler.addJob("t");
    await clock.settle();
    await scheduler.addJobs([{ task: "other" }, { task: "other" }]);
    await clock.advance({ minutes: 3 });
    expect(warned(setup)).toEqual([expect.stringContaining("behind it 2 due jobs wait: give the task a timeout")]);
    for (const one of held) one.finish("");
  });

  test("and none of jobs that wait for something else: the end of a pause, or a handler", async () => {
    const setup = await hanging({}, null, 1);
    const { scheduler, clock, held } = setup;
    scheduler.task("paused", () => {});
    await scheduler.pauseTask("paused");
    await scheduler.addJob("t");
    await clock.settle();
    await scheduler.addJob("paused");
    const client = new Scheduler({ dataStore: setup.store, clock, logLevel: "silent" });
    client.task("elsewhere", () => {});
    await client.addJob("elsewhere");
    await clock.advance({ minutes: 9 });
    expect(warned(setup)).toEqual([]);
    await clock.advance({ minutes: 2 });
    expect(warned(setup)).toEqual([expect.stringContaining("and may hang: give the task a timeout")]);
    for (const one of held) one.finish("");
  });

  test("jobs of its key", async () => {
    const setup = await hanging({ concurrencyKey: () => "ada", maxRunningPerKey: 1 }, null);
    const { scheduler, clock, held } = setup;
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    await clock.advance({ minutes: 3 });
    expect(warned(setup)).toEqual([expect.stringContaining('behind it jobs of the key "ada" are blocked')]);
    for (const one of held) one.finish("");
  });
});

describe("a run that lasts long", () => {
  test("and of which nothing is known is named once for its task, as others may take as long", async () => {
    const setup = await hanging({ maxRunningJobs: 3 }, null);
    await setup.scheduler.addJobs(Array.from({ length: 9 }, () => ({ task: "t" })));
    await setup.clock.advance({ minutes: 9 });
    expect(warned(setup).length).toBe(1);
    await setup.clock.advance({ minutes: 3 });
    expect(warned(setup).length).toBe(3);
    for (const one of setup.held) one.finish("");
  });

  test("and keeps nobody waiting is named after ten minutes", async () => {
    const setup = await hanging({}, null);
    await setup.scheduler.addJob("t");
    await setup.clock.advance({ minutes: 9 });
    expect(warned(setup)).toEqual([]);
    await setup.clock.advance({ minutes: 3 });
    expect(warned(setup)).toEqual([expect.stringMatching(/has run for 1\d min on "worker", and may hang: give/)]);
    for (const one of setup.held) one.finish("");
  });

  test.each<[what: string, settings: TaskSettings, usual: number]>([
    ["ten times as long as the runs before", { timeout: "5h" }, 120],
    ["twice as long, and keeps others waiting without a timeout", {}, 900],
  ])("is named when it takes %s", async (_, settings, usual) => {
    const setup = await hanging(settings, null);
    const { scheduler, clock, held } = setup;
    for (let left = 3; left > 0; left--) {
      await scheduler.addJob("t");
      await clock.advance({ seconds: usual });
      held.at(-1)?.finish("");
      await clock.settle();
    }
    const before = warned(setup).length;
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    await clock.advance({ minutes: 15 });
    expect(warned(setup).length).toBe(before);
    await clock.advance({ minutes: 25 });
    expect(warned(setup).slice(before)).toEqual([expect.stringMatching(/95% of them end within \d+(\.\d)? (s|min)\)/)]);
    for (const one of held) one.finish("");
  });

  test("is named although what is known of another one cannot be read", async () => {
    const store = new MemoryDataStore();
    const { ledger } = store;
    if (ledger === null) throw new Error("a memory store has a ledger");
    const getStats = ledger.getStats.bind(ledger);
    ledger.getStats = (filter) =>
      filter.ids?.includes("damaged") ? Promise.reject(new Error("no such page")) : getStats(filter);
    const setup = setUp({ dataStore: store });
    const { scheduler, clock, log } = setup;
    const { handler, held } = heldHandler();
    for (const id of ["damaged", "t"]) scheduler.task(id, handler);
    await scheduler.start();
    for (const id of ["damaged", "t"]) await scheduler.addJob(id);
    await clock.advance({ minutes: 12 });
    expect(warned(setup)).toEqual([expect.stringContaining('of task "t" has run for')]);
    expect(log.map(({ message }) => message)).toContain(
      "escapement: runs that last long could not be looked after; tried again later",
    );
    for (const one of held) one.finish("");
  });

  test("is compared with those of a month, because many run once a week", async () => {
    const setup = await hanging({}, null);
    const { scheduler, clock, held } = setup;
    for (let week = 1; week <= 4; week++) {
      await scheduler.addJob("t");
      await clock.advance({ minutes: 20 });
      held.at(-1)?.finish("");
      await clock.settle();
      expect(warned(setup).length).toBe(1);
      await scheduler.stop();
      await clock.advance({ days: 6, hours: 23, minutes: 40 });
      await scheduler.start();
    }
  });

  test("with a timeout or progress is not named while it takes as long as usual", async () => {
    for (const settings of [{ timeout: "10m" }, {}]) {
      const setup = setUp();
      const { scheduler, clock } = setup;
      scheduler.task("t", settings, async (_, { progress, signal }) => {
        progress(0.5);
        await clock.sleep(clock.now() + 300_000, signal);
      });
      await scheduler.start();
      await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
      await clock.advance({ minutes: 11 });
      expect(warned(setup)).toEqual([]);
    }
  });
});
