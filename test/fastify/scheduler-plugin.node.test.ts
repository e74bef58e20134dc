import Fastify, { type FastifyPluginAsync } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { type SchedulerPluginOptions, schedulerPlugin } from "../../src/fastify/mod.ts";
import { setUpRouter } from "../hono/support.ts";

const JSON_BODY = { method: "POST", headers: { "content-type": "application/json" } };

/** A server with the plugin within an instance of the prefix `/admin`, and where the router is. */
async function serve(options: Partial<SchedulerPluginOptions> = {}) {
  const { scheduler, router } = setUpRouter();
  scheduler.task("greet", () => {});
  const fastify = Fastify();
  onTestFinished(() => fastify.close());
  fastify.post("/echo", async ({ body }) => body);
  const admin: FastifyPluginAsync = async (instance) => {
    await instance.register(schedulerPlugin, { scheduler, router: router as never, ...options });
  };
  await fastify.register(admin, { prefix: "/admin" });
  const address = await fastify.listen({ port: 0, host: "127.0.0.1" });
  return { fastify, scheduler, address, mount: `${address}/admin${options.prefix ?? "/scheduler"}` };
}

describe("a router within Fastify", () => {
  test("is below the prefixes, gets its bodies, and leaves those of other routes to Fastify", async () => {
    const { address, mount, scheduler } = await serve({ prefix: "/jobs" });
    const added = await fetch(`${mount}/jobs`, { ...JSON_BODY, body: JSON.stringify({ taskId: "greet" }) });
    expect([added.status, await added.json()]).toMatchObject([202, { taskId: "greet" }]);
    expect((await fetch(`${mount}/health/ready`)).status).toBe(200);
    expect(await (await fetch(`${address}/echo`, { ...JSON_BODY, body: '{"a":1}' })).json()).toEqual({ a: 1 });
    expect(scheduler.state).toBe("started");
  });

  test("ends its streams, so that an open page keeps no server from closing", async () => {
    const { fastify, mount, scheduler } = await serve({ start: false });
    const events = await fetch(`${mount}/events`);
    expect([events.status, scheduler.state]).toEqual([200, "stopped"]);
    await fastify.close();
    await events.text();
  });
});

test("the scheduler is the instance's, starts when the server is ready, and lets jobs end before it closes", async () => {
  const { scheduler } = setUpRouter();
  const fastify = Fastify();
  await fastify.register(schedulerPlugin, { scheduler });
  expect([fastify.getDecorator("scheduler") === scheduler, scheduler.state]).toEqual([true, "stopped"]);
  await fastify.ready();
  expect(scheduler.state).toBe("started");
  await fastify.close();
  expect(scheduler.state).toBe("stopped");
});

test("a server that is closed while it starts leaves no scheduler that runs", async () => {
  const { scheduler } = setUpRouter();
  const fastify = Fastify();
  await fastify.register(schedulerPlugin, { scheduler });
  await Promise.all([fastify.ready(), fastify.close()]);
  expect(scheduler.state).toBe("stopped");
});

test.each([
  [{ scheduler: {} }, "scheduler must be a Scheduler"],
  [{ prefix: "jobs" }, "prefix must be a path such as /scheduler"],
  [{ router: {} }, "router must be a router of createRouter()"],
  [{ drainTimeout: "soon" }, "drainTimeout must be"],
  [{ basePath: "/jobs" }, "basePath"],
])("options %o are refused: %s", async (options, message) => {
  const { scheduler } = setUpRouter();
  const given = { scheduler, ...options } as SchedulerPluginOptions;
  const registered = Fastify().register(schedulerPlugin, given);
  await expect(Promise.resolve(registered)).rejects.toThrow(message);
});
