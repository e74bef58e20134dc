import { describe, expect, test } from "vitest";
import { DateTrigger, OptionsError, Scheduler, SerializationError } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, setUp } from "./support.ts";

/** A text that was cut within an emoji. */
const HALVED = "Zoe 😀".slice(0, -1);
const NUL = "a\0b";

describe.each([
  ["half of a surrogate pair", HALVED],
  ["a NUL character", NUL],
])("text with %s", (_, text) => {
  test("is refused wherever text becomes an id, a key or a name", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const calls: (() => unknown)[] = [
      () => scheduler.addJob(task, { idempotencyKey: text }),
      () => scheduler.addJob(task, { executor: text }),
      () => scheduler.addJobs([{ task, idempotencyKey: text }]),
      () => scheduler.runJob(task, { idempotencyKey: text }),
      () => scheduler.addSchedule(task, new DateTrigger(at(5)), { id: text }),
      () => scheduler.addJob(text),
      async () => scheduler.task(text, () => {}),
      async () => scheduler.task("u", { executor: text }, () => {}),
      async () => new Scheduler({ identity: text }),
      async () => new Scheduler({ executors: { [text]: { open() {}, close() {}, execute() {} } as never } }),
      () => scheduler.getJob(text),
      () => scheduler.cancelJob(text),
      () => scheduler.getJobs({ taskId: text }),
      () => scheduler.removeSchedule(text),
    ];
    for (const call of calls) {
      const error = await Promise.resolve()
        .then(call)
        .catch((thrown: unknown) => thrown);
      expect([error instanceof OptionsError, String(call)]).toEqual([true, String(call)]);
    }
  });

  test("is refused in keys and values of metadata, with the path", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await expect(scheduler.addJob(task, { metadata: { a: [{ b: text }] } })).rejects.toThrow(/a\[0\]\.b/);
    await expect(scheduler.addJob(task, { metadata: { a: { [text]: 1 } } })).rejects.toThrow(OptionsError);
  });

  test("survives in payloads and results, which JSON escapes, and becomes U+FFFD in errors", async () => {
    const { scheduler } = setUp();
    const echo = scheduler.task("echo", (payload: string) => payload);
    const failing = scheduler.task("failing", () => {
      throw new Error(text);
    });
    const { id } = await scheduler.addJob(echo, { payload: text });
    const failed = await scheduler.addJob(failing);
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe(text);
    const neutral = text === NUL ? "a\ufffdb" : "Zoe \ufffd";
    expect((await scheduler.getJobResult(failed.id))?.error?.message).toBe(neutral);
  });

  test("is refused in what a careless serializer makes of a payload, and fails a result", async () => {
    const { MemoryDataStore } = await import("../../src/mod.ts");
    const serializer = { serialize: (value: unknown) => String(value), deserialize: (stored: string) => stored };
    const { scheduler } = setUp({ dataStore: new MemoryDataStore({ serializer }) });
    const task = scheduler.task("t", (_: string | undefined) => text);
    await expect(scheduler.addJob(task, { payload: text })).rejects.toThrow(SerializationError);
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.outcome).toBe("error");
  });
});

describe("metadata", () => {
  test("keeps the keys constructor and prototype, and is refused with a key __proto__ at any depth", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const metadata = { constructor: 1, prototype: { constructor: [2] } };
    expect((await scheduler.addJob(task, { metadata })).metadata).toEqual(metadata);
    for (const text of ['{"__proto__":1}', '{"a":[{"__proto__":{"b":1}}]}']) {
      await expect(scheduler.addJob(task, { metadata: JSON.parse(text) })).rejects.toThrow(/__proto__/);
    }
  });

  test("is nested at most a hundred levels deep", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const nested = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
    const metadata = nested(100) as Record<string, unknown>;
    expect((await scheduler.addJob(task, { metadata })).metadata).toEqual(metadata);
    const deeper = nested(101) as Record<string, unknown>;
    await expect(scheduler.addJob(task, { metadata: deeper })).rejects.toThrow(
      "addJob(): metadata must be nested at most 100 levels deep",
    );
  });
});
