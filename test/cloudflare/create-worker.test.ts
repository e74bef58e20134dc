import { describe, expect, test } from "vitest";
import { createWorker, type WorkerContext, type WorkerOptions } from "../../src/cloudflare/mod.ts";
import type { Scheduler } from "../../src/mod.ts";
import { type Setup, setUp } from "../scheduler/support.ts";

interface Env {
  readonly GREETING: string;
}
const env: Env = { GREETING: "Hello" };
const event = { cron: "* * * * *", scheduledTime: 0 };
const get = (path = "/"): Request => new Request(`https://example.org${path}`);

/** The context of a platform, which waits for what it is given. */
function context(): WorkerContext & { readonly waiting: Promise<unknown>[] } {
  const waiting: Promise<unknown>[] = [];
  return { waiting, waitUntil: (promise) => waiting.push(promise), passThroughOnException: () => {}, props: {} };
}

/** A Worker on one scheduler: the `env`s that its jobs saw, and what its scheduler was made of. */
async function setUpWorker(
  options: Partial<WorkerOptions<Env>> = {},
): Promise<Setup & { seen: unknown[]; calls: unknown[]; worker: ReturnType<typeof createWorker<Env>> }> {
  const parts = setUp();
  const seen: unknown[] = [];
  const calls: unknown[] = [];
  // Known before the first invocation, so that a test can add its jobs.
  parts.scheduler.task("greet", () => {});
  const worker = createWorker<Env>({
    scheduler: (given, ctx) => {
      calls.push([given, ctx]);
      parts.scheduler.task("greet", () => {
        seen.push(given);
      });
      return parts.scheduler;
    },
    ...options,
  });
  return { ...parts, seen, calls, worker };
}

describe("scheduled()", () => {
  test("does one tick on the scheduler that is made of env and ctx, and waits for it", async () => {
    const { scheduler, seen, calls, worker } = await setUpWorker();
    await scheduler.addJob("greet");
    const ctx = context();
    await worker.scheduled(event, env, ctx);
    expect({ seen, calls, waiting: ctx.waiting }).toEqual({ seen: [env], calls: [[env, ctx]], waiting: [] });
  });

  test("makes a scheduler for each invocation", async () => {
    const { calls, worker } = await setUpWorker();
    await worker.scheduled(event, env, context());
    await worker.scheduled(event, env, context());
    expect(calls).toHaveLength(2);
  });

  test("adds the schedules before the first tick, again after a failure, and for no request", async () => {
    const given: unknown[] = [];
    const { scheduler, worker } = await setUpWorker({
      schedules: async (...all) => {
        given.push(all);
        if (given.length === 1) throw new Error("no answer");
      },
      router: () => new Response("fine"),
    });
    await worker.fetch(get(), env, context());
    expect(given).toEqual([]);
    await expect(worker.scheduled(event, env, context())).rejects.toThrow("no answer");
    for (let times = 0; times < 2; times++) await worker.scheduled(event, env, context());
    expect(given).toEqual([
      [scheduler, env],
      [scheduler, env],
    ]);
  });

  test("bounds the tick by the options of it", async () => {
    const { scheduler, seen, worker } = await setUpWorker({ tick: { maxJobs: 1 } });
    await scheduler.addJobs([{ task: "greet" }, { task: "greet" }]);
    await worker.scheduled(event, env, context());
    expect(seen).toEqual([env]);
  });

  test("rejects when the tick fails, so that the platform shows it", async () => {
    const { store, worker } = await setUpWorker();
    store.look = () => Promise.reject(new Error("no store"));
    await expect(worker.scheduled(event, env, context())).rejects.toThrow("no store");
  });

  test.each([
    ["throws", () => Promise.reject(new Error("no address")), "no address"],
    [
      "returns something else",
      () => undefined as unknown as Scheduler,
      "createWorker(): scheduler must be a function that returns a Scheduler; it returned undefined",
    ],
  ])("rejects when the function that makes the scheduler %s", async (_, scheduler, message) => {
    const worker = createWorker({ scheduler });
    await expect(worker.scheduled(event, env, context())).rejects.toThrow(message);
  });

  test("without env and ctx, takes the variables of the process, and waits for what waitUntil was given", async () => {
    const { scheduler } = setUp();
    const given: unknown[] = [];
    const worker = createWorker<Env>({
      scheduler: (variables, ctx) => {
        given.push(variables);
        ctx.waitUntil(Promise.resolve().then(() => given.push("waited for")));
        ctx.passThroughOnException();
        return scheduler;
      },
    });
    await worker.scheduled(event);
    const variables = (globalThis as { readonly process?: { readonly env?: object } }).process?.env ?? {};
    expect([given[0] === variables || given[0], given[1]]).toEqual([true, "waited for"]);
  });

  test("without ctx, rejects with the failure of what waitUntil was given", async () => {
    const { scheduler } = await setUpWorker();
    const worker = createWorker({
      scheduler: (_env, ctx) => {
        ctx.waitUntil(Promise.reject(new Error("in the background")));
        return scheduler;
      },
    });
    await expect(worker.scheduled(event)).rejects.toThrow("in the background");
  });
});

describe("fetch()", () => {
  test("hands the request, the scheduler, env and ctx to the router", async () => {
    const given: unknown[] = [];
    const answer = new Response("added");
    const { scheduler, worker } = await setUpWorker({
      router: (...all) => {
        given.push(...all);
        return answer;
      },
    });
    const [request, ctx] = [get("/jobs"), context()];
    expect(await worker.fetch(request, env, ctx)).toBe(answer);
    expect(given).toEqual([request, scheduler, env, ctx]);
    expect(ctx.waiting).toEqual([]);
  });

  test("without a router answers 404, and makes no scheduler", async () => {
    const { calls, worker } = await setUpWorker();
    expect([(await worker.fetch(get(), env, context())).status, calls]).toEqual([404, []]);
  });

  test.each([
    ["always", true, 1],
    ["for chosen requests", ({ method }: Request) => method === "GET", 1],
    ["never for others", ({ method }: Request) => method === "POST", 0],
    ["after an answer that is well", (_: Request, { ok }: Response) => ok, 1],
    ["not after a refusal", (_: Request, { ok }: Response) => !ok, 0],
    ["not by default", undefined, 0],
  ])("runs the jobs of the request after its answer: %s", async (_, tickAfterFetch, runs) => {
    const { seen, worker } = await setUpWorker({
      tickAfterFetch,
      router: async (_request, scheduler) => Response.json((await scheduler.addJob("greet")).taskId),
    });
    const ctx = context();
    expect(await (await worker.fetch(get(), env, ctx)).json()).toBe("greet");
    await Promise.all(ctx.waiting);
    expect([ctx.waiting.length, seen.length]).toEqual([runs, runs]);
  });

  test("lets a tick that fails after the answer fail the invocation, and not the answer", async () => {
    const { store, worker } = await setUpWorker({ tickAfterFetch: true, router: () => new Response("fine") });
    store.look = () => Promise.reject(new Error("no store"));
    const ctx = context();
    const response = await worker.fetch(get(), env, ctx);
    const [outcome] = await Promise.allSettled(ctx.waiting);
    expect([await response.text(), outcome]).toEqual(["fine", { status: "rejected", reason: expect.any(Error) }]);
  });

  test("rejects with what the router throws, and does no tick", async () => {
    const { worker } = await setUpWorker({
      tickAfterFetch: true,
      router: () => {
        throw new Error("no route");
      },
    });
    const ctx = context();
    await expect(worker.fetch(get(), env, ctx)).rejects.toThrow("no route");
    expect(ctx.waiting).toEqual([]);
  });

  test("takes what a server passes in the place of env for what it is", async () => {
    class Server {}
    const { calls, worker } = await setUpWorker({ router: () => new Response() });
    await worker.fetch(get(), new Server() as Env);
    expect(calls).not.toEqual([[expect.any(Server), expect.anything()]]);
  });
});

describe("wrong options are refused:", () => {
  const scheduler = (): Scheduler => setUp().scheduler;
  test.each([
    [{}, "createWorker(): scheduler"],
    [{ scheduler: {} }, "createWorker(): scheduler must be a function (env, ctx) => Scheduler; got {}"],
    [{ scheduler, router: "r" }, "router must be a function (request, scheduler, env, ctx) => Response; got"],
    [{ scheduler, schedules: [] }, "schedules must be a function (scheduler, env) => Promise; got"],
    [{ scheduler, tick: { maxDuration: 5 } }, "tick.maxDuration"],
    [{ scheduler, tickAfterFetch: 1 }, "tickAfterFetch must be true, false or a function of a request; got 1"],
    [{ scheduler, routes: {} }, "routes is no option"],
  ])("%o", (options, message) => {
    expect(() => createWorker(options as never)).toThrow(message);
  });

  test("a scheduler in the place of the function that makes it", () => {
    expect(() => createWorker({ scheduler: setUp().scheduler as never })).toThrow(
      "make it within a function, because a Worker's requests must not share connections",
    );
  });
});
