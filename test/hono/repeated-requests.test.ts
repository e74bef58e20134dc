import { describe, expect, test } from "vitest";
import { type Answer, type RouterSetup, setUpRouter } from "./support.ts";

const KEY = { "idempotency-key": "k" };
const HOURLY = { taskId: "report", trigger: { every: "1h" } };

/** Two programs on one store. */
async function twoRouters(): Promise<readonly [RouterSetup, RouterSetup]> {
  const first = setUpRouter();
  const second = setUpRouter({}, { clock: first.clock, dataStore: first.store, random: () => 0.25 });
  for (const { scheduler } of [first, second]) scheduler.task("report", { maxRunningJobs: null }, () => {});
  await first.ask("POST /schedules", { ...HOURLY, id: "hourly", paused: true });
  return [first, second];
}

function idOf({ body }: Answer): string {
  return (body as { id: string }).id;
}

const REFUSED = {
  status: 422,
  body: {
    code: "options",
    issues: [
      { path: "idempotencyKey", message: "stands for another request already; send this one with a key of its own" },
    ],
  },
};

describe("a request with an Idempotency-Key", () => {
  test.each([
    ["POST /jobs", { taskId: "report", payload: 1 }],
    ["POST /schedules", HOURLY],
    ["POST /schedules/hourly/run", undefined],
  ])("is done once by all programs of a store: %s", async (route, body) => {
    const [first, second] = await twoRouters();
    const answers = [await first.ask(route, body, KEY), await second.ask(route, body, KEY)];
    expect(answers[1]).toMatchObject({ status: answers[0]?.status, body: answers[0]?.body });
    const { items } = await first.scheduler.getSchedules({ state: "active" });
    const jobs = await first.scheduler.getJobs();
    expect(items.length + jobs.items.length).toBe(1);
  });

  test.each([
    ["POST /jobs", { taskId: "report", payload: 1 }, "POST /jobs", { taskId: "report", payload: 2 }],
    ["POST /schedules", HOURLY, "POST /schedules", { ...HOURLY, name: "another" }],
    ["POST /schedules", HOURLY, "POST /schedules", { ...HOURLY, taskId: "other" }],
    ["POST /schedules/hourly/run", undefined, "POST /jobs", { taskId: "report" }],
  ])("is refused when the key stands for another one: %s %j, then %s %j", async (route, body, otherRoute, other) => {
    const [{ ask, scheduler }, second] = await twoRouters();
    for (const one of [scheduler, second.scheduler]) one.task("other", () => {});
    const { status } = await ask(route, body, KEY);
    expect(status).toBeLessThan(300);
    const [before] = [await ask("GET /jobs"), await ask("GET /schedules")];
    expect(await second.ask(otherRoute, other, KEY)).toMatchObject(REFUSED);
    expect((await ask("GET /jobs")).body).toEqual(before.body);
  });

  test("of a run is known for ten minutes, also when the job has ended", async () => {
    const [{ ask, scheduler, clock }, second] = await twoRouters();
    const run = (headers = KEY) => ask("POST /schedules/hourly/run", undefined, headers);
    const first = idOf(await run());
    await scheduler.tick();
    expect(idOf(await second.ask("POST /schedules/hourly/run", undefined, KEY))).toBe(first);
    expect(await second.ask("POST /jobs", { taskId: "report" }, KEY)).toMatchObject(REFUSED);
    await clock.advance("PT10M");
    expect(idOf(await run())).not.toBe(first);
    expect(await ask("POST /schedules/hourly/run", { uniqueFor: "1h" })).toMatchObject({ status: 422 });
  });

  test("of a run goes by the key in the body, if there is one", async () => {
    const [{ ask }] = await twoRouters();
    const run = await ask("POST /schedules/hourly/run", { idempotencyKey: "own", uniqueFor: "1h" }, KEY);
    expect(run).toMatchObject({ status: 202, body: { idempotencyKey: "own" } });
  });

  test("adds one schedule, whoever has changed it since, and none after its removal", async () => {
    const [{ ask, clock }] = await twoRouters();
    const add = () => ask("POST /schedules", HOURLY, KEY);
    const id = idOf(await add());
    await ask(`PATCH /schedules/${id}`, { name: "changed" });
    expect(await add()).toMatchObject({ status: 201, body: { id, name: "changed" } });
    await ask(`DELETE /schedules/${id}`);
    expect(await add()).toMatchObject({ status: 409, body: { code: "conflictingId", id } });
    await clock.advance("PT10M");
    expect(await add()).toMatchObject({ status: 201, body: { id, name: null } });
  });

  test.each(["", "k".repeat(257)])("is refused where no job could have the key", async (key) => {
    const [{ ask }] = await twoRouters();
    for (const [route, body] of [
      ["POST /schedules", HOURLY],
      ["POST /jobs", { taskId: "report" }],
      ["POST /schedules/hourly/run", {}],
    ] as const) {
      const answer = await ask(route, body, { "idempotency-key": key });
      expect(answer).toMatchObject({ status: 422, body: { code: "options" } });
    }
  });
});
