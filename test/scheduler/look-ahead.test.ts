import { describe, expect, test } from "vitest";
import type { CommitReport, CommitRequest } from "../../src/contracts.ts";
import { MemoryDataStore } from "../../src/mod.ts";
import { at, commitRequest, everySecond, secondsOf, setUp } from "./support.ts";

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
    await store.commit(commitRequest({ now: clock.now(), schedulerId: "dead", jobs, until }));
    await scheduler.start();
    await scheduler.addSchedule("fire", everySecond());
    await clock.advance({ seconds: 1 });
    expect(started).toEqual(["fire", 0, "t", 0.97, "fire", 1]);
  });

  test("starts the next job in time when another scheduler was faster with the one before", async () => {
    class RacedStore extends MemoryDataStore {
      override async commit(request: CommitRequest): Promise<CommitReport> {
        const isRace = request.schedulerId === "slow" && request.now === at(0.96).epochMilliseconds;
        if (isRace)
          await super.commit({ ...request, schedulerId: "fast", commitId: "fast/1", plans: [], additions: [] });
        return super.commit(request);
      }
    }
    const { scheduler, clock } = setUp({ dataStore: new RacedStore(), identity: "slow" });
    const started: (string | number | null)[] = [];
    scheduler.task("fire", () => {});
    scheduler.task("t", { maxRunningJobs: null }, () => void started.push(secondsOf(clock.instant)));
    await scheduler.start();
    await scheduler.addSchedule("fire", everySecond());
    await scheduler.addJob("t", { runAt: at(0.96) });
    await scheduler.addJob("t", { runAt: at(0.98) });
    await clock.advance({ seconds: 1 });
    expect(started).toEqual([0.98]);
  });
});
