// The process of signals.node.test.ts: a scheduler with one job, which ends when a line comes in. Its argument says what
// the job does when its signal is aborted ("polite": it ends, "stubborn": it goes on), or that signals are not handled
// ("unhandled"), or that `start` handles them ("started").
import process from "node:process";
import { Scheduler } from "../../../src/mod.ts";

const mode = process.argv[2];
const scheduler = new Scheduler();
const task = scheduler.task("wait", async (_, { signal }) => {
  console.log("the job runs");
  const hold = setInterval(() => {}, 60_000);
  await new Promise<void>((resolve) => {
    process.stdin.once("data", () => resolve());
    signal.addEventListener("abort", () => {
      console.log("the job is aborted");
      if (mode !== "stubborn") resolve();
    });
  });
  clearInterval(hold);
  console.log("the job ends");
});
await scheduler.addJob(task);
if (mode === "started") await scheduler.start({ handleSignals: true });
await scheduler.runUntilStopped({ handleSignals: mode !== "unhandled" });
if (mode !== "stubborn") process.stdin.destroy();
console.log(`after the stop, with ${process.listenerCount("SIGINT")} listeners`);
