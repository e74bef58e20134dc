// The program of forgotten-start.node.test.ts: it adds a schedule or a job to memory, and does not start. Its argument
// says what it adds, or that it ticks ("ticks"), or that it keeps nothing ("removed").
import process from "node:process";
import { Scheduler } from "../../../src/mod.ts";

const mode = process.argv[2];
const scheduler = new Scheduler();
const task = scheduler.task("greet", () => {});
if (mode === "job") await scheduler.addJob(task);
else await scheduler.addSchedule(task, "0 9 * * *", { id: "greet" });
if (mode === "ticks") await scheduler.tick();
if (mode === "removed") await scheduler.removeSchedule("greet");
console.log("the program ends");
