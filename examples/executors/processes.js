// Handlers in child processes: one that takes its process along harms no other job.
//
//     on Node     npm run build && node examples/executors/processes.js
//     on Deno     deno run -A examples/executors/processes.js
//     on Bun      bun examples/executors/processes.js
import { Scheduler } from "escapement";
import { ProcessExecutor } from "escapement/process";

const processes = new ProcessExecutor({ module: new URL("./tasks.js", import.meta.url), maxWorkers: 2 });
const scheduler = new Scheduler({ executors: { processes }, logLevel: "silent" });
scheduler.task("countPrimes", { executor: "processes" });
// The job goes back to the queue when its process is lost, here once.
scheduler.task("crashes", { executor: "processes", maxRecoveries: 1 });

await scheduler.start();
const [crash, count] = await Promise.allSettled([
  scheduler.runJob("crashes"),
  scheduler.runJob("countPrimes", { payload: { below: 100_000 } }),
]);
console.log("the job that crashes:", crash.reason.name);
console.log("primes:", count.value);
await scheduler.stop();
console.log("processes left:", processes.workerCount);
