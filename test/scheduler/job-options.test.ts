import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { secondsOf, setUp } from "./support.ts";

describe("the delay of a job", () => {
  test("counts from the addition, by the scheduler's clock", async () => {
    const { scheduler, clock } = setUp();
    const ran: string[] = [];
    const task = scheduler.task("t", (name: string) => void ran.push(name));
    await clock.advance("PT1H");
    const job = await scheduler.addJob(task, { payload: "one", delay: "5m" });
    const [second] = await scheduler.addJobs([{ task, payload: "many", delay: { seconds: 301 } }]);
    expect([job, second].map((one) => secondsOf(one?.runAt ?? null))).toEqual([3900, 3901]);
    await clock.advance({ seconds: 299 });
    await drain(scheduler);
    expect(ran).toEqual([]);
    await clock.advance({ seconds: 2 });
    await drain(scheduler);
    expect(ran).toEqual(["one", "many"]);
  });

  test("counts on while the job waits for others", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { maxRunningJobs: null }, () => "done");
    const first = await scheduler.addJob(task);
    const { id } = await scheduler.addJob(task, { after: [first], delay: "1m" });
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toBeNull();
    await clock.advance("PT1M");
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success" });
  });
});
