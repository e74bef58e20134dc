import { describe, expect, test } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { MemoryDataStore, StoreUnavailableError } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, heldHandler, recordEvents, START, secondsOf, setUp } from "./support.ts";

type Method = "turn" | "acquireSchedules" | "commitPlans" | "extendLeases";

/** Makes a method of a store fail while `mode` says so: before it took effect, or after. */
function breakable(
  store: DataStore,
  method: Method,
): { mode: "works" | "fails before" | "fails after"; failures: number } {
  const state = { mode: "works" as "works" | "fails before" | "fails after", failures: 0 };
  const original = (store[method] as (request: never) => Promise<unknown>).bind(store);
  const broken = async (request: never): Promise<unknown> => {
    if (state.mode !== "fails before") {
      const answer = await original(request);
      if (state.mode === "works") return answer;
    }
    state.failures++;
    throw new StoreUnavailableError("the store is down");
  };
  Object.defineProperty(store, method, { value: broken });
  return state;
}

describe.each(["fails before", "fails after"] as const)("a store whose call %s it took effect", (mode) => {
  test("loses no outcome and doubles none", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const turn = breakable(dataStore, "turn");
    const { scheduler } = setUp({ clock, dataStore });
    const seen = recordEvents(scheduler);
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    turn.mode = mode;
    held[0]?.finish("done");
    await clock.advance("PT20S");
    expect(turn.failures).toBeGreaterThan(1);
    turn.mode = "works";
    await clock.advance("PT10S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ returnValue: "done", attempts: 1 });
    expect(seen.filter((event) => event.startsWith("jobReleased"))).toEqual(["jobReleased success"]);
    expect(held).toHaveLength(1);
  });

  test("runs a job of an acquisition of unknown fate once", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const turn = breakable(dataStore, "turn");
    const { scheduler } = setUp({ clock, dataStore });
    let runs = 0;
    const task = scheduler.task("t", () => {
      runs++;
    });
    await scheduler.start();
    await clock.settle();
    turn.mode = mode;
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT5S");
    turn.mode = "works";
    await clock.advance("PT10S");
    expect([runs, (await scheduler.getJobResult(id))?.attempts]).toEqual([1, 1]);
  });

  test.each(["acquireSchedules", "commitPlans"] as const)("in %s loses no fire and doubles none", async (method) => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const call = breakable(dataStore, method);
    const { scheduler } = setUp({ clock, dataStore });
    const fired: (number | null)[] = [];
    scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { coalesce: "all" });
    await clock.advance("PT2S");
    call.mode = mode;
    await clock.advance("PT5S");
    call.mode = "works";
    await clock.advance("PT13S");
    expect(fired).toEqual(Array.from({ length: 21 }, (_, second) => second));
  });

  test("while it stops gives back the job of an acquisition of unknown fate", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const turn = breakable(dataStore, "turn");
    const { scheduler } = setUp({ clock, dataStore });
    const task = scheduler.task("t", () => {});
    await scheduler.start();
    await clock.settle();
    turn.mode = mode;
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    turn.mode = "works";
    await scheduler.stop();
    expect(await dataStore.getJob(id)).toMatchObject({ acquiredBy: null, recoveries: 0 });
  });
});

describe("an acquisition of schedules whose answer was lost", () => {
  async function loseAnswer() {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const acquire = breakable(dataStore, "acquireSchedules");
    const { scheduler } = setUp({ clock, dataStore });
    const seen = recordEvents(scheduler);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    acquire.mode = "fails after";
    await expect(scheduler.tick()).rejects.toThrow("the store is down");
    acquire.mode = "works";
    return { scheduler, clock, seen };
  }

  test("pauses nothing and makes no job of what is not due any more when it is repeated", async () => {
    const { scheduler, clock, seen } = await loseAnswer();
    await clock.jumpTo("2029-12-31T23:59:50Z");
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 0 });
    const { paused, nextFireTime, lastFireTime } = await scheduler.getSchedule("s");
    expect([paused, secondsOf(nextFireTime), lastFireTime]).toEqual([false, 0, null]);
    expect(seen).not.toContain("scheduleFailed");
    await clock.advance("PT10S");
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1 });
  });

  test("does not return a schedule that was removed meanwhile when it is repeated", async () => {
    const { scheduler } = await loseAnswer();
    await scheduler.removeSchedule("s");
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 0, jobsAdded: 0 });
  });

  test("does not return a schedule that was removed and added again meanwhile under the old lease", async () => {
    const { scheduler } = await loseAnswer();
    await scheduler.removeSchedule("s");
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1 });
  });
});

describe("an outage", () => {
  test("longer than the lease aborts the running jobs, as others may run them", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const extend = breakable(dataStore, "extendLeases");
    const { scheduler } = setUp({ clock, dataStore });
    const { handler, held } = heldHandler();
    await scheduler.start();
    await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    extend.mode = "fails before";
    await clock.advance("PT50S");
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance("PT40S");
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "leaseLost" });
  });

  test("is waited out in pauses that grow up to ten seconds", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const turn = breakable(dataStore, "turn");
    const { scheduler } = setUp({ clock, dataStore, random: () => 0.999 });
    turn.mode = "fails before";
    await scheduler.start();
    await clock.advance("PT1M");
    const inTheFirstMinute = turn.failures;
    await clock.advance("PT10M");
    expect(inTheFirstMinute).toBeGreaterThan(6);
    expect(turn.failures - inTheFirstMinute).toBeLessThanOrEqual(61);
  });

  test("a job's lease is extended every third of it", async () => {
    const clock = new VirtualClock(START);
    const { scheduler } = setUp({ clock, leaseDuration: "PT30S" });
    const { handler } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    const ends: (number | null)[] = [];
    for (let step = 0; step < 4; step++) {
      ends.push(secondsOf((await scheduler.getJob(id)).acquiredUntil));
      await clock.advance("PT10S");
    }
    expect(ends).toEqual([30, 40, 50, 60]);
  });
});

describe("an outcome that the store refuses for another reason", () => {
  test("stops none of the others", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler, log } = setUp({ clock, dataStore });
    const turn = dataStore.turn.bind(dataStore);
    dataStore.turn = async (request) => {
      const isBad = request.releases.some(
        (release) => release.kind === "finish" && release.result.returnValue === '"bad"',
      );
      if (isBad) throw new TypeError("cannot bind this value");
      return turn(request);
    };
    const task = scheduler.task("t", { maxRunningJobs: null, maxRecoveries: 1 }, (payload: string) => payload);
    await scheduler.start();
    const jobs = await scheduler.addJobs(["a", "b", "bad", "c", "d"].map((payload) => ({ task, payload })));
    await clock.advance("PT5M");
    const outcomes = await Promise.all(jobs.map(async ({ id }) => (await scheduler.getJobResult(id))?.outcome));
    expect(outcomes).toEqual(["success", "success", "abandoned", "success", "success"]);
    expect(log.some(({ message }) => message.includes("refuses the outcome"))).toBe(true);
  });
});

describe("a plan that the store refuses for another reason", () => {
  test("pauses its own schedule and lets the others through", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore });
    const commitPlans = dataStore.commitPlans.bind(dataStore);
    dataStore.commitPlans = async (commit) => {
      if (commit.plans.some(({ scheduleId, jobs }) => scheduleId === "bad" && jobs.length > 0))
        throw new TypeError("no");
      return commitPlans(commit);
    };
    const fired: (string | null)[] = [];
    scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => {
      fired.push(job.scheduleId);
    });
    for (const id of ["a", "bad", "c"]) await scheduler.addSchedule("t", everySecond(), { id });
    const failed = scheduler.nextEvent("scheduleFailed");
    await scheduler.tick();
    expect(await failed).toMatchObject({ scheduleId: "bad", error: { name: "TypeError" } });
    expect(fired).toEqual(["a", "c"]);
    expect((await scheduler.getSchedule("bad")).paused).toBe(true);
  });
});
