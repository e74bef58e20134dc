import { describe, expect, test } from "vitest";
import type { Logger } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { everySecond, type Setup, setUp } from "./support.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** A scheduler with a structured logger that remembers its lines with their fields. */
function setUpFields(options: Parameters<typeof setUp>[0] = {}): Setup & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const loggerWith = (fields: object): Logger => {
    const at =
      (level: string) =>
      (message: string): void =>
        void lines.push({ level, message: message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID"), fields });
    const child = (more: object): Logger => loggerWith({ ...fields, ...more });
    return Object.assign({ debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, { child });
  };
  const setup = setUp({ identity: "me", logLevel: "debug", ...options, logger: loggerWith({}) });
  return { ...setup, lines };
}

describe("the fields of a structured log", () => {
  test("tell of a fire time's job: its fence, fire time, lateness, run time and outcome", async () => {
    const { scheduler, clock, lines } = setUpFields();
    scheduler.task("report", () => clock.advance("PT0.5S"));
    await scheduler.addSchedule("report", everySecond(), { id: "s" });
    await scheduler.pauseSchedule("s");
    await clock.advance("PT0.25S");
    await scheduler.unpauseSchedule("s");
    const [job] = await Promise.all([scheduler.nextEvent("jobAdded"), drain(scheduler)]);
    const facts = { taskId: "report", jobId: job.jobId, scheduleId: "s", schedulerId: "me", attempt: 1, fence: 1 };
    const late = { scheduledFireTime: "2030-01-01T00:00:00Z", latenessMs: 250 };
    expect(lines.filter(({ message }) => message.includes(" of task "))).toEqual([
      {
        level: "debug",
        message: 'escapement: job ID of task "report" (schedule "s") begins (attempt 1)',
        fields: { ...facts, ...late },
      },
      {
        level: "debug",
        message: 'escapement: job ID of task "report" (schedule "s") has ended (attempt 1)',
        fields: { ...facts, ...late, outcome: "success", durationMs: 500 },
      },
    ]);
  });

  test("tell of failures: the code of the error, or its name, and the run time of the attempt", async () => {
    const { scheduler, clock, lines } = setUpFields({ logLevel: "warn" });
    const retry = { maxAttempts: 2, backoff: { jitter: "none" } } as const;
    scheduler.task("pay", { retry }, async (_, { attempt, logger }) => {
      logger.warn("pays");
      await clock.sleep(clock.now() + attempt * 100);
      if (attempt === 1) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      throw new TypeError("no such account");
    });
    await scheduler.start();
    const { id: jobId } = await scheduler.addJob("pay");
    await clock.advance("PT5S");
    const facts = { taskId: "pay", jobId, scheduleId: null, schedulerId: "me" };
    const first = { ...facts, attempt: 1, fence: 1 };
    const second = { ...facts, attempt: 2, fence: 2 };
    expect(lines.map(({ fields }) => fields)).toEqual([
      first,
      { ...first, durationMs: 100, errorCode: "ECONNREFUSED" },
      second,
      { ...second, durationMs: 200, outcome: "error", errorCode: "TypeError" },
    ]);
  });
});
