// What a user's code looks like to the compiler: checked against the packed tarball, never run.
import { CronTrigger, type JobContext, MemoryDataStore, Scheduler, type Task, type Trigger } from "escapement";
import { CronTrigger as CronTriggerAlone, triggerFromJSON } from "escapement/cron";
import { LibsqlDataStore } from "escapement/libsql";
import { SqliteDataStore } from "escapement/sqlite";
import { VirtualClock } from "escapement/testing";

export const trigger: Trigger = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
export const alone: CronTriggerAlone = new CronTriggerAlone({ hour: 9 });
export const copy: Trigger = triggerFromJSON(alone.toJSON());
export const zone: string | undefined = trigger.next()?.timeZoneId;

export async function main(): Promise<number> {
  await using scheduler = new Scheduler({
    dataStore: new LibsqlDataStore({ url: "file:jobs.db" }),
    clock: new VirtualClock(),
  });
  const add = scheduler.task("add", ({ a, b }: { a: number; b: number }, _context: JobContext) => a + b);
  const same: Task<{ a: number; b: number }, number> = add;
  await scheduler.addSchedule(add, trigger, { id: "sum", payload: { a: 1, b: 2 }, misfireGraceTime: { minutes: 5 } });
  // @ts-expect-error a payload of the wrong shape does not compile
  await scheduler.addJob(add, { payload: { a: "one" } });
  return scheduler.runJob(same, { payload: { a: 1, b: 2 } });
}

export const store: MemoryDataStore = new MemoryDataStore();
export const kept: SqliteDataStore = new SqliteDataStore({ path: ":memory:" }, { durability: "normal" });
