import { describe, expect, test } from "vitest";
import { CronTrigger, DateTrigger, IntervalTrigger } from "../../src/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { setUpRouter } from "../hono/support.ts";
import { START_MS, setUp } from "./support.ts";

const written = (schedule: { trigger: unknown }): unknown => JSON.parse(JSON.stringify(schedule.trigger));
const NIGHTLY = { type: "cron", version: 1, expression: "38 17 * * *", written: "H H * * *", timeZone: "UTC" };

describe("H in the crontab text of a schedule", () => {
  test("is a value that the id picks, in schedule, addSchedule and updateSchedule", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const added = await scheduler.addSchedule("t", "H H * * *", { id: "backup" });
    expect(written(added)).toEqual(NIGHTLY);
    expect(written(await scheduler.schedule("backup2", "H * * * *", () => {}))).toMatchObject({ written: "H * * * *" });
    const updated = await scheduler.updateSchedule("backup", { trigger: "H/15 * * * *" });
    expect(written(updated)).toMatchObject({ expression: "8/15 * * * *", written: "H/15 * * * *" });
  });

  test("is the same rule when the program declares it again, so that the next fire time stays", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    const { nextFireTime, revision } = await scheduler.addSchedule("t", "H H * * *", { id: "backup" });
    await clock.advance({ minutes: 1 });
    const again = await scheduler.addSchedule("t", "H H * * *", { id: "backup" });
    expect([again.nextFireTime?.toString(), again.revision]).toEqual([nextFireTime?.toString(), revision]);
  });

  test("needs an id", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await expect(scheduler.addSchedule("t", "H H * * *")).rejects.toThrow(/whose value follows from a seed.*an id/);
    await expect(scheduler.addSchedule("t", "@daily", { spread: true })).rejects.toThrow(
      /spread goes together with an/,
    );
  });
});

describe("the option spread", () => {
  test("spreads intervals and nicknames by the id", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const daily = await scheduler.addSchedule("t", "@daily", { id: "backup", spread: true });
    expect(written(daily)).toEqual({ ...NIGHTLY, written: "@daily" });
    const every = await scheduler.schedule("poll", new IntervalTrigger({ minutes: 5 }), { spread: true }, () => {});
    expect(written(every)).toEqual({ type: "interval", version: 1, milliseconds: 300_000, seed: "poll" });
    const seeded = new IntervalTrigger({ minutes: 5, seed: "poll" });
    expect(every.nextFireTime?.epochMilliseconds).toBe(seeded.nextMs(START_MS - 1));
  });

  test("is refused for what it cannot spread", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const options = { id: "a", spread: true };
    await expect(scheduler.addSchedule("t", "0 9 * * *", options)).rejects.toThrow(/spread is for nicknames/);
    await expect(scheduler.addSchedule("t", new DateTrigger("2030-01-01T00:00:00Z"), options)).rejects.toThrow(
      /spread is for intervals and nicknames/,
    );
    await expect(scheduler.addSchedule("t", CronTrigger.fromCrontab("0 9 * * *"), options)).rejects.toThrow(
      /spread is/,
    );
  });
});

test("a router reads H by the id: added, replaced, changed and previewed", async () => {
  const { ask, scheduler } = setUpRouter();
  scheduler.task("t", () => {});
  const trigger = { cron: "H H * * *", timeZone: "Europe/Berlin" };
  const expected = { ...NIGHTLY, timeZone: "Europe/Berlin" };
  expect(await ask("POST /schedules", { id: "backup", taskId: "t", trigger })).toMatchObject({
    status: 201,
    body: { trigger: expected },
  });
  expect(await ask("PUT /schedules/backup", { taskId: "t", trigger: "@daily", spread: true })).toMatchObject({
    status: 200,
    body: { trigger: { ...NIGHTLY, written: "@daily" } },
  });
  expect(await ask("PATCH /schedules/backup", { trigger })).toMatchObject({ status: 200, body: { trigger: expected } });
  expect(await ask("POST /triggers/preview", { trigger: "H H * * *", id: "backup" })).toMatchObject({
    status: 200,
    body: { description: "At 17:38, in UTC (H H * * *)" },
  });
  expect(await ask("POST /triggers/preview", { trigger: "H H * * *" })).toMatchObject({
    status: 422,
    body: { code: "cronSyntax", field: "minute", element: "H" },
  });
  expect(await ask("POST /triggers/preview", { trigger: { every: "5m" }, id: "backup", spread: true })).toMatchObject({
    body: { description: "Every 5 minutes, 181 s past whole periods (seed: backup)" },
  });
});

test("a client passes H and spread on", async () => {
  const { scheduler, client } = setUpBehindRouter();
  scheduler.task("t", () => {});
  expect(written(await client.addSchedule("t", "H H * * *", { id: "backup" }))).toEqual(NIGHTLY);
  const updated = await client.updateSchedule("backup", { trigger: "H * * * *" });
  expect(written(updated)).toMatchObject({ expression: "38 * * * *" });
  const every = await client.addSchedule("t", new IntervalTrigger({ minutes: 5 }), { id: "poll", spread: true });
  expect(written(every)).toMatchObject({ seed: "poll" });
  await expect(client.addSchedule("t", "H H * * *")).rejects.toThrow(/give the schedule an id/);
});
