import { describe, expect, test } from "vitest";
import type { JobContext } from "../../src/mod.ts";
import { setUp } from "./support.ts";

describe("handlers that wait for other jobs", () => {
  test("and hold every slot get one more between them, and a warning once", async () => {
    const { scheduler, clock, log } = setUp({ maxConcurrentJobs: 2 });
    let mostAtOnce = 0;
    let atWork = 0;
    const inner = scheduler.task("inner", { maxRunningJobs: null }, async () => {
      mostAtOnce = Math.max(mostAtOnce, ++atWork);
      await clock.sleep(clock.now() + 1000);
      atWork--;
      return 1;
    });
    const middle = scheduler.task(
      "middle",
      { maxRunningJobs: null },
      (_: undefined, { scheduler: client }: JobContext) => client.runJob(inner),
    );
    const outer = scheduler.task("outer", { maxRunningJobs: null }, async (_: undefined, context: JobContext) => {
      await clock.sleep(clock.now() + 10);
      return (await context.scheduler.runJob(middle)) + 1;
    });
    await scheduler.start();
    const results = Promise.all([1, 2, 3].map(() => scheduler.runJob(outer)));
    await clock.advance("PT1M");
    expect([await results, mostAtOnce]).toEqual([[2, 2, 2], 1]);
    expect(log.map(({ level, message }) => [level, message.includes("maxConcurrentJobs is 2")])).toEqual([
      ["warn", true],
    ]);
  });

  test("run one after the other where one job may run at once", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 1 });
    const seen: string[] = [];
    const inner = scheduler.task("inner", async () => {
      seen.push("inner");
    });
    const outer = scheduler.task("outer", async (_: undefined, context: JobContext) => {
      seen.push("outer begins");
      await context.scheduler.runJob(inner);
      seen.push("outer goes on");
      await clock.sleep(clock.now() + 1000);
      seen.push("outer ends");
    });
    await scheduler.addJobs([{ task: outer }, { task: outer }, { task: outer }]);
    await scheduler.start();
    await clock.advance("PT1M");
    expect(seen).toEqual(Array(3).fill(["outer begins", "inner", "outer goes on", "outer ends"]).flat());
  });

  test("go on within a tick", async () => {
    const { scheduler, log } = setUp({ maxConcurrentJobs: 1 });
    const inner = scheduler.task("inner", () => 1);
    const outer = scheduler.task("outer", (_: undefined, context: JobContext) => context.scheduler.runJob(inner));
    const { id } = await scheduler.addJob(outer);
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 2, outcomes: { success: 2 } });
    expect([await scheduler.getJobResult(id), log.length]).toMatchObject([{ returnValue: 1 }, 1]);
  });

  test("and have room for more warn nobody", async () => {
    const { scheduler, clock, log } = setUp({ maxConcurrentJobs: 2 });
    const inner = scheduler.task("inner", () => 1);
    const outer = scheduler.task("outer", (_: undefined, context: JobContext) => context.scheduler.runJob(inner));
    await scheduler.start();
    const result = scheduler.runJob(outer);
    await clock.advance("PT1S");
    expect([await result, log]).toEqual([1, []]);
  });
});
