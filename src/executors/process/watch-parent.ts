import process from "node:process";
import { Worker } from "node:worker_threads";

/** Ends this process when the process that started it is gone, also while a handler never returns to the event loop.
 *  A thread looks, because then nothing else in this process does. */
export function watchParent(): void {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`), {
    execArgv: [],
    workerData: process.ppid,
  });
  thread.unref();
  // Without the thread, the end of the connection still ends this process, unless a handler never returns.
  thread.on("error", () => {});
}

/** How often the thread looks, in milliseconds. */
const PERIOD_MS = 1000;

/** Text, because a thread needs a program of its own, which a bundler could not find. On Windows, the parent's id stays
 *  when the parent is gone, so that the thread asks for the process too. */
const PROGRAM = `
import process from "node:process";
import { workerData as parent } from "node:worker_threads";
const cell = new Int32Array(new SharedArrayBuffer(4));
const isGone = () => {
  if (process.ppid !== parent) return true;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
};
for (;;) {
  Atomics.wait(cell, 0, 0, ${PERIOD_MS});
  if (isGone()) process.kill(process.pid, "SIGKILL");
}
`;
