import { describe, expect, test } from "vitest";
import { type JobLog, JobLookupError, OptionsError } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { rejectionOf, setUp } from "./support.ts";

function messagesOf(logs: readonly JobLog[]): (readonly string[])[] {
  return logs.map(({ lines }) => lines.map(({ message }) => message));
}

describe("the log of a job", () => {
  test("is kept where its task says so, attempt by attempt, whatever the scheduler's level is", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", { keepLogs: {}, retry: { maxAttempts: 2 } }, (_, { logger, attempt }) => {
      logger.debug("begins", { attempt, at: 1 }, { size: 2 });
      logger.warn("odd", 7, "text", new TypeError("no paper"));
      if (attempt === 1) throw new Error("once more");
      logger.info("done");
    });
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    await clock.advance({ hours: 1 });
    await drain(scheduler);
    const logs = await scheduler.getJobLogs(id);
    expect(messagesOf(logs)).toEqual([
      ["begins", "odd"],
      ["begins", "odd", "done"],
    ]);
    expect(logs.map(({ attempt, dropped }) => [attempt, dropped])).toEqual([
      [1, 0],
      [2, 0],
    ]);
    const [begins, odd] = logs[0]?.lines ?? [];
    expect([begins?.level, begins?.fields, `${begins?.at}`]).toEqual([
      "debug",
      { attempt: 1, at: 1, size: 2 },
      "2030-01-01T00:00:00Z",
    ]);
    expect(odd?.fields).toMatchObject({ values: [7, "text"], error: { name: "TypeError", message: "no paper" } });
  });

  test("is not kept unless it is asked for, and goes with the result", async () => {
    const { scheduler, clock } = setUp({ taskDefaults: { keepLogs: { lines: 5 } } });
    scheduler.task("kept", { resultExpirationTime: "1h" }, (_, { logger }) => logger.info("a"));
    scheduler.task("silent", { keepLogs: null }, (_, { logger }) => logger.info("a"));
    scheduler.task("unkept", { resultExpirationTime: "0s" }, (_, { logger }) => logger.info("a"));
    const [kept, silent, unkept] = await scheduler.addJobs([{ task: "kept" }, { task: "silent" }, { task: "unkept" }]);
    await drain(scheduler);
    expect(messagesOf(await scheduler.getJobLogs(kept?.id ?? ""))).toEqual([["a"]]);
    expect(await scheduler.getJobLogs(silent?.id ?? "")).toEqual([]);
    expect(await rejectionOf(scheduler.getJobLogs(unkept?.id ?? ""))).toBeInstanceOf(JobLookupError);
    await clock.advance({ hours: 2 });
    expect(await rejectionOf(scheduler.getJobLogs(kept?.id ?? ""))).toBeInstanceOf(JobLookupError);
  });

  test("comes with the extensions of the lease of a job that runs long", async () => {
    const { scheduler, clock } = setUp({ leaseDuration: "30s" });
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const told: unknown[] = [];
    scheduler.subscribe("jobLogged", ({ jobId, attempt, lines }) => told.push([jobId, attempt, lines]));
    scheduler.task("silent", async (_, { logger }) => {
      logger.info("begins");
      await ended;
    });
    scheduler.task("long", { keepLogs: {} }, async (_, { logger }) => {
      logger.info("begins");
      await ended;
      logger.info("ends");
    });
    await scheduler.start();
    await scheduler.addJob("silent");
    const { id } = await scheduler.addJob("long");
    await clock.advance({ seconds: 1 });
    expect(await scheduler.getJobLogs(id)).toEqual([]);
    await clock.advance({ seconds: 31 });
    expect(messagesOf(await scheduler.getJobLogs(id))).toEqual([["begins"]]);
    end();
    await clock.advance({ seconds: 1 });
    expect(messagesOf(await scheduler.getJobLogs(id))).toEqual([["begins", "ends"]]);
    expect(told).toEqual([[id, 1, 1]]);
  });

  test("has the last lines of very many, and says how many were dropped", async () => {
    const { scheduler } = setUp();
    scheduler.task("storm", { keepLogs: { lines: 3 } }, (_, { logger }) => {
      for (let line = 0; line < 100_000; line++) logger.info(`line ${line}`);
    });
    const { id } = await scheduler.addJob("storm");
    await drain(scheduler);
    const [log] = await scheduler.getJobLogs(id);
    expect([messagesOf([log as JobLog]), log?.dropped]).toEqual([[["line 99997", "line 99998", "line 99999"]], 99_997]);
  });

  test.each([
    ["ascii", "x"],
    ["two bytes", "ü"],
    ["three bytes", "日"],
    ["four bytes", "😀"],
  ])("stays within its bytes, of %s too", async (_what, letter) => {
    const { scheduler } = setUp();
    scheduler.task("t", { keepLogs: { bytes: 10_000 } }, (_, { logger }) => {
      for (let line = 0; line < 500; line++) logger.info(`${line} ${letter.repeat(200)}`);
    });
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    const [log] = await scheduler.getJobLogs(id);
    const lines = log?.lines ?? [];
    const records = lines.map(({ at, ...line }) => ({ at: at.epochMilliseconds, ...line, fields: undefined }));
    const bytes = new TextEncoder().encode(JSON.stringify(records)).length;
    const longest = Math.max(...records.map((record) => new TextEncoder().encode(JSON.stringify(record)).length));
    expect(bytes).toBeLessThanOrEqual(10_001);
    expect(bytes).toBeGreaterThan(10_000 - longest - 2);
    expect(lines.length + (log?.dropped ?? 0)).toBe(500);
  });

  test("cuts huge messages, and takes whatever is logged", async () => {
    const { scheduler } = setUp();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    scheduler.task("t", { keepLogs: {} }, (_, { logger }) => {
      logger.info("😀".repeat(10_000_000));
      logger.info("half \ud83d and \0");
      logger.info("circle", circle);
      logger.info("big", 10n, { huge: "y".repeat(1_000_000) }, Symbol("s"));
      logger.info("proxy", new Proxy({}, { get: throwing, ownKeys: throwing, getPrototypeOf: throwing }));
      logger.info({ no: "text" } as unknown as string);
    });
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    const [log] = await scheduler.getJobLogs(id);
    const lines = log?.lines ?? [];
    expect(lines.map(({ message }) => message.length)).toEqual([expect.any(Number), 12, 6, 3, 5, 15]);
    expect(lines[0]?.message.length).toBeLessThanOrEqual(4096);
    expect(lines[0]?.message.isWellFormed()).toBe(true);
    expect(lines[1]?.message).toBe("half \ufffd and \ufffd");
    expect(JSON.stringify(lines[3]?.fields).length).toBeLessThan(5000);
    expect(JSON.stringify(lines[4]?.fields)).toContain("cannot be read");
  });

  test.each([
    [{ lines: 0 }, "keepLogs.lines must be a whole number from 1 to 10000"],
    [{ bytes: 1e9 }, "keepLogs.bytes must be a whole number from 1000 to 262144"],
    [true, "keepLogs must be an object; got true: write { keepLogs: {} }"],
  ])("is refused with bounds that are none: %j", (keepLogs, message) => {
    const { scheduler } = setUp();
    const settings = { keepLogs } as unknown as { keepLogs: { lines: number } };
    const register = (): unknown => scheduler.task("t", settings, () => {});
    expect(register).toThrow(OptionsError);
    expect(register).toThrow(message);
  });

  test("is read over HTTP as in one process", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", { keepLogs: {} }, (_, { logger }) => logger.error("oh no", { id: 7 }, new Error("no paper")));
    const { id } = await client.addJob("t");
    await drain(scheduler);
    const far = JSON.parse(JSON.stringify(await client.getJobLogs(id)));
    expect(far).toEqual(JSON.parse(JSON.stringify(await scheduler.getJobLogs(id))));
    expect(far).toMatchObject([{ attempt: 1, dropped: 0, lines: [{ level: "error", message: "oh no" }] }]);
    expect(await rejectionOf(client.getJobLogs("nothing"))).toBeInstanceOf(JobLookupError);
  });
});

function throwing(): never {
  throw new Error("nobody may read this");
}
