import { Worker } from "node:worker_threads";
import { InlineExecutor } from "escapement";
import type { JobExecutor } from "escapement/contracts";
import { ProcessExecutor } from "escapement/process";
import { WorkerExecutor } from "escapement/worker";
import { load } from "../store/contestant.ts";
import { jobCall } from "./job-call.ts";

/** One echo after the other, or many at once: resolves with what it was given. */
export interface Echo {
  call(payload: unknown): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface ExecutorContestant {
  readonly name: string;
  open(): Promise<Echo>;
}

/** The files that run.mjs bundles beside the bench. */
const TASKS = new URL("./executors-tasks.mjs", import.meta.url);
const RAW_THREAD = new URL("./executors-raw-thread.mjs", import.meta.url);

/** How many calls a worker has at once, with one worker: the bench's most. */
export const IN_FLIGHT = 64;

interface Piscina {
  run(payload: unknown): Promise<unknown>;
  destroy(): Promise<void>;
}

export const CONTESTANTS: readonly ExecutorContestant[] = [
  {
    name: "raw postMessage",
    open: async () => rawThread(),
  },
  {
    name: "piscina",
    open: async () => {
      const { Piscina } = await load<{ readonly Piscina: new (options: object) => Piscina }>(
        import.meta.resolve("piscina"),
      );
      const pool = new Piscina({
        filename: TASKS.href,
        minThreads: 1,
        maxThreads: 1,
        concurrentTasksPerWorker: IN_FLIGHT,
      });
      return { call: (payload) => pool.run(payload), close: () => pool.destroy() };
    },
  },
  {
    name: "threads",
    open: () => ours(new WorkerExecutor({ module: TASKS, maxWorkers: 1, jobsPerWorker: IN_FLIGHT })),
  },
  {
    name: "processes",
    open: () => ours(new ProcessExecutor({ module: TASKS, maxWorkers: 1, jobsPerWorker: IN_FLIGHT })),
  },
  { name: "inline", open: () => ours(new InlineExecutor()) },
];

async function ours(executor: JobExecutor): Promise<Echo> {
  await executor.open();
  return { call: (payload) => executor.execute(jobCall(payload)), close: () => executor.close() };
}

function rawThread(): Echo {
  const worker = new Worker(RAW_THREAD);
  const waiting = new Map<number, (payload: unknown) => void>();
  let calls = 0;
  worker.on("message", ([id, payload]: [number, unknown]) => {
    waiting.get(id)?.(payload);
    waiting.delete(id);
  });
  return {
    call: (payload) =>
      new Promise((resolve) => {
        calls++;
        waiting.set(calls, resolve);
        worker.postMessage([calls, payload]);
      }),
    close: () => worker.terminate(),
  };
}
