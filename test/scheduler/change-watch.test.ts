import { describe, expect, test } from "vitest";
import { MemoryDataStore, type Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { START, setUp } from "./support.ts";

/** A virtual clock whose periods a test ends by hand. */
class PolledClock extends VirtualClock {
  readonly #runs = new Set<() => void>();

  constructor() {
    super(START);
  }

  get pollers(): number {
    return this.#runs.size;
  }

  every(_periodMs: number, run: () => void): () => void {
    this.#runs.add(run);
    return () => this.#runs.delete(run);
  }

  /** Ends one period. */
  async poll(): Promise<void> {
    for (const run of [...this.#runs]) run();
    await this.settle();
  }
}

/** A store whose version is what a test says it is. */
class VersionedStore extends MemoryDataStore {
  version: number | null = 1;
  looks = 0;
  asked = 0;
  isOut = false;

  async getDataVersion(): Promise<number | null> {
    this.asked++;
    if (this.isOut) throw new Error("the disk is gone");
    return this.version;
  }

  override look(...request: Parameters<MemoryDataStore["look"]>): ReturnType<MemoryDataStore["look"]> {
    this.looks++;
    return super.look(...request);
  }
}

async function start(): Promise<{ clock: PolledClock; store: VersionedStore; scheduler: Scheduler }> {
  const clock = new PolledClock();
  const dataStore = new VersionedStore();
  const { scheduler } = setUp({ clock, dataStore, maxIdle: { hours: 1 } });
  await scheduler.start();
  await clock.settle();
  // The first answer may be younger than the loop's first look.
  await clock.poll();
  return { clock, store: dataStore, scheduler };
}

describe("a scheduler on a store that tells its version", () => {
  test("looks when the version has changed, and not otherwise", async () => {
    const { clock, store } = await start();
    const before = store.looks;
    await clock.poll();
    expect(store.looks - before).toBe(0);
    store.version = 2;
    await clock.poll();
    expect(store.looks - before).toBe(1);
    await clock.poll();
    await clock.poll();
    expect(store.looks - before).toBe(1);
  });

  test("looks once a period at most while others write without end", async () => {
    const { clock, store } = await start();
    const before = store.looks;
    for (let version = 2; version < 12; version++) {
      store.version = version;
      await clock.poll();
    }
    expect(store.looks - before).toBe(10);
  });

  test("does not ask while it works, and hears afterwards of what was written meanwhile", async () => {
    const { clock, store } = await start();
    const { asked } = store;
    const look = store.look.bind(store);
    let answer = (): void => {};
    store.look = async (request) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return look(request);
    };
    store.version = 2;
    await clock.poll();
    expect(store.asked - asked).toBe(1);
    store.version = 3;
    await clock.poll();
    await clock.poll();
    await clock.poll();
    expect(store.asked - asked).toBe(1);
    store.look = look;
    const before = store.looks;
    answer();
    await clock.settle();
    await clock.poll();
    expect({ asked: store.asked - asked, looks: store.looks - before }).toEqual({ asked: 2, looks: 2 });
  });

  test("asks no more once the store cannot tell", async () => {
    const { clock, store } = await start();
    store.version = null;
    await clock.poll();
    expect(clock.pollers).toBe(0);
  });

  test("looks after an answer that failed, and goes on", async () => {
    const { clock, store } = await start();
    const before = store.looks;
    store.isOut = true;
    await clock.poll();
    expect(store.looks - before).toBe(1);
    store.isOut = false;
    store.version = 2;
    await clock.poll();
    expect(store.looks - before).toBe(2);
  });

  test("asks no more when it has stopped", async () => {
    const { clock, scheduler } = await start();
    expect(clock.pollers).toBe(1);
    await scheduler.stop();
    expect(clock.pollers).toBe(0);
  });
});

test("a scheduler on a store without versions asks for none", async () => {
  const clock = new PolledClock();
  const { scheduler } = setUp({ clock });
  await scheduler.start();
  expect(clock.pollers).toBe(0);
});
