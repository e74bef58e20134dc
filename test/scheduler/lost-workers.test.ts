import { describe, expect, test } from "vitest";
import type { JobCall } from "../../src/contracts.ts";
import { WorkerLostError } from "../../src/mod.ts";
import { OwnHandlers } from "./own-handlers.ts";
import { recordEvents, rejectionOf, setUp } from "./support.ts";

function lose(): never {
  throw new WorkerLostError("the thread exited with code 1");
}

/** A scheduler whose executor `threads` runs the task `t`. */
function withThreads(t: (call: JobCall) => unknown, settings = {}) {
  const setup = setUp({ executors: { threads: new OwnHandlers({ t }) }, maxConcurrentJobs: 1 });
  return { ...setup, task: setup.scheduler.task("t", { executor: "threads", ...settings }) };
}

describe("an attempt whose worker is lost", () => {
  test("counts as a recovery, and the job runs again", async () => {
    const seen: number[][] = [];
    const { scheduler, clock, task, log } = withThreads(({ attempt, fence }) => {
      seen.push([attempt, fence]);
      return seen.length === 1 ? lose() : "done";
    });
    const events = recordEvents(scheduler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT1S");
    expect(seen).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 2, returnValue: "done" });
    expect(events.filter((event) => event.startsWith("job"))).toEqual([
      "jobAdded",
      "jobAcquired 1",
      "jobRetried 1",
      "jobAcquired 2",
      "jobReleased success",
    ]);
    expect(log).toEqual([
      {
        level: "warn",
        message: `escapement: job ${id} of task "t" was lost with its worker (attempt 1)`,
        details: [expect.objectContaining({ code: "workerLost", message: "the thread exited with code 1" })],
      },
    ]);
  });

  test.each([0, 2])("is given up after maxRecoveries, here %d, and leaves the retries alone", async (maxRecoveries) => {
    let runs = 0;
    const { scheduler, clock, task } = withThreads(
      () => {
        runs++;
        lose();
      },
      { maxRecoveries, retry: { maxAttempts: 9, backoff: { initial: "PT0S" } } },
    );
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT10M");
    expect(runs).toBe(maxRecoveries + 1);
    const result = await scheduler.getJobResult(id);
    expect(result).toMatchObject({ outcome: "abandoned", attempts: maxRecoveries + 1 });
    const times = maxRecoveries === 0 ? "once" : "3 times";
    expect(() => result?.unwrap()).toThrow(`was lost with its process ${times}, and is given up (see maxRecoveries)`);
  });

  test("ends as the abort says that made the executor end the worker", async () => {
    const { scheduler, clock, task } = withThreads(
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(new WorkerLostError("the thread was ended"))),
        ),
      { timeout: "PT10S" },
    );
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT10S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error", error: { code: "jobTimeout" } });
  });

  test("keeps its place until the executor has ended the worker", async () => {
    let runs = 0;
    const { scheduler, clock, task } = withThreads(
      ({ signal }) => {
        runs++;
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            void clock.sleep(clock.now() + 4000).then(() => reject(new WorkerLostError("the thread was ended")));
          });
        });
      },
      { timeout: "PT10S", maxRunningJobs: null },
    );
    await scheduler.start();
    await scheduler.addJobs([{ task }, { task }]);
    await clock.advance("PT13.999S");
    expect(runs).toBe(1);
    await clock.advance("PT0.001S");
    expect(runs).toBe(2);
  });

  test("starts again alone: one that was lost beside it waits for its turn", async () => {
    const running: number[] = [];
    const { scheduler, clock } = setUp({
      executors: {
        threads: new OwnHandlers({
          t: ({ attempt, payload }) => (attempt === 1 ? lose() : new Promise(() => running.push(payload as number))),
        }),
      },
    });
    const task = scheduler.task("t", { executor: "threads", maxRunningJobs: null });
    await scheduler.start();
    await scheduler.addJobs([
      { task, payload: 1 },
      { task, payload: 2 },
    ]);
    await clock.advance("PT2S");
    expect(running).toHaveLength(1);
    await clock.advance("PT10S");
    expect(running).toHaveLength(2);
  });
});

describe("a handler of the scheduler's own thread", () => {
  test("that throws a WorkerLostError has failed", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => lose());
    await scheduler.start();
    expect(await rejectionOf(scheduler.runJob(task))).toMatchObject({ code: "workerLost" });
    const { items } = await scheduler.getJobResults();
    expect(items.map(({ outcome, attempts }) => [outcome, attempts])).toEqual([["error", 1]]);
  });

  test("is missing where an executor calls it for a task of its own", async () => {
    const { scheduler, clock } = setUp({ executors: { threads: new OwnHandlers({ t: (call) => call.invoke() }) } });
    await scheduler.start();
    const task = scheduler.task("t", { executor: "threads", retry: { maxAttempts: 3 } });
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    expect(await scheduler.getJobResult(id)).toMatchObject({
      outcome: "error",
      attempts: 1,
      error: { code: "handlerLookup", message: 'task "t" has no handler in this thread' },
    });
  });
});
