import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bundleImport } from "../../scripts/lib/bundle-import.mjs";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql-http/mod.ts";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { freePort } from "../support/free-port.ts";
import { Sqld } from "../support/sqld.ts";

// Every program here runs examples/tasks.ts as it is, on a database of its own. The Worker is in cloudflare.node.test.ts.

const example = (name: string): string => join(ROOT, "examples", name);

let server: Sqld;
let children: Child[];
beforeEach(async () => {
  server = await Sqld.start();
  children = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const child of children) child.process.kill("SIGKILL");
  await server?.stop();
});

function start(command: readonly string[], variables: Readonly<Record<string, string>> = {}): Child {
  const child = new Child(command, { DATABASE_URL: server.httpUrl, DENO_NO_UPDATE_CHECK: "1", ...variables });
  children.push(child);
  return child;
}

/** Deno, which may do what the first lines of the example say, and nothing else; it asks for nothing. */
function startOnDeno(
  name: string,
  flags: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Child {
  const permissions = ["--no-prompt", "--allow-env=DATABASE_URL", `--allow-net=127.0.0.1:${server.port}`];
  return start([denoBinary(), "run", "--cached-only", ...flags, ...permissions, example(name)], variables);
}

/** What the jobs of the program have returned, once there are so many results. */
async function results(count: number): Promise<unknown[]> {
  const reader = new Scheduler({ dataStore: new LibsqlDataStore({ url: server.httpUrl }), logLevel: "silent" });
  for (;;) {
    const { items } = await reader.getJobResults();
    if (items.length < count) continue;
    const found = items.map(({ taskId, outcome, returnValue }) => ({ taskId, outcome, returnValue }));
    return found.sort((a, b) => a.taskId.localeCompare(b.taskId));
  }
}

const BEAT = { taskId: "beat", outcome: "success", returnValue: "beaten" };
const GREETING = { taskId: "greet", outcome: "success", returnValue: "Hello, Ada!" };

describe("the same tasks go", () => {
  test("as a loop on Node", async () => {
    const child = start([process.execPath, join(ROOT, "scripts/start.mjs"), "node"]);
    await child.prints(/beat, due at/);
    child.process.kill("SIGINT");
    expect([await child.ended, await results(1)]).toEqual([0, [BEAT]]);
  });

  test("as a script on Deno, with no permission but for its database", async () => {
    const child = startOnDeno("deno/script.ts");
    await child.prints(/beat, due at/);
    child.process.kill("SIGINT");
    expect([await child.ended, await results(1)]).toEqual([0, [BEAT]]);
  });

  test("as a service on Bun, which also runs what its requests add", async () => {
    const port = await freePort();
    const child = start([BUN_BINARY, example("bun/service.ts")], { PORT: String(port) });
    await child.prints(/listening on/);
    const answer = await fetch(`http://127.0.0.1:${port}/greet/Ada`, { method: "POST" });
    expect([answer.status, await results(2)]).toEqual([202, [BEAT, GREETING]]);
    child.process.kill("SIGINT");
    expect([await child.ended, child.output]).toEqual([0, expect.stringContaining("beat, due at")]);
  });

  test("by Deno.cron, with no permission but for their database", async () => {
    // Deno's own tests have this variable, so that they need not wait for a whole minute.
    const child = startOnDeno("deno/cron.ts", ["--unstable-cron"], { DENO_CRON_TEST_SCHEDULE_OFFSET: "200" });
    await child.prints(/beat, due at[\s\S]*ran 1, something is due at/);
    expect(await results(1)).toEqual([BEAT]);
  });

  test("on, by Deno.cron, after a tick that failed", async () => {
    await server.kill();
    const child = startOnDeno("deno/cron.ts", ["--unstable-cron"], { DENO_CRON_TEST_SCHEDULE_OFFSET: "200" });
    await child.prints(/StoreUnavailableError/);
    await server.resume();
    await child.prints(/beat, due at[\s\S]*ran 1, something is due at/);
    expect(await results(1)).toEqual([BEAT]);
  });

  test("by Bun.cron as the Worker that they are elsewhere, which a failed tick does not end", async () => {
    const [port, otherPort, noPort] = [await freePort(), await freePort(), await freePort()];
    const child = start([BUN_BINARY, example("bun/cron.ts")], { PORT: String(port) });
    // Both wait for the same minute.
    const failing = start([BUN_BINARY, example("bun/cron.ts")], {
      PORT: String(otherPort),
      DATABASE_URL: `http://127.0.0.1:${noPort}`,
    });
    await child.prints(/listening on/);
    const answer = await fetch(`http://127.0.0.1:${port}/greet/Ada`, { method: "POST" });
    await child.prints(/beat, due at/);
    expect([answer.status, await results(2)]).toEqual([202, [BEAT, GREETING]]);
    await failing.prints(/the tick failed: [\s\S]*StoreUnavailableError/);
    expect(failing.process.exitCode).toBeNull();
  });
});

describe("the Worker's own file runs, without env and ctx,", () => {
  const worker = example("cloudflare/turso/worker.ts");

  test("when the operating system calls it for Bun.cron, and its exit code tells of a tick that failed", async () => {
    // The command that Bun writes into the crontab.
    const command = [BUN_BINARY, "run", "--cron-title=escapement", "--cron-period=* * * * *", worker];
    expect([await start(command).ended, await results(1)]).toEqual([0, [BEAT]]);
    await server.kill();
    const failed = start(command);
    expect([await failed.ended, failed.output]).toEqual([1, expect.stringContaining("StoreUnavailableError")]);
  });

  test.each(["Bun", "Deno"])("as a server of %s", async (runtime) => {
    const port = await freePort();
    const permissions = ["--no-prompt", "--allow-env=DATABASE_URL", `--allow-net=127.0.0.1:${server.port}`];
    const flags = ["serve", "--cached-only", ...permissions, `--port=${port}`, "--host=127.0.0.1"];
    const command = runtime === "Bun" ? [BUN_BINARY, worker] : [denoBinary(), ...flags, worker];
    const child = start(command, { PORT: String(port) });
    await child.prints(/Started|Listening on/);
    const answer = await fetch(`http://127.0.0.1:${port}/greet/Ada`, { method: "POST" });
    expect([answer.status, await results(2)]).toEqual([202, [BEAT, GREETING]]);
  });
});

describe("the same tasks run behind an HTTP cron", () => {
  const variables = { CRON_SECRET: "of-this-test" };
  const authorization = `Bearer ${variables.CRON_SECRET}`;

  type Call = (request: Request) => Promise<Response>;

  /** One call without the secret, and two with it. */
  async function drive(url: string, call: Call = fetch): Promise<unknown[]> {
    const refused = await call(new Request(url));
    const answers = [];
    for (const method of ["GET", "POST"]) {
      const answer = await call(new Request(url, { method, headers: { authorization } }));
      answers.push([answer.status, await answer.json()]);
    }
    return [refused.status, ...answers];
  }

  const DONE = [401, [200, expect.objectContaining({ jobsRun: 1 })], [200, expect.objectContaining({ jobsRun: 0 })]];

  test("on Node, as Vercel imports it", async () => {
    vi.stubEnv("DATABASE_URL", server.httpUrl);
    vi.stubEnv("CRON_SECRET", variables.CRON_SECRET);
    const { GET, POST } = (await bundleImport("examples/http-cron.ts")) as Record<"GET" | "POST", Call>;
    const call: Call = (request) => (request.method === "GET" ? GET : POST)(request);
    expect([await drive("https://example.org/api/cron", call), await results(1)]).toEqual([DONE, [BEAT]]);
  });

  test("on Bun", async () => {
    const port = await freePort();
    const child = start([BUN_BINARY, example("http-cron.ts")], { ...variables, PORT: String(port) });
    await child.prints(/Started/);
    expect([await drive(`http://127.0.0.1:${port}`), await results(1)]).toEqual([DONE, [BEAT]]);
  });

  test("on Deno", async () => {
    const port = await freePort();
    const permissions = ["--no-prompt", "--allow-env=DATABASE_URL,CRON_SECRET", `--allow-net=127.0.0.1:${server.port}`];
    const command = [denoBinary(), "serve", "--cached-only", ...permissions, `--port=${port}`, "--host=127.0.0.1"];
    const child = start([...command, example("http-cron.ts")], variables);
    await child.prints(/Listening on/);
    expect([await drive(`http://127.0.0.1:${port}`), await results(1)]).toEqual([DONE, [BEAT]]);
  });
});
