import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const commands = {
  Node: [process.execPath, join(ROOT, "scripts/start.mjs")],
  Deno: [denoBinary(), "run", "-A", "--cached-only", join(ROOT, "examples/hello.ts")],
  Bun: [BUN_BINARY, "run", join(ROOT, "examples/hello.ts")],
} as const;

/** A folder for a database, and the processes that run the example on it. */
class Stage {
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;
  readonly #children: Child[] = [];

  private constructor(folder: Awaited<ReturnType<typeof temporaryFolder>>) {
    this.#folder = folder;
  }

  static async open(): Promise<Stage> {
    return new Stage(await temporaryFolder());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.process.kill("SIGKILL");
    await this.#folder.remove();
  }

  start(runtime: keyof typeof commands): Child {
    const child = new Child([...commands[runtime], "--database", join(this.#folder.path, "hello.db")]);
    this.#children.push(child);
    return child;
  }
}

/** Follows the link of the example, as its page does. */
async function signIn(example: Child): Promise<void> {
  const link = new URL(/http:\S+#code=\S+/.exec(example.output)?.[0] ?? "");
  expect(link.hostname).toBe("127.0.0.1");
  const enter = (code: string) =>
    fetch(`${link.origin}/scheduler/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
  // Any page can make a browser ask this, which spoils nothing.
  for (let count = 0; count < 20; count++) {
    const wrong = await enter("wrong");
    expect([401, 429]).toContain(wrong.status);
    expect(wrong.headers.get("set-cookie")).toBe(null);
  }
  const open = await fetch(new URL("/scheduler/overview", link));
  expect(open.status).toBe(401);
  const answer = await enter(link.hash.replace("#code=", ""));
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const overview = await fetch(new URL("/scheduler/overview", link), { headers: { cookie } });
  expect([answer.status, overview.status, await overview.json()]).toMatchObject([204, 200, { isStoreReached: true }]);
  const page = await fetch(`${link.origin}/scheduler/`);
  expect(await page.text()).toContain("dashboard.js");
}

/** Does what the printed lines for a shell do. */
async function followLines(example: Child): Promise<void> {
  const lines = example.output.matchAll(
    /curl -H 'authorization: (?<token>[^']+)' (?<post>-X POST )?(?<url>\S+)(?<rest>.*)/g,
  );
  const statuses: number[] = [];
  for (const { groups: { token = "", post, url = "", rest = "" } = {} } of lines) {
    const body = / -d '(?<body>.*)'/.exec(rest)?.groups?.body;
    const headers = { authorization: token, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const method = post === undefined && body === undefined ? "GET" : "POST";
    statuses.push((await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })).status);
  }
  expect(statuses).toEqual([200, 200, 202]);
  await example.prints(/Hello, Ada!/);
}

// They run at once, because they wait for schedules most of the time.

test.concurrent.each(["Node", "Deno", "Bun"] as const)(
  "on %s it fires its schedules, and drains when it is asked to stop",
  async (runtime) => {
    await using stage = await Stage.open();
    const example = stage.start(runtime);
    await example.prints(/every 5 s, Berlin/);
    await example.prints(/a job run by hand returned: world was greeted/);
    await signIn(example);
    await followLines(example);
    example.process.kill("SIGINT");
    expect([await example.ended, example.output]).toEqual([0, expect.stringContaining("Stopped.")]);
    expect(example.output).toMatch(new RegExp(`Escapement on ${runtime} `));
    expect(example.output).toMatch(/SIGINT: stops when running jobs have ended[\s\S]*Stopped\. \d+ jobs ran/);
    expect(example.output).not.toContain("\u001b[");
  },
);

test.concurrent("killed with a job under way and started again, it goes on, says what was missed, and runs the lost job again", async () => {
  await using stage = await Stage.open();
  const killed = stage.start("Node");
  await killed.prints(/every 8 s started, takes 1\.5 s/);
  killed.process.kill("SIGKILL");
  await killed.ended;
  // Longer than the period of a schedule, so that something is missed.
  await new Promise((resolve) => setTimeout(resolve, 5500));
  const restarted = stage.start("Node");
  await restarted.prints(/schedules are there from an earlier start/);
  await restarted.prints(/every 5 s, Berlin \(.*\) missed [1-9]\d*, the first at/);
  await restarted.prints(
    /job \S+ of task "backup" \(schedule "every 8 s"\) was lost with its process \(attempt 1\), and runs again/,
  );
  await restarted.prints(/late[\s\S]*every 5 s, Berlin/);
  restarted.process.kill("SIGTERM");
  expect([await restarted.ended, restarted.output]).toEqual([0, expect.stringContaining("Stopped.")]);
  expect(restarted.output).toMatch(/[1-9]\d* lost jobs were recovered/);
});
