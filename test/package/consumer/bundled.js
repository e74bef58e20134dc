// What a program that a bundler has put into one file does, wherever it then runs.
import { CronTrigger, Scheduler } from "escapement";
import { CronTrigger as CronTriggerAlone } from "escapement/cron";

export async function answers() {
  const daily = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
  const scheduler = new Scheduler();
  const sums = [];
  const add = scheduler.task("add", ({ a, b }) => void sums.push(a + b));
  await scheduler.addJob(add, { payload: { a: 20, b: 22 } });
  await scheduler.tick();
  await scheduler.stop();
  return {
    next: String(daily.next("2026-03-27T12:00:00Z")),
    sums,
    isOneClass: daily instanceof CronTriggerAlone,
  };
}
