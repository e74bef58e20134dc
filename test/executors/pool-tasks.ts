import { setTimeout as wait } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import { NonRetryableError, OptionsError, SkipRun } from "../../src/core/errors.ts";
import type { JobContext } from "../../src/scheduler/scheduler-client.ts";
import { currentJob } from "../../src/scheduler/tasks/current-job.ts";
import { type DefinedTask, defineTasks } from "../../src/scheduler/tasks/defined-tasks.ts";

/** Tasks that do what executors must bear. */
export const tasks: Readonly<Record<string, DefinedTask>> = defineTasks({
  echo: { handler: (payload: unknown) => payload },
  worker: { handler: () => threadId || process.pid },
  /** Never lets its event loop have a turn. */
  spin: {
    handler: () => {
      for (;;);
    },
  },
  /** The same, until its signal says that it is to end. */
  spinUntilAborted: {
    handler: (_payload: unknown, { signal, progress }: JobContext) => {
      progress(0, "spinning");
      while (!signal.aborted);
      throw signal.reason;
    },
  },
  throwIfAborted: {
    handler: (_payload: unknown, { signal, progress }: JobContext) => {
      progress(0, "spinning");
      for (;;) signal.throwIfAborted();
    },
  },
  exit: { handler: (code: number) => process.exit(code) },
  crash: {
    handler: () => {
      queueMicrotask(() => {
        throw new TypeError("nobody catches this");
      });
      return new Promise(() => {});
    },
  },
  outOfMemory: {
    handler: () => {
      const kept: unknown[] = [];
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
    },
  },
  function: { handler: () => () => {} },
  nonRetryable: {
    handler: () => {
      throw new NonRetryableError("gone", { cause: new RangeError("deeper") });
    },
  },
  options: {
    handler: () => {
      throw new OptionsError("wrong", [{ path: "a.b", message: "must be text" }]);
    },
  },
  coded: {
    handler: () => {
      throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    },
  },
  steps: {
    handler: async (count: number, { progress }: JobContext) => {
      for (let step = 1; step <= count; step++) {
        progress(step / count, `step ${step}`);
        await null;
      }
    },
  },
  badProgress: { handler: (_payload: unknown, { progress }: JobContext) => progress(50) },
  logs: {
    handler: (_payload: unknown, { logger }: JobContext) => {
      logger.debug("a line", { size: 1, of: [true, null] }, "text");
      logger.warn("it failed", new RangeError("too far"));
      logger.info("long ".repeat(10_000));
      logger.error("a symbol", Symbol("one"));
    },
  },
  logsHostile: {
    handler: (_payload: unknown, { logger }: JobContext) => {
      const refuse = (): never => {
        throw new Error("nobody may look");
      };
      logger.info("a proxy", new Proxy({}, { get: refuse, getPrototypeOf: refuse }));
      return "logged";
    },
  },
  longNote: {
    handler: (_payload: unknown, { progress }: JobContext) => progress(0.5, "n".repeat(2000)),
  },
  logsForEver: {
    handler: (count: number, { logger }: JobContext) => {
      for (let line = 0; line < count; line++) logger.info("a line");
    },
  },
  context: {
    handler: async (payload: unknown, context: JobContext) => {
      await null;
      const { job, attempt, fence, idempotencyKey } = context;
      const facts = { id: job.id, taskId: job.taskId, payload: job.payload, metadata: job.metadata };
      return { ...facts, given: payload, attempt, fence, idempotencyKey, isCurrent: currentJob() === context };
    },
  },
  scheduler: { handler: (_payload: unknown, { scheduler }: JobContext) => scheduler.getJobs() },
  parents: {
    handler: async (_payload: unknown, { getParentResults }: JobContext) => {
      const [results, again] = await Promise.all([getParentResults(), getParentResults()]);
      const shown = results.map((result) =>
        result === null ? null : [result.outcome, result.payload ?? null, result.returnValue ?? null],
      );
      return [shown, again.length, results.map((result) => result?.error?.message ?? null)];
    },
  },
  scheduleFacts: {
    handler: async (_payload: unknown, context: JobContext) => {
      const [last, again, since] = await Promise.all([
        context.getLastRun(),
        context.getLastRun(),
        context.previousFireTime,
      ]);
      return [last?.outcome ?? null, again?.finishedAt.toString() ?? null, since?.toString() ?? null];
    },
  },
  skips: {
    handler: (reason: string) => {
      throw new SkipRun(reason);
    },
  },
  cancelItself: { handler: (_payload: unknown, { job }: JobContext) => job.cancel() },
  waitsForAbort: {
    handler: (_payload: unknown, { signal, progress }: JobContext) => {
      progress(0, "waiting");
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  },
  environment: { handler: (name: string) => process.env[name] ?? null },
  later: { handler: (payload: unknown) => wait(1, payload) },
  /** Declared here, and run elsewhere. */
  elsewhere: {},
});
