import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { createRouter, type Problem } from "../../../src/hono/mod.ts";
import { type RouterSetup, setUpRouter } from "../support.ts";
import { BlockReader } from "./reading.ts";

describe("GET /events", () => {
  test("streams the events of the given types, of what other requests do", async () => {
    const { router, ask, scheduler } = setUpRouter();
    scheduler.task("greet", () => "hello");
    await ask("GET /tasks");
    const reader = new BlockReader(await router.request("https://localhost/events?types=jobAdded,jobBlocked"));
    expect((await reader.next())?.retry).toBe("2000");
    const { body } = await ask("POST /jobs", { taskId: "greet" });
    expect((await reader.next())?.data).toMatchObject({ type: "jobAdded", jobId: (body as { id: string }).id });
    await reader.leave();
  });

  test("streams the events of a task or a schedule alone", async () => {
    const { router, ask, scheduler } = setUpRouter();
    scheduler.task("greet", () => "hello");
    scheduler.task("mail", () => {});
    await ask("POST /schedules", { id: "s", taskId: "greet", trigger: { every: "1h" } });
    const of = async (query: string) =>
      new BlockReader(await router.request(`/events?types=jobAdded,taskPaused&${query}`));
    const readers = [await of("taskId=greet"), await of("scheduleId=s"), await of("scheduleId=s&taskId=mail")];
    for (const reader of readers) await reader.next();
    const added = [];
    for (const taskId of ["mail", "greet"]) added.push((await ask("POST /jobs", { taskId })).body as { id: string });
    const { body: run } = await ask("POST /schedules/s/run");
    router.close();
    const idsOf = async (reader: BlockReader): Promise<unknown[]> => {
      const ids = [];
      for (let block = await reader.next(); block !== null; block = await reader.next()) {
        if (block.data !== undefined) ids.push((block.data as { jobId: string }).jobId);
      }
      return ids;
    };
    const { id } = run as { id: string };
    expect(await Promise.all(readers.map(idsOf))).toEqual([[added[1]?.id, id], [id], []]);
  });

  test("has as many streams as the option maxEventStreams allows", async () => {
    const { router } = setUpRouter({ maxEventStreams: 1 });
    const statuses = [];
    for (let count = 0; count < 2; count++) statuses.push((await router.request("/events")).status);
    expect(statuses).toEqual([200, 503]);
  });

  test("of a type that there is not answers 400, and says which one was meant", async () => {
    const { ask } = setUpRouter();
    const { status, body } = await ask("GET /events?types=jobAdded,jobRelease");
    const message = expect.stringContaining('did you mean "jobReleased"?');
    expect([status, body]).toMatchObject([400, { code: "options", issues: [{ path: "types", message }] }]);
    const empty = [await ask("GET /events?types="), await ask("GET /events?types=jobAdded,")];
    expect(empty.map((answer) => answer.status)).toEqual([400, 400]);
  });

  test("answers HEAD without a stream, and no other method", async () => {
    const { router, ask } = setUpRouter();
    const head = await router.request("https://localhost/events", { method: "HEAD" });
    expect([head.status, head.headers.get("content-type"), head.body]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      null,
    ]);
    const { status, headers } = await ask("POST /events");
    expect([status, headers.get("allow")]).toEqual([405, "GET"]);
  });

  test("ends when the router is closed, which opens no more streams and answers the rest", async () => {
    const { scheduler } = setUpRouter();
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const router = createRouter(scheduler, { auth: "none", logger: quiet });
    const reader = new BlockReader(await router.request("/events"));
    await reader.next();
    router.close();
    expect(await reader.next()).toBeNull();
    const [events, tasks] = [await router.request("/events"), await router.request("/tasks")];
    expect([events.status, ((await events.json()) as Problem).code, tasks.status]).toEqual([503, "routerClosed", 200]);
  });

  test.each([
    ["was never used", async () => {}],
    ["answered questions", async ({ scheduler }: RouterSetup) => void (await scheduler.getTasks())],
    ["did a tick", async ({ scheduler }: RouterSetup) => void (await scheduler.tick())],
  ])("ends when a scheduler stops that was never started and %s", async (_, use) => {
    const setup = setUpRouter();
    const reader = new BlockReader(await setup.router.request("/events?types=jobAdded"));
    await reader.next();
    await use(setup);
    await setup.scheduler.stop();
    expect(await reader.next()).toBeNull();
  });

  test("counts the streams of all requests, also where each request makes a scheduler", async () => {
    const { scheduler } = setUpRouter();
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const router = createRouter(() => scheduler, { auth: "none", logger: quiet });
    const app = new Hono().route("/scheduler", router);
    const readers: BlockReader[] = [];
    for (let count = 0; count < 200; count++) {
      readers.push(new BlockReader(await app.request("https://localhost/scheduler/events")));
    }
    expect((await app.request("https://localhost/scheduler/events")).status).toBe(503);
    for (const reader of readers) await reader.leave();
    expect((await app.request("https://localhost/scheduler/events")).status).toBe(200);
  });
});
