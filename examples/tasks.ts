// What a program does, and when. Nothing in this file knows where it runs: as a loop that stays (node.ts, deno/script.ts,
// bun/service.ts), one tick at a time (cloudflare/, deno/cron.ts, bun/cron.ts), or behind a URL (http-cron.ts).

import { CronTrigger, defineTasks, IntervalTrigger } from "escapement";
import type { Scheduler } from "escapement/scheduler";

export const tasks = defineTasks({
  greet: {
    settings: { timeout: "10s", retry: { maxAttempts: 3 } },
    handler: (name: string) => `Hello, ${name}!`,
  },
  beat: {
    settings: { timeout: "10s" },
    handler: (_payload: undefined, { job }) => {
      console.log(`beat, due at ${job.scheduledFireTime}`);
      return "beaten";
    },
  },
});

/** Adds the schedules of the program. One that is there already goes on as it is. */
export async function addSchedules(scheduler: Scheduler): Promise<void> {
  const weekdays = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
  await scheduler.addSchedules([
    { task: tasks.beat, trigger: new IntervalTrigger({ minutes: 1 }), id: "every minute" },
    { task: tasks.greet, trigger: weekdays, id: "good morning", payload: "Berlin" },
  ]);
}
