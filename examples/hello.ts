// Fires real schedules from an embedded libSQL file. Stop it (Ctrl-C, or kill -9) and start it again: the schedules
// are still there, and it says what it missed meanwhile. The link that it prints leads to its page, which has the
// schedules of a shop beside, with a week of history.
//
//   npm start                        Node
//   deno run -A examples/hello.ts    Deno
//   bun run examples/hello.ts        Bun
//
// Options: --for SECONDS ends by itself, --database FILE keeps it elsewhere, --port NUMBER serves there (default: any).

import { existsSync, mkdirSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { CronTrigger, DateTrigger, IntervalTrigger, type Job, type Schedule, Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";
import { control } from "./http/control.ts";
import { registerShop } from "./shop/tasks.ts";
import { liveThroughAWeek } from "./shop/week.ts";

const { values: options } = parseArgs({
  options: {
    for: { type: "string" },
    database: { type: "string", default: ".escapement/hello.db" },
    port: { type: "string", default: "0" },
  },
});
const file = resolve(options.database);
mkdirSync(dirname(file), { recursive: true });

const isTerminal = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const paint = (code: number) => (text: string) => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, green, yellow, cyan] = [1, 2, 32, 33, 36].map(paint) as [Paint, Paint, Paint, Paint, Paint];
type Paint = (text: string) => string;

// An identity that is the same at every start lets a start give back what an earlier run left that was killed. That run
// counts as dead when its last sign of life has ended: within a minute (the leaseDuration).
const isNew = !existsSync(file);
if (isNew) {
  console.log("A shop lives through a week, which takes some seconds...");
  await using dataStore = new LibsqlDataStore({ url: `file:${file}` });
  await liveThroughAWeek(dataStore, Date.now(), Math.random);
}
const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: `file:${file}` }), identity: "hello" });
registerShop(scheduler, pause, Math.random);
const counts = { fired: 0, missed: 0, recovered: 0 };

const chime = scheduler.task("chime", (_payload, { job }) => printFire(job));
const backup = scheduler.task("backup", async (_payload, { job, signal }) => {
  printFire(job, "started, takes 1.5 s");
  await pause(1500, signal);
  signal.throwIfAborted();
});
const greet = scheduler.task("greet", (name: string, { job }) => {
  printFire(job, `Hello, ${name}!`);
  return `${name} was greeted`;
});

console.log(`${bold("Escapement")} on ${runtimeName()}, database ${relative(process.cwd(), file)}`);
const { items: kept } = await scheduler.getSchedules();
if (!isNew) printKept(kept);

// Adding a schedule that exists changes nothing, so a program may add its schedules at every start.
await scheduler.addSchedule(chime, CronTrigger.fromCrontab("*/5 * * * * *", { timeZone: "Europe/Berlin" }), {
  id: "every 5 s, Berlin",
  metadata: { timeZone: "Europe/Berlin" },
});
await scheduler.addSchedule(chime, new CronTrigger({ second: "7,37" }, { timeZone: "Asia/Kolkata" }), {
  id: "at :07 and :37, Kolkata",
  metadata: { timeZone: "Asia/Kolkata" },
});
await scheduler.addSchedule(backup, new IntervalTrigger({ seconds: 8 }), { id: "every 8 s" });
await scheduler.addSchedule(greet, new DateTrigger(new Date(Date.now() + 6000)), {
  id: `once, 6 s after ${new Date().toISOString()}`,
  payload: "one-off",
});

// The log of the scheduler tells of lost jobs and of failures.
scheduler.subscribe("jobRetried", () => {
  counts.recovered++;
});
if (options.for !== undefined) setTimeout(() => void scheduler.stop(), Number(options.for) * 1000);

const { link, router, authorization, stop } = await control(scheduler, Number(options.port));
console.log(`  see it at ${cyan(link)}`);
console.log(dim(`  or from a shell (${router}/openapi.json and docs/http.md have all routes):`));
for (const call of [
  `${router}/schedules`,
  `-X POST ${router}/schedules/every%208%20s/pause`,
  `${router}/jobs -H 'content-type: application/json' -d '{"taskId": "greet", "payload": "Ada"}'`,
]) {
  console.log(dim(`    curl -H '${authorization}' ${call}`));
}
console.log(dim("  local time         scheduled                 started                   late"));
await scheduler.start();
scheduler.runJob(greet, { payload: "world" }).then(
  (returned) => console.log(dim(`  a job run by hand returned: ${returned}`)),
  (error: Error) => console.log(yellow(`  a job run by hand did not return: ${error.message}`)),
);
// Ctrl-C lets running jobs end; once more aborts them.
await scheduler.runUntilStopped();
stop();
console.log(
  `${bold("Stopped.")} ${counts.fired} jobs ran, ${counts.missed} missed fire times were made up for by a later one, ` +
    `${counts.recovered} lost jobs were recovered. Start again to see what was missed meanwhile.`,
);

/** Waits, or until the signal says otherwise. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

function printFire(job: Job, note = ""): void {
  const startedAt = new Date();
  const scheduled = new Date((job.scheduledFireTime ?? job.runAt).epochMilliseconds);
  const lateMs = startedAt.getTime() - scheduled.getTime();
  counts.fired++;
  counts.missed += job.missedCount ?? 0;
  const missed =
    job.firstMissedTime === null
      ? ""
      : yellow(` stands for ${job.missedCount ?? "many"} missed since ${job.firstMissedTime}`);
  const late = `${lateMs} ms`.padStart(9);
  console.log(
    `  ${green(localTime(scheduled, job.metadata))}  ${scheduled.toISOString()}  ${startedAt.toISOString()}  ${lateMs > 1000 ? yellow(late) : late}  ` +
      `${cyan(job.scheduleId ?? "by hand")} ${note}${missed}`,
  );
}

function printKept(schedules: readonly Schedule[]): void {
  console.log(`  ${schedules.length} schedules are there from an earlier start:`);
  for (const { id, nextFireTime, trigger, paused } of schedules) {
    const now = Date.now();
    const missed =
      nextFireTime === null || nextFireTime.epochMilliseconds > now ? 0 : countMissed(trigger, nextFireTime);
    const due =
      paused || nextFireTime === null
        ? dim(paused ? "paused" : "done")
        : missed === 0
          ? `next ${nextFireTime}`
          : yellow(`missed ${missed}, the first at ${nextFireTime}: one job makes up for them`);
    console.log(`    ${cyan(id)} ${dim(`(${trigger.describe()})`)} ${due}`);
  }
}

function countMissed(trigger: Schedule["trigger"], from: NonNullable<Schedule["nextFireTime"]>): string {
  const limit = 10_000;
  let count = 0;
  for (const _ of trigger.fireTimes({ from, until: new Date(), limit })) count++;
  return count === limit ? `${limit} or more` : String(count);
}

/** On the wall of the schedule's zone, which its metadata names; else of the host's. */
function localTime(date: Date, { timeZone }: Job["metadata"]): string {
  const zone = typeof timeZone === "string" ? timeZone : undefined;
  // Said in full, because midnight is else "0:00:00" beside the name of some zones.
  const parts = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" } as const;
  const options = { ...(zone === undefined ? {} : { timeZone: zone }), ...parts };
  return date.toLocaleTimeString("en-GB", options).padEnd(17);
}

function runtimeName(): string {
  const { versions } = process;
  if (versions.deno !== undefined) return `Deno ${versions.deno}`;
  return versions.bun === undefined ? `Node ${versions.node}` : `Bun ${versions.bun}`;
}
