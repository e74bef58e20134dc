import { describe, expect, onTestFinished, test, vi } from "vitest";
import { IntervalTrigger, type LogLevel, Scheduler } from "../../src/mod.ts";
import { updateSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import {
  everySecond,
  heldHandler,
  leaseAndDie,
  recordingLogger,
  rejectionOf,
  START,
  START_MS,
  setUp,
} from "./support.ts";

/** Lines as "level message", with ids cut out; the errors behind them, by their message and that of their cause. */
function lines(entries: ReturnType<typeof recordingLogger>["entries"]): string[] {
  return entries.map(({ level, message, details }) => {
    const errors = details.map((detail) => {
      if (!(detail instanceof Error)) return String(detail);
      const cause = detail.cause instanceof Error ? ` < ${detail.cause.name}: ${detail.cause.message}` : "";
      return `${detail.name}: ${detail.message}${cause}`;
    });
    return [level, message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID"), ...errors].join(" | ");
  });
}

describe("the log of a scheduler", () => {
  test("tells of each failure of a job once, with its stack and its cause, and of each retry", async () => {
    const { scheduler, clock, log } = setUp();
    const cause = new RangeError("no such account");
    scheduler.task("pay", { retry: { maxAttempts: 2, backoff: { jitter: "none" } } }, () => {
      throw new TypeError("cannot pay", { cause });
    });
    await scheduler.start();
    await scheduler.addJob("pay");
    await clock.advance("PT1M");
    expect(lines(log)).toEqual([
      'warn | escapement: job ID of task "pay" failed (attempt 1), and runs again at 2030-01-01T00:00:01Z | ' +
        "TypeError: cannot pay < RangeError: no such account",
      'error | escapement: job ID of task "pay" failed (attempt 2) | ' +
        "TypeError: cannot pay < RangeError: no such account",
    ]);
    expect(log.map(({ details }) => (details[0] as Error).stack)).toEqual([
      expect.stringContaining("logging.test"),
      expect.stringContaining("logging.test"),
    ]);
  });

  test("shows what is kept of an error that no logger could show, and lets its job end", async () => {
    const { scheduler, log } = setUp();
    const refuse = (): never => {
      throw new Error("refused");
    };
    scheduler.task("proxy", () => {
      throw new Proxy({}, { get: refuse, getPrototypeOf: refuse });
    });
    scheduler.task("getter", () => {
      throw Object.defineProperty(new Error(), "message", { get: refuse });
    });
    await scheduler.addJobs([{ task: "proxy" }, { task: "getter" }]);
    const { outcomes } = await scheduler.tick();
    expect({ errors: outcomes.error, lines: lines(log).sort() }).toEqual({
      errors: 2,
      lines: ["getter", "proxy"].map(
        (task) =>
          `error | escapement: job ID of task "${task}" failed (attempt 1) | Error: an error that cannot be read was thrown`,
      ),
    });
  });

  test.each(["at once", "after an await"])("shows the frames of a handler that throws %s first", async (when) => {
    const { scheduler, log } = setUp();
    const findAccount = (): never => {
      throw new TypeError("no such account");
    };
    scheduler.task("pay", when === "at once" ? () => findAccount() : () => Promise.resolve().then(findAccount));
    await scheduler.addJob("pay");
    await scheduler.tick();
    const [error] = log.map(({ details }) => details[0] as Error);
    expect(error?.stack?.split("\n").find((line) => /^\s+at |@/.test(line))).toContain("findAccount");
  });

  test("leaves the error of a job that somebody here awaits to its caller", async () => {
    const { scheduler, log } = setUp({ logLevel: "debug" });
    scheduler.task("pay", () => {
      throw new TypeError("cannot pay");
    });
    await scheduler.start();
    const error = await rejectionOf(scheduler.runJob("pay"));
    await scheduler.addJob("pay");
    await scheduler.nextEvent("jobReleased");
    expect((error as Error).message).toBe("cannot pay");
    const failures = lines(log).filter((line) => line.includes("failed"));
    expect(failures).toEqual([
      'debug | escapement: job ID of task "pay" failed (attempt 1) | TypeError: cannot pay',
      'error | escapement: job ID of task "pay" failed (attempt 1) | TypeError: cannot pay',
    ]);
  });

  test("tells of missed deadlines, of lost and abandoned jobs, and of broken schedules", async () => {
    const { scheduler, clock, store, log } = setUp();
    scheduler.task("t", { maxRecoveries: 1, maxRunningJobs: null }, () => {});
    await scheduler.addJob("t", { startDeadline: new Date(START_MS + 1000) });
    await clock.advance("PT5S");
    await drain(scheduler);
    await scheduler.addJob("t");
    await leaseAndDie(store, clock.now());
    await clock.advance("PT61S");
    await leaseAndDie(store, clock.now());
    await clock.advance("PT61S");
    await drain(scheduler);
    const broken = new IntervalTrigger({ hours: 1 });
    await scheduler.addSchedule("t", broken, { id: "s" });
    const saved = IntervalTrigger.prototype.nextMs;
    IntervalTrigger.prototype.nextMs = () => clock.now() - 1;
    await drain(scheduler);
    IntervalTrigger.prototype.nextMs = saved;
    expect(lines(log)).toEqual([
      'warn | escapement: job ID of task "t" was not started before its deadline, and never runs',
      'error | escapement: job ID of task "t" was lost with its process twice, and is given up (see maxRecoveries)',
      expect.stringMatching(/^error \| escapement: schedule "s" was paused because it failed \| /),
    ]);
  });

  test("tells that a stop gave a job back, which was not lost with the process, and waits only if it may", async () => {
    const { scheduler, clock, log } = setUp({ logLevel: "info", identity: "me" });
    const { handler } = heldHandler();
    scheduler.task("t", handler);
    await scheduler.start();
    await scheduler.addJob("t");
    await clock.settle();
    const stopped = scheduler.stop({ drainTimeout: "0s" });
    await clock.advance("PT1S");
    await stopped;
    expect(lines(log)).toEqual([
      'info | escapement: started as "me": fires schedules and runs the tasks "t"',
      'warn | escapement: job ID of task "t" was given back to the queue (attempt 1), and runs again',
      "info | escapement: stopped",
    ]);
  });

  test("tells at its start what fires next in local time, and which schedules have no handler here", async () => {
    const { clock, store } = setUp();
    const before = new Scheduler({ dataStore: store, clock, logLevel: "silent", timeZone: "Europe/Berlin" });
    await before.schedule("monthly", "30 9 1 * *", () => {});
    await before.schedule("report", "0 9 * * mon-fri", () => {});
    await before.schedule("left", "0 12 * * mon-fri", () => {});
    await before.stop();
    const { scheduler, log } = setUp({ clock, dataStore: store, logLevel: "info", identity: "me" });
    for (const id of ["monthly", "report"]) scheduler.task(id, () => {});
    await scheduler.start();
    await clock.settle();
    expect(lines(log)).toEqual([
      'info | escapement: started as "me": fires schedules and runs the tasks "monthly", "report"',
      "info | escapement: next: report, Tue 09:00 Europe/Berlin",
      'info | escapement: there is no handler here for the stored schedule "left" (task "left"); ' +
        'if no other program has one either, removeSchedule("left") ends what is left',
    ]);
  });

  test("says at its start how long the next schedule is due, and counts no schedules that it has not seen", async () => {
    const { clock, store } = setUp();
    const before = new Scheduler({ dataStore: store, clock, logLevel: "silent" });
    before.task("left", () => {});
    await before.addSchedule("left", new IntervalTrigger({ hours: 1 }), { id: 'a"b\n' });
    for (let index = 0; index < 110; index++) {
      await before.addSchedule("left", new IntervalTrigger({ hours: 2 }), { id: `left ${index}` });
    }
    await before.stop();
    await clock.advance("P9D");
    const { scheduler, log } = setUp({ clock, dataStore: store, logLevel: "info", identity: "me" });
    await scheduler.start({ paused: true });
    await clock.settle();
    const [, next, left] = lines(log);
    expect(next).toBe('info | escapement: next: a"b%0A, due since Tue 2030-01-01 00:00 UTC');
    expect(left).toContain("and at least 90 more; ");
    expect(left).toContain(String.raw`removeSchedule("a\"b\n"), removeSchedule("left 0")`);
  });

  test("names the next schedule at its start also where its trigger is of an unknown kind", async () => {
    const { scheduler, store, clock, log } = setUp({ logLevel: "info", identity: "me" });
    await scheduler.schedule("custom", "0 9 * * *", () => {});
    await updateSchedule(store, "custom", { trigger: '{"type":"moon","version":1}' });
    await scheduler.start({ paused: true });
    await clock.settle();
    expect(lines(log)).toContain("info | escapement: next: custom, Tue 09:00 UTC");
  });

  test("gives the date of what fires in a week or later, and passes paused schedules by", async () => {
    const { clock, scheduler, log } = setUp({ logLevel: "info", identity: "me" });
    await scheduler.schedule("paused", "0 9 * * *", { paused: true }, () => {});
    await scheduler.schedule("yearly", "15 30 9 1 5 *", () => {});
    await scheduler.start();
    await clock.settle();
    expect(lines(log).at(-1)).toBe("info | escapement: next: yearly, Wed 2030-05-01 09:30:15 UTC");
  });

  test("says at its start since when the next schedule is due, with the date where that is a week ago", async () => {
    const { scheduler, clock, log } = setUp({ logLevel: "info", identity: "me" });
    await scheduler.schedule("report", "0 9 * * *", () => {});
    await clock.advance({ hours: 36 });
    await scheduler.start({ paused: true });
    await clock.settle();
    expect(lines(log).at(-1)).toBe("info | escapement: next: report, due since Tue 09:00 UTC");
    await scheduler.stop();
    await clock.advance({ days: 7 });
    await scheduler.start({ paused: true });
    await clock.settle();
    expect(lines(log).at(-1)).toBe("info | escapement: next: report, due since Tue 2030-01-01 09:00 UTC");
  });

  test("tells of its life at the level info, and of each attempt at the level debug", async () => {
    const { scheduler, clock, log } = setUp({ logLevel: "debug", identity: "me" });
    scheduler.task("t", () => {});
    await scheduler.start({ paused: true });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    scheduler.resume();
    await clock.settle();
    scheduler.pause();
    await scheduler.stop();
    expect(lines(log)).toEqual([
      'info | escapement: started as "me", paused: fires schedules and runs the tasks "t"',
      "info | escapement: resumed",
      'debug | escapement: job ID of task "t" (schedule "s") begins (attempt 1)',
      'debug | escapement: job ID of task "t" (schedule "s") has ended (attempt 1)',
      "info | escapement: paused",
      "info | escapement: stopped",
    ]);
  });

  test.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
    ["silent", []],
  ] satisfies [LogLevel, LogLevel[]][])("shows from the level %s on, to handlers too", async (logLevel, shown) => {
    const { scheduler, log } = setUp({ logLevel });
    scheduler.task("t", (_, { logger }) => {
      for (const level of ["debug", "info", "warn", "error"] as const) logger[level]("from the handler");
    });
    await scheduler.addJob("t");
    await drain(scheduler);
    const own = log.filter(({ message }) => message.includes("from the handler"));
    expect(own.map(({ level }) => level)).toEqual(shown);
  });

  test("is the console from the level info on, unless told otherwise", async () => {
    const seen: string[] = [];
    for (const level of ["debug", "info", "warn", "error"] as const) {
      const spy = vi.spyOn(console, level).mockImplementation((text: unknown) => void seen.push(`${level} ${text}`));
      onTestFinished(() => spy.mockRestore());
    }
    for (const options of [{}, { logger: console }, { logLevel: "silent" }] as const) {
      const scheduler = new Scheduler({ ...options, identity: "me", clock: new VirtualClock(START) });
      scheduler.task("t", (_, { logger }) => logger.debug("details"));
      await scheduler.start();
      await scheduler.runJob("t");
      await scheduler.stop();
    }
    const once = [
      'info escapement: started as "me": fires schedules and runs the tasks "t"',
      "info escapement: stopped",
    ];
    expect(seen).toEqual([...once, ...once]);
  });

  test("does not let the console take an id for a format, which would swallow the error", async () => {
    const seen: unknown[][] = [];
    for (const level of ["warn", "error"] as const) {
      const spy = vi.spyOn(console, level).mockImplementation((...line: unknown[]) => void seen.push(line));
      onTestFinished(() => spy.mockRestore());
    }
    const failure = new TypeError("no cotton");
    await using scheduler = new Scheduler({ clock: new VirtualClock(START) });
    scheduler.task("100%cotton", (_, { logger }) => {
      logger.warn("careful");
      logger.warn("%d left", 7);
      throw failure;
    });
    const { id } = await scheduler.addJob("100%cotton");
    await scheduler.tick();
    expect(seen).toEqual([
      [`[100%cotton ${id}] careful`],
      [`[100%%cotton ${id}] %d left`, 7],
      ["%s", `escapement: job ${id} of task "100%cotton" failed (attempt 1)`, failure],
    ]);
  });
});

describe("the logger of a handler", () => {
  test("names the task and the job in front of each line", async () => {
    const { scheduler, log } = setUp();
    scheduler.task("t", (_, { logger }) => logger.warn("careful", 7));
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    expect(log).toEqual([{ level: "warn", message: `[t ${id}] careful`, details: [7] }]);
  });

  test("is a child with the task and the job where the scheduler's logger makes children", async () => {
    const { logger, entries } = recordingLogger();
    const bound: unknown[] = [];
    const child = (bindings: object): typeof logger => {
      bound.push(bindings);
      return logger;
    };
    const { scheduler } = setUp({ identity: "me", logger: Object.assign({ child }, logger) });
    scheduler.task("t", (_: object, { logger }) => logger.warn("careful"));
    const { id } = await scheduler.addJob("t", { payload: {} });
    await drain(scheduler);
    expect(entries).toEqual([{ level: "warn", message: "careful", details: [] }]);
    expect(bound).toEqual([{ taskId: "t", jobId: id, scheduleId: null, schedulerId: "me", attempt: 1, fence: 1 }]);
  });

  test("writes the text in front where the child is no logger, or making it fails", async () => {
    for (const child of [
      () => ({}),
      () => null,
      () => Promise.reject,
      () => {
        throw new Error("no child");
      },
    ]) {
      // biome-ignore format: one line
      const { logger, entries } = recordingLogger();
      const { scheduler } = setUp({ logger: Object.assign({ child }, logger) });
      scheduler.task("t", (_, { logger }) => logger.warn("careful"));
      const { id } = await scheduler.addJob("t");
      await drain(scheduler);
      expect(entries.map(({ message }) => message)).toEqual([`[t ${id}] careful`]);
    }
  });
});
