// A program with three processes: one has nothing to do, one waits, and one never returns to its event loop. It prints
// their ids, and stays. Its arguments are the URLs of the tasks and of the processes' program.
import process from "node:process";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { makeCall } from "./calls.ts";

const [module = "", entry = ""] = process.argv.slice(2);
const executor = new ProcessExecutor({ module, entry, maxWorkers: 3, minWorkers: 3 });
await executor.open();

const idOf = (taskId: string): Promise<string> =>
  new Promise((resolve, reject) => {
    executor.execute(makeCall(taskId, null, { progress: (_, note = "") => resolve(note) })).catch(reject);
  });
const pids = [await idOf("wait"), await idOf("spinAfterProgress"), await executor.execute(makeCall("pid"))];
console.log(`pids: ${pids.join(" ")}`);
