import { describe, expect, test } from "vitest";
import type { Duration } from "../../src/core/duration.ts";
import { OptionsError } from "../../src/core/errors.ts";
import { LEDGER_MEMORY_COUNT_MAX } from "../../src/stores/memory/limits.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import type { LedgerOptions } from "../../src/stores/shared/ledger-option.ts";
import {
  dueSchedule,
  end,
  entriesOf,
  filterOf,
  makeSkip,
  runningJob,
  seenAgain,
  skipOf,
} from "../../src/testing/data-store-contract/ledger-makers.ts";
import {
  add,
  commitPlans,
  makeSchedule,
  numbered,
  planOf,
  removeSchedule,
  T0,
} from "../../src/testing/data-store-contract/makers.ts";

function ledgerOf(store: MemoryDataStore): NonNullable<MemoryDataStore["ledger"]> {
  if (store.ledger === null) throw new Error("the ledger is off");
  return store.ledger;
}

/** Leaves one entry for each second. */
async function skipSeconds(store: MemoryDataStore, id: string, count: number): Promise<void> {
  const schedule = await seenAgain(store, id);
  const from = schedule.nextFireTime;
  const skips = Array.from({ length: count }, (_, index) => makeSkip(from + index * 1000));
  const nextFireTime = from + count * 1000;
  await commitPlans(store, [planOf(schedule, { fires: [], skips, nextFireTime })], { now: nextFireTime });
}

describe("The option `ledger`", () => {
  const DAY_MS = 86_400_000;
  test.each<[boolean | LedgerOptions | undefined, { countMax: number; ageMsMax: number } | undefined]>([
    [undefined, { countMax: 5000, ageMsMax: 90 * DAY_MS }],
    [true, { countMax: 5000, ageMsMax: 90 * DAY_MS }],
    [{}, { countMax: 5000, ageMsMax: 90 * DAY_MS }],
    [{ maxCount: 7 }, { countMax: 7, ageMsMax: 90 * DAY_MS }],
    [{ maxAge: "2d" }, { countMax: 5000, ageMsMax: 2 * DAY_MS }],
    [
      { maxCount: 1_000_000, maxAge: { minutes: 1 } },
      { countMax: 1_000_000, ageMsMax: 60_000 },
    ],
    [false, undefined],
  ])("%j", (ledger, limits) => {
    const store = new MemoryDataStore(ledger === undefined ? {} : { ledger });
    expect(store.ledger?.limits).toEqual(limits);
  });

  const either = "must be true, false or an object such as { maxCount, maxAge }";
  test.each<[unknown, string]>([
    [500, `ledger ${either}; got 500: write { maxCount: 500 }`],
    ["30d", `ledger ${either}; got "30d": write { maxAge: "30d" }`],
    [null, `ledger ${either}; got null: write false for no ledger`],
    [[], `ledger ${either}; got a list of 0`],
    [{ maxCount: 0 }, "ledger.maxCount must be a whole number from 1 to 1000000; got 0"],
    [{ maxAge: "10s" }, 'ledger.maxAge must be a duration of at least 60000 milliseconds; got "10s"'],
    [{ maxage: "1d" }, 'ledger.maxage is no option; did you mean "maxAge"?'],
    [{ days: 30 }, "ledger.days is no option; the options are maxCount and maxAge"],
  ])("refuses %j", (ledger, message) => {
    const make = (): MemoryDataStore => new MemoryDataStore({ ledger: ledger as Duration & boolean });
    expect(make).toThrow(OptionsError);
    expect(make).toThrow(message);
  });
});

describe("The ledger of a MemoryDataStore", () => {
  test("is nothing where the option turns it off", async () => {
    const store = new MemoryDataStore({ ledger: false });
    const job = await runningJob(store);
    await end(store, job);
    await removeSchedule(store, "schedule", { at: T0, by: "somebody" });
    expect([store.ledger, (await store.cleanup({ now: T0, limit: 10 })).removedOccurrences]).toEqual([null, undefined]);
  });

  test("has the last entries of very many, also before a clean-up", async () => {
    const store = new MemoryDataStore({ ledger: { maxCount: 50 } });
    await dueSchedule(store);
    for (let index = 0; index < 30; index++) await skipSeconds(store, "schedule", 40);
    const entries = await entriesOf(ledgerOf(store));
    const last = Array.from({ length: entries.length }, (_, index) =>
      skipOf(T0 + (1200 - entries.length + index) * 1000),
    );
    expect(entries).toEqual(last);
    expect(entries.length >= 50 && entries.length < 100).toBe(true);
    const { removedOccurrences } = await store.cleanup({ now: T0 + 1_200_000, limit: 1000 });
    expect(removedOccurrences ?? 0).toBe(entries.length - 50);
    expect(await entriesOf(ledgerOf(store))).toEqual(last.slice(-50));
    expect(await ledgerOf(store).getLedgerStart("schedule")).toBe(T0 + 1_149_001);
  });

  test("has fewer entries of each schedule where there are very many schedules", async () => {
    const store = new MemoryDataStore();
    const ids = Array.from({ length: 1000 }, (_, index) => numbered("s", index));
    await store.addSchedules(add(...ids.map((id) => makeSchedule({ id, nextFireTime: null })), makeSchedule()));
    await skipSeconds(store, "schedule", 5000);
    await store.cleanup({ now: T0 + 5_000_000, limit: 0 });
    expect((await entriesOf(ledgerOf(store))).length).toBe(Math.ceil(LEDGER_MEMORY_COUNT_MAX / 1001));
  });

  test("has entries in order, in whatever order they come", async () => {
    const store = new MemoryDataStore();
    const places = Array.from({ length: 200 }, (_, index) => (index * 77) % 200);
    await dueSchedule(store);
    for (const place of places) {
      const { nextFireTime, ...schedule } = await seenAgain(store);
      const skips = [makeSkip(T0 + place * 1000)];
      const plan = planOf({ ...schedule, nextFireTime }, { fires: [], skips, nextFireTime: nextFireTime + 1 });
      await commitPlans(store, [plan], { now: nextFireTime });
    }
    expect(await entriesOf(ledgerOf(store))).toEqual(
      Array.from({ length: 200 }, (_, index) => skipOf(T0 + index * 1000)),
    );
  });

  test("looks through a bounded part of its entries for a page, and then has a cursor", async () => {
    const store = new MemoryDataStore({ ledger: { maxCount: 100_000 } });
    await dueSchedule(store);
    await skipSeconds(store, "schedule", 10_500);
    const filter = filterOf({ verdicts: ["paused"] });
    const first = await ledgerOf(store).getOccurrences(filter);
    expect(first).toEqual({ items: [], cursor: expect.any(String) });
    expect(await ledgerOf(store).getOccurrences({ ...filter, cursor: first.cursor })).toEqual({
      items: [],
      cursor: null,
    });
  });
});
