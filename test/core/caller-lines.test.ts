import { describe, expect, test } from "vitest";
import { connect } from "../../src/client/mod.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { EscapementError, Scheduler } from "../../src/mod.ts";
import { SchedulerClient } from "../../src/scheduler/scheduler-client.ts";

/** The frames of what a function rejects with: those of an async function that awaits it are the caller's. */
async function rejectionOf(call: () => unknown): Promise<{ error: unknown; stack: string }> {
  async function theCallersLine(): Promise<void> {
    await call();
  }
  try {
    await theCallersLine();
  } catch (error) {
    return { error, stack: error instanceof Error ? (error.stack ?? "") : "" };
  }
  return { error: undefined, stack: "" };
}

const TOKEN = "a-token-of-this-test-alone-0123456789";

const HERE = /theCallersLine .*caller-lines\.test/;

/** Every method of a client, called with what is none of its arguments. */
function wrongCalls(client: SchedulerClient, prototypes: readonly object[]): [string, () => unknown][] {
  const names = prototypes.flatMap((one) => Object.getOwnPropertyNames(one));
  return names
    .filter((name) => name !== "constructor" && name !== "state")
    .map((name) => [name, () => (Reflect.get(client, name) as (...given: unknown[]) => unknown).call(client, 1, 2, 3)]);
}

/** What clients reject when what is asked of them is fine, and not there. */
const ABSENT: Readonly<Record<string, (client: SchedulerClient) => unknown>> = {
  addSchedule: (client) => client.addSchedule("absent", "0 9 * * *"),
  "addSchedule in use": (client) => client.addSchedule("task", "0 9 * * *", { id: "used", conflictPolicy: "error" }),
  getSchedule: (client) => client.getSchedule("absent"),
  updateSchedule: (client) => client.updateSchedule("absent", { metadata: {} }),
  pauseSchedule: (client) => client.pauseSchedule("absent"),
  runScheduleNow: (client) => client.runScheduleNow("absent"),
  "getSchedules after a cursor": (client) => client.getSchedules({ cursor: "absent" }),
  getOccurrences: (client) => client.getOccurrences("absent"),
  addJob: (client) => client.addJob("absent"),
  addJobs: (client) => client.addJobs([{ task: "task" }, { task: "absent" }]),
  runJob: (client) => client.runJob("absent"),
  getJob: (client) => client.getJob("absent"),
  getJobLogs: (client) => client.getJobLogs("absent"),
  retryJob: (client) => client.retryJob("absent"),
  "a loop over jobs": async (client) => {
    for await (const job of client.getJobs({ cursor: "absent" })) throw new Error(job.id);
  },
  getTask: (client) => client.getTask("absent"),
  pauseTask: (client) => client.pauseTask("absent"),
};

async function withScheduler(use: (scheduler: Scheduler) => Promise<void>): Promise<void> {
  await using scheduler = new Scheduler({ logLevel: "silent" });
  scheduler.task("task", () => {});
  await scheduler.addSchedule("task", "0 8 * * *", { id: "used" });
  await use(scheduler);
}

describe("a rejected call has the line of its caller in the stack", () => {
  test("whichever method gets what it does not take", () =>
    withScheduler(async (scheduler) => {
      const lacking: string[] = [];
      let rejected = 0;
      for (const [name, call] of wrongCalls(scheduler, [SchedulerClient.prototype, Scheduler.prototype])) {
        const { error, stack } = await rejectionOf(call);
        if (!(error instanceof EscapementError)) continue;
        rejected++;
        if (!HERE.test(stack)) lacking.push(`${name}: ${stack}`);
      }
      expect(lacking).toEqual([]);
      expect(rejected).toBeGreaterThan(45);
    }));

  test.each(Object.entries(ABSENT))("%s", (_, call) =>
    withScheduler(async (scheduler) => {
      const { error, stack } = await rejectionOf(() => call(scheduler));
      expect(error).toBeInstanceOf(EscapementError);
      expect(stack).toMatch(HERE);
    }),
  );

  test.each(Object.entries(ABSENT))("%s over HTTP", (_, call) =>
    withScheduler(async (scheduler) => {
      const router = createRouter(scheduler, { auth: { tokens: [{ token: TOKEN, scope: "write" }] } });
      await using client = connect({ url: "http://localhost", token: TOKEN, fetch: router.fetch });
      const { error, stack } = await rejectionOf(() => call(client));
      expect(error).toBeInstanceOf(EscapementError);
      expect(error).not.toMatchObject({ status: 403 });
      expect(stack).toMatch(HERE);
    }),
  );

  test("of a schedule and a job that are gone", () =>
    withScheduler(async (scheduler) => {
      const schedule = await scheduler.getSchedule("used");
      await schedule.remove();
      for (const call of [() => schedule.pause(), () => schedule.update({ metadata: {} }), () => schedule.runNow()]) {
        const { stack } = await rejectionOf(call);
        expect(stack).toMatch(HERE);
      }
    }));

  test("of calls at several lines that fail together", () =>
    withScheduler(async (scheduler) => {
      const calls = [() => scheduler.addSchedule("absent", "@daily"), () => scheduler.addSchedule("gone", "@daily")];
      const rejections = await Promise.all(calls.map((call) => rejectionOf(call)));
      for (const { stack } of rejections) expect(stack).toMatch(HERE);
    }));
});

test("the caller's line stands once in a stack, and an error of the program's own stays as it is", () =>
  withScheduler(async (scheduler) => {
    const { stack } = await rejectionOf(() => scheduler.addSchedule("task", "0 9 * * *", { nope: 1 } as object));
    expect(stack.split("\n").filter((line) => line.includes("theCallersLine"))).toHaveLength(1);
    const reason = new Error("enough");
    const before = reason.stack;
    const { error } = await rejectionOf(() => scheduler.runJob("task", { signal: AbortSignal.abort(reason) }));
    expect(error).toBe(reason);
    expect(reason.stack).toBe(before);
  }));

test("an error of one of many names its place in the list once", () =>
  withScheduler(async (scheduler) => {
    const { error, stack } = await rejectionOf(() =>
      scheduler.addSchedules([{ task: "task", id: "wrong", trigger: "bad" }]),
    );
    expect(stack.split("addSchedules()[0]").length - 1).toBe(1);
    expect(stack).toContain((error as Error).message);
  }));
