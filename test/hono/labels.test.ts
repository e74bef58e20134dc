import { describe, expect, test } from "vitest";
import type { SchedulerClient } from "../../src/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { problem, setUpRouter } from "./support.ts";

const LATER = { delay: "1h" };

async function idsOf(ask: ReturnType<typeof setUpRouter>["ask"], route: string): Promise<string[]> {
  const { status, body } = await ask(route);
  expect(status).toBe(200);
  return (body as { items: { id: string }[] }).items.map(({ id }) => id);
}

describe("labels over HTTP", () => {
  test("are given with schedules and jobs, and shown", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", { labels: { team: "billing" } }, () => {});
    const job = await ask("POST /jobs", { taskId: "t", labels: { tier: "gold" }, ...LATER });
    expect(job.body).toMatchObject({ labels: { team: "billing", tier: "gold" } });
    const trigger = { every: "1h" };
    const schedule = await ask("POST /schedules", { id: "s", taskId: "t", trigger, labels: { tier: "free" } });
    expect(schedule.body).toMatchObject({ labels: { team: "billing", tier: "free" } });
    const changed = await ask("PATCH /schedules/s", { labels: { tier: "gold" } });
    expect(changed.body).toMatchObject({ labels: { team: "billing", tier: "gold" } });
    // What GET answers may be sent back.
    const read = await ask("GET /schedules/s");
    const replaced = await ask("PUT /schedules/s", read.body as object);
    expect(replaced.body).toMatchObject({ labels: { team: "billing", tier: "gold" } });
    expect((await ask("GET /tasks")).body).toMatchObject({ items: [{ id: "t", labels: { team: "billing" } }] });
  });

  test("filter lists: as name:value, several times for all of them, and whatever is in a value", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    scheduler.task("billed", { labels: { team: "billing" } }, () => {});
    const add = async (id: string, labels: Record<string, string>) => {
      await scheduler.addSchedule("t", "0 9 * * *", { id, labels });
      await scheduler.addJob("t", { labels, idempotencyKey: id, ...LATER });
    };
    await add("a", { team: "billing", note: "x,y:z & more" });
    await add("b", { team: "billing" });
    await add("c", { team: "mail" });
    expect(await idsOf(ask, "GET /schedules?label=team:billing")).toEqual(["a", "b"]);
    expect(
      await idsOf(ask, `GET /schedules?label=team:billing&label=${encodeURIComponent("note:x,y:z & more")}`),
    ).toEqual(["a"]);
    expect(await idsOf(ask, "GET /jobs?label=team:mail")).toHaveLength(1);
    expect(await idsOf(ask, "GET /tasks?label=team:billing")).toEqual(["billed"]);
    expect((await ask("GET /results?label=team:billing")).body).toEqual({ items: [], cursor: null });
  });

  test.each([
    ["GET /jobs?label=billing", 400, "GET /jobs: label must be a name and a value"],
    ["GET /jobs?label=", 400, "label"],
    ["GET /jobs?label=:billing", 400, "GET /jobs: label must be a name and a value"],
    ["GET /jobs?label=team:", 400, "labels must be an object with text of 1 to 256 characters"],
    ["GET /jobs?label=a%20b:c", 400, "labels must be an object with names of 1 to 64"],
    ["GET /schedules?label=team:a&label=team:b", 400, 'label names "team" twice'],
    ["GET /results?label=__proto__:a", 400, "labels must be an object with names of 1 to 64"],
    [`GET /tasks?${"label=a:b&".repeat(17)}`, 400, "a list of 1 to 16"],
  ])("are refused where they are none: %s", async (route, status, message) => {
    const { ask } = setUpRouter();
    const answer = await ask(route);
    expect([answer.status, JSON.stringify(answer.body).replaceAll('\\"', '"')]).toEqual([
      status,
      expect.stringContaining(message),
    ]);
  });

  test("select what bulk requests are about", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    for (const team of ["billing", "mail"]) {
      await scheduler.addSchedule("t", "0 9 * * *", { id: team, labels: { team } });
      await scheduler.addJob("t", { labels: { team }, ...LATER });
    }
    const filter = { label: ["team:billing"] };
    expect((await ask("POST /schedules/bulk", { action: "pause", filter, expectedCount: 1 })).body).toMatchObject({
      count: 1,
    });
    expect((await ask("POST /jobs/bulk", { action: "cancel", filter, expectedCount: 1 })).body).toMatchObject({
      count: 1,
    });
    expect((await ask("POST /jobs/bulk", { action: "purge", filter })).body).toMatchObject({ count: 1 });
    expect(await idsOf(ask, "GET /jobs")).toHaveLength(1);
    const none = await ask("POST /jobs/bulk", { action: "cancel", filter: { label: [] } });
    expect(none).toMatchObject({ status: 422, body: problem(422, "Unprocessable Content", "options") });
  });

  test("travel with a client as they do in one process", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => {});
    const script = async (one: SchedulerClient) => {
      const labels = { team: "billing", note: "a,b:c" };
      await one.addSchedule("t", "0 9 * * *", { id: "s", labels });
      await one.addJob("t", { labels, ...LATER });
      await one.addJob("t", LATER);
      return [
        (await one.getSchedules({ labels })).items.map((schedule) => schedule.labels),
        (await one.getJobs({ labels })).items.map((job) => job.labels),
        (await one.getTasks({ labels })).length,
        (await one.pauseSchedules({ labels })).paused,
        (await one.cancelJobs({ labels })).cancelled,
        (await one.getJobResults({ labels })).items.map((result) => result.labels),
        (await one.removeJobResults({ labels })).removed,
        (await one.updateSchedule("s", { labels: { team: "mail" } })).labels,
        (await one.cancelJobs({ all: true })).cancelled,
        (await one.removeSchedules({ labels: { team: "mail" } })).removed,
      ];
    };
    const far = await script(client);
    expect(far).toEqual(await script(scheduler));
    expect(far.slice(3, 5)).toEqual([1, 1]);
  });
});
