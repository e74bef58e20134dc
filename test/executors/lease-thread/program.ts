// A process of lease-thread.local.test.ts: a scheduler on the store of ./store.ts with a lease of a second, whose name
// is the first argument. The second says how it runs jobs: "quick", or for how many milliseconds each of them blocks
// the event loop. The third says for how many milliseconds its lease thread keeps leases; "bare" is without a thread.
// The fourth is the URL of the thread's module, and the fifth, if given, that of the thread's program. "add" on its input
// adds a job, and "stop" stops the scheduler.
import { writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { LeaseThread } from "../../../src/executors/worker/mod.ts";
import { Scheduler } from "../../../src/mod.ts";
import { createDataStore } from "./store.ts";

const [identity = "", blocks = "", maxBlocked = "", module = "", entry] = process.argv.slice(2);
const urls = { module, entry };
// Nothing of this waits for the event loop.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const scheduler = new Scheduler({
  identity,
  dataStore: createDataStore(),
  leaseDuration: { seconds: 1 },
  maxIdle: { milliseconds: 100 },
  logLevel: "silent",
  leaseThread:
    maxBlocked === "bare" ? undefined : new LeaseThread({ ...urls, maxBlocked: { milliseconds: Number(maxBlocked) } }),
});
const task = scheduler.task("compute", () => {
  say(`${identity} begins`);
  // It blocks the loop without work, so that other tests get the processor.
  if (blocks !== "quick") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blocks));
  say(`${identity} ends`);
});
scheduler.subscribe("jobReleased", ({ outcome }) => say(`${identity} is told: ${outcome}`));
await scheduler.start();
say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "add") await scheduler.addJob(task);
  else break;
}
await scheduler.stop();
say("stopped");
process.stdin.destroy();
