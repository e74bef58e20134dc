// A program that runs one task in a process, and has nothing else that keeps it alive. It prints what the handler
// reports, and how the call ended. Its arguments are the URLs of the tasks and of the processes' program, and the task.
import process from "node:process";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { makeCall } from "./calls.ts";

const [module = "", entry = "", taskId = ""] = process.argv.slice(2);
const executor = new ProcessExecutor({ module, entry, maxWorkers: 1 });
await executor.open();
const progress = (_: number, note = ""): void => console.log(`reports ${note}`);
const ended = await executor.execute(makeCall(taskId, null, { progress })).catch(String);
console.log(`ended: ${ended}`);
await executor.close();
