import { describe, expect, test } from "vitest";
import { at, everySecond, secondsOf, setUp, stepRequest } from "./support.ts";

describe("a scheduler that has looked ahead, and waits for a fire time", () => {
  test("starts a job that is due before that in time", async () => {
    const { scheduler, clock } = setUp();
    const started: (string | number | null)[] = [];
    scheduler.task("fire", () => void started.push("fire", secondsOf(clock.instant)));
    scheduler.task("job", () => void started.push("job", secondsOf(clock.instant)));
    await scheduler.start();
    await scheduler.addSchedule("fire", everySecond());
    await scheduler.addJob("job", { runAt: at(0.97) });
    await clock.advance({ seconds: 1 });
    expect(started).toEqual(["fire", 0, "job", 0.97, "fire", 1]);
  });

  test("takes back a lease that ends before that in time", async () => {
    const { scheduler, store, clock } = setUp();
    const started: (string | number | null)[] = [];
    scheduler.task("fire", () => void started.push("fire", secondsOf(clock.instant)));
    scheduler.task("t", () => void started.push("t", secondsOf(clock.instant)));
    await scheduler.addJob("t");
    const jobs = { queues: [{ executor: "inline", taskId: "t" }], limit: 1 };
    const until = clock.now() + 970;
    await store.step(stepRequest({ now: clock.now(), schedulerId: "dead", jobs, until }));
    await scheduler.start();
    await scheduler.addSchedule("fire", everySecond());
    await clock.advance({ seconds: 1 });
    expect(started).toEqual(["fire", 0, "t", 0.97, "fire", 1]);
  });
});
