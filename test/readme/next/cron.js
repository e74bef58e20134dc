// A cron of the web on the edge runtime.
import { MemoryDataStore, Scheduler } from "escapement";
import { createCronHandler } from "escapement/http-cron";

let made;

async function scheduler() {
  const scheduler = new Scheduler({ dataStore: new MemoryDataStore() });
  await scheduler.schedule("report", "0 9 * * mon-fri", () => console.log("Good morning"));
  await scheduler.runScheduleNow("report");
  return scheduler;
}

const handler = createCronHandler({
  scheduler: () => {
    made ??= scheduler();
    return made;
  },
  secret: () => process.env.SCHEDULER_TOKEN,
});

export { handler as GET };
export const runtime = "edge";
