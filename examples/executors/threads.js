// Handlers in threads: they compute while the scheduler's event loop stays free, and are ended when they do not end.
//
//     on Node     npm run build && node examples/executors/threads.js
//     on Deno     deno run --allow-read --allow-env --allow-sys examples/executors/threads.js
//     on Bun      bun examples/executors/threads.js
import { Scheduler } from "escapement";
import { WorkerExecutor } from "escapement/worker";

const threads = new WorkerExecutor({
  module: new URL("./tasks.js", import.meta.url),
  maxWorkers: 2,
  abortGrace: { milliseconds: 200 },
});
const scheduler = new Scheduler({ executors: { threads }, logLevel: "error" });
scheduler.task("countPrimes", { executor: "threads", maxRunningJobs: 2 });
scheduler.task("neverEnds", { executor: "threads", timeout: "500ms" });

let turns = 0;
const timer = setInterval(() => turns++, 1);
await scheduler.start();
const counts = [400_000, 300_000].map((below) => scheduler.runJob("countPrimes", { payload: { below } }));
console.log("primes:", ...(await Promise.all(counts)));
clearInterval(timer);
console.log("the event loop went on meanwhile:", turns > 5);

try {
  await scheduler.runJob("neverEnds");
} catch (error) {
  console.log("a loop without an end:", error.name);
}
await scheduler.stop();
console.log("threads left:", threads.workerCount);
