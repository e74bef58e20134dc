import { expect, onTestFinished, test } from "vitest";
import { connect, RemoteError } from "../../src/client/mod.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { rejectionOf } from "../scheduler/support.ts";
import { startServer } from "../support/http-server.ts";

const TOKEN = "a-token-that-nobody-guesses-0123456789";
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** A scheduler behind a router on a socket, and a client of it. */
async function setUp() {
  const scheduler = new Scheduler({ logger: quiet });
  const auth = { tokens: [{ token: TOKEN, scope: "write" as const }] };
  const router = createRouter(scheduler, { auth, logger: quiet });
  const server = await startServer((request) => router.fetch(request));
  const client = connect({ url: server.url, token: TOKEN, logger: quiet });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
    await scheduler.stop();
  });
  return { scheduler, server, client };
}

test("a client on a socket runs a job, and hears of it", async () => {
  const { scheduler, client } = await setUp();
  scheduler.task("greet", (name) => `Hello, ${name}`);
  await scheduler.start();
  const released = client.nextEvent("jobReleased");
  expect(await client.runJob("greet", { payload: "Ada" })).toBe("Hello, Ada");
  expect(await released).toMatchObject({ type: "jobReleased", taskId: "greet", outcome: "success" });
  const schedule = await client.addSchedule("greet", "0 9 * * *", { id: "a/b.c %é#?", payload: "Alan" });
  expect((await schedule.refresh()).toJSON()).toEqual((await scheduler.getSchedule(schedule.id)).toJSON());
  await schedule.remove();
});

test("events of several listeners come over a socket, and a closed client ends its loops", async () => {
  const { scheduler, client } = await setUp();
  scheduler.task("t", { maxRunningJobs: null }, () => {});
  const events = client.events("jobAdded");
  const pausing = client.nextEvent("taskPaused");
  const job = await client.addJob("t");
  await client.pauseTask("t");
  expect([(await events.next()).value.jobId, (await pausing).taskId]).toEqual([job.id, "t"]);
  await client.close();
  expect(await events.next()).toEqual({ value: undefined, done: true });
});

test("a signal ends a wait at the router, too", async () => {
  const { scheduler, client } = await setUp();
  scheduler.task("t", () => {});
  const job = await client.addJob("t");
  const controller = new AbortController();
  const wait = rejectionOf(job.wait({ signal: controller.signal }));
  controller.abort("enough");
  expect(await wait).toBe("enough");
});

test("a wrong token, and a server that is gone, are told apart", async () => {
  const { server } = await setUp();
  await using wrong = connect({ url: server.url, token: "wrong", logger: quiet });
  expect(await rejectionOf(wrong.getTasks())).toBeInstanceOf(RemoteError);
  await using gone = connect({ url: "http://127.0.0.1:1", retry: { maxAttempts: 1 }, logger: quiet });
  expect(await rejectionOf(gone.getTasks())).toBeInstanceOf(StoreUnavailableError);
});
