import { createServer, type Server } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRouter } from "../../src/hono/mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import {
  CronTrigger,
  MemoryDataStore,
  OptionsError,
  Scheduler,
  type SchedulerEvent,
  type SchedulerOptions,
} from "../../src/mod.ts";
import { ping, type WebhookOptions, webhook } from "../../src/notices/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { START } from "../scheduler/support.ts";
import { type Answer, startServer } from "../support/http-server.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A receiver on loopback. It answers with 204 unless told otherwise. */
async function receiver(answer: Answer = () => new Response(null, { status: 204 })): Promise<{
  readonly url: string;
  readonly received: Received[];
}> {
  const received: Received[] = [];
  const server = await startServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    received.push({ method: request.method, path: pathname + search, headers: new Headers(request.headers), body });
    return answer(request);
  });
  onTestFinished(() => server.stop());
  return { url: server.url, received };
}

/** A server that does with each connection what it is told. @returns its URL */
async function rawServer(answer: (write: (text: string) => void) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer((text) => socket.write(text)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

interface World {
  readonly clock: VirtualClock;
  readonly store: MemoryDataStore;
  readonly scheduler: Scheduler;
  readonly log: string[];
  /** Lets the schedule fire once more, with this outcome. */
  fire(outcome: "ok" | "fails"): Promise<void>;
}

/** A scheduler of ticks whose schedule fires each minute. */
async function world(options: Omit<SchedulerOptions, "dataStore">, metrics?: Metrics): Promise<World> {
  const clock = new VirtualClock(START);
  const store = new MemoryDataStore();
  const log: string[] = [];
  const note = (...parts: unknown[]): void => {
    log.push(
      parts.map((part) => (part instanceof Error ? `${part.stack} ${String(part.cause)}` : String(part))).join(" "),
    );
  };
  const logger = { debug: note, info: note, warn: note, error: note };
  const all = { dataStore: store, clock, logger, identity: "one", ...options };
  const scheduler = new Scheduler(metrics === undefined ? all : metrics.watch(all));
  onTestFinished(() => scheduler.stop());
  let fails = false;
  scheduler.task("work", () => {
    if (fails) throw new Error("boom");
  });
  await scheduler.addSchedule("work", new CronTrigger("* * * * *"), { id: "every minute" });
  return {
    ...{ clock, store, scheduler, log },
    async fire(outcome) {
      fails = outcome === "fails";
      await clock.advance({ minutes: 1 });
      await scheduler.tick();
    },
  };
}

function hook(url: string, options: Partial<WebhookOptions> = {}): ReturnType<typeof webhook> {
  return webhook({ url: `${url}/hook?token=hidden`, on: ["failed", "recovered", "paused"], ...options });
}

describe("a webhook", () => {
  test("hears of the first failure, of the recovery and of pauses, each in the tick that makes it", async () => {
    const { url, received } = await receiver();
    const { fire, scheduler } = await world({ notices: [hook(url, { secret: SECRET })] });
    await fire("ok");
    expect(received).toEqual([]);
    await fire("fails");
    await fire("fails");
    await fire("ok");
    await fire("ok");
    await scheduler.pauseSchedule("every minute", { by: "ada", reason: "a deploy" });
    await scheduler.tick();
    const said = received.map(({ body }) => JSON.parse(body));
    expect(said.map(({ type, timestamp }) => `${type} ${timestamp}`)).toEqual([
      "failed 2030-01-01T00:02:00Z",
      "recovered 2030-01-01T00:04:00Z",
      "paused 2030-01-01T00:05:00Z",
    ]);
    expect(said[0].data).toMatchObject({ scheduleId: "every minute", error: { name: "Error", message: "boom" } });
    expect(said[2].data).toMatchObject({ by: "ada", reason: "a deploy" });
    for (const { method, path, headers, body } of received) {
      expect([method, path, headers.get("content-type")]).toEqual(["POST", "/hook?token=hidden", "application/json"]);
      expect(await isSigned(headers, body)).toBe(true);
    }
    expect(new Set(received.map(({ headers }) => headers.get("webhook-id"))).size).toBe(3);
  });

  test("has bodies, filters and headers of the program's own", async () => {
    const { url, received } = await receiver();
    const notices = [
      hook(url, { name: "text", body: ({ text }) => text, headers: { "x-one": "1" }, on: ["failed"] }),
      hook(url, { name: "none", filter: ({ data }) => data.scheduleId !== "every minute" }),
      hook(url, { name: "other", schedules: ["other"] }),
      hook(url, { name: "asked", url: () => `${url}/asked`, headers: () => ({ "x-two": "2" }), on: ["recovered"] }),
    ];
    const { fire } = await world({ notices });
    await fire("fails");
    await fire("ok");
    expect(received.map(({ path, headers, body }) => [path, headers.get("x-one"), headers.get("x-two"), body])).toEqual(
      [
        [
          "/hook?token=hidden",
          "1",
          null,
          'Schedule "every minute" failed: its run of 2030-01-01T00:01:00Z ended with Error: boom',
        ],
        ["/asked", null, "2", expect.stringContaining('"type":"recovered"')],
      ],
    );
    expect(received[0]?.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test("is tried again after a failure of the receiver, under the same id, and tells of it once", async () => {
    let status = 503;
    const { url, received } = await receiver(() => new Response("no", { status }));
    const { fire, clock, scheduler } = await world({ notices: [hook(url)] });
    await fire("fails");
    expect(received.length).toBe(1);
    status = 200;
    await clock.advance({ minutes: 1 });
    await scheduler.pauseSchedule("every minute");
    await drain(scheduler);
    const ids = received.map(({ headers, body }) => `${headers.get("webhook-id")} ${JSON.parse(body).type}`);
    expect(ids.filter((id) => id.endsWith("failed")).length).toBe(2);
    expect(new Set(ids).size).toBe(2);
  });

  test.each([400, 401, 404, 410])(
    "is not tried again after a status of %i, and makes no notice of it",
    async (status) => {
      const { url, received } = await receiver(() => new Response("no", { status }));
      const { fire, scheduler, clock } = await world({ notices: [hook(url)] });
      await fire("fails");
      await clock.advance({ hours: 2 });
      await scheduler.pauseSchedule("every minute");
      await drain(scheduler);
      expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(["failed", "paused"]);
      const { items } = await scheduler.getJobResults({ taskId: "escapement.notices.webhook" });
      expect(items.map(({ outcome, error }) => [outcome, error?.message])).toEqual(
        items.map(() => ["error", `the notice of "webhook" was not sent: the receiver answered with status ${status}`]),
      );
    },
  );

  test.each([301, 302, 307, 308])("does not follow a redirect of status %i", async (status) => {
    const target = await receiver();
    const { url, received } = await receiver(
      () => new Response(null, { status, headers: { location: `${target.url}/elsewhere` } }),
    );
    const { fire, scheduler } = await world({ notices: [hook(url)] });
    await fire("fails");
    expect([received.length, target.received.length]).toEqual([1, 0]);
    const { items } = await scheduler.getJobResults({ taskId: "escapement.notices.webhook" });
    expect(items[0]?.error?.message).toMatch(/answered with a redirect, which is not followed/);
  });

  test("reads nothing of an answer that never ends", async () => {
    let written = 0;
    const url = await rawServer((write) => {
      write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n");
      const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
      const more = setInterval(() => {
        write(chunk);
        written++;
      }, 1);
      onTestFinished(() => clearInterval(more));
    });
    const { fire, scheduler } = await world({ notices: [hook(url)] });
    await fire("fails");
    const { items } = await scheduler.getJobResults({ taskId: "escapement.notices.webhook" });
    expect(items.map(({ outcome }) => outcome)).toEqual(["success"]);
    expect(written).toBeLessThan(1000);
  });

  test("ends with its time-out where a receiver never answers, and is tried again", async () => {
    const asked: (() => void)[] = [];
    let requests = 0;
    const url = await rawServer(() => {
      requests++;
      asked.shift()?.();
    });
    const nextRequest = (): Promise<void> => new Promise((resolve) => void asked.push(resolve));
    const clock = new VirtualClock(START);
    const scheduler = new Scheduler({ clock, logLevel: "silent", notices: [hook(url)] });
    onTestFinished(() => scheduler.stop({ drainTimeout: { seconds: 0 } }));
    scheduler.task("work", () => {});
    const retried = new Promise<SchedulerEvent<"jobRetried">>((resolve) => {
      scheduler.subscribe("jobRetried", resolve);
    });
    const [first, second] = [nextRequest(), nextRequest()];
    await scheduler.start();
    await scheduler.pauseTask("work");
    await first;
    await clock.advance({ seconds: 10 });
    const { error, runAt } = await retried;
    expect([error?.name, requests]).toEqual(["JobTimeoutError", 1]);
    await clock.advanceTo(runAt);
    await second;
    expect(requests).toBe(2);
  });
});

describe("a ping", () => {
  test("asks for its URL on each success of its schedules", async () => {
    const { url, received } = await receiver();
    const alive = ping({ url: `${url}/uuid`, schedules: ["every minute"] });
    const { fire, scheduler, clock } = await world({ notices: [alive] });
    await scheduler.addSchedule("work", new CronTrigger("* * * * *"), { id: "another" });
    for (const outcome of ["ok", "fails", "ok", "ok"] as const) await fire(outcome);
    expect(received.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual(
      Array.from({ length: 3 }, () => "GET /uuid "),
    );
    expect(clock.now()).toBeGreaterThan(0);
  });
});

describe("what a program knows of a receiver", () => {
  const HIDDEN = /hidden|MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw|s3cret|127\.0\.0\.1/;

  test("enters neither the store, nor the log, nor metrics, nor an answer, whatever fails", async () => {
    const answers = [500, 302, 404, 200];
    const { url } = await receiver(() => new Response("hidden", { status: answers.shift() ?? 200 }));
    const closed = "http://127.0.0.1:1/hidden";
    const metrics = new Metrics();
    const notices = [
      hook(url, { secret: SECRET, headers: { authorization: "s3cret" } }),
      hook(closed, { name: "closed" }),
      hook(url, { name: "throws", url: () => "no url, but hidden" }),
      ping({ url: closed }),
    ];
    const { fire, scheduler, store, log } = await world({ notices, logLevel: "debug" }, metrics);
    for (const outcome of ["fails", "ok", "fails", "ok"] as const) await fire(outcome);
    await scheduler.pauseTask("work");
    await scheduler.tick();
    const page = { limit: 1000, cursor: null };
    const stored = [
      await store.getTasks(),
      await store.getSchedules(page),
      await store.getJobs(page),
      await store.getJobResults(page, 0),
    ];
    expect(JSON.stringify(stored)).toContain("escapement.notices.closed");
    const texts = [
      JSON.stringify(stored),
      log.join("\n"),
      await metrics.text(),
      JSON.stringify(await scheduler.health()),
    ];
    expect(texts.filter((text) => HIDDEN.test(text.replaceAll(String(import.meta.dirname), "")))).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ["a URL that is none", () => webhook({ url: "hidden", on: ["failed"] })],
    ["a URL of another kind", () => webhook({ url: "file:///hidden", on: ["failed"] })],
    ["a URL with a password", () => webhook({ url: "https://user:hidden@example.org", on: ["failed"] })],
    ["no URL", () => webhook({ url: undefined, on: ["failed"] })],
    ["a secret that is none", () => webhook({ url: "https://example.org", on: ["failed"], secret: "hidden" })],
    [
      "headers that are none",
      () => webhook({ url: "https://example.org", on: ["failed"], headers: { a: "hidden\n" } }),
    ],
    ["a ping without a URL", () => ping({ url: "hidden" })],
    ["no types", () => webhook({ url: "https://example.org", on: [] })],
    ["an unknown type", () => webhook({ url: "https://example.org", on: ["robots" as "failed"] })],
    ["an unknown option", () => ping({ url: "https://example.org", on: ["failed"] } as Parameters<typeof ping>[0])],
    ["a name with a space", () => ping({ url: "https://example.org", name: "a b" })],
    ["an empty list of schedules", () => ping({ url: "https://example.org", schedules: [] })],
  ])("is not shown where a call refuses %s", (_, call) => {
    let thrown: unknown = null;
    try {
      call();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(OptionsError);
    expect(HIDDEN.test(String(thrown))).toBe(false);
  });
});

test.each([["failed"], [undefined], [[]]])("the types %j are refused with those that there are", (on) => {
  expect(() => hook("http://127.0.0.1:1", { on: on as never })).toThrow(
    /webhook\(\): on .*a list of at least one of "failed", "recovered"/,
  );
});

describe("a scheduler refuses", () => {
  const channel = hook("http://127.0.0.1:1");

  test("a channel that stands in no list", () => {
    expect(() => new Scheduler({ notices: channel as never })).toThrow(/notices must be a list of what webhook\(\)/);
  });

  test("two channels of one name", () => {
    expect(() => new Scheduler({ notices: [channel, channel] })).toThrow(/one channel "webhook" only/);
  });

  test("channels on a store without a ledger", () => {
    const dataStore = new MemoryDataStore({ ledger: false });
    expect(() => new Scheduler({ dataStore, notices: [channel] })).toThrow(/need a data store with a ledger/);
  });

  test("what is no channel", () => {
    expect(() => new Scheduler({ notices: ["https://example.org" as never] })).toThrow(/webhook\(\) or ping\(\)/);
  });
});

async function isSigned(headers: Headers, body: string): Promise<boolean> {
  const key = Uint8Array.from(atob(SECRET.slice(6)), (unit) => unit.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]);
  const content = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const [version, text = ""] = headers.get("webhook-signature")?.split(",") ?? [];
  const signature = Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
  return version === "v1" && crypto.subtle.verify("HMAC", imported, signature, new TextEncoder().encode(content));
}

test("nobody makes a notice by themselves: not over HTTP, by a schedule, in bulk, with MCP or in the program", async () => {
  const { url, received } = await receiver();
  const { scheduler, fire } = await world({ notices: [webhook({ url, on: ["failed"], secret: SECRET })] });
  await fire("fails");
  await drain(scheduler);
  expect(received.length).toBe(1);
  const taskId = "escapement.notices.webhook";
  const router = createRouter(scheduler, { auth: () => "write", mcp: mcp() });
  const ask = (method: string, path: string, body: object): Promise<Response> | Response =>
    router.request(`http://localhost${path}`, {
      method,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(body),
    });
  const forged = { taskId, metadata: { type: "failed", at: START, taskId: "work", scheduleId: "forged" } };
  const rule = { type: "interval", version: 1, milliseconds: 60_000 };
  const tries = [
    await ask("POST", "/jobs", forged),
    await ask("POST", "/jobs", { taskId: "escapement.notices.none" }),
    await ask("POST", "/jobs/batch", { jobs: [{ taskId: "work" }, forged] }),
    // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
    await ask("POST", "/jobs/batch", { jobs: [{ taskId: "work" }], then: forged }),
    await ask("POST", "/schedules", { ...forged, trigger: rule }),
    await ask("PUT", "/schedules/every%20minute", { ...forged, trigger: rule }),
  ];
  expect(tries.map(({ status }) => status)).toEqual(tries.map(() => 422));
  expect(await (await ask("POST", "/jobs", forged)).text()).toContain("whose jobs the scheduler makes itself");
  const name = "add_schedule";
  const call = { name, arguments: { ...forged, id: "forged", trigger: "* * * * *", dryRun: false } };
  const tool = await ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
  expect(await tool.text()).toContain('"isError":true');
  const inProgram = [
    () => scheduler.addJob(taskId),
    () => scheduler.runJob(taskId),
    () => scheduler.addJobs([{ task: taskId }]),
    // Elsewhere, no channel has registered this name.
    () => scheduler.addJob({ "escapement.notices.other"() {} }["escapement.notices.other"]),
    () => scheduler.addSchedule({ id: taskId }, new CronTrigger("* * * * *")),
    () => scheduler.addSchedules([{ task: taskId, trigger: new CronTrigger("* * * * *"), id: "forged" }]),
  ];
  for (const attempt of inProgram) await expect(async () => attempt()).rejects.toThrow(OptionsError);
  await fire("fails");
  await drain(scheduler);
  expect([received.length, (await scheduler.getSchedules()).items.map(({ id }) => id)]).toEqual([1, ["every minute"]]);
});
