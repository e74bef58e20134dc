import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import type { RunFilterOptions } from "../../src/scheduler/options/options.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, rejectionOf, setUp } from "./support.ts";

/** A scheduler whose jobs have ended in several ways, one second after the other, and some that have not. */
async function withRuns() {
  const setup = setUp();
  const { scheduler, clock } = setup;
  scheduler.task("ok", { maxRunningJobs: null }, (payload: unknown) => payload);
  scheduler.task("fail", { retry: { maxAttempts: 2, backoff: { initial: { seconds: 0 }, jitter: "none" } } }, () => {
    throw new TypeError("no paper in tray 7");
  });
  const ids: Record<string, string> = {};
  const ended = async (name: string, task: string, options: object = {}): Promise<void> => {
    ids[name] = (await scheduler.addJob(task, options)).id;
    await drain(scheduler);
    await clock.advance("PT1S");
  };
  await ended("fast", "ok", { payload: 0, idempotencyKey: "k" });
  await ended("failed", "fail");
  ids.cancelled = (await scheduler.addJob("ok", { payload: 0, delay: "1h" })).id;
  await scheduler.cancelJob(ids.cancelled);
  await clock.advance("PT1S");
  for (const name of ["later", "latest"]) {
    ids[name] = (await scheduler.addJob("ok", { payload: 0, delay: "1h", concurrencyKey: name })).id;
  }
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const list = async (filter: RunFilterOptions): Promise<string> => {
    const found: string[] = [];
    for await (const { id } of scheduler.getRuns(filter)) found.push(names.get(id) ?? id);
    return found.join(" ");
  };
  return { ...setup, ids, list };
}

describe("runs", () => {
  test("are the unfinished jobs, the newest first, and then those that have ended, whatever the size of pages is", async () => {
    const { list } = await withRuns();
    for (const limit of [1, 2, 3, 100]) expect(await list({ limit })).toBe("latest later cancelled failed fast");
  });

  test.each<[RunFilterOptions, string]>([
    [{ state: "ended" }, "cancelled failed fast"],
    [{ state: ["queued", "blocked"] }, "latest later"],
    [{ state: ["running", "ended"] }, "cancelled failed fast"],
    [{ outcome: "error" }, "failed"],
    [{ outcome: ["error", "cancelled"] }, "cancelled failed"],
    [{ outcome: ["error", "success"], state: "queued" }, ""],
    [{ taskId: "ok", outcome: ["cancelled", "success"] }, "cancelled fast"],
    [{ error: "TRAY 7" }, "failed"],
    [{ error: "typeerror" }, "failed"],
    [{ minAttempts: 2 }, "failed"],
    [{ key: "k" }, "fast"],
    [{ key: "later" }, "later"],
    [{ minRunTime: { seconds: 0 } }, "failed fast"],
    [{ maxRunTime: "1s", taskId: "ok" }, "fast"],
    [{ minRunTime: "1ms" }, ""],
    [{ search: "tray" }, "failed"],
    [{ search: "lat" }, "latest later"],
    [{ from: at(1), until: at(2) }, "failed"],
    [{ scheduleId: "none" }, ""],
  ])("of %j are %j", async (filter, expected) => {
    const { list } = await withRuns();
    expect(await list(filter)).toBe(expected);
    expect(await list({ ...filter, limit: 1 })).toBe(expected);
  });

  test("show what jobs and results show, in one form", async () => {
    const { scheduler, ids } = await withRuns();
    const run = await scheduler.getRun(ids.failed ?? "");
    expect(run.toJSON()).toMatchObject({
      taskId: "fail",
      state: "ended",
      outcome: "error",
      attempts: 2,
      attemptHistory: [{ number: 1 }, { number: 2 }],
      runTime: "PT0S",
      lateness: null,
      error: { name: "TypeError", message: "no paper in tray 7" },
    });
    expect(run.error).toBeInstanceOf(Error);
    expect(run.toRow()).toMatchObject({ state: "error", error: "TypeError: no paper in tray 7" });
    const waiting = await scheduler.getRun(ids.later ?? "");
    expect(waiting).toMatchObject({ state: "queued", outcome: null, attempts: 0, error: null, finishedAt: null });
    expect(waiting.payload).toBe(0);
    const success = await scheduler.getRun(ids.fast ?? "");
    expect([success.returnValue, success.error, success.idempotencyKey]).toEqual([0, null, "k"]);
    expect((await rejectionOf(scheduler.getRun("none"))) as object).toMatchObject({ code: "jobLookup", id: "none" });
  });

  test("of a schedule say how late they started", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT1.5S");
    await scheduler.tick();
    const { items } = await scheduler.getRuns({ scheduleId: "s", state: "ended" });
    expect(items[0]?.toJSON()).toMatchObject({ outcome: "success", lateness: "PT0.5S" });
  });

  test("that end between two pages are not left out", async () => {
    const { scheduler, ids } = await withRuns();
    const first = await scheduler.getRuns({ limit: 1 });
    await scheduler.cancelJob(ids.later ?? "");
    const rest = await scheduler.getRuns({ cursor: first.cursor });
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(
      [ids.latest, ids.later, ids.cancelled, ids.failed, ids.fast].map(String),
    );
  });

  test("have cursors that belong to their list and filter", async () => {
    const { scheduler } = await withRuns();
    const { cursor } = await scheduler.getRuns({ limit: 1, state: "ended" });
    const errors = await Promise.all(
      [{ limit: 1 }, { state: "queued" as const }].map((filter) =>
        rejectionOf(scheduler.getRuns({ ...filter, cursor })),
      ),
    );
    expect(errors).toMatchObject([{ code: "options" }, { code: "options" }]);
    expect(await rejectionOf(scheduler.getJobResults({ cursor }))).toMatchObject({ code: "options" });
  });

  test("end a page at the bytes of one part of the list", async () => {
    class Large extends MemoryDataStore {
      reads = 0;
      override getJobResults(...given: Parameters<MemoryDataStore["getJobResults"]>) {
        this.reads++;
        return super.getJobResults(...given);
      }
    }
    const dataStore = new Large();
    const { scheduler } = setUp({ dataStore });
    scheduler.task("t", () => {});
    await scheduler.addJob("t", { payload: "x".repeat(600_000) });
    const page = await scheduler.getRuns();
    expect([page.items.length, page.cursor === null, dataStore.reads]).toEqual([1, false, 0]);
    expect(await scheduler.getRuns({ cursor: page.cursor })).toEqual({ items: [], cursor: null });
  });
});
