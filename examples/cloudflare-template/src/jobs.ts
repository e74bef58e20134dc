// What the program does, and when. Nothing here knows that it runs in a Worker.
import { defineTasks, type SchedulerClient } from "escapement";

export const tasks = defineTasks({
  report: {
    settings: { timeout: "20s", retry: { maxAttempts: 3 } },
    handler: (_payload: undefined, { job }) => {
      console.log(`report, due at ${job.scheduledFireTime}`);
    },
  },
});

/** Adds the schedules. One that is there already goes on as it is. */
export async function addSchedules(scheduler: SchedulerClient): Promise<void> {
  await scheduler.addSchedule(tasks.report, "* * * * *", { id: "every minute" });
  await scheduler.addSchedule(tasks.report, "0 9 * * mon-fri", { id: "good morning" });
}
