import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { MemoryDataStore, Scheduler, type SchedulerOptions } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { type Held, heldHandler, type LogEntry, recordingLogger, START, START_MS } from "./support.ts";

/** The leases of these schedulers last 60 s, so that each gives a heartbeat every 20 s. */
const LEASE_S = 60;
const BEAT_S = 20;

class SharedStore extends MemoryDataStore {
  override readonly capabilities = { sharedByProcesses: true };
}

/** The clock of one host. As the host's clock does, it sleeps for a length of time, whoever sets it. */
class HostClock implements Clock {
  readonly #world: VirtualClock;
  aheadMs: number;
  isDead = false;

  constructor(world: VirtualClock, aheadMs: number) {
    this.#world = world;
    this.aheadMs = aheadMs;
  }

  now(): number {
    return this.#world.now() + this.aheadMs;
  }

  async sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    await this.#world.sleep(this.#world.now() + untilMs - this.now(), signal);
    if (this.isDead) await new Promise(() => {});
  }

  yield(): Promise<void> {
    return this.#world.yield();
  }
}

interface Host {
  readonly scheduler: Scheduler;
  readonly clock: HostClock;
  readonly held: Held[];
  readonly log: LogEntry[];
}

interface Hosts {
  readonly world: VirtualClock;
  readonly store: SharedStore;
  /** Starts a scheduler on a host whose clock is ahead by so many seconds. */
  start(identity: string, aheadS?: number, more?: Partial<SchedulerOptions>): Promise<Host>;
}

/** A job that has been started is `held[0]` of its host, and runs until somebody finishes it. */
function setUpHosts(): Hosts {
  const world = new VirtualClock(START);
  const store = new SharedStore();
  return {
    world,
    store,
    async start(identity, aheadS = 0, more = {}) {
      const clock = new HostClock(world, aheadS * 1000);
      const { logger, entries: log } = recordingLogger();
      const { handler, held } = heldHandler();
      const options = { identity, clock, logger, logLevel: "warn", random: () => 0.5, dataStore: store } as const;
      const scheduler = new Scheduler({ ...options, ...more });
      scheduler.task("long", handler);
      onTestFinished(async () => {
        clock.isDead = false;
        const stopped = scheduler.stop({ drainTimeout: "PT0S" });
        await world.advance("PT1M");
        await stopped;
      });
      await scheduler.start();
      return { scheduler, clock, held, log };
    },
  };
}

/** The process ends, in the middle of its work. */
function crash({ clock }: Host): void {
  clock.isDead = true;
}

/** How many seconds pass until a host starts a job, in commits of half a second; at most ten minutes. */
async function secondsUntilStarted(world: VirtualClock, { held }: Host): Promise<number> {
  const since = world.now();
  while (held.length === 0 && world.now() - since < 600_000) await world.advance("PT0.5S");
  return (world.now() - since) / 1000;
}

const OFFSETS = [
  { who: "ahead of", aheadS: 90 },
  { who: "behind", aheadS: -90 },
  { who: "a day ahead of", aheadS: 86_400 },
  { who: "a day behind", aheadS: -86_400 },
] as const;

describe("a host whose clock differs by more than a lease", () => {
  test.each(OFFSETS)(
    "$who the holder of a job leaves the job alone while the holder gives heartbeats",
    async (offset) => {
      const { world, store, start } = setUpHosts();
      const holder = await start("holder");
      const { id } = await holder.scheduler.addJob("long");
      await world.advance("PT1S");
      const other = await start("other", offset.aheadS);
      await world.advance("PT20M");
      expect([holder.held.length, other.held.length]).toEqual([1, 0]);
      expect(holder.held[0]?.context.signal.aborted).toBe(false);
      holder.held[0]?.finish("done");
      await world.advance("PT1S");
      expect(await store.getJobResult(id, world.now())).toMatchObject({ outcome: "success", attempts: 1 });
    },
  );

  test.each(OFFSETS)("$who others gets its job taken in time when it crashes", async ({ aheadS }) => {
    const { world, start } = setUpHosts();
    const holder = await start("holder", aheadS);
    const other = await start("other");
    await world.advance("PT5M");
    await holder.scheduler.addJob("long");
    await world.advance("PT50S");
    expect([holder.held.length, other.held.length]).toEqual([1, 0]);
    crash(holder);
    // A lease after the last heartbeat was seen, and found out with the next one here.
    expect(await secondsUntilStarted(world, other)).toBeLessThanOrEqual(LEASE_S + 2 * BEAT_S);
  });

  test("ahead of others gets its job taken in time when it crashes, however seldom they look", async () => {
    const { world, start } = setUpHosts();
    const holder = await start("holder", 86_400);
    const other = await start("other", 0, { maxIdle: "PT1H" });
    await holder.scheduler.addJob("long");
    await world.advance("PT1M");
    expect([holder.held.length, other.held.length]).toEqual([1, 0]);
    crash(holder);
    expect(await secondsUntilStarted(world, other)).toBeLessThanOrEqual(LEASE_S + 2 * BEAT_S);
  });

  // A heartbeat that waited for its time would come too late where the host also stood still.
  test("that is set back gives a heartbeat before its next commit", async () => {
    const { world, store, start } = setUpHosts();
    const { clock, scheduler, held } = await start("host");
    await world.advance("PT5S");
    const heartbeats = vi.spyOn(store, "extendLeases");
    await scheduler.addJob("long");
    await world.advance("PT1S");
    expect(held).toHaveLength(1);
    expect(heartbeats).not.toHaveBeenCalled();
    clock.aheadMs -= 10_000;
    await scheduler.addJob("long");
    await world.advance("PT1S");
    expect(heartbeats).toHaveBeenCalledTimes(1);
  });

  test("does not hold up other jobs while it is spared", async () => {
    const { world, start } = setUpHosts();
    const holder = await start("holder", -90);
    await holder.scheduler.addJob("long");
    await world.advance("PT1S");
    const other = await start("other");
    other.scheduler.task("short", () => "done");
    await world.advance("PT5M");
    expect(await other.scheduler.runJob("short")).toBe("done");
  });

  test("loses jobs to a tick, which only warns of clocks that are ahead", async () => {
    const { world, store, start } = setUpHosts();
    const holder = await start("holder");
    await holder.scheduler.addJob("long");
    await world.advance("PT1S");
    await start("ahead", 86_400);
    const clock = new HostClock(world, 90_000);
    const { logger, entries } = recordingLogger();
    await using ticking = new Scheduler({ identity: "ticking", clock, dataStore: store, logger, logLevel: "warn" });
    ticking.task("long", () => "done");
    expect((await ticking.tick()).jobsRun).toBe(1);
    const told = 'the clock of the scheduler "ahead" is about 86310 s ahead of that of "ticking"';
    const warnings = entries.filter(({ message }) => message.includes("the clock of"));
    expect(warnings).toMatchObject([{ message: expect.stringContaining(told) }]);
  });
});

describe("a clock that jumps while a job runs", () => {
  test.each([90, -90, 10, 40, -40, 3600])("by %i s on another host takes nothing from the holder", async (jumpS) => {
    const { world, start } = setUpHosts();
    const holder = await start("holder");
    const other = await start("other");
    await holder.scheduler.addJob("long");
    for (let times = 0; times < 10; times++) {
      await world.advance({ seconds: 37 });
      other.clock.aheadMs += (times % 2 === 0 ? jumpS : -jumpS) * 1000;
    }
    await world.advance("PT5M");
    expect([holder.held.length, other.held.length]).toEqual([1, 0]);
  });

  test.each([-90, -3600, 40])("by %i s on its own host does not lose the job to others", async (jumpS) => {
    const { world, start } = setUpHosts();
    const holder = await start("holder");
    const other = await start("other");
    await world.advance("PT1M");
    holder.clock.aheadMs += jumpS * 1000;
    await holder.scheduler.addJob("long");
    await world.advance("PT10M");
    expect([holder.held.length, other.held.length]).toEqual([1, 0]);
    expect(holder.held[0]?.context.signal.aborted).toBe(false);
  });
});

/** Hosts of which one has crashed, a second after a job began there. */
async function setUpCrashed(): Promise<ReturnType<typeof setUpHosts>> {
  const hosts = setUpHosts();
  const holder = await hosts.start("holder");
  await holder.scheduler.addJob("long");
  await hosts.world.advance("PT1S");
  crash(holder);
  return hosts;
}

describe("a job of a host that crashed, where clocks are right", () => {
  test.each([0, 3, 11, 19])("is taken when its lease ends, by a host that was up (%i s apart)", async (apartS) => {
    const { world, store, start } = setUpHosts();
    const other = await start("other");
    await world.advance({ seconds: apartS });
    const holder = await start("holder");
    await world.advance("PT1M");
    await holder.scheduler.addJob("long");
    await world.advance("PT50S");
    crash(holder);
    const leaseEndsAt = (await store.getJobs({ limit: 1, cursor: null })).items[0]?.acquiredUntil ?? 0;
    const leftS = (leaseEndsAt - world.now()) / 1000;
    expect(await secondsUntilStarted(world, other)).toBe(Math.ceil(2 * leftS) / 2);
  });

  test("is taken when its lease ends, by a host that starts a heartbeat before", async () => {
    const { world, start } = await setUpCrashed();
    await world.advance("PT30S");
    const other = await start("other");
    expect(await secondsUntilStarted(world, other)).toBe(29);
  });

  test("is taken a heartbeat later, by a host that starts when its lease has ended", async () => {
    const { world, start } = await setUpCrashed();
    await world.advance("PT5M");
    const other = await start("other");
    const seconds = await secondsUntilStarted(world, other);
    expect([seconds > BEAT_S, seconds <= BEAT_S + 0.5]).toEqual([true, true]);
  });

  test("is taken at once by a scheduler that starts under its identity", async () => {
    const { world, start } = await setUpCrashed();
    await world.advance("PT5M");
    expect(await secondsUntilStarted(world, await start("holder"))).toBeLessThanOrEqual(0.5);
  });
});

describe("the heartbeats of a lease thread", () => {
  test("count while the loop of their scheduler is blocked", async () => {
    const { world, store, start } = setUpHosts();
    const holder = await start("holder", -90);
    await holder.scheduler.addJob("long");
    await world.advance("PT1S");
    const other = await start("other");
    const [{ instanceId } = { instanceId: "" }] = await store.getSchedulers(holder.clock.now());
    const { items: jobs } = await store.getJobs({ limit: 9, cursor: null });
    crash(holder);
    for (let times = 0; times < 20; times++) {
      const now = holder.clock.now();
      const held = jobs.map(({ id: jobId, fence }) => ({ jobId, fence }));
      const until = now + LEASE_S * 1000;
      const thread = { now, schedulerId: "holder", instanceId, settledCommitId: null, until, aliveUntil: until };
      await store.extendLeases({ ...thread, jobs: held });
      await world.advance({ seconds: BEAT_S });
    }
    expect(other.held).toEqual([]);
  });
});

describe("whose clock differs by more than a quarter of a lease", () => {
  const warningsOf = ({ log }: Host): string[] =>
    log.flatMap(({ message }) => (message.includes("the clock of") ? [message] : []));
  const secondsIn = (text = ""): number => Number(/about ([\d.]+) s/.exec(text)?.[1]);

  test.each(OFFSETS)("is named by both hosts at the start, $who the other", async ({ aheadS }) => {
    const { world, start } = setUpHosts();
    const right = await start("right");
    await world.advance("PT7S");
    const wrong = await start("wrong", aheadS);
    await world.advance("PT45S");
    const here = aheadS > 0 ? "ahead of" : "behind";
    const there = aheadS > 0 ? "behind" : "ahead of";
    const [seen, ...others] = warningsOf(right);
    expect(seen).toMatch(new RegExp(`the scheduler "wrong" is about .* s ${here} that of "right"`));
    expect(others).toEqual([]);
    expect(warningsOf(wrong)).toEqual([
      expect.stringMatching(new RegExp(`the scheduler "right" is about .* s ${there} that of "wrong"`)),
    ]);
    for (const text of [seen, ...warningsOf(wrong)]) {
      expect(Math.abs(secondsIn(text) - Math.abs(aheadS))).toBeLessThanOrEqual(BEAT_S);
    }
  });

  test("is named again every hour", async () => {
    const { world, start } = setUpHosts();
    const right = await start("right");
    await start("wrong", 90);
    await world.advance("PT3H10M");
    expect(warningsOf(right)).toHaveLength(4);
  });

  test.each([0, 4, -4])("others are not named (%i s)", async (aheadS) => {
    const { world, start } = setUpHosts();
    const right = await start("right");
    for (const pauseS of [0, 7, 3, 8]) {
      await world.advance({ seconds: pauseS });
      await start(`other ${world.now() - START_MS}`, aheadS);
    }
    await world.advance("PT3H");
    expect(warningsOf(right)).toEqual([]);
  });

  test.each([2, 6, 10, 14, 18])("others are not named where the store answers late (%i s apart)", async (apartS) => {
    const { world, store, start } = setUpHosts();
    const right = await start("right");
    await world.advance({ seconds: apartS });
    await start("other");
    await world.advance("PT1M");
    const extendLeases = store.extendLeases.bind(store);
    vi.spyOn(store, "extendLeases").mockImplementation(async (extension) => {
      if (extension.schedulerId === "right") await world.sleep(world.now() + 16_000);
      return extendLeases(extension);
    });
    await world.advance("PT10M");
    expect(warningsOf(right)).toEqual([]);
  });
});
