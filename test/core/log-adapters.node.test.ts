import { configure, getLogger, type LogRecord, reset } from "@logtape/logtape";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { fromLogTape, fromPino } from "../../src/loggers.ts";
import { type Logger, Scheduler } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";

/** Runs a task that logs and fails. */
async function runFailing(logger: Logger): Promise<string> {
  await using scheduler = new Scheduler({ logger, identity: "me" });
  scheduler.task("pay", (_, context) => {
    context.logger.info("pays {now}", { amount: 7 });
    throw new TypeError("cannot pay", { cause: new RangeError("no such account") });
  });
  const { id } = await scheduler.addJob("pay");
  await drain(scheduler);
  return id;
}

describe("a logger of pino", () => {
  test.each([
    ["gets errors with their stack and cause, and the job as bindings", fromPino],
    ["gets them without its adapter, too", (logger: Logger) => logger],
  ])("%s", async (_, adapter) => {
    const written: Record<string, unknown>[] = [];
    const logger = pino(
      { level: "info", base: null, timestamp: false },
      { write: (line) => written.push(JSON.parse(line)) },
    );
    const jobId = await runFailing(adapter(logger));
    const facts = { taskId: "pay", jobId, scheduleId: null, schedulerId: "me", attempt: 1, fence: 1 };
    const end = { outcome: "error", durationMs: expect.any(Number), errorCode: "TypeError" };
    expect(written).toEqual([
      { level: 30, ...facts, details: [{ amount: 7 }], msg: "pays {now}" },
      {
        level: 50,
        ...facts,
        ...end,
        err: {
          type: "TypeError",
          message: "cannot pay: no such account",
          stack: expect.stringMatching(/TypeError: cannot pay[\s\S]*caused by: RangeError: no such account/),
        },
        msg: `escapement: job ${jobId} of task "pay" failed (attempt 1)`,
      },
    ]);
  });

  test("is given nothing below its level", async () => {
    const written: string[] = [];
    await runFailing(fromPino(pino({ level: "silent" }, { write: (line) => written.push(line) })));
    expect(written).toEqual([]);
  });
});

describe("a logger of LogTape", () => {
  afterEach(() => reset());

  test("gets errors as a property and in the message, and the job as properties", async () => {
    const records: LogRecord[] = [];
    await configure({
      sinks: { list: (record) => records.push(record) },
      loggers: [
        { category: "app", sinks: ["list"], lowestLevel: "info" },
        { category: ["logtape", "meta"], sinks: [], lowestLevel: "error" },
      ],
    });
    const jobId = await runFailing(fromLogTape(getLogger("app")));
    const facts = { taskId: "pay", jobId, scheduleId: null, schedulerId: "me", attempt: 1, fence: 1 };
    const end = { outcome: "error", durationMs: expect.any(Number), errorCode: "TypeError" };
    expect(
      records.map(({ level, message, properties }) => ({ level, text: message.map(String).join(""), properties })),
    ).toEqual([
      { level: "info", text: "pays {now}", properties: { ...facts, details: [{ amount: 7 }] } },
      {
        level: "error",
        text: `escapement: job ${jobId} of task "pay" failed (attempt 1): TypeError: cannot pay`,
        properties: { ...facts, ...end, error: expect.objectContaining({ message: "cannot pay" }) },
      },
    ]);
  });
});
