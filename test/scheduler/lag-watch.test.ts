import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { OwnHandlers } from "./own-handlers.ts";
import { heldHandler, type LogEntry, START, setUp } from "./support.ts";

/** Time passes, and nothing else has its turn meanwhile. */
function block(clock: VirtualClock, seconds: number): void {
  void clock.jumpTo(clock.instant.add({ milliseconds: seconds * 1000 }));
}

function told(log: readonly LogEntry[]): string[] {
  return log.map(({ message }) => message).filter((message) => message.includes("event loop"));
}

describe("a warning", () => {
  test("names the tasks that ran while the event loop stood still for more than a third of a lease", async () => {
    const { scheduler, clock, log } = setUp();
    const { handler } = heldHandler();
    scheduler.task("compute", () => block(clock, 26));
    scheduler.task("wait", handler);
    await scheduler.start();
    await scheduler.addJob("wait");
    await clock.advance("PT1M");
    await scheduler.addJob("compute");
    await clock.advance("PT1M");
    expect(told(log)).toEqual([
      'escapement: the event loop stood still for 21 s, while handlers of "wait", "compute" ran in this thread; jobs ' +
        "whose leases (60 s) end run again elsewhere: let long work yield, or run it in an executor with threads",
    ]);
  });

  test("says that the lease thread kept the leases, where there is one and it did", async () => {
    let heldMs = 1e6;
    const { scheduler, clock, log } = setUp({
      leaseThread: {
        start: async () => {},
        hold: () => {},
        drop: () => {},
        heldUntil: () => clock.now() + heldMs,
        stop: async () => {},
      },
    });
    const { handler } = heldHandler();
    scheduler.task("wait", handler);
    await scheduler.start();
    await scheduler.addJob("wait");
    await clock.advance("PT1S");
    block(clock, 40);
    await clock.advance("PT11M");
    heldMs = 0;
    block(clock, 100);
    await clock.advance("PT1M");
    expect(told(log)).toEqual([
      expect.stringMatching(
        /^(?!.*run again elsewhere).*; the lease thread kept the leases, but no other job, fire or /,
      ),
      expect.stringContaining("jobs whose leases (60 s) end run again elsewhere"),
    ]);
  });

  test("is not given for shorter times, nor while no job runs", async () => {
    const { scheduler, clock, log } = setUp();
    scheduler.task("compute", () => block(clock, 20));
    await scheduler.start();
    await scheduler.addJob("compute");
    await clock.advance("PT1M");
    block(clock, 100);
    await clock.advance("PT1M");
    expect(told(log)).toEqual([]);
  });

  test("follows leaseDuration", async () => {
    const { scheduler, clock, log } = setUp({ leaseDuration: { seconds: 1 } });
    scheduler.task("compute", () => block(clock, 3));
    await scheduler.start();
    await scheduler.addJob("compute");
    await clock.advance("PT1S");
    expect(told(log)).toEqual([expect.stringContaining("leases (1 s)")]);
  });

  test("tells the time to a tenth of a second", async () => {
    const { scheduler, clock, log } = setUp({ leaseDuration: { seconds: 1 } });
    scheduler.task("compute", () => block(clock, 3.456));
    await scheduler.start();
    await scheduler.addJob("compute");
    await clock.advance("PT1S");
    expect(told(log)).toEqual([expect.stringMatching(/stood still for \d+(\.\d)? s,/)]);
  });

  test("comes at most every 10 minutes, and counts what happened meanwhile", async () => {
    const { scheduler, clock, log } = setUp();
    scheduler.task("compute", (seconds: number) => block(clock, seconds));
    await scheduler.start();
    for (const payload of [30, 95, 40]) {
      await scheduler.addJob("compute", { payload });
      await clock.advance("PT2M");
    }
    expect(told(log)).toEqual([expect.stringContaining("stood still for 25 s")]);
    await clock.advance("PT5M");
    await scheduler.addJob("compute", { payload: 30 });
    await clock.advance("PT1M");
    expect(told(log)[1]).toContain("stood still 3 times, at the longest for 90 s");
  });

  test("does not blame tasks whose handlers run elsewhere", async () => {
    const { handler } = heldHandler();
    const executors = { threads: new OwnHandlers({ far: () => handler(undefined, {} as never) }) };
    const { scheduler, clock, log } = setUp({ executors });
    scheduler.task("far", { executor: "threads" });
    await scheduler.start();
    await scheduler.addJob("far");
    await clock.advance("PT1M");
    block(clock, 30);
    await clock.advance("PT1S");
    expect(told(log)).toEqual([expect.stringContaining("while no handler ran in this thread")]);
  });

  test("names five tasks at most", async () => {
    const { scheduler, clock, log } = setUp();
    const { handler } = heldHandler();
    const ids = ["a", "b", "c", "d", "e", "f", "g"];
    for (const id of ids) scheduler.task(id, handler);
    await scheduler.start();
    await scheduler.addJobs(ids.map((task) => ({ task })));
    await clock.advance("PT1M");
    block(clock, 30);
    await clock.advance("PT1S");
    expect(told(log)).toEqual([expect.stringMatching(/handlers of ("\w", ){5}\.\.\. ran/)]);
  });
});

test("nothing watches where no job runs, nor after a stop", async () => {
  const { scheduler, clock } = setUp();
  const { handler } = heldHandler();
  scheduler.task("wait", handler);
  scheduler.task("quick", () => {});
  await scheduler.start();
  await clock.settle();
  const sleepers = clock.sleeperCount;
  await scheduler.addJob("quick");
  // What looks after runs that last long sleeps for a minute.
  await clock.advance("PT1M");
  expect(clock.sleeperCount).toBe(sleepers);
  await scheduler.addJob("wait");
  await clock.advance("PT6S");
  expect(clock.sleeperCount).toBe(sleepers + 2);
  const stopping = scheduler.stop({ drainTimeout: "PT0S" });
  await clock.advance("PT1S");
  await stopping;
  expect(clock.sleeperCount).toBe(0);
});

/** Goes by jumps as a virtual clock, and is taken for that of a host. */
class HostClock extends VirtualClock {
  readonly every = systemClock.every;
}

test("there is no warning where the clock of the host was set ahead", async () => {
  const { scheduler, clock, log } = setUp({ clock: new HostClock(START) });
  const { handler } = heldHandler();
  scheduler.task("wait", handler);
  await scheduler.start();
  await scheduler.addJob("wait");
  await clock.advance("PT1S");
  block(clock, 400 * 86_400);
  await clock.advance("PT1M");
  expect(told(log)).toEqual([]);
});
