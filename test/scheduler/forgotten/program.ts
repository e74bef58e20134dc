// The program of forgotten-start.node.test.ts: it adds a schedule or a job, and does not start. Its first argument says
// what it adds, or that it ticks ("ticks"), keeps nothing ("removed"), stops ("stops") or has no handler ("client"). Its
// second argument is the file of its store; without it, the store is in memory.
import process from "node:process";
import { Scheduler } from "../../../src/mod.ts";
import { LibsqlDataStore } from "../../../src/stores/libsql/mod.ts";

const [, , mode, file] = process.argv;
const scheduler = new Scheduler(file === undefined ? {} : { dataStore: new LibsqlDataStore({ url: `file:${file}` }) });
const task = mode === "client" ? "greet" : scheduler.task("greet", () => {});
if (mode === "job") await scheduler.addJob(task);
else await scheduler.addSchedule(task, "0 9 * * *", { id: "greet" });
if (mode === "ticks") await scheduler.tick();
if (mode === "stops") await scheduler.stop();
if (mode === "removed") await scheduler.removeSchedule("greet");
console.log("the program ends");
