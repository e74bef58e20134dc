// A program whose handlers run in threads. It ends by itself although it never closes its executor.
import { WorkerExecutor } from "escapement/worker";

const threads = new WorkerExecutor({
  module: new URL("./thread-tasks.js", import.meta.url),
  maxWorkers: 1,
  abortGrace: { milliseconds: 10 },
});
await threads.open();
console.log(threads.taskIds?.join(" "));
console.log(await execute("add", { a: 1, b: 2 }));
console.log(await execute("knowsItsJob"));
const abort = new AbortController();
const spinning = execute("spin", null, abort.signal).catch((error) => error.message);
abort.abort(new Error("enough"));
console.log(await spinning);
console.log(await execute("add", { a: 2, b: 3 }));

function execute(taskId, payload = null, signal = new AbortController().signal) {
  const job = { id: "job", taskId, payload: null };
  const facts = { attempt: 1, fence: 1, idempotencyKey: "job", logger: console, progress: () => {} };
  return threads.execute({ job, payload, signal, invoke: () => {}, ...facts });
}
