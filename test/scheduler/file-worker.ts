// A process of file-wakeups.local.test.ts. With the name of a store and a path, it runs jobs of that file until its
// input ends, and prints what they are given. With "timer" alone it starts a background timer, and has nothing else to
// do.
import process from "node:process";
import { startBackgroundTimer } from "../../src/core/background-timer.ts";
import { Scheduler } from "../../src/mod.ts";
import { LOCAL_STORES } from "../stores/local-stores.ts";

async function run(kind: string, path: string): Promise<void> {
  const local = LOCAL_STORES.find(({ name }) => name === kind);
  if (local === undefined) throw new Error(`there is no ${kind}`);
  const scheduler = new Scheduler({ dataStore: local.make(path), maxIdle: { hours: 1 }, logLevel: "warn" });
  scheduler.task("say", { maxRunningJobs: null }, (word) => console.log(`ran ${word}`));
  await scheduler.start();
  console.log("ready");
  process.stdin.once("end", () => void scheduler.stop());
  process.stdin.resume();
}

const [kind = "", path = ""] = process.argv.slice(2);
if (kind === "timer") startBackgroundTimer(() => {}, 3_600_000);
else await run(kind, path);
