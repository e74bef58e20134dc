// Posts to a webhook when an occurrence of a schedule is overdue, and when that is over. Any process on the store can
// do so, also one that runs jobs of other tasks only.
//
//     on Node     npm run build && WEBHOOK_URL=https://… node examples/alarms/webhook.js
//     on Deno     WEBHOOK_URL=https://… deno run --allow-env --allow-net --allow-sys examples/alarms/webhook.js
//     on Bun      WEBHOOK_URL=https://… bun examples/alarms/webhook.js
import process from "node:process";
import { IntervalTrigger, Scheduler } from "escapement";

const { WEBHOOK_URL } = process.env;
if (WEBHOOK_URL === undefined) throw new Error("set WEBHOOK_URL to the address that gets the alarms");

const scheduler = new Scheduler({ logLevel: "error" });

/** Posts a message; tries again while nobody takes it. A receiver may get a message twice, and knows it by its `id`. */
async function post(message) {
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(message) };
  for (let pauseMs = 100, tries = 1; ; pauseMs *= 2, tries++) {
    try {
      const { ok, status } = await fetch(WEBHOOK_URL, { ...request, signal: AbortSignal.timeout(10_000) });
      if (ok) return;
      throw new Error(`the webhook answered ${status}`);
    } catch (error) {
      if (tries === 8) return console.error("an alarm could not be posted:", message.text, error);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** One after the other, so that what is over never comes before what was raised. */
let posted = Promise.resolve();
scheduler.subscribe(["occurrenceOverdue", "occurrenceResolved"], (event) => {
  const { type, scheduleId, kind, fireTime, dueAt } = event;
  const what = `${scheduleId}, fire time ${fireTime}`;
  const late = `has not ${kind === "start" ? "started" : "ended"} by ${dueAt}`;
  const text = type === "occurrenceOverdue" ? `${what}, ${late}` : `${what}: ${event.reason}`;
  const id = [type, scheduleId, kind, fireTime].join(" ");
  posted = posted.then(() => post({ id, type, scheduleId, kind, fireTime: String(fireTime), text }));
});

// What follows is the example's work: its first run takes longer than it may.
let isSlow = true;
scheduler.task("report", async () => {
  if (isSlow) await new Promise((resolve) => setTimeout(resolve, 700));
  isSlow = false;
});
await scheduler.start();
await scheduler.addSchedule("report", new IntervalTrigger({ hours: 1 }), {
  id: "hourly report",
  expectFinishWithin: "300ms",
});
await scheduler.nextEvent("occurrenceResolved");
await scheduler.stop();
await posted;
console.log("all alarms are posted");
