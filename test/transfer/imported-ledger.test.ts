import { describe, expect, test } from "vitest";
import { sleepFor } from "../../src/core/clock.ts";
import { type Duration, IntervalTrigger, MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { exportStore, importStore } from "../../src/transfer/mod.ts";

const START = "2026-10-20T00:00:00Z";

interface World {
  readonly clock: VirtualClock;
  readonly scheduler: Scheduler;
  /** Ends the scheduler, and goes on with a new one after a time. */
  readonly down: (time: Duration) => Promise<void>;
}

function schedulerOn(dataStore: MemoryDataStore, clock: VirtualClock): Scheduler {
  return new Scheduler({ dataStore, clock, logLevel: "silent", timeZone: "Europe/Berlin" });
}

/** A store in which something happened, its copy, and the present. */
async function moved(
  story: (world: World) => Promise<void>,
): Promise<[MemoryDataStore, MemoryDataStore, VirtualClock]> {
  const clock = new VirtualClock(START);
  const [from, to] = [new MemoryDataStore(), new MemoryDataStore()];
  let scheduler = schedulerOn(from, clock);
  await scheduler.start();
  await story({
    clock,
    get scheduler() {
      return scheduler;
    },
    async down(time) {
      await scheduler.stop();
      await clock.advance(time);
      scheduler = schedulerOn(from, clock);
      await scheduler.schedule("s", (await scheduler.getSchedule("s")).trigger, () => {});
      await scheduler.start();
    },
  });
  await scheduler.stop();
  const lines: string[] = [];
  for await (const line of exportStore(from, { include: ["ledger"] })) lines.push(line);
  await importStore(to, lines.join(""));
  return [from, to, clock];
}

/** What became of each fire time, and what is said of instants. */
async function told(store: MemoryDataStore, clock: VirtualClock): Promise<unknown[]> {
  await using scheduler = schedulerOn(store, clock);
  const all: unknown[] = [];
  for await (const { fireTime, verdict, into } of scheduler.getOccurrences("s", { order: "oldest" })) {
    all.push([fireTime.toString(), verdict, into?.toString() ?? null]);
    const explained = await scheduler.explain("s", fireTime);
    all.push([explained.verdict, explained.before?.toString(), explained.after?.toString()]);
  }
  return all;
}

const pausedFor = async ({ scheduler, clock }: World, time: Duration): Promise<void> => {
  await scheduler.pauseSchedule("s");
  await clock.advance(time);
  await scheduler.unpauseSchedule("s", { resumeFrom: "now" });
};

const STORIES: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "an hourly rule with a blackout and a pause": async (world) => {
    const { scheduler, clock } = world;
    await scheduler.schedule("s", "0 * * * *", () => {});
    await scheduler.addBlackout("b", { from: "2026-10-20T02:30:00Z", until: "2026-10-20T05:30:00Z" });
    await clock.advance({ hours: 8, minutes: 10 });
    await pausedFor(world, { hours: 3 });
    await clock.advance({ hours: 2 });
  },
  "a rule in a zone whose clocks change, and a downtime": async ({ scheduler, clock, down }) => {
    await scheduler.schedule("s", "30 2 * * *", () => {});
    await clock.advance({ days: 2 });
    await down({ days: 4 });
    await clock.advance({ days: 2 });
  },
  "a downtime of which few fire times are made up for": async ({ scheduler, clock, down }) => {
    await scheduler.schedule(
      "s",
      new IntervalTrigger({ hours: 1 }),
      { catchUp: { maxCount: 2 }, coalesce: "all" },
      () => {},
    );
    await clock.advance({ hours: 3 });
    await down({ hours: 10 });
    await clock.advance({ hours: 1 });
  },
  "runs that took longer than an interval": async ({ scheduler, clock }) => {
    const handler = (): Promise<void> => sleepFor(clock, 9_000_000);
    await scheduler.schedule("s", "0 * * * *", { overlap: "skip" }, handler);
    await clock.advance({ hours: 8 });
    await scheduler.pauseSchedule("s");
    await clock.advance({ hours: 3 });
  },
  "a schedule that was removed and added again": async (world) => {
    const { scheduler, clock } = world;
    await scheduler.schedule("s", "0 * * * *", () => {});
    await clock.advance({ hours: 2, minutes: 10 });
    await pausedFor(world, { hours: 3 });
    await scheduler.removeSchedule("s");
    await scheduler.schedule("s", "0 * * * *", () => {});
    await clock.advance({ hours: 2 });
  },
  "a schedule that is paused still": async ({ scheduler, clock }) => {
    await scheduler.schedule("s", "0 9 * * mon-fri", () => {});
    await clock.advance({ days: 6 });
    await scheduler.pauseSchedule("s");
    await clock.advance({ days: 2 });
  },
};

describe("an imported ledger is believed", () => {
  test.each(Object.entries(STORIES))("of %s", async (_, story) => {
    const [from, to, clock] = await moved(story);
    const original = await told(from, clock);
    expect(original.length).toBeGreaterThan(8);
    expect(await told(to, clock)).toEqual(original);
  });

  test("and before it, the schedule was not there", async () => {
    const [, to, clock] = await moved(async (world) => {
      await world.clock.advance({ hours: 1 });
      await world.scheduler.schedule("s", "0 * * * *", () => {});
      await world.clock.advance({ hours: 3 });
    });
    await using scheduler = schedulerOn(to, clock);
    const early = await scheduler.explain("s", "2026-10-19T12:00:00Z");
    expect(early.verdict).toBe("outside");
    expect(early.text).toContain("the schedule was added at Tue 2026-10-20 03:00 +02:00");
    expect((await scheduler.explain("s", "2026-10-20T02:30:00Z")).verdict).toBe("noFireTime");
  });

  test("of a schedule that was changed, nothing more than the ledger has", async () => {
    const [, to, clock] = await moved(async ({ scheduler, clock: time }) => {
      await scheduler.schedule("s", "0 * * * *", () => {});
      await time.advance({ hours: 3 });
      await scheduler.updateSchedule("s", { trigger: "30 * * * *" });
      await time.advance({ hours: 3 });
    });
    await using scheduler = schedulerOn(to, clock);
    expect((await scheduler.explain("s", "2026-10-20T02:00:00Z")).verdict).toBe("success");
    const { verdict, text } = await scheduler.explain("s", "2026-10-20T02:15:00Z");
    expect([verdict, text.includes("(the rule of now)")]).toEqual(["unrecorded", true]);
  });
});
