import process from "node:process";
import { parentPort } from "node:worker_threads";
import { RetryAfter } from "../../src/core/retry-after.ts";
import type { JobContext } from "../../src/scheduler/scheduler-client.ts";
import type { StepContext } from "../../src/scheduler/steps/step-types.ts";
import { type DefinedTask, defineTasks } from "../../src/scheduler/tasks/defined-tasks.ts";

const nameOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : "none");

function post(message: unknown): void {
  if (parentPort === null) process.send?.(message);
  else parentPort.postMessage(message);
}

/** Tasks with steps. */
export const tasks: Readonly<Record<string, DefinedTask>> = defineTasks({
  records: {
    handler: async (failsAt: number, { step, attempt, job }: JobContext) => {
      const first = await step.run("first", () => ({ attempt }));
      const last = await step.run("loop", async ({ cursor = 0, save, key }: StepContext<number>) => {
        for (let i = cursor; i < 5; i++) {
          if (i === failsAt && attempt === 1) throw new Error(`fails at ${i}`);
          await save(i + 1);
        }
        return [cursor, key === `${job.id}:loop`];
      });
      await step.sleep("settle", { milliseconds: 1 });
      if (failsAt === 7 && job.snoozes < 2) throw new RetryAfter({ milliseconds: 1 });
      return [first, last, attempt, job.snoozes];
    },
  },
  wrong: {
    handler: async (_payload: unknown, { step }: JobContext) => {
      const messages: string[] = [];
      const note = (error: unknown): void => void messages.push(nameOf(error));
      await step.run("a", () => 1);
      await step.run("a", () => 2).catch(note);
      await step.run("b", () => step.run("c", () => 3)).catch(note);
      await step.run("d", ({ prepare }) => prepare(1)).catch(note);
      await step.run("e", () => ({ list: [() => 1] })).catch(note);
      await step.run("f", () => "x".repeat(262_145)).catch(note);
      return messages;
    },
  },
  prepares: {
    handler: (_payload: unknown, { step }: JobContext) =>
      step.run("book", async ({ prepare }) => {
        const { value, statements } = await prepare({ booked: 3 });
        return { value, statements };
      }),
  },
  /** Its worker ends in the middle of a step. */
  exits: {
    handler: (exitsAt: number, { step, attempt }: JobContext) =>
      step.run("loop", async ({ cursor = 0, save }: StepContext<number>) => {
        for (let i = cursor; i < 5; i++) {
          if (i === exitsAt && attempt === 1) process.exit(1);
          await save(i + 1);
        }
        return [cursor, attempt];
      }),
  },
  /** Says how its steps end once the attempt is to end. */
  aborted: {
    handler: async (_payload: unknown, { step, progress, signal }: JobContext) => {
      const said: string[] = [];
      const waits = async ({ save, signal: own }: StepContext<number>): Promise<void> => {
        await save(1);
        progress(0.1, "waits");
        await new Promise((resolve) => own.addEventListener("abort", resolve, { once: true }));
        said.push(nameOf(own.reason));
        await save(2);
        throw own.reason;
      };
      await step.run("waits", { timeout: "PT1H", retry: { maxAttempts: 5 } }, waits).catch((e) => said.push(nameOf(e)));
      await step.run("late", () => 1).catch((error) => said.push(nameOf(error)));
      progress(0.9, [...said, signal.aborted].join("; "));
    },
  },
  /** Another scheduler has the job when it saves for the second time. */
  loses: {
    handler: async (_payload: unknown, { step, progress, signal }: JobContext) => {
      const body = async ({ save }: StepContext<number>): Promise<void> => {
        await save(1);
        await save(2);
      };
      const error = await step.run("loop", body).catch(nameOf);
      const later = await step.run("later", () => 1).catch(nameOf);
      progress(0.9, [String(error), String(later), signal.aborted].join("; "));
    },
  },
  /** Sends messages of its own about steps. */
  lies: {
    handler: async (_payload: unknown, { step }: JobContext) => {
      const nothing = { startedAt: 0, endedAt: 0, wakeAt: null, attempts: 1, version: null, cursor: null };
      const good = { name: "forged", value: "1", ...nothing };
      const wrong = [
        ...[{}, null, [], "text", { ...good, name: 5 }, { ...good, name: "" }, { ...good, name: "n".repeat(201) }],
        ...[
          { ...good, name: "\ud800" },
          { ...good, name: "a\0" },
          { ...good, value: "a\0" },
          { ...good, value: 1 },
        ],
        ...[
          { ...good, value: "x".repeat(262_145) },
          { ...good, cursor: "\ud800" },
          { ...good, endedAt: "now" },
        ],
        ...[
          { ...good, wakeAt: 1.5 },
          { ...good, attempts: 0.5 },
          { ...good, startedAt: null },
        ],
      ];
      for (let id = 0; id < 30; id++) {
        for (const [number, one] of wrong.entries()) {
          for (const method of ["save", "prepare", "load", "drop", "__proto__"]) {
            if (method !== "load") post({ escapement: [{ op: "step", id, number, method, step: one }] });
          }
        }
        post({ escapement: [{ op: "step", id, number: "1", method: "load" }] });
        post({ escapement: [{ op: "step", id: String(id), number: 1, method: "load" }] });
        // An answer that nobody asked for.
        post({ escapement: [{ op: "step", id: id + 1000, number: 99, method: "load" }] });
      }
      return step.run("real", () => "kept");
    },
  },
});
