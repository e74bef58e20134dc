import { describe, expect, test } from "vitest";
import type { Explanation } from "../../../src/mod.ts";
import { UPTIMES_PER_ANSWER_MAX } from "../../../src/stores/shared/limits.ts";
import { extend } from "../../../src/testing/data-store-contract/makers.ts";
import { type World, worldAt } from "../explain-world.ts";

const HOURLY = "0 * * * *";

function causeIn(explanation: Explanation): unknown {
  return JSON.parse(JSON.stringify(explanation.cause));
}

/** Ticks each minute, from the present until an instant. */
async function tickUntil(world: World, until: string, tick: (minute: number) => Promise<unknown>): Promise<void> {
  for (let minute = 0; world.clock.now() < Date.parse(until); minute++) {
    await tick(minute);
    await world.clock.advance({ minutes: 1 });
  }
}

describe("the cause of a wait, where nobody stays resident", () => {
  test("is that no tick had a handler, although ticks that find nothing to run leave no trace", async () => {
    const world = worldAt();
    world.scheduler.task("t", () => {});
    await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
    const ticking = world.another({ identity: "w-2", leaseDuration: "1m" });
    ticking.task("other", () => {});
    await tickUntil(world, "2030-01-01T00:50:00Z", () => ticking.tick());
    const explanation = await ticking.explain("s", "2030-01-01T00:00:00Z");
    expect([explanation.verdict, causeIn(explanation)]).toEqual(["waiting", { kind: "noHandler", taskId: "t" }]);
  });

  test("is that nobody was up only since there was something to do", async () => {
    const world = worldAt();
    world.scheduler.task("t", () => {});
    await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
    const firing = world.another({ identity: "w-2", role: "scheduler", leaseDuration: "1m" });
    const working = world.another({ identity: "w-3", role: "worker", leaseDuration: "1m" });
    working.task("t", () => {});
    await tickUntil(world, "2030-01-01T01:00:00Z", async () => [await firing.tick(), await working.tick()]);
    await tickUntil(world, "2030-01-01T01:30:00Z", () => firing.tick());
    await working.tick();
    const explanation = await working.explain("s", "2030-01-01T01:00:00Z");
    const [from, until] = ["2030-01-01T01:00:00Z", "2030-01-01T01:30:00Z"];
    expect([explanation.verdict, causeIn(explanation)]).toEqual([
      "success",
      { kind: "nobodyUp", lacks: "worker", from, until },
    ]);
  });

  test("is the same for all fire times that were due together", async () => {
    const world = worldAt();
    const ticking = world.another({ identity: "w-2", leaseDuration: "1m" });
    ticking.task("t", () => {});
    await ticking.addSchedule("t", "*/10 * * * *", { id: "s" });
    await tickUntil(world, "2030-01-01T00:30:00Z", () => ticking.tick());
    await world.to("2030-01-01T01:30:00Z");
    await ticking.tick();
    await world.clock.advance({ minutes: 1 });
    for (const minute of ["00:30", "00:50", "01:20"]) {
      const explanation = await ticking.explain("s", `2030-01-01T${minute}:00Z`);
      const [from, until] = ["2030-01-01T00:30:00Z", "2030-01-01T01:30:00Z"];
      expect([explanation.verdict, causeIn(explanation)]).toEqual([
        "coalesced",
        { kind: "nobodyUp", lacks: "scheduler", from, until },
      ]);
    }
  });

  test("is found behind a thousand uptimes", async () => {
    const world = worldAt("2030-01-01T00:00:00Z");
    world.scheduler.task("t", () => {});
    await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
    const profile = { role: "both", isResident: false, tasks: ["t"], executors: [] } as const;
    for (let count = 0; count < UPTIMES_PER_ANSWER_MAX; count++) {
      const identity = `isolate-${count}`;
      const now = world.clock.now() + count * 1000;
      const heartbeat = { now, aliveUntil: now + 900, profile, schedulerId: identity, instanceId: `${identity} 1#` };
      await extend(world.store, [], heartbeat);
    }
    await world.to("2030-01-01T01:30:00Z");
    const ticking = world.another({ identity: "w-2", leaseDuration: "1m" });
    ticking.task("t", () => {});
    await ticking.tick();
    await world.clock.advance({ minutes: 1 });
    const explanation = await ticking.explain("s", "2030-01-01T00:00:00Z");
    expect([explanation.verdict, causeIn(explanation)]).toEqual([
      "coalesced",
      { kind: "nobodyUp", lacks: "scheduler", from: "2030-01-01T00:16:39.9Z", until: "2030-01-01T01:30:00Z" },
    ]);
  });
});
