import { Scheduler } from "escapement";
import { ProcessExecutor } from "escapement/process";
import { WorkerExecutor } from "escapement/worker";

const module = new URL("./tasks.js", import.meta.url);
const answers = {};
for (const [name, Executor] of Object.entries({ threads: WorkerExecutor, processes: ProcessExecutor })) {
  const scheduler = new Scheduler({ executors: { [name]: new Executor({ module }) }, logLevel: "silent" });
  scheduler.task("shout", { executor: name });
  await scheduler.start();
  answers[name] = await scheduler.runJob("shout", { payload: { name: "Ada" }, metadata: { of: "ada" } });
  await scheduler.stop();
}
console.log(JSON.stringify(answers));
