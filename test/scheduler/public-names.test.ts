import { describe, expect, test } from "vitest";
import { RemoteScheduler } from "../../src/client/remote-scheduler.ts";
import * as main from "../../src/mod.ts";
import * as contracts from "../../src/testing/contracts.ts";
import * as testing from "../../src/testing/mod.ts";
import { at, everySecond, START, setUp } from "./support.ts";

const ERROR_CODES = {
  CronSyntaxError: "cronSyntax",
  ConflictingIdError: "conflictingId",
  RevisionConflictError: "revisionConflict",
  TaskLookupError: "taskLookup",
  ScheduleLookupError: "scheduleLookup",
  JobLookupError: "jobLookup",
  HandlerLookupError: "handlerLookup",
  PayloadError: "payload",
  SerializationError: "serialization",
  DeserializationError: "deserialization",
  MaxIterationsReachedError: "maxIterationsReached",
  JobCancelledError: "jobCancelled",
  JobDeadlineMissedError: "jobDeadlineMissed",
  JobTimeoutError: "jobTimeout",
  JobAbandonedError: "jobAbandoned",
  NonRetryableError: "nonRetryable",
  StoreRefusedError: "storeRefused",
  StoreUnavailableError: "storeUnavailable",
  SchedulerStateError: "schedulerState",
  OptionsError: "options",
} as const;

const EVENT_TYPES = [
  ...(["taskAdded", "taskUpdated", "taskRemoved", "scheduleAdded", "scheduleUpdated", "scheduleRemoved"] as const),
  ...(["jobAdded", "jobAcquired", "jobProgressed", "jobRetried", "jobReleased"] as const),
  ...(["schedulerStarted", "schedulerPaused", "schedulerResumed", "schedulerStopped"] as const),
  ...(["scheduleFailed", "scheduleBacklogged"] as const),
] satisfies main.EventType[];

describe("the main entry", () => {
  test.each([
    ...["Scheduler", "MemoryDataStore", "LocalEventBroker", "BroadcastChannelEventBroker", "InlineExecutor"],
    ...["JSONSerializer", "DevalueSerializer", "triggerFromJSON", "registerTrigger", "currentJob"],
    ...["Trigger", "CronTrigger", "IntervalTrigger", "CalendarIntervalTrigger", "DateTrigger"],
    ...["AndTrigger", "OrTrigger", "EscapementError", ...Object.keys(ERROR_CODES)],
  ])("has %s", (name) => {
    expect(main).toHaveProperty(name, expect.any(Function));
  });

  test("has a system clock", () => {
    expect(main.systemClock).toMatchObject({ now: expect.any(Function), sleep: expect.any(Function) });
  });

  test.each(Object.entries(ERROR_CODES))("%s is an EscapementError with the code %s and its own name", (name, code) => {
    const classes: Readonly<Record<string, unknown>> = { ...main };
    const ErrorClass = classes[name] as new (message: string, facts: unknown) => Error;
    const error = new ErrorClass("text", { field: "day", element: "x", position: 0 });
    expect(error).toBeInstanceOf(main.EscapementError);
    expect(error).toMatchObject({ name, code, message: "text" });
  });

  test.each(["start", "runUntilStopped", "stop", "pause", "resume", "tick", "task", "use", "schedule", "prepareJob"])(
    "a scheduler has %s(), and a client of a router has not",
    (name) => {
      expect(main.Scheduler.prototype).toHaveProperty(name, expect.any(Function));
      expect(RemoteScheduler.prototype).not.toHaveProperty(name);
    },
  );

  test.each([
    ...[
      "getTasks",
      "removeTask",
      "pauseTask",
      "unpauseTask",
      "addSchedule",
      "getSchedule",
      "getSchedules",
      "updateSchedule",
      "removeSchedule",
      "pauseSchedule",
    ],
    ...["pauseSchedules", "unpauseSchedules", "removeSchedules", "printSchedules", "addBatch"],
    ...["unpauseSchedule", "runScheduleNow", "previewSchedule", "addJob", "addJobs", "runJob", "getJob", "getJobs"],
    ...["getJobResult", "getJobResults", "cancelJob", "subscribe", "nextEvent", "events", "health", "cleanup"],
    ...["retryJob", "retryJobs", "cancelJobs", "removeJobResults"],
  ])("a scheduler has %s(), and so has a client of a router", (name) => {
    expect(main.Scheduler.prototype).toHaveProperty(name, expect.any(Function));
    expect(RemoteScheduler.prototype).toHaveProperty(name, expect.any(Function));
  });

  test.each([...["next", "previous", "fireTimes", "nextMs", "previousMs", "startingAt", "toJSON", "describe"]])(
    "a trigger has %s()",
    (name) => {
      expect(everySecond()).toHaveProperty(name, expect.any(Function));
    },
  );

  test("takes every option that is documented", async () => {
    const { scheduler } = setUp({
      eventBroker: new main.LocalEventBroker(),
      executors: { inline: new main.InlineExecutor() },
      role: "both",
      identity: "a",
      maxConcurrentJobs: 10,
      taskDefaults: { timeout: "PT1M" },
      leaseDuration: { seconds: 30 },
      cleanupInterval: null,
      maxIdle: "PT5S",
      zoneRules: "auto",
    });
    scheduler.task("t", { maxRunningJobs: null, overlap: "queue" }, () => {});
    const both = { payload: 1, metadata: { a: 1 }, executor: "inline", priority: 2, resultExpirationTime: "PT1H" };
    const overlap = "skip" as const;
    const ofSchedule = {
      coalesce: "all",
      misfireGraceTime: "PT1M",
      maxJitter: "PT1S",
      catchUp: { maxAge: "1d", maxCount: 3, pace: "1s" },
      overlap,
    } as const;
    const adding = { id: "s", conflictPolicy: "replace", paused: true } as const;
    await scheduler.addSchedule("t", everySecond(), { ...both, ...ofSchedule, ...adding });
    await scheduler.updateSchedule("s", { ...both, ...ofSchedule, trigger: everySecond() });
    await scheduler.unpauseSchedule("s", { resumeFrom: "now" });
    await scheduler.previewSchedule("s", { limit: 1, from: START });
    await scheduler.addJob("t", { ...both, runAt: at(1), idempotencyKey: "k", startDeadline: at(2) });
    const page = { limit: 1, cursor: null };
    await scheduler.getSchedules({ taskId: "t", paused: false, ...page });
    await scheduler.getJobs({ taskId: "t", scheduleId: "s", ...page });
    await scheduler.getJobResults({ scheduleId: "s", taskId: "t", outcome: "success", ...page });
    const { signal } = new AbortController();
    expect(
      Object.keys(await scheduler.tick({ maxDuration: "PT1S", maxJobs: 1, maxRoundTrips: 9, signal })).sort(),
    ).toEqual([
      ...["exhausted", "jobsAdded", "jobsRun", "nextWakeAt", "nextWakeAtMs", "outcomes", "roundTrips"],
      "schedulesProcessed",
    ]);
    expect(scheduler.identity).toBe("a");
  });

  test("knows every type of event", () => {
    const { scheduler } = setUp();
    for (const type of EVENT_TYPES) scheduler.subscribe(type, () => {}, { once: true }).unsubscribe();
    expect(() => scheduler.subscribe("jobStarted" as main.EventType, () => {})).toThrow(main.OptionsError);
  });

  test("a handler's context has everything that is documented", async () => {
    const { scheduler } = setUp();
    let context: main.JobContext | null = null;
    await scheduler.addJob(
      scheduler.task("t", (_, given) => {
        context = given;
      }),
    );
    await scheduler.tick();
    expect(context).toMatchObject({
      job: { taskId: "t" },
      attempt: 1,
      fence: 1,
      idempotencyKey: expect.any(String),
      signal: expect.any(AbortSignal),
      scheduler,
      logger: expect.anything(),
      progress: expect.any(Function),
      getParentResults: expect.any(Function),
      getLastRun: expect.any(Function),
    });
  });
});

describe("the testing entry", () => {
  test("has a clock and drain(), and the contracts behind a door of their own", () => {
    expect(Object.keys(testing).sort()).toEqual(["VirtualClock", "drain"]);
    const { dataStoreContract, eventBrokerContract, jobExecutorContract } = contracts;
    for (const contract of [dataStoreContract, eventBrokerContract, jobExecutorContract]) {
      expect(contract[0]).toMatchObject({ name: expect.any(String), run: expect.any(Function) });
    }
  });
});
