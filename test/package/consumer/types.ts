// What a user's code looks like to the compiler: checked against the packed tarball, never run.
import {
  CronTrigger,
  defineTasks,
  type Job,
  type JobContext,
  MemoryDataStore,
  Scheduler,
  type Task,
  type Trigger,
} from "escapement";
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
  // @ts-expect-error nor does a payload that is left out
  await scheduler.addJob(add);
  const job: Job<number> = await scheduler.addJob(add, { payload: { a: 1, b: 2 }, idempotencyKey: perhaps() });
  const [sum, bye] = await scheduler.addJobs([{ task: add, payload: { a: 1, b: 2 } }, { task: tasks.bye }]);
  const values: [number, string] = [await sum.wait(), await bye.wait()];
  await scheduler.schedule(
    "report",
    "0 9 * * mon-fri",
    { payload: values, name: perhaps() },
    (pair: [number, string]) => pair,
  );
  // @ts-expect-error the handler needs a payload
  await scheduler.schedule("report", "0 9 * * mon-fri", (pair: [number, string]) => pair);
  scheduler.use(tasks, { timeout: "5m", executor: perhaps() });
  const previewed = await (await scheduler.addSchedule(tasks.bye, "@daily")).preview({ limit: 1 });
  const hours: (number | undefined)[] = [job.createdAt.epochMilliseconds, previewed[0]?.hour];
  return (hours[0] ?? 0) + (await scheduler.runJob(same, { payload: { a: 1, b: 2 } }));
}

declare function perhaps(): string | undefined;

export const tasks = defineTasks({
  greet: { handler: ({ name }: { name: string }, { attempt }) => `Hello, ${name} (${attempt})` },
  bye: { settings: { retry: { maxAttempts: 3 } }, handler: () => "Bye" },
});

export const store: MemoryDataStore = new MemoryDataStore();
export const kept: SqliteDataStore = new SqliteDataStore({ path: ":memory:" }, { durability: "normal" });
