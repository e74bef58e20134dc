import { expect } from "vitest";
import { Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import type { LoopbackProxy } from "../support/loopback-proxy.ts";

/** As many losses as end any client of few places, if each of them keeps one. */
export const LOSSES = 10;

/** How many places the clients of the tests have. */
export const PLACES = 4;

/** Has a schedule fire every second, and all connections through the proxy go silent again and again. */
export async function expectFiresToGoOn(dataStore: DataStore, proxy: LoopbackProxy): Promise<void> {
  await using scheduler = new Scheduler({ dataStore, logLevel: "silent" });
  let fired = (): void => {};
  const nextFire = (): Promise<void> =>
    new Promise((resolve) => {
      fired = resolve;
    });
  await untilAnswered(() => scheduler.schedule("tick", "* * * * * *", () => fired()));
  const first = nextFire();
  await scheduler.start();
  await first;
  let fires = 0;
  for (let loss = 0; loss < LOSSES; loss++) {
    proxy.silence();
    // What was on its way before may still come.
    for (let again = 0; again < 2; again++) await nextFire();
    fires++;
  }
  expect(fires).toBe(LOSSES);
  expect((await scheduler.health()).isStoreReached).toBe(true);
}

/** Asks until the store is reached: on a busy machine an answer may take longer than the store waits for it. */
async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
}
