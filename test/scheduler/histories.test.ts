import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { heldHandler, rejectionOf, secondsOf, setUp } from "./support.ts";

const RETRY = { maxAttempts: 30, backoff: { initial: "PT1S", factor: 1, jitter: "none" } } as const;

describe("the attempts of a job", () => {
  test("are kept with their errors and times, with the job and then with the result", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { retry: { ...RETRY, maxAttempts: 3 } }, (_payload: undefined, { attempt }) => {
      if (attempt < 3) throw Object.assign(new TypeError(`attempt ${attempt}`), { code: "E_FAIL" });
      return "done";
    });
    const { id } = await scheduler.addJob(task);
    await scheduler.start();
    await clock.settle();
    const seen = (await scheduler.getJob(id)).attemptHistory;
    expect(seen.map(({ number, error }) => [number, error?.name, error?.message])).toEqual([
      [1, "TypeError", "attempt 1"],
    ]);
    await clock.advance("PT2S");
    const result = await scheduler.getJobResult(id);
    expect(
      result?.attemptHistory.map(({ number, startedAt, finishedAt, error }) => [
        ...[number, secondsOf(startedAt), secondsOf(finishedAt), error?.message ?? null],
      ]),
    ).toEqual([
      [1, 0, 0, "attempt 1"],
      [2, 1, 1, "attempt 2"],
      [3, 2, 2, null],
    ]);
    expect(result?.attemptHistory[0]?.error).toMatchObject({
      code: "E_FAIL",
      stack: expect.stringContaining("attempt 1"),
    });
    expect(result?.attempts).toBe(3);
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      attemptHistory: [
        { number: 1, startedAt: "2030-01-01T00:00:00Z", error: { name: "TypeError", message: "attempt 1" } },
        { number: 2 },
        { number: 3, finishedAt: "2030-01-01T00:00:02Z", error: null },
      ],
    });
  });

  test("are the last 20 that failed, with short texts", async () => {
    const { scheduler, clock, store } = setUp();
    scheduler.task("t", { retry: RETRY }, () => {
      const error = new Error("x".repeat(50_000));
      error.stack = "y".repeat(50_000);
      throw error;
    });
    const { id } = await scheduler.addJob("t");
    await scheduler.start();
    await clock.advance("PT1M");
    const result = await scheduler.getJobResult(id);
    expect(result?.attemptHistory.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, n) => n + 10));
    const record = await store.getJobResult(id, clock.now());
    expect(JSON.stringify(record?.attemptHistory).length).toBeLessThan(70_000);
    expect(result?.attemptHistory[0]?.error?.message).toBe(`${"x".repeat(997)}...`);
    expect(result?.error?.message.length).toBeGreaterThan(10_000);
  });

  test("are not in the list when they were lost, or when no handler was called", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const { id } = await scheduler.addJob("t");
    await scheduler.cancelJob(id);
    expect((await scheduler.getJobResult(id))?.attemptHistory).toEqual([]);
  });
});

describe("the progress of a job", () => {
  test("is kept when its lease is extended, and with its result", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock } = setUp({ leaseDuration: "PT30S", dataStore });
    const { handler, held } = heldHandler();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await scheduler.start();
    await clock.settle();
    held[0]?.context.progress(0.25, "a quarter");
    // What the store has: the scheduler that runs the job knows more.
    const seen = async (): Promise<unknown[]> => {
      const { progress } = (await dataStore.getJob(id)) ?? {};
      return [progress?.fraction ?? null, progress?.note ?? null];
    };
    expect(await seen()).toEqual([null, null]);
    await clock.advance("PT10S");
    expect(await seen()).toEqual([0.25, "a quarter"]);
    held[0]?.context.progress(0.5);
    await clock.advance("PT10S");
    expect(await seen()).toEqual([0.5, null]);
    held[0]?.context.progress(1, "n".repeat(5000));
    held[0]?.finish("done");
    await clock.advance("PT1S");
    const result = await scheduler.getJobResult(id);
    expect([result?.progress, result?.progressNote]).toEqual([1, `${"n".repeat(997)}...`]);
  });

  test("costs one call of the store in a second, and goes with no extension twice", async () => {
    const extensions: unknown[] = [];
    class WatchedStore extends MemoryDataStore {
      override async extendLeases(
        extension: Parameters<MemoryDataStore["extendLeases"]>[0],
      ): ReturnType<MemoryDataStore["extendLeases"]> {
        extensions.push(extension.jobs.map(({ progress }) => progress?.fraction));
        return super.extendLeases(extension);
      }
    }
    const { scheduler, clock } = setUp({ leaseDuration: "PT30S", dataStore: new WatchedStore() });
    const { handler, held } = heldHandler();
    await scheduler.addJob(scheduler.task("t", handler));
    await scheduler.start();
    await clock.settle();
    extensions.length = 0;
    for (let percent = 0; percent <= 50; percent++) held[0]?.context.progress(percent / 100);
    expect(extensions).toEqual([]);
    await clock.advance("PT20S");
    expect(extensions).toEqual([[0.5], [undefined], [undefined]]);
    held[0]?.finish("");
  });

  test("is the last one that any attempt told", async () => {
    const { scheduler, clock } = setUp({ leaseDuration: "PT30S" });
    const { handler, held } = heldHandler();
    const { id } = await scheduler.addJob(scheduler.task("t", { retry: { ...RETRY, maxAttempts: 2 } }, handler));
    await scheduler.start();
    await clock.settle();
    held[0]?.context.progress(0.75, "nearly");
    await clock.advance("PT10S");
    held[0]?.fail(new Error("no"));
    await clock.advance("PT1S");
    held[1]?.finish("");
    await clock.advance("PT1S");
    expect((await scheduler.getJobResult(id))?.progressNote).toBe("nearly");
  });
});

describe("what a result keeps of its job", () => {
  test("is its payload and its metadata, for every outcome", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", { metadata: { team: "blue" } }, (payload: { fail: boolean }) => {
      if (payload.fail) throw new Error("no");
    });
    const ids: string[] = [];
    for (const fail of [true, false]) {
      ids.push((await scheduler.addJob("t", { payload: { fail }, metadata: { n: [null] } })).id);
    }
    await drain(scheduler);
    const cancelled = await scheduler.addJob("t", { payload: { fail: true }, metadata: { n: [null] } });
    await scheduler.cancelJob(cancelled.id);
    const results = await Promise.all([...ids, cancelled.id].map((id) => scheduler.getJobResult(id)));
    expect(results.map((result) => [result?.outcome, result?.payload, result?.metadata])).toEqual([
      ["error", { fail: true }, { n: [null], team: "blue" }],
      ["success", { fail: false }, { n: [null], team: "blue" }],
      ["cancelled", { fail: true }, { n: [null], team: "blue" }],
    ]);
  });

  test("is everything but the payload, when the store refuses both together", async () => {
    class SmallStore extends MemoryDataStore {
      override async commit(request: Parameters<MemoryDataStore["commit"]>[0]): ReturnType<MemoryDataStore["commit"]> {
        const lengths = request.releases.map((release) =>
          release.kind === "finish" ? `${release.result.returnValue}${release.result.job?.payload}`.length : 0,
        );
        const isLarge = Math.max(0, ...lengths) > 1500;
        if (isLarge) throw new RangeError("too large");
        return super.commit(request);
      }
    }
    const { scheduler, clock } = setUp({ dataStore: new SmallStore() });
    const task = scheduler.task("t", (payload: string) => payload);
    const { id } = await scheduler.addJob(task, { payload: "x".repeat(1000), metadata: { a: 1 } });
    await scheduler.start();
    await clock.advance("PT1S");
    const result = await scheduler.getJobResult(id);
    const kept: unknown[] = [result?.outcome, result?.returnValue, result?.payload, result?.metadata];
    expect(kept).toEqual([...["success", "x".repeat(1000), undefined, { a: 1 }]]);
    expect(await rejectionOf(scheduler.retryJob(id))).toMatchObject({ code: "jobLookup", id });
    const large = await scheduler.addJob(
      scheduler.task("large", (_payload: string) => "x".repeat(2000)),
      { payload: "small" },
    );
    await clock.advance("PT1S");
    const refused = await scheduler.getJobResult(large.id);
    const left: unknown[] = [refused?.outcome, refused?.returnValue, refused?.payload, refused?.error?.message];
    expect(left).toEqual([...["error", undefined, "small", expect.stringContaining("refuses the result")]]);
  });
});
