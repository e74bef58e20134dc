import { describe, expect, test } from "vitest";
import { IntervalTrigger, MemoryDataStore, OptionsError, type ScheduleOptions, type Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { heldHandler, rejectionOf, START, secondsOf, setUp } from "./support.ts";

/** Every hour from {@link START} on. */
function hourly(): IntervalTrigger {
  return new IntervalTrigger({ hours: 1, startTime: START });
}

const EXPECTED: ScheduleOptions = { id: "s", expectStartWithin: "1m", expectFinishWithin: "10m" };

/** The events about overdue occurrences, in seconds from {@link START}. */
function recordOverdue(scheduler: Scheduler): unknown[] {
  const seen: unknown[] = [];
  scheduler.subscribe("occurrenceOverdue", (event) => {
    const { scheduleId, taskId, kind, fireTime, dueAt, timestamp, jobId, schedulerId } = event;
    const times = [fireTime, dueAt, timestamp].map(secondsOf);
    seen.push(["overdue", scheduleId, taskId, kind, ...times, jobId === null ? null : "a job", schedulerId]);
  });
  scheduler.subscribe("occurrenceResolved", ({ kind, fireTime, timestamp, raisedAt, reason, jobId }) => {
    const times = [fireTime, raisedAt, timestamp].map(secondsOf);
    seen.push([reason, kind, ...times, jobId === null ? null : "a job"]);
  });
  return seen;
}

/** A store with an hourly schedule, added when nobody was up. */
async function unattended(options: ScheduleOptions = EXPECTED) {
  const { scheduler, clock, store } = setUp({ identity: "adder" });
  scheduler.task("t", () => {});
  await scheduler.addSchedule("t", hourly(), options);
  return { client: scheduler, clock, store };
}

describe("an occurrence that has not started in time", () => {
  test("is overdue once, although nobody was up for hours, and resolved by the job that stands for it", async () => {
    const { clock, store } = await unattended({ id: "s", expectStartWithin: "1m" });
    await clock.advance("PT3H5S");
    const { scheduler } = setUp({ clock, dataStore: store, identity: "late" });
    const overdue = recordOverdue(scheduler);
    scheduler.task("t", () => {});
    await scheduler.start();
    await clock.advance({ milliseconds: 1 });
    const [first, resolved] = overdue as [unknown[], unknown[]];
    expect(first).toEqual(["overdue", "s", "t", "start", 0, 60, 10_805, null, "late"]);
    expect(resolved.slice(1, 5)).toEqual(["start", 0, 10_805, 10_805]);
    await clock.advance("PT2H");
    expect(overdue).toHaveLength(2);
  });

  test("is overdue once for all schedulers of the store, at the very instant", async () => {
    const { client, clock, store } = await unattended();
    const overdue = recordOverdue(client);
    for (const identity of ["a", "b"]) {
      // Neither of them has the handler.
      const { scheduler } = setUp({ clock, dataStore: store, identity });
      await scheduler.start();
    }
    await clock.advance("PT20M");
    expect(overdue.map((occurrence) => (occurrence as unknown[]).slice(3, 8))).toEqual([
      ["start", 0, 60, 60, "a job"],
      ["finish", 0, 600, 600, "a job"],
    ]);
    expect((await client.health()).overdueOccurrences.map(({ kind, jobId }) => [kind, typeof jobId])).toEqual([
      ["start", "string"],
      ["finish", "string"],
    ]);
  });

  test("is found by a worker, which fires nothing, and is over when somebody fires", async () => {
    const { clock, store } = await unattended({ id: "s", expectStartWithin: "1m" });
    const { scheduler: worker } = setUp({ clock, dataStore: store, identity: "worker", role: "worker" });
    const overdue = recordOverdue(worker);
    worker.task("t", () => {});
    await worker.start();
    await clock.advance("PT5M");
    expect(overdue).toEqual([["overdue", "s", "t", "start", 0, 60, 60, null, "worker"]]);
    const { scheduler: firing } = setUp({ clock, dataStore: store, role: "scheduler" });
    await firing.start();
    await clock.advance("PT1S");
    expect(overdue.slice(1)).toEqual([["started", "start", 0, 60, 300, "a job"]]);
    expect((await worker.health()).overdueCount).toEqual({ count: 0, isCapped: false });
  });

  test("is found by a tick, whose report says when the next one is overdue", async () => {
    const { clock, store } = await unattended();
    const { scheduler } = setUp({ clock, dataStore: store, identity: "ticking", role: "worker" });
    const overdue = recordOverdue(scheduler);
    scheduler.task("t", () => {});
    const first = await scheduler.tick();
    expect([secondsOf(first.nextWakeAt), overdue]).toEqual([60, []]);
    await clock.advance("PT1M");
    const second = await scheduler.tick();
    expect([secondsOf(second.nextWakeAt), overdue]).toEqual([
      600,
      [["overdue", "s", "t", "start", 0, 60, 60, null, "ticking"]],
    ]);
    await clock.advance("PT10M");
    expect((await scheduler.tick()).nextWakeAt).toBeNull();
    await scheduler.removeSchedule("s");
    await scheduler.tick();
    expect(overdue.slice(2).map((occurrence) => (occurrence as unknown[]).slice(0, 2))).toEqual([
      ["removed", "start"],
      ["removed", "finish"],
    ]);
  });

  test("is over when its schedule is paused, and the pause is no reason for an overdue occurrence of others", async () => {
    const { clock, store, client } = await unattended({ id: "s", expectStartWithin: "1m" });
    const { scheduler } = setUp({ clock, dataStore: store, identity: "worker", role: "worker" });
    const overdue = recordOverdue(scheduler);
    await scheduler.start();
    await clock.advance("PT2M");
    await client.pauseSchedule("s");
    await clock.advance("PT3H");
    expect(overdue).toEqual([
      ["overdue", "s", "t", "start", 0, 60, 60, null, "worker"],
      // A worker looks once a minute.
      ["paused", "start", 0, 60, 180, null],
    ]);
  });
});

describe("an occurrence that starts in time", () => {
  test("is not overdue while it is tried again", async () => {
    const { scheduler, clock } = setUp();
    const overdue = recordOverdue(scheduler);
    let calls = 0;
    const retry = { maxAttempts: 3, backoff: { initial: "20m", jitter: "none" } } as const;
    scheduler.task("t", { retry }, () => {
      if (++calls === 1) throw new Error("not yet");
    });
    await scheduler.addSchedule("t", hourly(), { id: "s", expectStartWithin: "1m" });
    await scheduler.start();
    await clock.advance("PT30M");
    expect([calls, overdue]).toEqual([2, []]);
  });

  test("is overdue when it runs too long, and over when it ends", async () => {
    const { scheduler, clock } = setUp({ identity: "me" });
    const overdue = recordOverdue(scheduler);
    const { handler, held } = heldHandler();
    scheduler.task("t", handler);
    await scheduler.addSchedule("t", hourly(), EXPECTED);
    await scheduler.start();
    await clock.advance("PT15M");
    expect(overdue).toEqual([["overdue", "s", "t", "finish", 0, 600, 600, "a job", "me"]]);
    const { overdueOccurrences, overdueCount } = await scheduler.health();
    const [one] = overdueOccurrences;
    expect([overdueCount, one?.kind, secondsOf(one?.dueAt ?? null)]).toEqual([
      { count: 1, isCapped: false },
      "finish",
      600,
    ]);
    held[0]?.finish("done");
    await clock.advance({ milliseconds: 1 });
    expect(overdue.slice(1)).toEqual([["finished", "finish", 0, 600, 900, "a job"]]);
    expect((await scheduler.health()).toJSON()).toMatchObject({
      overdueOccurrences: [],
      overdueCount: { count: 0, isCapped: false },
    });
  });

  test("costs nothing but the run itself when it ends in time", async () => {
    const { scheduler, clock } = setUp();
    const overdue = recordOverdue(scheduler);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", hourly(), EXPECTED);
    await scheduler.start();
    await clock.advance("PT10H");
    expect(overdue).toEqual([]);
  });
});

describe("the options", () => {
  test("are shown by the schedule, and changed by an update", async () => {
    const { client } = await unattended();
    const schedule = await client.getSchedule("s");
    expect([String(schedule.expectStartWithin), String(schedule.expectFinishWithin)]).toEqual(["PT1M", "PT10M"]);
    const updated = await client.updateSchedule("s", { expectStartWithin: null });
    expect(updated.toJSON()).toMatchObject({ expectStartWithin: null, expectFinishWithin: "PT10M" });
    const same = await client.updateSchedule("s", { name: "x" });
    expect(same.toJSON()).toMatchObject({ expectStartWithin: null, expectFinishWithin: "PT10M" });
  });

  test("are declared, so that a program that changes them changes the schedule", async () => {
    const { client } = await unattended();
    await client.addSchedule("t", hourly(), { ...EXPECTED, expectFinishWithin: "20m" });
    expect(String((await client.getSchedule("s")).expectFinishWithin)).toBe("PT20M");
    await client.addSchedule("t", hourly(), { id: "s" });
    expect((await client.getSchedule("s")).expectStartWithin).toBeNull();
  });

  test("are refused when the end would come before the start", async () => {
    const { client } = await unattended();
    const wrong = { expectStartWithin: "5m", expectFinishWithin: "4m" };
    const message =
      "expectFinishWithin must be at least expectStartWithin, PT5M; got PT4M: a job ends after it has started";
    expect(String(await rejectionOf(client.addSchedule("t", hourly(), wrong)))).toContain(message);
    expect(await rejectionOf(client.updateSchedule("s", { expectFinishWithin: "30s" }))).toBeInstanceOf(OptionsError);
    expect(await rejectionOf(client.updateSchedule("s", { expectStartWithin: "11m" }))).toBeInstanceOf(OptionsError);
    expect(await rejectionOf(client.addSchedule("t", hourly(), { expectStartWithin: "0s" }))).toBeInstanceOf(
      OptionsError,
    );
  });

  test("are refused by a scheduler whose store keeps no ledger", async () => {
    const dataStore = new MemoryDataStore({ ledger: false });
    const { scheduler } = setUp({ dataStore, clock: new VirtualClock(START) });
    scheduler.task("t", () => {});
    const error = await rejectionOf(scheduler.addSchedule("t", hourly(), EXPECTED));
    expect(error).toBeInstanceOf(OptionsError);
    expect(String(error)).toContain("expectStartWithin needs a data store that keeps a ledger");
    await scheduler.addSchedule("t", hourly(), { id: "s" });
    const refused = await rejectionOf(scheduler.updateSchedule("s", { expectFinishWithin: "1m" }));
    expect(String(refused)).toContain("expectFinishWithin needs a data store that keeps a ledger");
  });
});
