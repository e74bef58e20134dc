import { describe, expect, test } from "vitest";
import type { CommitReport, CommitRequest, LookReport, LookRequest } from "../../src/contracts.ts";
import { MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, START_MS, setUp } from "./support.ts";

/** The clock is set while the answer to a look is on its way. */
class SlowStore extends MemoryDataStore {
  readonly steppedAt: number[] = [];
  readonly #clock: VirtualClock;
  readonly #seconds: number;

  constructor(clock: VirtualClock, seconds: number) {
    super();
    this.#clock = clock;
    this.#seconds = seconds;
  }

  override async look(request: LookRequest): Promise<LookReport> {
    const report = await super.look(request);
    await this.#clock.jumpTo(at(this.#seconds));
    return report;
  }

  override commit(request: CommitRequest): Promise<CommitReport> {
    this.steppedAt.push(request.now);
    return super.commit(request);
  }
}

describe("the commits of a tick are of the present, not of the time before its look", () => {
  test.each([
    ["took long", 7],
    ["saw the clock set back", -7],
  ])("when the look %s", async (_, seconds) => {
    const clock = new VirtualClock(at(0));
    const store = new SlowStore(clock, seconds);
    const { scheduler } = setUp({ clock, dataStore: store });
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 1 });
    expect(store.steppedAt.map((now) => now - START_MS)).toEqual([seconds * 1000, seconds * 1000]);
  });
});
