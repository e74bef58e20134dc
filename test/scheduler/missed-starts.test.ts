import { expect, test } from "vitest";
import { IntervalTrigger, MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { rejectionOf, setUp } from "./support.ts";

const MINUTE = 60_000;

/** A scheduler that has a job of the task "busy" under way, of which one may run at a time. */
async function busy() {
  const parts = setUp();
  const { scheduler, clock } = parts;
  const ran: unknown[] = [];
  scheduler.task("busy", { maxRunningJobs: 1 }, async (payload: string) => {
    ran.push(payload);
    if (payload === "long") await clock.sleep(clock.now() + 60 * MINUTE);
  });
  await scheduler.start();
  await scheduler.addJob("busy", { payload: "long" });
  await clock.advance("PT1S");
  return { ...parts, ran, deadline: () => new Date(clock.now() + MINUTE) };
}

test("a call that waits for a job hears of its missed start a moment after the deadline, as listeners do", async () => {
  const { scheduler, clock, deadline } = await busy();
  const released: unknown[] = [];
  scheduler.subscribe("jobReleased", ({ outcome }) => released.push(outcome));
  const error = rejectionOf(scheduler.runJob("busy", { payload: "A", startDeadline: deadline() }));
  await clock.advance({ milliseconds: MINUTE });
  expect(released).toEqual([]);
  await clock.advance({ milliseconds: 1 });
  expect(released).toEqual(["missedStartDeadline"]);
  expect(await error).toMatchObject({ code: "jobDeadlineMissed" });
});

test("a job that has missed its start leaves its idempotency key to the next", async () => {
  const { scheduler, clock, ran, deadline } = await busy();
  const options = { idempotencyKey: "key", startDeadline: deadline() };
  const first = await scheduler.addJob("busy", { payload: "A", ...options });
  await clock.advance("PT2M");
  const second = await scheduler.addJob("busy", { payload: "B", idempotencyKey: "key" });
  expect(second.id).not.toBe(first.id);
  await clock.advance("PT1H");
  expect(ran).toEqual(["long", "B"]);
});

test("a scheduler ends jobs for executors and tasks that it does not have, and one without jobs ends none", async () => {
  const store = new MemoryDataStore();
  const { scheduler: other, clock } = setUp({ dataStore: store, role: "scheduler" });
  other.task("theirs", () => {});
  await other.start();
  const job = await other.addJob("theirs", { executor: "nobody's", startDeadline: new Date(clock.now() + MINUTE) });
  await clock.advance("PT5M");
  expect(await store.getJob(job.id)).not.toBeNull();
  await using worker = new Scheduler({ dataStore: store, clock, logLevel: "silent" });
  await worker.start();
  await clock.advance("PT1S");
  expect((await store.getJobResult(job.id, clock.now()))?.outcome).toBe("missedStartDeadline");
});

test("a tick ends jobs that have missed their start, and tells when the next one will", async () => {
  const { scheduler, clock } = setUp();
  scheduler.task("t", () => {});
  await scheduler.pauseTask("t");
  const inMinutes = (count: number) => new Date(clock.now() + count * MINUTE);
  await scheduler.addJobs(Array.from({ length: 250 }, () => ({ task: "t", startDeadline: inMinutes(1) })));
  await scheduler.addJob("t", { startDeadline: inMinutes(3) });
  expect((await scheduler.tick()).nextWakeAtMs).toBe(clock.now() + MINUTE + 1);
  await clock.advance("PT2M");
  const { outcomes, nextWakeAtMs, exhausted } = await scheduler.tick();
  expect([outcomes.missedStartDeadline, nextWakeAtMs, exhausted]).toEqual([250, clock.now() + MINUTE + 1, false]);
});

test("a run that waits beyond its grace time does not hold up a schedule that skips overlaps", async () => {
  const { scheduler, clock } = setUp();
  scheduler.task("t", { overlap: "skip", misfireGraceTime: "PT1M" }, () => {});
  await scheduler.pauseTask("t");
  await scheduler.start();
  await scheduler.addSchedule("t", new IntervalTrigger({ minutes: 10 }), { id: "s" });
  await clock.advance("PT35M");
  const { items } = await scheduler.getOccurrences("s");
  expect(items.map(({ verdict }) => verdict)).toEqual(Array.from(items, () => "misfired"));
  expect((await scheduler.getSchedule("s"))?.skippedCount).toBe(0);
});
