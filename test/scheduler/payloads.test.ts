import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { DeserializationError, MemoryDataStore, type StandardSchemaV1 } from "../../src/mod.ts";
import { updateSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { drain } from "../../src/testing/mod.ts";
import { everySecond, rejectionOf, setUp } from "./support.ts";

const person = v.object({ name: v.string(), tags: v.array(v.string()) });

/** A schema as another library makes it: text that is a whole number, as a number. */
const wholeNumber: StandardSchemaV1<string, number> = {
  "~standard": {
    version: 1,
    vendor: "hand-made",
    validate: async (value) =>
      typeof value === "string" && /^\d+$/.test(value)
        ? { value: Number(value) }
        : { issues: [{ message: "not a whole number", path: ["count", { key: 2 }] }] },
  },
};

describe("payloads", () => {
  test("reach the handler as they were passed", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", { maxRunningJobs: null }, (payload: unknown) => {
      seen.push(payload);
    });
    const payloads = [{ a: [1, { b: null }] }, "text", 0, false, null, []];
    await scheduler.addJobs(payloads.map((payload) => ({ task, payload })));
    await drain(scheduler);
    expect(seen).toEqual(payloads);
  });

  test("that cannot be added with others say which they are", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (payload: unknown) => payload);
    const strict = scheduler.task("strict", { schema: wholeNumber }, () => {});
    const unstorable = scheduler.addJobs([
      { task, payload: 1 },
      { task, payload: 1n },
    ]);
    expect(await rejectionOf(unstorable)).toMatchObject({
      code: "serialization",
      message: expect.stringMatching(/^addJobs\(\)\[1\]: the payload of task "t" cannot be stored: /),
    });
    expect(await rejectionOf(scheduler.addJobs([{ task: strict, payload: "many" }]))).toMatchObject({
      code: "payload",
      message: 'addJobs()[0]: the payload of task "strict" is not valid: count.2: not a whole number',
      issues: [{ path: "count.2", message: "not a whole number" }],
    });
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("undefined and none are the same, null is a value", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", { maxRunningJobs: null }, (payload: unknown) => {
      seen.push(payload);
    });
    await scheduler.addJobs([{ task }, { task, payload: undefined }, { task, payload: null }]);
    await drain(scheduler);
    expect(seen).toEqual([undefined, undefined, null]);
  });

  test("are validated when a job or schedule is added; the rejection names the path", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("greet", { schema: person }, () => {});
    const bad = { name: "Ada", tags: ["a", 2 as unknown as string] };
    for (const adding of [
      scheduler.addJob(task, { payload: bad }),
      scheduler.addJobs([{ task, payload: bad }]),
      scheduler.runJob(task, { payload: bad }),
      scheduler.addSchedule(task, everySecond(), { payload: bad }),
    ]) {
      const error = await rejectionOf(adding);
      expect(error).toMatchObject({ code: "payload", issues: [{ path: "tags.1" }] });
      expect((error as Error).message).toContain("tags.1");
    }
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("are validated when a schedule's payload is updated", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("greet", { schema: person }, () => {});
    await scheduler.addSchedule(task, everySecond(), { id: "s", payload: { name: "Ada", tags: [] } });
    await expect(scheduler.updateSchedule("s", { payload: { name: 1 } })).rejects.toMatchObject({ code: "payload" });
    expect((await scheduler.getSchedule("s")).payload).toEqual({ name: "Ada", tags: [] });
  });

  test("are validated again before they run: one that no longer fits ends as an error without retry", async () => {
    const { scheduler } = setUp();
    let runs = 0;
    const count = (): void => {
      runs++;
    };
    const task = scheduler.task<unknown>("greet", count);
    const { id } = await scheduler.addJob(task, { payload: { name: "Ada", tags: ["a", 2] } });
    scheduler.task("greet", { schema: person, retry: { maxAttempts: 5 } }, count);
    await drain(scheduler);
    expect(runs).toBe(0);
    const result = await scheduler.getJobResult(id);
    expect(result?.outcome).toBe("error");
    expect(result?.error).toMatchObject({
      code: "payload",
      name: "PayloadError",
      message: expect.stringContaining("tags.1"),
    });
  });

  test("reach the handler as any Standard Schema returns them, and are stored as they were passed", async () => {
    const { scheduler } = setUp();
    const seen: number[] = [];
    const task = scheduler.task("count", { schema: wholeNumber }, (count) => {
      seen.push(count);
    });
    const job = await scheduler.addJob(task, { payload: "42" });
    await drain(scheduler);
    expect([job.payload, seen]).toEqual(["42", [42]]);
    await expect(scheduler.addJob(task, { payload: "many" })).rejects.toMatchObject({ issues: [{ path: "count.2" }] });
  });

  test("are checked by schemas of zod as by those of valibot, with their types", async () => {
    const { scheduler } = setUp();
    const seen: { at: string; tags: string[] }[] = [];
    const schema = z.object({ at: z.string().trim(), tags: z.array(z.string()).default([]) });
    const task = scheduler.task("zod", { schema }, (payload) => {
      seen.push(payload);
    });
    await scheduler.addJob(task, { payload: { at: " noon " } });
    await drain(scheduler);
    expect(seen).toEqual([{ at: "noon", tags: [] }]);
    const rejected = scheduler.addJob(task, { payload: { at: "noon", tags: [1 as unknown as string] } });
    await expect(rejected).rejects.toMatchObject({ code: "payload", issues: [{ path: "tags.0" }] });
  });

  test("that JSON cannot carry without loss are refused with the path", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: unknown) => {});
    const error = await rejectionOf(scheduler.addJob(task, { payload: { when: [new Date(0)] } }));
    expect(error).toMatchObject({ code: "serialization" });
    expect((error as Error).message).toContain("when[0]");
  });

  test("above a million characters are refused", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: string) => {});
    await expect(scheduler.addJob(task, { payload: "x".repeat(1_000_000) })).rejects.toThrow("too large");
  });

  test("that cannot be read end the job as deserializationFailed, and stop nothing else", async () => {
    const serializer = {
      serialize: (value: unknown) => JSON.stringify(value),
      deserialize: (text: string): unknown => {
        if (text.includes("bad")) throw new DeserializationError("not readable");
        return JSON.parse(text);
      },
    };
    const { scheduler } = setUp({ dataStore: new MemoryDataStore({ serializer }) });
    const task = scheduler.task("t", { maxRunningJobs: null, retry: { maxAttempts: 3 } }, (payload: string) => payload);
    const [bad, good] = await scheduler.addJobs([
      { task, payload: "bad" },
      { task, payload: "good" },
    ]);
    await drain(scheduler);
    const result = await scheduler.getJobResult(bad?.id ?? "");
    expect(result).toMatchObject({ outcome: "deserializationFailed", attempts: 0 });
    expect(result?.error).toMatchObject({ code: "deserialization" });
    expect((await scheduler.getJobResult(good?.id ?? ""))?.returnValue).toBe("good");
  });

  test("that cannot be read spoil no listing", async () => {
    const { scheduler, store } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await updateSchedule(store, "s", { payload: "{", trigger: "{" });
    const [schedule] = (await scheduler.getSchedules()).items;
    expect(schedule?.toJSON()).toMatchObject({
      id: "s",
      payload: { unreadable: expect.stringContaining("not JSON") },
      trigger: { unreadable: expect.any(String) },
    });
    expect(() => schedule?.payload).toThrow(expect.objectContaining({ code: "deserialization" }));
  });

  test.each([5, undefined, null, {}, Promise.resolve("{}")])(
    "a serializer that returns %s instead of text is told so, for payloads and results",
    async (answer) => {
      const serializer = { serialize: () => answer as string, deserialize: JSON.parse };
      const { scheduler } = setUp({ dataStore: new MemoryDataStore({ serializer }) });
      scheduler.task("t", () => 1);
      const refusal = { code: "serialization", message: expect.stringContaining("serialize() must return text") };
      await expect(scheduler.addJob("t", { payload: 1 })).rejects.toMatchObject(refusal);
      const { id } = await scheduler.addJob("t");
      await drain(scheduler);
      expect((await scheduler.getJobResult(id))?.error?.message).toContain("serialize() must return text");
    },
  );

  test("a serializer that returns a promise of the payload ends the job, and its rejection ends no process", async () => {
    const deserialize = (): Promise<never> => Promise.reject(new Error("too late"));
    const { scheduler } = setUp({
      dataStore: new MemoryDataStore({ serializer: { serialize: JSON.stringify, deserialize } }),
    });
    scheduler.task("t", () => 1);
    const { id } = await scheduler.addJob("t", { payload: 1 });
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.outcome).toBe("deserializationFailed");
  });

  test.each([undefined, null, 5])("a schema that answers %s is told so", async (answer) => {
    const { scheduler } = setUp();
    const schema = { "~standard": { version: 1, vendor: "hand-made", validate: () => answer } } as unknown;
    scheduler.task("t", { schema: schema as StandardSchemaV1 }, () => 1);
    await expect(scheduler.addJob("t", { payload: 1 })).rejects.toMatchObject({
      code: "payload",
      message: expect.stringContaining(`its schema answered ${answer}`),
    });
  });

  test("a schema that throws fails the attempt, which is retried", async () => {
    const { scheduler, clock } = setUp();
    let isDown = false;
    const schema: StandardSchemaV1<unknown, unknown> = {
      "~standard": {
        version: 1,
        vendor: "remote",
        validate: (value) => {
          if (isDown) throw new Error("schema registry is down");
          return { value };
        },
      },
    };
    const { id } = await scheduler.addJob(scheduler.task("t", { schema, retry: { maxAttempts: 2 } }, () => "ran"));
    isDown = true;
    await scheduler.tick();
    isDown = false;
    await clock.advance("PT1S");
    await scheduler.tick();
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 2 });
  });
});
