import { expect, test } from "vitest";
import { WORKER_MESSAGES_MAX } from "../../src/executors/remote/limits.ts";
import type { PoolSettings } from "../../src/executors/remote/pool-settings.ts";
import type { ChannelListener, WorkerChannel } from "../../src/executors/remote/worker-channel.ts";
import { WorkerPool } from "../../src/executors/remote/worker-pool.ts";
import type { TaskHandler } from "../../src/scheduler/scheduler-client.ts";
import { TaskServer } from "../../src/task-server/task-server.ts";
import { makeCall } from "./calls.ts";

const CALLS = WORKER_MESSAGES_MAX * 2 + 1;
const PORTIONS = [WORKER_MESSAGES_MAX, WORKER_MESSAGES_MAX, 1];
const WORDS = { executor: "LocalExecutor", worker: "thread" };
const SETTINGS: PoolSettings = {
  module: null,
  maxWorkers: 1,
  minWorkers: 0,
  jobsPerWorker: CALLS,
  maxJobsPerWorker: null,
  abortGraceMs: 1000,
  idleTimeoutMs: null,
  startTimeoutMs: 10_000,
};

/** How many messages a list of them has that each side sent, by the operation of the first one. */
type Portions = Record<string, number[]>;

/** A worker in the same thread, whose messages arrive in later turns. */
function openLocal(portions: Portions, handler: TaskHandler): (listener: ChannelListener) => WorkerChannel {
  const later = (work: () => void): unknown => queueMicrotask(() => queueMicrotask(work));
  const count = (messages: readonly { readonly op: string }[]): void => {
    const op = messages[0]?.op ?? "nothing";
    portions[op] = [...(portions[op] ?? []), messages.length];
  };
  return (listener) => {
    const handlers = new Map([["echo", handler]]);
    const server = new TaskServer(
      async () => ({ handlers, serializer: undefined }),
      (messages) => {
        count(messages);
        later(() => listener.onMessage({ escapement: messages }));
      },
    );
    return {
      sharesMemory: false,
      send: (messages) => {
        count(messages);
        later(() => server.receive({ escapement: messages }));
      },
      ref: () => undefined,
      unref: () => undefined,
      kill: async () => undefined,
    };
  };
}

test.each<[string, TaskHandler, string]>([
  ["return", (payload) => payload, "done"],
  ["resolve", async (payload) => payload, "done"],
  // biome-ignore lint/suspicious/noThenProperty: a promise of another library
  ["return a thenable", (payload) => ({ then: (resolve: (value: unknown) => void) => resolve(payload) }), "done"],
  ["throw", () => Promise.reject(new Error("no")), "failed"],
  [
    "throw at once",
    () => {
      throw new Error("no");
    },
    "failed",
  ],
])("calls and endings go in portions when handlers %s, so that both sides work at once", async (_, handler, op) => {
  const portions: Portions = {};
  const pool = new WorkerPool(SETTINGS, WORDS, openLocal(portions, handler));
  await pool.open();
  const calls = Array.from({ length: CALLS }, (_, number) => pool.execute(makeCall("echo", number)));
  const outcomes = await Promise.allSettled(calls);
  await pool.close();
  const values = outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : null));
  expect({ values, ...portions }).toEqual({
    values: Array.from({ length: CALLS }, (_, number) => (op === "done" ? number : null)),
    open: [1],
    ready: [1],
    run: PORTIONS,
    [op]: PORTIONS,
  });
});
