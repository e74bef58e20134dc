import { join } from "node:path";
import process from "node:process";
import { describe, expect, test, vi } from "vitest";
import { bundleImport } from "../../scripts/lib/bundle-import.mjs";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql-http/mod.ts";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { freePort } from "../support/free-port.ts";
import { Sqld } from "../support/sqld.ts";

// Every program here runs examples/tasks.ts as it is, on a database of its own. The Worker is in
// cloudflare.node.test.ts. They run at once, because they wait more than they work: Bun.cron for the next minute.

const example = (name: string): string => join(ROOT, "examples", name);

/** A database of its own, and the programs that use it. */
class Stage {
  readonly server: Sqld;
  readonly #children: Child[] = [];

  private constructor(server: Sqld) {
    this.server = server;
  }

  static async open(): Promise<Stage> {
    return new Stage(await Sqld.start());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.process.kill("SIGKILL");
    await this.server.stop();
  }

  start(command: readonly string[], variables: Readonly<Record<string, string>> = {}): Child {
    const child = new Child(command, { DATABASE_URL: this.server.httpUrl, DENO_NO_UPDATE_CHECK: "1", ...variables });
    this.#children.push(child);
    return child;
  }

  /** Starts Deno, which may do what the first lines of the example say, and nothing else; it asks for nothing. */
  startOnDeno(name: string, flags: readonly string[] = [], variables: Readonly<Record<string, string>> = {}): Child {
    const permissions = ["--no-prompt", "--allow-env=DATABASE_URL", `--allow-net=127.0.0.1:${this.server.port}`];
    return this.start([denoBinary(), "run", "--cached-only", ...flags, ...permissions, example(name)], variables);
  }

  /** What the jobs of the program have returned, once there are so many results. */
  async results(count: number): Promise<unknown[]> {
    const reader = new Scheduler({ dataStore: new LibsqlDataStore({ url: this.server.httpUrl }), logLevel: "silent" });
    for (;;) {
      const { items } = await reader.getJobResults();
      if (items.length < count) continue;
      const found = items.map(({ taskId, outcome, returnValue }) => ({ taskId, outcome, returnValue }));
      return found.sort((a, b) => a.taskId.localeCompare(b.taskId));
    }
  }
}

const BEAT = { taskId: "beat", outcome: "success", returnValue: "beaten" };
const GREETING = { taskId: "greet", outcome: "success", returnValue: "Hello, Ada!" };

describe.concurrent("the same tasks go", () => {
  test("as a loop on Node", async () => {
    await using stage = await Stage.open();
    const child = stage.start([process.execPath, join(ROOT, "scripts/start.mjs"), "node"]);
    await child.prints(/beat, due at/);
    child.process.kill("SIGINT");
    expect([await child.ended, await stage.results(1)]).toEqual([0, [BEAT]]);
  });

  test("as a script on Deno, with no permission but for its database", async () => {
    await using stage = await Stage.open();
    const child = stage.startOnDeno("deno/script.ts");
    await child.prints(/beat, due at/);
    child.process.kill("SIGINT");
    expect([await child.ended, await stage.results(1)]).toEqual([0, [BEAT]]);
  });

  test("as a service on Bun, which also runs what its requests add", async () => {
    await using stage = await Stage.open();
    const port = await freePort();
    const child = stage.start([BUN_BINARY, example("bun/service.ts")], { PORT: String(port) });
    await child.prints(/listening on/);
    const answer = await fetch(`http://127.0.0.1:${port}/greet/Ada`, { method: "POST" });
    expect([answer.status, await stage.results(2)]).toEqual([202, [BEAT, GREETING]]);
    child.process.kill("SIGINT");
    expect([await child.ended, child.output]).toEqual([0, expect.stringContaining("beat, due at")]);
  });

  test("by Deno.cron, with no permission but for their database", async () => {
    await using stage = await Stage.open();
    // Deno's own tests have this variable, so that they need not wait for a whole minute.
    const child = stage.startOnDeno("deno/cron.ts", ["--unstable-cron"], { DENO_CRON_TEST_SCHEDULE_OFFSET: "200" });
    await child.prints(/beat, due at[\s\S]*ran 1, something is due at/);
    expect(await stage.results(1)).toEqual([BEAT]);
  });

  test("on, by Deno.cron, after a tick that failed", async () => {
    await using stage = await Stage.open();
    await stage.server.kill();
    const child = stage.startOnDeno("deno/cron.ts", ["--unstable-cron"], { DENO_CRON_TEST_SCHEDULE_OFFSET: "200" });
    await child.prints(/StoreUnavailableError/);
    await stage.server.resume();
    await child.prints(/beat, due at[\s\S]*ran 1, something is due at/);
    expect(await stage.results(1)).toEqual([BEAT]);
  });

  test("by Bun.cron as the Worker that they are elsewhere, which a failed tick does not end", async () => {
    await using stage = await Stage.open();
    const [port, otherPort, noPort] = [await freePort(), await freePort(), await freePort()];
    const child = stage.start([BUN_BINARY, example("bun/cron.ts")], { PORT: String(port) });
    // Both wait for the same minute.
    const failing = stage.start([BUN_BINARY, example("bun/cron.ts")], {
      PORT: String(otherPort),
      DATABASE_URL: `http://127.0.0.1:${noPort}`,
    });
    await child.prints(/listening on/);
    const answer = await fetch(`http://127.0.0.1:${port}/greet/Ada`, { method: "POST" });
    await child.prints(/beat, due at/);
    expect([answer.status, await stage.results(2)]).toEqual([202, [BEAT, GREETING]]);
    await failing.prints(/the tick failed: [\s\S]*StoreUnavailableError/);
    expect(failing.process.exitCode).toBeNull();
  });
});

describe.concurrent("the Worker's own file runs, without env and ctx,", () => {
  const worker = example("cloudflare/turso/worker.ts");

  test("when the operating system calls it for Bun.cron, and its exit code tells of a tick that failed", async () => {
    await using stage = await Stage.open();
    // The command that Bun writes into the crontab.
    const command = [BUN_BINARY, "run", "--cron-title=escapement", "--cron-period=* * * * *", worker];
    expect([await stage.start(command).ended, await stage.results(1)]).toEqual([0, [BEAT]]);
    await stage.server.kill();
    const failed = stage.start(command);
    expect([await failed.ended, failed.output]).toEqual([1, expect.stringContaining("StoreUnavailableError")]);
  });

  test.each(["Bun", "Deno"])("as a server of %s", async (runtime) => {
    await using stage = await Stage.open();
    const port = await freePort();
    const permissions = ["--no-prompt", "--allow-env=DATABASE_URL", `--allow-net=127.0.0.1:${stage.server.port}`];
    const flags = ["serve", "--cached-only", ...permissions, `--port=${port}`, "--host=127.0.0.1"];
    const command = runtime === "Bun" ? [BUN_BINARY, worker] : [denoBinary(), ...flags, worker];
    const child = stage.start(command, { PORT: String(port) });
    await child.prints(/Started|Listening on/);
    const answer = await fetch(`http://127.0.0.1:${port}/greet/Ada`, { method: "POST" });
    // Its schedules are added where it is called by a cron.
    expect([answer.status, await stage.results(1)]).toEqual([202, [GREETING]]);
  });
});

describe.concurrent("the same tasks run behind an HTTP cron", () => {
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
    await using stage = await Stage.open();
    try {
      vi.stubEnv("DATABASE_URL", stage.server.httpUrl);
      vi.stubEnv("CRON_SECRET", variables.CRON_SECRET);
      const { GET, POST } = (await bundleImport("examples/http-cron.ts")) as Record<"GET" | "POST", Call>;
      const call: Call = (request) => (request.method === "GET" ? GET : POST)(request);
      expect([await drive("https://example.org/api/cron", call), await stage.results(1)]).toEqual([DONE, [BEAT]]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("on Bun", async () => {
    await using stage = await Stage.open();
    const port = await freePort();
    const child = stage.start([BUN_BINARY, example("http-cron.ts")], { ...variables, PORT: String(port) });
    await child.prints(/Started/);
    expect([await drive(`http://127.0.0.1:${port}`), await stage.results(1)]).toEqual([DONE, [BEAT]]);
  });

  test("on Deno", async () => {
    await using stage = await Stage.open();
    const port = await freePort();
    const permissions = [
      "--no-prompt",
      "--allow-env=DATABASE_URL,CRON_SECRET",
      `--allow-net=127.0.0.1:${stage.server.port}`,
    ];
    const command = [denoBinary(), "serve", "--cached-only", ...permissions, `--port=${port}`, "--host=127.0.0.1"];
    const child = stage.start([...command, example("http-cron.ts")], variables);
    await child.prints(/Listening on/);
    expect([await drive(`http://127.0.0.1:${port}`), await stage.results(1)]).toEqual([DONE, [BEAT]]);
  });
});
