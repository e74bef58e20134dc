// Pings a dead-man service, such as Healthchecks, when a job of a schedule starts, succeeds or fails. The service knows
// when to expect the pings, and raises the alarm when they stop: also when no process of yours is left to say so.
//
//     on Node     npm run build && PING_URL=https://hc-ping.com/… node examples/alarms/pings.js
//     on Deno     PING_URL=https://hc-ping.com/… deno run --allow-env --allow-net --allow-sys examples/alarms/pings.js
//     on Bun      PING_URL=https://hc-ping.com/… bun examples/alarms/pings.js
import process from "node:process";
import { IntervalTrigger, Scheduler } from "escapement";

const { PING_URL } = process.env;
if (PING_URL === undefined) throw new Error("set PING_URL to the address that the service gave you");

const scheduler = new Scheduler({ logLevel: "silent", identity: "pinger" });

/** The address of each schedule that is watched. */
const CHECKS = new Map([["backup", PING_URL]]);

/** A ping that nobody takes is tried again, and then given up: the service hears of the next run. */
async function ping(url, text) {
  for (let pauseMs = 100, tries = 1; tries <= 5; pauseMs *= 2, tries++) {
    try {
      if ((await fetch(url, { method: "POST", body: text, signal: AbortSignal.timeout(10_000) })).ok) return;
    } catch {}
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  console.error("no ping could be sent to", url);
}

/** One after the other, so that a run's end never comes before its start. */
let sent = Promise.resolve();
scheduler.subscribe(["jobAcquired", "jobReleased"], (event) => {
  const check = CHECKS.get(event.scheduleId ?? "");
  // Each process pings for what it runs itself; a broker brings the events of the others too.
  if (check === undefined || event.schedulerId !== "pinger") return;
  // The service tells the runs apart by this id, and measures how long each takes.
  const url = (kind) => `${check}${kind}?rid=${event.jobId}`;
  if (event.type === "jobAcquired") sent = sent.then(() => ping(url("/start"), `attempt ${event.attempt}`));
  else if (event.outcome === "success") sent = sent.then(() => ping(url(""), "success"));
  else sent = sent.then(() => ping(url("/fail"), `${event.outcome}: ${event.error?.message ?? ""}`));
});

// What follows is the example's work: the second run fails.
let runs = 0;
scheduler.task("backup", () => {
  if (++runs === 2) throw new Error("the disk is full");
});
await scheduler.start();
await scheduler.addSchedule("backup", new IntervalTrigger({ milliseconds: 200 }), { id: "backup" });
for await (const { outcome } of scheduler.events("jobReleased")) if (outcome === "error") break;
await scheduler.stop();
await sent;
console.log("all pings are sent");
