import { spawn } from "node:child_process";
import process from "node:process";
import { defineTasks } from "../../src/scheduler/tasks/defined-tasks.ts";

/** What the processes of these tests run. */
export const tasks: object = defineTasks({
  echo: { handler: (payload: unknown) => payload },
  parents: {
    handler: async (_: unknown, { getParentResults }) =>
      (await getParentResults()).map((result) => (result === null ? null : [result.jobId, result.returnValue])),
  },
  scheduleFacts: {
    handler: async (_: unknown, { getLastRun, previousFireTime }) => [
      (await getLastRun())?.outcome ?? null,
      String(await previousFireTime),
    ],
  },
  pid: { handler: () => process.pid },
  exit: { handler: (code: number) => process.exit(code) },
  complains: {
    handler: () => {
      console.error("the disk is full");
      setTimeout(() => {
        throw Object.assign(new TypeError("nobody catches this"), { status: 507 });
      });
      return new Promise(() => {});
    },
  },
  catchesAll: {
    handler: async () => {
      const caught = new Promise((resolve) => process.once("uncaughtException", resolve));
      setTimeout(() => {
        throw new Error("not for nobody");
      });
      await caught;
      process.exit(6);
    },
  },
  leavesChild: {
    handler: async (_: unknown, { progress }) => {
      const { pid = 0 } = spawn("sleep", ["60"], { stdio: "inherit" });
      progress(0.5, String(pid));
      process.exitCode = 4;
      await new Promise((resolve) => setImmediate(resolve));
      process.exit(4);
    },
  },
  fill: {
    handler: () => {
      const kept: unknown[] = [];
      for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
    },
  },
  spin: {
    handler: () => {
      for (;;);
    },
  },
  // Reports when it runs, and then waits for its end.
  wait: {
    handler: (_: unknown, { progress, signal }) => {
      progress(0.5, String(process.pid));
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  },
  spinAfterProgress: {
    handler: (_: unknown, { progress }) => {
      progress(0.5, String(process.pid));
      for (;;);
    },
  },
  // The first attempt waits for ever.
  waitOnce: {
    handler: (_: unknown, { attempt, progress }) => {
      progress(0.5, String(process.pid));
      return attempt > 1 ? attempt : new Promise(() => {});
    },
  },
  disconnect: { handler: () => process.disconnect?.() },
  readEnvironment: { handler: (name: string) => process.env[name] ?? null },
  readFolder: { handler: () => process.cwd() },
  // A program may send messages of its own.
  talkNonsense: {
    handler: () => {
      for (const message of [
        null,
        1,
        "text",
        {},
        { escapement: 1 },
        { escapement: [null] },
        ...Array.from({ length: 20 }, (_, id) => ({
          escapement: [
            { op: "progress", id, fraction: 99 },
            { op: "failed", id, error: { name: "Error", message: "of nobody", cause: null } },
            { op: "log", id, level: "warn", message: "of nobody", details: [{ error: { name: 1 } }] },
          ],
        })),
      ]) {
        process.send?.(message);
      }
      return "talked";
    },
  },
});
