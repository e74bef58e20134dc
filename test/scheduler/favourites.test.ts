import { describe, expect, test } from "vitest";
import { everySecond, START_MS, setUp } from "./support.ts";

/** Whose favourite a schedule is, as anybody sees it. */
async function favouriteAfterFiring(role: "both" | "scheduler"): Promise<string | null | undefined> {
  const { scheduler, store, clock } = setUp({ role, identity: "one" });
  scheduler.task("t", () => {});
  await scheduler.addSchedule("t", everySecond());
  await scheduler.start();
  await clock.advance({ seconds: 2 });
  await store.extendLeases({
    now: clock.now(),
    schedulerId: "one",
    incarnation: "elsewhere",
    settledStepId: null,
    until: clock.now(),
    jobs: [],
    aliveUntil: clock.now() + 60_000,
  });
  const schedules = { dueBy: START_MS + 60_000, limit: 1, bytesMax: 10_000, after: null };
  const { due } = await store.look({ now: clock.now(), schedulerId: "two", jobs: null, schedules, tasks: null });
  return due[0]?.favourite;
}

describe("the favourite of a schedule", () => {
  test("is the scheduler that fired it last, and runs its jobs", async () => {
    expect(await favouriteAfterFiring("both")).toBe("one");
  });

  test("is nobody after one that runs no jobs, since waiting for that one gains nothing", async () => {
    expect(await favouriteAfterFiring("scheduler")).toBeNull();
  });
});
