import { expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { ProcessExecutor } from "../../src/executors/process/mod.ts";
import { LeaseThread, WorkerExecutor } from "../../src/executors/worker/mod.ts";

const module = new URL("file:///tasks.js");
const unreadable = new Proxy(
  {},
  {
    getPrototypeOf: () => {
      throw new Error("gone");
    },
  },
);

// People write what they know of other pools. These are the messages that they get.
test.each<[string, new (options: never) => object, unknown, string]>([
  ["a number of workers", WorkerExecutor, 4, "takes { module }; got 4: write { module, maxWorkers: 4 }"],
  ["a url", WorkerExecutor, module, "takes { module }; got a URL: write { module: url }"],
  [
    "a path",
    ProcessExecutor,
    "./jobs.js",
    'takes { module }; got "./jobs.js": write { module: new URL("./jobs.js", import.meta.url) }',
  ],
  [
    "a relative path as the module",
    WorkerExecutor,
    { module: "../jobs.js" },
    ': module must be the URL of a module; got "../jobs.js": write new URL("../jobs.js", import.meta.url)',
  ],
  [
    "a whole path as the module",
    WorkerExecutor,
    { module: "/app/jobs.js" },
    ': module must be the URL of a module; got "/app/jobs.js": write "file:///app/jobs.js"',
  ],
  ["max_workers", WorkerExecutor, { module, max_workers: 2 }, ': max_workers is no option; did you mean "maxWorkers"?'],
  ["maxThreads", WorkerExecutor, { module, maxThreads: 2 }, ': maxThreads is no option; did you mean "maxWorkers"?'],
  ["filename", WorkerExecutor, { module, filename: "x" }, ': filename is no option; did you mean "module"?'],
  [
    "max_tasks_per_child",
    ProcessExecutor,
    { module, max_tasks_per_child: 9 },
    ': max_tasks_per_child is no option; did you mean "maxJobsPerWorker"?',
  ],
  [
    "a timeout",
    WorkerExecutor,
    { module, timeout: "5s" },
    ": timeout is no option here; it is a setting of the task: scheduler.task(id, { executor, timeout })",
  ],
  [
    "tasks",
    WorkerExecutor,
    { module, tasks: {} },
    ": tasks is no option here; the module exports them: export const tasks = defineTasks({ ... })",
  ],
  [
    "an initializer",
    ProcessExecutor,
    { module, initializer: () => {} },
    ": initializer is no option here; what a worker needs, the module makes itself",
  ],
  [
    "limits of threads for processes",
    ProcessExecutor,
    { module, resourceLimits: {} },
    ': resourceLimits is no option here; processes take execArgv: ["--max-old-space-size=512"] on Node and Deno',
  ],
  ["what cannot be read", WorkerExecutor, unreadable, "cannot be read: gone"],
  ["the url of a lease thread alone", LeaseThread, module, "takes { module }; got a URL: write { module: url }"],
  [
    "the store of a lease thread",
    LeaseThread,
    { module, dataStore: {} },
    ": dataStore is no option here; its module exports it: export const createDataStore = () => ...",
  ],
])("%s is refused with what to write", (_, Class, options, message) => {
  expect(messageOf(() => new Class(options as never))).toBe(
    `new ${Class.name}()${message.startsWith(":") ? "" : " "}${message}`,
  );
});

function messageOf(make: () => unknown): string {
  try {
    make();
    return "none";
  } catch (error) {
    if (error instanceof OptionsError) return error.message;
    throw error;
  }
}
