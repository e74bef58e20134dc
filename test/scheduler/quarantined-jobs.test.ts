import { describe, expect, test } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { MemoryDataStore, Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { commitRequest, gate, heldHandler, leaseAndDie, recordEvents, START, setUp } from "./support.ts";

/** The store as a process sees it that may die: from then on nothing arrives, and no answer comes back. */
function mortal(store: MemoryDataStore): { store: DataStore; die: () => void } {
  let isDead = false;
  const never = new Promise<never>(() => {});
  const proxy = new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        if (isDead) return never;
        const answer: unknown = await value.apply(target, args);
        return isDead ? never : answer;
      };
    },
  });
  return {
    store: proxy,
    die: () => {
      isDead = true;
    },
  };
}

describe("a job that ends its process", () => {
  test.each([1, 3])("is abandoned after %d recoveries, and those that ran beside it are not", async (maxRecoveries) => {
    const clock = new VirtualClock(START);
    const store = new MemoryDataStore();
    const client = setUp({ clock, dataStore: store }).scheduler;
    const settings = { maxRunningJobs: null, maxRecoveries };
    let runs = 0;
    /** Starts a process, which dies when the poisonous job runs. */
    const startProcess = async (): Promise<void> => {
      const { store: dataStore, die } = mortal(store);
      const scheduler = new Scheduler({ dataStore, clock });
      scheduler.task("poison", settings, () => {
        runs++;
        die();
        return new Promise(() => {});
      });
      scheduler.task("harmless", settings, async () => {
        await clock.sleep(clock.now() + 1000);
      });
      await scheduler.start();
    };
    for (const id of ["poison", "harmless"]) client.task(id, settings, () => {});
    const { id: poison } = await client.addJob("poison");
    const harmless = await client.addJobs(Array.from({ length: 6 }, () => ({ task: "harmless" })));
    for (let process = 0; process <= 2 * maxRecoveries + 2; process++) {
      await startProcess();
      await clock.advance("PT3M");
    }
    const outcomes = await Promise.all(harmless.map(async ({ id }) => (await client.getJobResult(id))?.outcome));
    expect(outcomes).toEqual(harmless.map(() => "success"));
    expect((await client.getJobResult(poison))?.outcome).toBe("abandoned");
    expect(runs).toBe(maxRecoveries + 1);
  });
});

describe("jobs that were lost with their process", () => {
  test("start one after the other, and the next one after a while, though the first still runs", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    const jobs = await scheduler.addJobs([{ task }, { task }, { task }]);
    expect(await leaseAndDie(store, clock.now(), { limit: 3 })).toBe(3);
    await clock.advance("PT1M");
    await scheduler.start();
    await clock.settle();
    expect(held.map(({ context }) => context.job.id)).toEqual([jobs[0]?.id]);
    held[0]?.finish("");
    await clock.settle();
    expect(held).toHaveLength(2);
    await clock.advance("PT4.999S");
    expect(held).toHaveLength(2);
    await clock.advance("PT0.001S");
    expect(held).toHaveLength(3);
  });

  test("keep nobody from running who was never lost", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.addJobs([{ task }, { task }]);
    await leaseAndDie(store, clock.now(), { limit: 2 });
    await clock.advance("PT1M");
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    expect(held.map(({ context }) => context.job.id)).toContain(id);
    expect(held).toHaveLength(2);
  });

  test("that have not started go back as they were when the scheduler stops", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    const jobs = await scheduler.addJobs([{ task }, { task }]);
    await leaseAndDie(store, clock.now(), { limit: 2 });
    await clock.advance("PT1M");
    await scheduler.start();
    await clock.settle();
    const stopping = scheduler.stop({ drainTimeout: "PT20S" });
    await clock.advance("PT10S");
    expect(held).toHaveLength(1);
    await clock.advance("PT20S");
    await stopping;
    expect(held).toHaveLength(1);
    const stored = await Promise.all(jobs.map(({ id }) => store.getJob(id)));
    expect(stored.map((job) => [job?.acquiredBy, job?.recoveries])).toEqual([
      [null, 2],
      [null, 1],
    ]);
  });

  test("are all run by one tick", async () => {
    const { scheduler, clock, store } = setUp();
    const task = scheduler.task("t", { maxRunningJobs: null }, () => {});
    await scheduler.addJobs([{ task }, { task }, { task }]);
    await leaseAndDie(store, clock.now(), { limit: 3 });
    await clock.advance("PT1M");
    expect((await scheduler.tick()).outcomes.success).toBe(3);
  });

  test.each(["finish", "start"])("are left to the next tick when the store fails at a %s", async (kind) => {
    const { scheduler, clock, store } = setUp();
    const ran: string[] = [];
    const task = scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => void ran.push(job.id));
    const jobs = await scheduler.addJobs([{ task }, { task }, { task }]);
    await leaseAndDie(store, clock.now(), { limit: 3 });
    await clock.advance("PT1M");
    const commit = store.commit.bind(store);
    let losses = 1;
    store.commit = async (request) => {
      const report = await commit(request);
      if (losses > 0 && request.releases.some((release) => release.kind === kind)) {
        losses--;
        throw new StoreUnavailableError("the answer was lost");
      }
      return report;
    };
    await expect(scheduler.tick()).rejects.toBeInstanceOf(StoreUnavailableError);
    await scheduler.tick();
    expect(ran.toSorted()).toEqual(jobs.map(({ id }) => id));
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("can be cancelled while they wait for their turn", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    const [, second] = await scheduler.addJobs([{ task }, { task }]);
    await leaseAndDie(store, clock.now(), { limit: 2 });
    await clock.advance("PT1M");
    await scheduler.start();
    await clock.settle();
    expect(await scheduler.cancelJob(second?.id ?? "")).toBe("delivered");
    await clock.settle();
    expect((await scheduler.getJobResult(second?.id ?? ""))?.outcome).toBe("cancelled");
    expect(held).toHaveLength(1);
  });
});

describe("a job with maxRecoveries 0", () => {
  test("is abandoned when a stop aborts its handler, and runs nowhere again", async () => {
    const { scheduler, clock, store } = setUp();
    const seen = recordEvents(scheduler);
    const { handler, held } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", { maxRecoveries: 0 }, handler));
    await clock.settle();
    held[0]?.context.signal.addEventListener("abort", () => held[0]?.fail(held[0].context.signal.reason));
    await scheduler.stop({ drainTimeout: "PT0S" });
    expect(await store.getJobResult(id, clock.now())).toMatchObject({ outcome: "abandoned", attempts: 1 });
    expect(await store.getJob(id)).toBeNull();
    expect(seen).toContain("jobReleased abandoned");
  });
});

describe("the start deadline of a job that a process leased", () => {
  async function leased(): Promise<{ run: (hasStarted: boolean) => Promise<number> }> {
    const { scheduler, clock, store } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addJob(task, { startDeadline: new Date(clock.now() + 1000) });
    const jobs = { queues: [{ executor: "inline", taskId: "t" }], limit: 1 };
    const [job] = (await store.commit(commitRequest({ now: clock.now(), schedulerId: "dead", jobs }))).acquired;
    return {
      run: async (hasStarted) => {
        const held = [{ jobId: job?.id ?? "", fence: 1, hasStarted }];
        const facts = { now: clock.now(), schedulerId: "dead", instanceId: "dead", settledCommitId: null };
        await store.extendLeases({ ...facts, until: clock.now() + 60_000, jobs: held, aliveUntil: null });
        await clock.advance("PT2M");
        const { outcomes } = await scheduler.tick();
        return outcomes.success - outcomes.missedStartDeadline;
      },
    };
  }

  test("holds when the process died before it started the job", async () => {
    expect(await (await leased()).run(false)).toBe(-1);
  });

  test("no longer holds when the job had started", async () => {
    expect(await (await leased()).run(true)).toBe(1);
  });
});

describe("two live processes of one identity", () => {
  test("never take each other's jobs, and say once that there are two", async () => {
    const clock = new VirtualClock(START);
    const store = new MemoryDataStore();
    const old = setUp({ clock, dataStore: store, identity: "one" });
    const { passed, pass } = gate();
    let runs = 0;
    const handler = async (): Promise<void> => {
      runs++;
      await passed;
    };
    const { id } = await old.scheduler.addJob(old.scheduler.task("t", handler));
    await old.scheduler.start();
    await clock.settle();
    const reloaded = setUp({ clock, dataStore: store, identity: "one" });
    reloaded.scheduler.task("t", handler);
    await reloaded.scheduler.start();
    await clock.advance("PT5M");
    pass();
    await clock.settle();
    expect([runs, (await old.scheduler.getJobResult(id))?.attempts]).toEqual([1, 1]);
    for (const { log } of [old, reloaded]) {
      const warnings = log.filter(({ level }) => level === "warn").map(({ message }) => message);
      expect(warnings).toEqual([expect.stringContaining('another scheduler with the identity "one" is alive')]);
    }
  });

  test("say nothing when the old one has died", async () => {
    const clock = new VirtualClock(START);
    const store = new MemoryDataStore();
    const { store: dataStore, die } = mortal(store);
    const dead = new Scheduler({ dataStore, clock, identity: "one" });
    await dead.start();
    await clock.advance("PT30S");
    die();
    const { scheduler, log } = setUp({ clock, dataStore: store, identity: "one" });
    await scheduler.start();
    await clock.advance("PT5M");
    expect(log).toEqual([]);
  });
});
