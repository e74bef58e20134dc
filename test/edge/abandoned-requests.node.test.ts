import { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Sqld } from "../support/sqld.ts";
import { bundleWorker } from "./bundle-worker.ts";
import { GatedProxy } from "./gated-proxy.ts";

let server: Sqld;
let proxy: GatedProxy;
let worker: Miniflare;

beforeAll(async () => {
  server = await Sqld.start();
  proxy = await GatedProxy.start(server.port);
  const modules = await bundleWorker(new URL("./abandoning-worker.ts", import.meta.url));
  worker = new Miniflare({ ...modules, bindings: { DATABASE: proxy.url } });
  await worker.ready;
});
afterAll(async () => {
  await worker?.dispose();
  await proxy?.stop();
  await server?.stop();
});
beforeEach(async () => {
  await call("forget");
});

async function call(verb: string): Promise<unknown> {
  const response = await worker.dispatchFetch(`http://worker/call/${verb}`);
  const text = await response.text();
  return response.ok ? JSON.parse(text) : text;
}

/** Begins something in a request that is gone before the database has answered. */
async function abandon(verb: string): Promise<void> {
  proxy.shut();
  const asked = proxy.nextRequest();
  const response = await worker.dispatchFetch(`http://worker/abandon/${verb}`);
  expect(await response.text()).toBe("abandoned");
  await asked;
  proxy.open();
}

describe("a request that is gone in the middle", () => {
  test("of the opening holds up no other, of whatever kind", async () => {
    await abandon("list");
    expect(await call("list")).toBe(0);
    expect(await call("tick")).toBe(0);
    expect(await call("add")).toBe(36);
    expect(await call("tick")).toBe(1);
  });

  test("of the first tick, which also saves the tasks, holds up no other", async () => {
    await abandon("tick");
    expect(await call("add")).toBe(36);
    expect(await call("tick")).toBe(1);
    expect(await call("wake")).toBe(false);
  });

  test("of a tick holds up no later tick", async () => {
    expect(await call("add")).toBe(36);
    for (let times = 0; times < 3; times++) await abandon("tick");
    expect(await call("tick")).toBe(1);
    expect(await call("tick")).toBe(0);
  });

  test("of an addition holds up no other", async () => {
    expect(await call("list")).toBe(0);
    await abandon("add");
    expect(await call("add")).toBe(36);
    await abandon("addMany");
    expect(await call("addMany")).toBe(5);
    expect(await call("tick")).toBeGreaterThanOrEqual(6);
  });

  test("holds up none, however many of them there were", async () => {
    for (let times = 0; times < 10; times++) {
      for (const verb of ["list", "add", "tick"]) await abandon(verb);
    }
    expect(await call("add")).toBe(36);
    expect(await call("tick")).toBeGreaterThanOrEqual(1);
  });
});

test("requests that overlap in an isolate all end, whatever the first of them does", async () => {
  const verbs = ["add", "tick", "list", "tick", "addMany", "wake", "tick"];
  const answers = await Promise.all(verbs.map(call));
  expect(answers.map((answer) => typeof answer)).toEqual([
    ...["number", "number", "number", "number", "number", "boolean", "number"],
  ]);
});

test("a request that waits for a job and the request that runs the job do not disturb each other", async () => {
  await call("errors");
  let isWaiting = true;
  const waiting = call("run").finally(() => {
    isWaiting = false;
  });
  while (isWaiting) await call("tick");
  expect([typeof (await waiting), await call("errors")]).toEqual(["number", []]);
});
