import { describe, expect, test } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { MemoryDataStore, StoreUnavailableError } from "../../src/mod.ts";
import { COMMIT_ADDITIONS_MAX } from "../../src/scheduler/driving/limits.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, heldHandler, recordEvents, START, secondsOf, setUp } from "./support.ts";

type Method = "look" | "commit" | "extendLeases";

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
    const commit = breakable(dataStore, "commit");
    const { scheduler } = setUp({ clock, dataStore });
    const seen = recordEvents(scheduler);
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    commit.mode = mode;
    held[0]?.finish("done");
    await clock.advance("PT20S");
    expect(commit.failures).toBeGreaterThan(1);
    commit.mode = "works";
    await clock.advance("PT10S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ returnValue: "done", attempts: 1 });
    expect(seen.filter((event) => event.startsWith("jobReleased"))).toEqual(["jobReleased success"]);
    expect(held).toHaveLength(1);
  });

  test("runs a job of an acquisition of unknown fate once", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const commit = breakable(dataStore, "commit");
    const { scheduler } = setUp({ clock, dataStore });
    const client = setUp({ clock, dataStore }).scheduler;
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    await scheduler.start();
    await clock.settle();
    commit.mode = mode;
    const { id } = await client.addJob("t");
    await clock.advance("PT5S");
    commit.mode = "works";
    await clock.advance("PT10S");
    expect([runs, (await scheduler.getJobResult(id))?.attempts]).toEqual([1, 1]);
  });

  test.each(["look", "commit"] as const)("in %s loses no fire and doubles none", async (method) => {
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
    const commit = breakable(dataStore, "commit");
    const { scheduler } = setUp({ clock, dataStore });
    const client = setUp({ clock, dataStore }).scheduler;
    scheduler.task("t", () => {});
    await scheduler.start();
    await clock.settle();
    commit.mode = mode;
    const { id } = await client.addJob("t");
    await clock.settle();
    commit.mode = "works";
    await scheduler.stop();
    expect(await dataStore.getJob(id)).toMatchObject({ acquiredBy: null, recoveries: 0 });
  });
});

describe("a commit whose answer was lost", () => {
  async function loseAnswer() {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const commit = breakable(dataStore, "commit");
    const { scheduler } = setUp({ clock, dataStore });
    const seen = recordEvents(scheduler);
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    commit.mode = "fails after";
    await expect(scheduler.tick()).rejects.toThrow("the store is down");
    commit.mode = "works";
    return { scheduler, clock, seen, runs: () => runs };
  }

  test("is repeated, and finds what it committed and leased", async () => {
    const { scheduler, seen, runs } = await loseAnswer();
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1 });
    expect(runs()).toBe(1);
    expect(seen.filter((type) => type === "jobAdded" || type === "scheduleUpdated")).toEqual([
      "jobAdded",
      "scheduleUpdated",
    ]);
  });

  test("pauses nothing and makes no second job when the clock was set back meanwhile", async () => {
    const { scheduler, clock, seen, runs } = await loseAnswer();
    await clock.jumpTo("2029-12-31T23:59:50Z");
    await scheduler.tick();
    const { paused, nextFireTime, lastFireTime } = await scheduler.getSchedule("s");
    expect([paused, secondsOf(nextFireTime), secondsOf(lastFireTime)]).toEqual([false, 1, 0]);
    expect(seen).not.toContain("scheduleFailed");
    await clock.advance("PT11S");
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1 });
    expect(runs()).toBe(2);
  });

  test("is repeated after its schedule was removed, and the job of the fire runs", async () => {
    const { scheduler, runs } = await loseAnswer();
    await scheduler.removeSchedule("s");
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 0, jobsAdded: 1, jobsRun: 1 });
    expect(runs()).toBe(1);
  });

  test("is repeated after its schedule was removed and added again, and does not move the new one", async () => {
    const { scheduler, runs } = await loseAnswer();
    await scheduler.removeSchedule("s");
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.tick();
    const { nextFireTime } = await scheduler.getSchedule("s");
    // The old one's job runs, and the new one fires for itself.
    expect([runs(), secondsOf(nextFireTime)]).toEqual([2, 1]);
  });
});

describe("an addition whose commit has no answer", () => {
  test("is told to whoever adds, and is not sent again", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const commit = breakable(dataStore, "commit");
    const { scheduler } = setUp({ clock, dataStore });
    let runs = 0;
    const task = scheduler.task("t", () => {
      runs++;
    });
    await scheduler.start();
    await clock.settle();
    commit.mode = "fails before";
    const adding = scheduler.addJob(task);
    await expect(adding).rejects.toBeInstanceOf(StoreUnavailableError);
    commit.mode = "works";
    await clock.advance("PT1M");
    expect([runs, (await scheduler.getJobs()).items]).toEqual([0, []]);
  });
});

describe("an addition in an outage that outlasts the leases", () => {
  test("is told to whoever adds, although no commit is tried any more", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    Object.defineProperty(dataStore, "capabilities", { value: { sharedByProcesses: true } });
    const calls = (["look", "commit", "extendLeases"] as const).map((method) => breakable(dataStore, method));
    const { scheduler } = setUp({ clock, dataStore });
    const task = scheduler.task("t", () => {});
    await scheduler.start();
    await clock.settle();
    for (const call of calls) call.mode = "fails before";
    await clock.advance("PT2M");
    let answer: unknown = null;
    scheduler.addJob(task).catch((error: unknown) => {
      answer = error;
    });
    await clock.advance("PT20S");
    expect(answer).toBeInstanceOf(StoreUnavailableError);
    for (const call of calls) call.mode = "works";
    await clock.advance("PT1M");
    expect((await scheduler.getJobs()).items).toEqual([]);
  });
});

describe("an outage", () => {
  test("fails the additions that wait together, after one commit", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore, random: () => 0.999 });
    const task = scheduler.task("t", () => {});
    await scheduler.start();
    await clock.settle();
    const commit = breakable(dataStore, "commit");
    commit.mode = "fails before";
    // More than one commit takes.
    const additions = Array.from({ length: 2 * COMMIT_ADDITIONS_MAX }, () => scheduler.addJob(task));
    const settled = Promise.allSettled(additions);
    await clock.settle();
    const codes = (await settled).map((one) => (one.status === "rejected" ? one.reason.code : one.status));
    expect(new Set(codes)).toEqual(new Set(["storeUnavailable"]));
    expect(commit.failures).toBe(1);
  });

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
    const look = breakable(dataStore, "look");
    const { scheduler } = setUp({ clock, dataStore, random: () => 0.999 });
    look.mode = "fails before";
    await scheduler.start();
    await clock.advance("PT1M");
    const inTheFirstMinute = look.failures;
    await clock.advance("PT10M");
    expect(inTheFirstMinute).toBeGreaterThan(6);
    expect(look.failures - inTheFirstMinute).toBeLessThanOrEqual(61);
  });

  test("a job's lease is extended every third of it", async () => {
    const clock = new VirtualClock(START);
    const { scheduler } = setUp({ clock, leaseDuration: "PT30S" });
    const { handler } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    const ends: (number | null)[] = [];
    for (let commit = 0; commit < 4; commit++) {
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
    const commit = dataStore.commit.bind(dataStore);
    dataStore.commit = async (request) => {
      const isBad = request.releases.some(
        (release) => release.kind === "finish" && release.result.returnValue === '"bad"',
      );
      if (isBad) throw new TypeError("cannot bind this value");
      return commit(request);
    };
    const task = scheduler.task("t", { maxRunningJobs: null, maxRecoveries: 1 }, (payload: string) => payload);
    await scheduler.start();
    const jobs = await scheduler.addJobs(["a", "b", "bad", "c", "d"].map((payload) => ({ task, payload })));
    await clock.advance("PT5M");
    const outcomes = await Promise.all(jobs.map(async ({ id }) => (await scheduler.getJobResult(id))?.outcome));
    // The handler has done its work, so it does not run again.
    expect(outcomes).toEqual(["success", "success", "error", "success", "success"]);
    const result = await scheduler.getJobResult(jobs[2]?.id ?? "");
    expect(result).toMatchObject({ attempts: 1, error: { name: "SerializationError" } });
    expect(result?.error?.message).toMatch(/the store refuses the result .*store it elsewhere/);
    expect(log.map(({ message }) => message)).toEqual([expect.stringMatching(/of task "t" failed \(attempt 1\)$/)]);
  });

  test("and without a return value counts as a recovery of its job", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler, log } = setUp({ clock, dataStore });
    const commit = dataStore.commit.bind(dataStore);
    dataStore.commit = async (request) => {
      const isEnd = request.releases.some(({ kind }) => kind === "finish");
      if (isEnd) throw new TypeError("cannot bind this value");
      return commit(request);
    };
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", { maxRecoveries: 1 }, () => {}));
    await clock.advance("PT5M");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "abandoned", attempts: 2 });
    expect(log.some(({ message }) => message.includes("refuses the outcome"))).toBe(true);
  });
});

describe("a plan that the store refuses for another reason", () => {
  test("pauses its own schedule and lets the others through", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore });
    const commit = dataStore.commit.bind(dataStore);
    dataStore.commit = async (request) => {
      const isBad = request.plans.some(({ scheduleId, fires }) => scheduleId === "bad" && fires.length > 0);
      if (isBad) throw new TypeError("no");
      return commit(request);
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
