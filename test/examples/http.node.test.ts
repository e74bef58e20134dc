import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Miniflare } from "miniflare";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bundleImport } from "../../scripts/lib/bundle-import.mjs";
import { bundleWorker } from "../edge/bundle-worker.ts";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { freePort } from "../support/free-port.ts";
import { Sqld } from "../support/sqld.ts";

const example = (name: string): string => join(ROOT, "examples/http", name);
const TOKEN = "a-long-random-text-of-this-test";

type Call = (path: string, init?: RequestInit) => Promise<Response>;

let server: Sqld;
let children: Child[];
let worker: Miniflare | null;
beforeEach(async () => {
  server = await Sqld.start();
  children = [];
  worker = null;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const child of children) child.process.kill("SIGKILL");
  await worker?.dispose();
  await server?.stop();
});

/** What every program does: it refuses strangers, adds a job, runs it, and tells of it. */
async function drive(call: Call, mount: string): Promise<unknown> {
  const authorization = `Bearer ${TOKEN}`;
  const refused = await call(`${mount}/schedules`);
  const schedules = await call(`${mount}/schedules?limit=1`, { headers: { authorization } });
  const added = await call(`${mount}/jobs`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ taskId: "greet", payload: "Ada" }),
  });
  const { id } = (await added.json()) as { id: string };
  return {
    statuses: [refused.status, schedules.status, added.status],
    location: added.headers.get("location")?.replace(id, "ID"),
    events: (await call(`${mount}/events`, { headers: { authorization }, method: "HEAD" })).headers.get("content-type"),
    result: async () => {
      for (;;) {
        const answer = await call(`${mount}/jobs/${id}/result?wait=5`, { headers: { authorization } });
        if (answer.status === 200) return ((await answer.json()) as { returnValue: unknown }).returnValue;
      }
    },
  };
}

const wanted = (mount: string): object => ({
  statuses: [401, 200, 202],
  location: `${mount}/jobs/ID`,
  events: "text/event-stream; charset=utf-8",
});

/** A program in a process of its own, and how it is called. */
async function start(command: (port: number) => readonly string[]): Promise<{ child: Child; call: Call }> {
  const port = await freePort();
  const variables = { DATABASE_URL: server.httpUrl, SCHEDULER_TOKEN: TOKEN, PORT: String(port) };
  const child = new Child(command(port), { ...variables, DENO_NO_UPDATE_CHECK: "1" });
  children.push(child);
  await child.prints(/listening on/i);
  return { child, call: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init) };
}

const onNode = (name: string) => () => [process.execPath, join(ROOT, "scripts/start.mjs"), `http/${name}`];
const onBun = () => [BUN_BINARY, example("bun.ts")];
const onDeno = (port: number) => {
  const permissions = [
    "--allow-env=DATABASE_URL,SCHEDULER_TOKEN,PORT",
    `--allow-net=127.0.0.1:${server.port},127.0.0.1:${port}`,
  ];
  const flags = ["--cached-only", "--no-prompt", "--unstable-no-legacy-abort"];
  return [denoBinary(), "run", ...flags, ...permissions, example("deno.ts")];
};

describe("the router is served", () => {
  test.each([
    ["by Node", onNode("node"), ""],
    ["by Bun.serve", onBun, ""],
    ["by Deno.serve, with no permission but for its database and its port", onDeno, ""],
    ["within an application of Hono", onNode("hono"), "/scheduler"],
    ["within an application of Express", onNode("express"), "/scheduler"],
  ] as const)("%s, and ends when it is asked to", async (_, command, mount) => {
    const { child, call } = await start(command);
    const { result, ...facts } = (await drive(call, mount)) as { result: () => Promise<unknown> };
    expect([facts, await result()]).toEqual([wanted(mount), "Hello, Ada!"]);
    expect(child.output).not.toMatch(/legacy|warning/i);
    if (mount !== "") expect(await (await call("/")).text()).toBe("the page of the application");
    child.process.kill("SIGINT");
    expect(await child.ended).toBe(0);
  });

  test("by route handlers of Next.js", async () => {
    vi.stubEnv("DATABASE_URL", server.httpUrl);
    vi.stubEnv("SCHEDULER_TOKEN", TOKEN);
    const file = "examples/http/next/app/api/scheduler/[[...path]]/route.ts";
    const handlers = (await bundleImport(file)) as Record<string, (request: Request) => Promise<Response>>;
    const call: Call = async (path, init = {}) => {
      const answer = await handlers[init.method ?? "GET"]?.(new Request(`http://next${path}`, init));
      return answer ?? new Response(null, { status: 405 });
    };
    // Something else runs jobs, and declares the tasks.
    const { child } = await start(onNode("node"));
    const { result, ...facts } = (await drive(call, "/api/scheduler")) as { result: () => Promise<unknown> };
    expect([facts, await result()]).toEqual([wanted("/api/scheduler"), "Hello, Ada!"]);
    child.process.kill("SIGINT");
    expect(await child.ended).toBe(0);
  });

  test("by a Worker", async () => {
    const text = readFileSync(example("cloudflare/wrangler.jsonc"), "utf8").replaceAll(/^\s*\/\/.*$/gm, "");
    const { compatibility_date: compatibilityDate, compatibility_flags: compatibilityFlags } = JSON.parse(text);
    const { modules } = await bundleWorker(new URL("../../examples/http/cloudflare/worker.ts", import.meta.url));
    const bindings = { SCHEDULER_TOKEN: TOKEN };
    worker = new Miniflare({ modules, compatibilityDate, compatibilityFlags, bindings, d1Databases: ["DB"] });
    const origin = (await worker.ready).origin;
    const { result, ...facts } = (await drive((path, init) => fetch(`${origin}${path}`, init), "")) as {
      result: () => Promise<unknown>;
    };
    expect([facts, await result()]).toEqual([wanted(""), "Hello, Ada!"]);
  });
});
