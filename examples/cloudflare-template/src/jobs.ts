// What the program does, and when. Nothing here knows that it runs in a Worker.
import { defineTasks } from "escapement";
import type { Scheduler } from "escapement/scheduler";

export const tasks = defineTasks({
  report: {
    settings: { timeout: "20s", retry: { maxAttempts: 3 } },
    handler: (_payload: undefined, { job }) => {
      console.log(`report, due at ${job.scheduledFireTime}`);
    },
  },
});

/** Adds the schedules. One that is there already goes on as it is. */
export async function addSchedules(scheduler: Scheduler): Promise<void> {
  await scheduler.addSchedules([
    { task: tasks.report, trigger: "* * * * *", id: "every minute" },
    { task: tasks.report, trigger: "0 9 * * mon-fri", id: "good morning" },
  ]);
}
