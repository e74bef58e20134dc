import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { secondsOf, setUp } from "./support.ts";

describe("the delay of a job", () => {
  test("counts from the addition, by the scheduler's clock", async () => {
    const { scheduler, clock } = setUp();
    const ran: string[] = [];
    const task = scheduler.task("t", (name: string) => void ran.push(name));
    await clock.advance("PT1H");
    const job = await scheduler.addJob(task, { payload: "one", delay: "5m" });
    const [second] = await scheduler.addJobs([{ task, payload: "many", delay: { seconds: 301 } }]);
    expect([job, second].map((one) => secondsOf(one?.runAt ?? null))).toEqual([3900, 3901]);
    await clock.advance({ seconds: 299 });
    await drain(scheduler);
    expect(ran).toEqual([]);
    await clock.advance({ seconds: 2 });
    await drain(scheduler);
    expect(ran).toEqual(["one", "many"]);
  });

  test("counts on while the job waits for others", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { maxRunningJobs: null }, () => "done");
    const first = await scheduler.addJob(task);
    const { id } = await scheduler.addJob(task, { after: [first], delay: "1m" });
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toBeNull();
    await clock.advance("PT1M");
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success" });
  });
});

describe("the retry of a job", () => {
  const backoff = { initial: "10s", factor: 1, jitter: "none" } as const;

  test("goes over that of its task, and counts for this job alone", async () => {
    const { scheduler, clock } = setUp();
    const attempts = { own: 0, others: 0 };
    const task = scheduler.task("t", { retry: { maxAttempts: 2, backoff } }, (name: "own" | "others") => {
      attempts[name]++;
      throw new Error("no");
    });
    const job = await scheduler.addJob(task, {
      payload: "own",
      retry: { maxAttempts: 3, backoff: { initial: "20s" } },
    });
    expect(job.toJSON().retry).toEqual({
      maxAttempts: 3,
      backoff: { initial: "PT20S", factor: 1, max: "PT1H", jitter: "none" },
    });
    const other = await scheduler.addJob(task, { payload: "others" });
    expect(other.retry).toBeNull();
    await drain(scheduler);
    expect(secondsOf((await job.refresh()).runAt)).toBe(20);
    expect(secondsOf((await other.refresh()).runAt)).toBe(10);
    for (let round = 0; round < 5; round++) {
      await clock.advance("PT10S");
      await drain(scheduler);
    }
    expect(attempts).toEqual({ own: 3, others: 2 });
  });

  test("stays with a job that is retried", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {
      throw new Error("no");
    });
    const job = await scheduler.addJob(task, { retry: { maxAttempts: 2, backoff: { initial: "0s" } } });
    await drain(scheduler);
    expect(await job.result()).toMatchObject({ outcome: "error", attempts: 2 });
    const again = await scheduler.retryJob(job.id);
    expect(again.retry?.maxAttempts).toBe(2);
    await drain(scheduler);
    expect(await again.result()).toMatchObject({ outcome: "error", attempts: 2 });
  });

  test("is checked as that of a task is", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const add = scheduler.addJob.bind(scheduler) as (...given: unknown[]) => Promise<unknown>;
    await expect(add(task, { retry: 3 })).rejects.toThrow(
      "addJob(): retry must be an object; got 3: write { maxAttempts: 3 }",
    );
    await expect(add(task, { retry: { retries: 3 } })).rejects.toThrow(
      'addJob(): retry.retries is no option; did you mean "maxAttempts"?',
    );
  });
});
