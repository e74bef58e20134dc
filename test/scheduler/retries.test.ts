import { describe, expect, test } from "vitest";
import { IntervalTrigger, type JobContext, NonRetryableError } from "../../src/mod.ts";
import { backoffMs } from "../../src/records/policies.ts";
import { drain } from "../../src/testing/mod.ts";
import { recordEvents, secondsOf, setUp } from "./support.ts";

const policy = { initialMs: 1000, factor: 2, maxMs: 3_600_000, jitter: "none" } as const;

describe("retries", () => {
  test("there are none by default", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {
      throw new Error("no");
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error", attempts: 1 });
  });

  test("wait one second at first, then twice as long each time, at most an hour, with full jitter, by default", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", { retry: { maxAttempts: 3 } }, () => {});
    const [task] = await scheduler.getTasks();
    expect(task?.toJSON().retry).toEqual({
      maxAttempts: 3,
      backoff: { initial: "PT1S", factor: 2, max: "PT1H", jitter: "full" },
    });
  });

  test("never move the schedule that made the job", async () => {
    const { scheduler, clock } = setUp();
    const retry = { maxAttempts: 9, backoff: { initial: "PT10M", factor: 1, jitter: "none" } } as const;
    const fired: (number | null)[] = [];
    scheduler.task("t", { retry, maxRunningJobs: null }, (_, { attempt, job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
      if (attempt < 3) throw new Error("no");
    });
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    const next: (number | null)[] = [];
    for (let round = 0; round < 7; round++) {
      await drain(scheduler);
      next.push(secondsOf((await scheduler.getSchedule("s")).nextFireTime));
      await clock.advance("PT10M");
    }
    expect(fired).toEqual([0, 0, 0, 3600]);
    expect(next).toEqual([3600, 3600, 3600, 3600, 3600, 3600, 7200]);
  });

  test("keep the job's id and key, and count the attempts", async () => {
    const { scheduler, clock } = setUp();
    const seen: { id: string; key: string; attempt: number; fence: number }[] = [];
    const handler = (_: undefined, { job, attempt, fence, idempotencyKey }: JobContext): string => {
      seen.push({ id: job.id, key: idempotencyKey, attempt, fence });
      if (attempt < 3) throw new Error(`attempt ${attempt}`);
      return "done";
    };
    const task = scheduler.task("t", { retry: { maxAttempts: 3 } }, handler);
    const { id } = await scheduler.addJob(task);
    for (let round = 0; round < 3; round++) {
      await drain(scheduler);
      await clock.advance("PT1H");
    }
    expect(seen).toEqual([
      { id, key: id, attempt: 1, fence: 1 },
      { id, key: id, attempt: 2, fence: 2 },
      { id, key: id, attempt: 3, fence: 3 },
    ]);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 3, returnValue: "done" });
  });

  test("wait longer each time, with full jitter from the scheduler's random source", async () => {
    const { scheduler } = setUp({ random: () => 0.5 });
    const task = scheduler.task("t", { retry: { maxAttempts: 3, backoff: { initial: "PT10S", factor: 3 } } }, () => {
      throw new Error("no");
    });
    const { id } = await scheduler.addJob(task);
    await scheduler.tick();
    expect(secondsOf((await scheduler.getJob(id)).runAt)).toBe(5);
  });

  test.each([
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [13, 3_600_000],
    [2000, 3_600_000],
  ])("the pause after failure %i is %i ms", (failures, pause) => {
    expect(backoffMs(policy, failures, () => 0.5)).toBe(pause);
  });

  test("full jitter is uniform between zero and the pause", () => {
    const jittered = { ...policy, jitter: "full" as const };
    expect([0, 0.25, 0.999_999_9].map((draw) => backoffMs(jittered, 2, () => draw))).toEqual([0, 500, 2000]);
  });

  test("an error marked non-retryable ends the job at once", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", { retry: { maxAttempts: 9 } }, () => {
      throw new NonRetryableError("bad address");
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    const result = await scheduler.getJobResult(id);
    expect(result).toMatchObject({ outcome: "error", attempts: 1 });
    expect(result?.error).toMatchObject({ name: "NonRetryableError", code: "nonRetryable" });
  });

  test("an error is known as non-retryable by its code, wherever its class comes from", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", { retry: { maxAttempts: 9 } }, () => {
      throw Object.assign(new Error("from a thread"), { code: "nonRetryable" });
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error", attempts: 1 });
  });

  test("the resident loop runs them when their pause is over", async () => {
    const { scheduler, clock } = setUp();
    const starts: (number | null)[] = [];
    const task = scheduler.task(
      "t",
      { retry: { maxAttempts: 3, backoff: { initial: "PT10S", jitter: "none" } } },
      (_, { scheduler: own }) => {
        starts.push(own === scheduler ? secondsOf(clock.instant) : null);
        throw new Error("no");
      },
    );
    await scheduler.start();
    await scheduler.addJob(task);
    await clock.advance("PT1M");
    expect(starts).toEqual([0, 10, 30]);
  });

  test("publish jobRetried with the error, and jobReleased once at the end", async () => {
    const { scheduler, clock } = setUp();
    const seen = recordEvents(scheduler);
    const task = scheduler.task("t", { retry: { maxAttempts: 2 } }, () => {
      throw new TypeError("no");
    });
    const retried = scheduler.nextEvent("jobRetried");
    await scheduler.addJob(task);
    await drain(scheduler);
    await clock.advance("PT1M");
    await drain(scheduler);
    expect(await retried).toMatchObject({ attempt: 1, error: { name: "TypeError", message: "no" } });
    expect(seen).toEqual([
      "taskAdded",
      "jobAdded",
      "jobAcquired 1",
      "jobRetried 1",
      "jobAcquired 2",
      "jobReleased error",
    ]);
  });

  test("a random source that throws or answers nonsense is replaced and reported once", async () => {
    for (const random of [
      () => {
        throw new Error("no entropy");
      },
      () => Number.NaN,
      () => 1,
    ]) {
      const { scheduler, log } = setUp({ random });
      const task = scheduler.task("t", { retry: { maxAttempts: 2 } }, () => {
        throw new Error("no");
      });
      const { id } = await scheduler.addJob(task);
      await scheduler.tick();
      expect((await scheduler.getJob(id)).failedAttempts).toBe(1);
      expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
    }
  });

  test("a result that cannot be kept fails the job for good, as its work is done", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", { retry: { maxAttempts: 5 } }, () => new Date(0));
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    const result = await scheduler.getJobResult(id);
    expect(result).toMatchObject({ outcome: "error", attempts: 1 });
    expect(result?.error).toMatchObject({ code: "serialization" });
  });
});

describe("what a handler throws that throws itself at every question", () => {
  const questions = { getPrototypeOf: refuse, get: refuse, has: refuse, ownKeys: refuse };
  const thrown: readonly [name: string, value: unknown][] = [
    ["a Proxy", new Proxy({}, questions)],
    ["a Proxy of an error", new Proxy(new Error("no"), questions)],
    ["a revoked Proxy", revokedProxy()],
  ];

  test.each(thrown)("%s ends the job after its last attempt", async (_, value) => {
    const { scheduler, clock } = setUp();
    const retry = { maxAttempts: 2, backoff: { initial: { seconds: 1 }, jitter: "none" } } as const;
    scheduler.task("t", { retry }, () => {
      throw value;
    });
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    await clock.advance("PT1S");
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.toJSON()).toMatchObject({
      outcome: "error",
      attempts: 2,
      error: { message: "an error that cannot be read was thrown" },
    });
  });
});

test("a pause of zero stays zero, however often the factor grew", () => {
  expect(backoffMs({ ...policy, initialMs: 0, factor: 1e300 }, 3, () => 0.5)).toBe(0);
});

function refuse(): never {
  throw new Error("no question is answered");
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
