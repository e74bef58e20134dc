// The Web Worker of the tests: it is bundled for the browser, in which "escapement" is the built package.
import { defineTasks, NonRetryableError } from "escapement";
import { jobExecutorHandlers } from "escapement/testing/contracts";
import { serveTasks } from "escapement/worker";

const ownName = crypto.randomUUID();
const handlers = {
  ...jobExecutorHandlers,
  worker: () => ownName,
  spin: (_payload, { progress }) => {
    progress(0, "spinning");
    for (;;);
  },
  spinUntilAborted: (_payload, { progress, signal }) => {
    progress(0, "spinning");
    while (!signal.aborted);
    throw signal.reason;
  },
  waitsForAbort: (_payload, { progress, signal }) => {
    progress(0, "waiting");
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  },
  steps: async (count, { progress }) => {
    for (let step = 1; step <= count; step++) progress(step / count, `step ${step}`);
  },
  closes: () => {
    close();
    return new Promise(() => {});
  },
  crashes: () => {
    queueMicrotask(() => {
      throw new TypeError("nobody catches this");
    });
    return new Promise(() => {});
  },
  returnsFunction: () => () => {},
  fails: () => {
    throw new NonRetryableError("gone", { cause: new RangeError("deeper") });
  },
  scheduler: (_payload, { scheduler }) => scheduler.getJobs(),
};

// What the executor sends before the call is not lost. The page says "begin" after that.
await new Promise((resolve) => addEventListener("message", ({ data }) => data === "begin" && resolve()));
serveTasks(defineTasks(Object.fromEntries(Object.entries(handlers).map(([id, handler]) => [id, { handler }]))));
