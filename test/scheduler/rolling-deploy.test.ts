import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { removeSchedule, updateSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { rollingDeployCases } from "./rolling-deploy.ts";
import { at, everySecond, START_MS, secondsOf, setUp } from "./support.ts";

/** Two views of one store in memory, with serializers of their own. */
describe("on a store in memory", () => {
  rollingDeployCases(async (serializers) => {
    const store = new MemoryDataStore();
    const viewOf = (version: keyof typeof serializers): contract.DataStore =>
      new Proxy(store, {
        get(_, name) {
          if (name === "serializer") return serializers[version];
          if (name === "capabilities") return { sharedByProcesses: true };
          const value: unknown = Reflect.get(store, name, store);
          return typeof value === "function" ? value.bind(store) : value;
        },
      });
    return { old: viewOf("old"), new: viewOf("new") };
  });
});

const UNREADABLE = { trigger: '{"type":"test:unknown","version":1}' };

/** Counts what a scheduler asks of it. */
class CountingStore extends MemoryDataStore {
  looks = 0;
  commits = 0;
  override look(request: contract.LookRequest): Promise<contract.LookReport> {
    this.looks++;
    return super.look(request);
  }
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    this.commits++;
    return super.commit(request);
  }
}

describe("a thousand due schedules that nobody here can read", () => {
  async function crowded(): Promise<ReturnType<typeof setUp> & { counts: CountingStore }> {
    const counts = new CountingStore();
    const setup = setUp({ dataStore: counts, cleanupInterval: null });
    setup.scheduler.task("t", { maxRunningJobs: null }, () => {});
    await setup.scheduler.addSchedule("t", everySecond(), { id: "first" });
    const record = await counts.getSchedule("first");
    if (record === null) throw new Error("the schedule was added");
    await removeSchedule(counts, "first");
    const additions = Array.from({ length: 1000 }, (_, index) => ({
      schedule: { ...record, ...UNREADABLE, id: `unreadable ${index}`, nextFireTime: START_MS - 1_000_000 + index },
      conflictPolicy: "error" as const,
    }));
    await counts.addSchedules(additions);
    return { ...setup, counts };
  }

  test("delay no other, and cost no commit and no busy loop", async () => {
    const { scheduler, clock, counts } = await crowded();
    const told: string[] = [];
    scheduler.subscribe("scheduleDeserializationFailed", ({ scheduleId }) => told.push(scheduleId));
    const startedAt: (number | null)[] = [];
    scheduler.task("punctual", (_, { job }) => {
      startedAt.push(secondsOf(clock.instant), secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    await clock.advance("PT1H");
    expect([counts.commits, new Set(told).size, told.length]).toEqual([0, 1000, 1000]);
    // Once a minute, as on any store of this process alone, a page of 200 after the other.
    expect(counts.looks).toBeLessThan(400);
    await scheduler.addSchedule("punctual", everySecond().startingAt(at(3605)), { id: "p", coalesce: "latest" });
    await clock.advance("PT2S");
    expect(startedAt.slice(0, 2)).toEqual([3600, 3600]);
    expect(await scheduler.getSchedule("unreadable 0")).toMatchObject({ paused: false });
  });

  test("hide none that is added in front of them", async () => {
    const { scheduler, clock, counts } = await crowded();
    const ran: string[] = [];
    scheduler.task("early", (_, { job }) => void ran.push(job.scheduleId ?? ""));
    await scheduler.start();
    await clock.settle();
    const record = await counts.getSchedule("unreadable 0");
    if (record === null) throw new Error("the schedule is there");
    await scheduler.addSchedule("early", everySecond(), { id: "early" });
    await scheduler.pauseSchedule("early");
    await updateSchedule(counts, "early", { nextFireTime: record.nextFireTime, paused: true });
    await scheduler.unpauseSchedule("early");
    await clock.settle();
    expect(ran).toContain("early");
  });

  test("a tick passes them by, and says when the next of the others is due", async () => {
    const { scheduler } = await crowded();
    await scheduler.addSchedule("t", everySecond().startingAt(at(5)), { id: "p" });
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsRun: 1, nextWakeAt: at(1) });
  });
});
