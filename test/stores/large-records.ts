import { expect } from "vitest";
import { type DataStore, StoreRefusedError } from "../../src/contracts.ts";
import { Scheduler } from "../../src/mod.ts";
import { SERIALIZED_LENGTH_MAX } from "../../src/records/limits.ts";

/** Text that is as long as payloads may be, and has three bytes a character. */
const HUGE = "漢".repeat(SERIALIZED_LENGTH_MAX - 2);
/** Text of a million bytes. */
const LARGE = "x".repeat(SERIALIZED_LENGTH_MAX - 2);
/** Text whose quotes travel as four characters each. */
const QUOTES = '"'.repeat(SERIALIZED_LENGTH_MAX / 2 - 1);

/** What holds where a row has two megabytes. Each case gets a store that is empty. */
export const LARGE_RECORD_CASES: readonly { readonly name: string; run(dataStore: DataStore): Promise<void> }[] = [
  {
    name: "a payload is refused with its size, whether it is added alone or with others, which are added",
    run: withScheduler(async (scheduler) => {
      const task = scheduler.task("read", (_payload: string) => {});
      const [refused, added] = await Promise.allSettled([
        scheduler.addJob(task, { payload: HUGE }),
        scheduler.addJob(task, { payload: "small" }),
      ]);
      expect(refused).toMatchObject({ status: "rejected", reason: expect.any(StoreRefusedError) });
      expect(String(Reflect.get(refused, "reason"))).toMatch(
        /a record of 3\d{6} bytes, at most 1800000 fit into a row/,
      );
      expect(added.status).toBe("fulfilled");
      expect((await scheduler.getJobs()).items.map(({ payload }) => payload)).toEqual(["small"]);
    }),
  },
  {
    name: "what could be added runs, and its result can be read and listed",
    run: withScheduler(async (scheduler) => {
      const lengths: number[] = [];
      const task = scheduler.task("read", (payload: string) => void lengths.push(payload.length));
      for (let share = 1; share <= 10; share++) {
        const payload = QUOTES.slice(0, (QUOTES.length * share) / 10);
        const job = await scheduler.addJob(task, { payload }).catch((error: unknown) => error);
        if (job instanceof StoreRefusedError) break;
        await scheduler.tick();
        expect((await scheduler.getJobResults()).items.length).toBe(share);
      }
      // So the last ones were refused.
      expect([lengths.length > 2, lengths.length < 10]).toEqual([true, true]);
    }),
  },
  {
    name: "a job whose value is refused has failed, one whose payload leaves no room for it has succeeded without",
    run: withScheduler(async (scheduler) => {
      const copy = scheduler.task("copy", (payload: string) => payload);
      const grow = scheduler.task("grow", (_payload: string) => HUGE);
      const grown = await scheduler.addJob(grow, { payload: "small" });
      const large = await scheduler.addJob(copy, { payload: LARGE });
      const small = await scheduler.addJob(copy, { payload: "small" });
      await scheduler.tick();
      expect(await grown.result()).toMatchObject({ outcome: "error", error: { name: "SerializationError" } });
      expect((await large.result())?.returnValue === LARGE).toBe(true);
      expect(await small.result()).toMatchObject({ outcome: "success", returnValue: "small" });
      expect((await scheduler.getJobResults()).items.length).toBe(3);
      expect((await scheduler.getJobs()).items).toEqual([]);
    }),
  },
  {
    name: "statements of a prepared job are refused before they are given away",
    run: withScheduler(async (scheduler) => {
      const failure = await scheduler
        .prepareJob(
          scheduler.task("read", (_payload: string) => {}),
          { payload: QUOTES },
        )
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreRefusedError);
      expect(String(failure)).toMatch(/preparing for .* failed: a record of \d{7} bytes/);
    }),
  },
  {
    name: "a schedule whose jobs could not be read is refused",
    run: withScheduler(async (scheduler) => {
      const task = scheduler.task("read", (_payload: string) => {});
      const added = scheduler.addSchedule(task, "@daily", { payload: QUOTES });
      expect(await added.catch((error: unknown) => error)).toBeInstanceOf(StoreRefusedError);
      expect((await scheduler.getSchedules()).items).toEqual([]);
    }),
  },
  {
    name: "many jobs whose payloads are large together all run",
    run: withScheduler(async (scheduler) => {
      let runs = 0;
      const task = scheduler.task("read", (_payload: string) => void runs++);
      const payload = LARGE.slice(0, 300_000);
      await scheduler.addJobs(Array.from({ length: 20 }, () => ({ task, payload })));
      for (let ticks = 0; ticks < 20 && runs < 20; ticks++) await scheduler.tick();
      expect(runs).toBe(20);
      // They are too large for one page.
      const ended: string[] = [];
      for await (const { jobId } of scheduler.getJobResults()) ended.push(jobId);
      expect(new Set(ended).size).toBe(20);
    }),
  },
];

function withScheduler(use: (scheduler: Scheduler) => Promise<void>): (dataStore: DataStore) => Promise<void> {
  return async (dataStore) => {
    const scheduler = new Scheduler({ dataStore });
    try {
      await use(scheduler);
    } finally {
      await scheduler.stop();
    }
  };
}
