import { describe, expect, test } from "vitest";
import { hostKind, hostName, processId } from "../../src/core/host.ts";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import type { JobRecord } from "../../src/records/job.ts";
import type { JobFilter, RecordPage } from "../../src/stores/data-store.ts";
import { everySecond, heldHandler, leaseAndDie, rejectionOf, setUp } from "./support.ts";

describe("runJob() while nobody runs jobs", () => {
  test("warns once after some seconds, with what to do, and tells of it by an event", async () => {
    const { scheduler, clock, log } = setUp();
    const events: unknown[] = [];
    scheduler.subscribe("jobUnclaimed", ({ taskId, missing }) => events.push([taskId, missing]));
    const task = scheduler.task("t", () => "done");
    const running = Promise.all([scheduler.runJob(task), scheduler.runJob(task)]);
    await clock.advance("PT4S");
    expect([log, events]).toEqual([[], []]);
    await clock.advance("PT1M");
    expect(events).toEqual([["t", "worker"]]);
    expect(log.map(({ level, message }) => [level, message.replace(/job \S+/, "job ID")])).toEqual([
      [
        "warn",
        'escapement: somebody waits for job ID of task "t", and no scheduler that runs jobs is alive; ' +
          "start one, here or in another process on the same store: await scheduler.start()",
      ],
    ]);
    await scheduler.start();
    await clock.advance("PT5S");
    expect(await running).toEqual(["done", "done"]);
  });

  test("says nothing where a worker is alive, or the job is to run later", async () => {
    const { scheduler: client, clock, store, log } = setUp();
    const { scheduler: worker } = setUp({ clock, dataStore: store });
    const task = client.task("t", () => "done");
    const later = client.runJob(task, { runAt: "2030-01-01T00:00:30Z" });
    await clock.advance("PT20S");
    await worker.start();
    const busy = rejectionOf(client.runJob(task));
    await clock.advance("PT20S");
    expect(log).toEqual([]);
    await client.stop();
    expect([await busy, await rejectionOf(later)]).toMatchObject([
      { code: "schedulerState" },
      { code: "schedulerState" },
    ]);
  });
});

describe("a schedule whose jobs pile up", () => {
  test("is told of once until it has caught up, by a warning and an event", async () => {
    const { scheduler, clock, log } = setUp();
    const told: unknown[] = [];
    scheduler.subscribe("scheduleBacklogged", ({ scheduleId, taskId, unfinished, schedulerId }) =>
      told.push([scheduleId, taskId, unfinished > 10, schedulerId === scheduler.identity]),
    );
    let isSlow = true;
    const task = scheduler.task("slow", async () => {
      if (isSlow) await clock.sleep(clock.now() + 3000);
    });
    scheduler.task("quick", () => {});
    await scheduler.start();
    await scheduler.addSchedule(task, everySecond(), { id: "s" });
    await scheduler.addSchedule("quick", everySecond(), { id: "q" });
    await clock.advance("PT10M");
    expect(told).toEqual([["s", "slow", true, true]]);
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ["warn", expect.stringMatching(/jobs of schedule "s" are unfinished.*; if a run of task "slow" hangs, give .*;/)],
    ]);
    isSlow = false;
    await clock.advance("PT2M");
    expect((await scheduler.health()).backloggedSchedules).toEqual([]);
    isSlow = true;
    await clock.advance("PT2M");
    expect(told).toHaveLength(2);
  });

  test("is looked for only while schedules fire", async () => {
    const { scheduler, clock, store } = setUp();
    let looks = 0;
    const inspect = store.inspect.bind(store);
    store.inspect = (now) => {
      looks++;
      return inspect(now);
    };
    scheduler.task("t", () => {});
    await scheduler.start();
    await clock.advance("PT1H");
    // The start's own, for jobs that nobody runs.
    expect(looks).toBe(1);
    looks = 0;
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT10M");
    await scheduler.pauseSchedule("s");
    await clock.advance("PT1H");
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThan(15);
  });
});

describe("a start while a dead process still holds leases", () => {
  class SharedStore extends MemoryDataStore {
    override readonly capabilities = Object.freeze({ sharedByProcesses: true });
  }

  test.each([
    ["an identity that is not alive", "gone", "PT10S", 50],
    ["an earlier run of its own identity", "me", "PT10S", 50],
    // It first sees whether the holder gives another heartbeat.
    ["an identity whose leases end at once", "gone", "PT59S", 21],
  ])("says so once where the holder is %s, and for how long", async (_, holder, diedFor, seconds) => {
    const { scheduler, clock, store, log } = setUp({ dataStore: new SharedStore(), identity: "me" });
    scheduler.task("t", { maxRunningJobs: null }, () => {});
    await scheduler.addJobs([{ task: "t" }, { task: "t" }, { task: "t" }]);
    // The earlier run said that it lives, a moment before it died.
    const heartbeat = { now: clock.now(), instanceId: "me", aliveUntil: clock.now() + 60_000 };
    await store.giveUpLeases({ ...heartbeat, schedulerId: "me" });
    await leaseAndDie(store, clock.now(), { schedulerId: holder, limit: 2 });
    await clock.advance(diedFor);
    await scheduler.start();
    await clock.settle();
    const told = (): string[] => log.flatMap(({ message }) => (message.includes("leased") ? [message] : []));
    const once = [
      `escapement: 2 jobs are still leased to "${holder}", of an earlier process that seems to have died; what it has ` +
        `left runs again when its leases end, in ${seconds} s at most (see leaseDuration)`,
    ];
    expect(told()).toEqual(once);
    await clock.advance("PT1M");
    expect([(await scheduler.getJobs()).items, told()]).toEqual([[], once]);
  });

  test("says nothing of a job that begins and ends here while it looks", async () => {
    const { handler, held } = heldHandler();
    const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
    class SlowStore extends SharedStore {
      override async getJobs(filter: JobFilter): Promise<RecordPage<JobRecord>> {
        // Not the look for jobs that nobody takes.
        if (filter.sort !== undefined) return super.getJobs(filter);
        while (held.length === 0) await turn();
        const page = await super.getJobs(filter);
        held[0]?.finish("ended");
        while ((await super.getJobs(filter)).items.length > 1) await turn();
        return page;
      }
    }
    const { scheduler, clock, store, log } = setUp({ dataStore: new SlowStore(), identity: "me" });
    scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    await leaseAndDie(store, clock.now(), { schedulerId: "gone" });
    await clock.advance("PT10S");
    await scheduler.start();
    while (log.length === 0) await clock.settle();
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining('1 job is still leased to "gone"')]);
  });

  test("says nothing of the jobs of those who live", async () => {
    const dataStore = new SharedStore();
    const { scheduler: other, clock } = setUp({ dataStore, identity: "other" });
    other.task("t", (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)));
    await other.start();
    await other.addJob("t");
    const { scheduler, log } = setUp({ clock, dataStore, identity: "me" });
    scheduler.task("t", () => {});
    await scheduler.start();
    await clock.advance("PT5S");
    expect(log).toEqual([]);
  });
});

describe("a scheduler that is given no identity", () => {
  test("is named after its host and process, with a random part", () => {
    const names = [new Scheduler(), new Scheduler({ identity: undefined })].map(({ identity }) => identity);
    for (const name of names) expect(name).toMatch(/^[\w.-]+-[0-9a-z]{6}$/);
    expect(new Set(names).size).toBe(2);
    // A process of workerd stands for many isolates.
    const pid = hostKind() === "worker" || processId() === null ? "" : `${processId()}-`;
    expect(names[0]?.startsWith(`${hostName() ?? hostKind()}-${pid}`)).toBe(true);
  });
});
