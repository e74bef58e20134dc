import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installNode } from "../scripts/lib/node-versions.mjs";
import { InstalledProject } from "./package/installed.ts";
import { ROOT, tool } from "./package/stage.ts";
import { extractCodeBlocks } from "./readme/code-blocks.ts";
import { buildNext, installNext, startNext } from "./readme/next-project.ts";
import {
  blocksOf,
  DOCUMENTS,
  linkImports,
  OLDER_PROGRAMS,
  PORTABLE_PROGRAMS,
  PROGRAMS,
  runPrograms,
  thirdOf,
} from "./readme/programs.ts";
import { buildServers, type Served, startServer } from "./readme/servers.ts";
import { answerOfWorker } from "./readme/worker.ts";
import { Child } from "./support/child.ts";

/** Beside the one that runs the tests. */
const NEWER_NODE = "24.21.0";

describe("the code blocks of a Markdown text", () => {
  test("are its ts blocks, with what the comments before them ask for", () => {
    const markdown = [
      "# Title",
      "```ts",
      "const a = 1;",
      "```",
      "",
      "```sh",
      "rm -rf /",
      "```",
      "<!-- test: continues -->",
      '<!-- test: expect "a > \\"1\\"" -->',
      "",
      "```ts twoslash",
      "console.log(a);",
      "```",
      "- item",
      "  <!-- test: skip because it needs a server -->",
      "  ```typescript",
      "  if (a) {",
      "    b();",
      "  }",
      "  ```",
      "<!-- test: worker -->",
      "```ts",
      "export default {};",
      "```",
      '<!-- test: file "tasks.js" -->',
      "```ts",
      "export const tasks = {};",
      "```",
      "<!-- test: after",
      "const b = 2;",
      "-->",
      "```ts",
      "console.log(b);",
      "```",
    ].join("\n");
    expect(extractCodeBlocks(markdown)).toEqual([
      { line: 3, code: "const a = 1;\n", skipReason: null, expected: [] },
      { line: 13, code: "const a = 1;\n\nconsole.log(a);\n", skipReason: null, expected: ['a > "1"'] },
      { line: 18, code: "if (a) {\n  b();\n}\n", skipReason: "it needs a server", expected: [] },
      { line: 24, code: "export default {};\n", skipReason: null, expected: [], isWorker: true },
      { line: 28, code: "export const tasks = {};\n", skipReason: null, expected: [], file: "tasks.js" },
      { line: 34, code: "const b = 2;\nconsole.log(b);\n", skipReason: null, expected: [] },
    ]);
  });

  test.each(["skip", "skip because", "expect text", "after", "file ../a.js", "expct"])(
    "are refused with the directive %j",
    (directive) => {
      expect(() => extractCodeBlocks(`<!-- test: ${directive} -->\n\`\`\`ts\n\`\`\`\n`)).toThrow(
        "line 3: unknown directive",
      );
    },
  );
});

test("a guide that shows no code is about the sources", () => {
  const silent = DOCUMENTS.filter((document) => blocksOf(document).length === 0);
  expect(silent).toEqual(expect.arrayContaining(["docs/architecture.md"]));
  expect(silent.filter((document) => document.startsWith("docs/guides/"))).toEqual([]);
  expect(silent).not.toContain("README.md");
});

let project: InstalledProject;
beforeAll(async () => {
  project = await InstalledProject.make("readme");
  await linkImports(project);
});
afterAll(() => project?.[Symbol.asyncDispose]());

describe("the programs of the README and the docs, run from the packed tarball,", () => {
  const all = ({ length }: typeof PROGRAMS) => `${length} of ${length} did what they say\n`;

  test("do what they say on this Node, as JavaScript", async () => {
    const programs = thirdOf(OLDER_PROGRAMS, 0);
    expect(await runPrograms(programs, project.path, ["node"], "mjs")).toContain(all(programs));
  });

  test("do what they say on Node 24, as TypeScript, those of the guides too", async ({ skip }) => {
    const node = newerNode();
    if (typeof node !== "string") return skip(node.problem);
    expect(await runPrograms(PROGRAMS, project.path, [node], "ts")).toContain(all(PROGRAMS));
  });

  test.each([
    ["Deno", 1, [tool("deno"), "run", "-A", "--cached-only", "--no-lock"]],
    ["Bun", 2, [tool("bun"), "run"]],
  ] as const)("do what they say on %s, as TypeScript", async (_, first, command) => {
    const programs = thirdOf(PORTABLE_PROGRAMS, first);
    expect(await runPrograms(programs, project.path, command, "ts")).toContain(all(programs));
  });
});

const skipped = DOCUMENTS.flatMap(blocksOf).filter(({ skipReason }) => skipReason !== null);
for (const { document, line, skipReason } of skipped) {
  test(`the block in ${document} at line ${line} does what it says`, ({ skip }) => skip(skipReason ?? ""));
}

const workers = DOCUMENTS.flatMap(blocksOf).filter(({ isWorker }) => isWorker === true);
test.each(workers)("the Worker in $document at line $line answers what it says", async ({ code, expected }) => {
  const answer = await answerOfWorker(code, project.path);
  expect(expected.filter((text) => !answer.includes(text))).toEqual([]);
});

test("the Worker of the guide runs in wrangler dev, with a request and a Cron Trigger", async () => {
  const text = await readFile(join(ROOT, "docs/edge.md"), "utf8");
  const configuration = /```json\n(\{\s+"name": "jobs",[\s\S]*?)```/.exec(text)?.[1] ?? "";
  const folder = join(project.path, "worker");
  await mkdir(folder);
  await writeFile(join(folder, "wrangler.json"), configuration);
  await writeFile(join(folder, "worker.ts"), workers.find(({ document }) => document === "docs/edge.md")?.code ?? "");
  const dev = [tool("wrangler"), "dev", "--local", "--test-scheduled", "--ip", "127.0.0.1", "--port", "0"];
  const variables = { CI: "true", WRANGLER_SEND_METRICS: "false", HOME: project.path };
  const worker = new Child([...dev, "--inspector-port", "0", "--cwd", folder], variables);
  try {
    await worker.prints(/Ready on http/);
    const address = /Ready on (http:\S+)/.exec(worker.output)?.[1] ?? "";
    expect(await (await fetch(address)).text()).toBe("added report");
    expect((await fetch(new URL("/__scheduled", address))).status).toBe(200);
    await worker.prints(/Good morning/);
  } finally {
    worker.process.kill("SIGINT");
    await worker.ended;
  }
});

const token = "0123456789abcdef0123456789abcdef";

/** Adds a schedule through the router of a server, listens to its events, and sends SIGTERM while a job runs. */
async function stopWhileRunning({ child, address }: Served, router = "/scheduler"): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ taskId: "report", trigger: { every: "1s" } });
  const added = await fetch(`${address}${router}/schedules`, { method: "POST", headers, body });
  expect(added.status, child.output).toBe(201);
  await child.prints(/report begins/);
  const events = await fetch(`${address}${router}/events`, { headers });
  expect(events.status).toBe(200);
  // Of another job, so that what is awaited is not that of the first one.
  await child.prints(/report ends[\s\S]*report begins/);
  child.process.kill("SIGTERM");
  await child.ended;
  await events.text().catch(() => {});
  return child.output;
}

/** Which jobs a server has begun, and which of them ended. */
function reportsOf(output: string): [begun: number, ended: number] {
  return [output.match(/report begins/g)?.length ?? 0, output.match(/report ends/g)?.length ?? 0];
}

describe("in a framework, the server of the guide", () => {
  const node = newerNode();
  let folder = "";
  beforeAll(async () => {
    folder = await buildServers(project);
  });

  test.each(["express", "fastify", "nest"])(
    "mounts the router, fires schedules, and lets jobs end on SIGTERM: %s",
    async (name) => {
      if (typeof node !== "string") throw new Error(node.problem);
      const database = join(folder, `${name}.db`);
      const served = await startServer([node, join(folder, `${name}.js`)], { DATABASE: database });
      const { address } = served;
      expect((await fetch(`${address}/scheduler/schedules`)).status).toBe(401);
      expect((await fetch(`${address}/scheduler`)).headers.get("content-type")).toContain("text/html");
      const added = await fetch(`${address}/reports`, { method: "POST" });
      expect([added.status, await added.json()]).toEqual([202, { id: expect.any(String) }]);
      const [begun, ended] = reportsOf(await stopWhileRunning(served));
      expect(begun).toBeGreaterThan(1);
      expect(ended).toBe(begun);
    },
  );
});

describe("in Next.js", () => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ taskId: "greet", payload: "Ada" });
  let problem: string | null = null;
  let next: Child | undefined;
  let address = "";

  beforeAll(async () => {
    const folder = join(project.path, "next");
    problem = await installNext(folder, join(project.path, "node_modules"));
    if (problem !== null) return;
    await buildNext(folder);
    const node = newerNode();
    if (typeof node !== "string") throw new Error(node.problem);
    next = startNext(node, folder, { SCHEDULER_TOKEN: token, DATABASE: join(folder, "jobs.db") });
    await next.prints(/Ready in/);
    address = /http:\/\/127\S+/.exec(next.output)?.[0] ?? "";
  });
  afterAll(async () => {
    next?.process.kill("SIGTERM");
    await next?.ended;
  });

  test("the router is a route handler that reads bodies", async ({ skip }) => {
    if (problem !== null) skip(problem);
    const answer = await fetch(`${address}/api/scheduler/jobs`, { method: "POST", headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([202, { taskId: "greet", payload: "Ada" }]);
    expect((await fetch(`${address}/api/scheduler/jobs`)).status).toBe(401);
  });

  test("the router is an API route of the pages that leaves bodies alone", async ({ skip }) => {
    if (problem !== null) skip(problem);
    const answer = await fetch(`${address}/api/jobs/jobs`, { method: "POST", headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([202, { taskId: "greet", payload: "Ada" }]);
  });

  test("an API route of the pages, whose body Next.js has read, is refused with the cause", async ({ skip }) => {
    if (problem !== null) skip(problem);
    const answer = await fetch(`${address}/api/pages/jobs`, { method: "POST", headers, body });
    const { detail } = (await answer.json()) as { detail: string };
    expect([answer.status, detail]).toEqual([400, expect.stringContaining("read")]);
    expect((await fetch(`${address}/api/pages/schedules`, { headers })).status).toBe(200);
  });

  test("a cron of the web ticks on the edge runtime", async ({ skip }) => {
    if (problem !== null) skip(problem);
    const answer = await fetch(`${address}/api/cron`, { headers });
    expect([answer.status, await answer.json()], next?.output).toMatchObject([200, { jobsRun: 1 }]);
  });

  test("the scheduler starts with the server, and lets jobs end on SIGTERM", async ({ skip }) => {
    if (next === undefined) return skip(problem ?? "");
    const [begun, ended] = reportsOf(await stopWhileRunning({ child: next, address }, "/api/scheduler"));
    expect(ended).toBe(begun);
    expect(await next.ended).toBe(0);
  });
});

/** The program, or why it cannot be installed. */
function newerNode(): string | { readonly problem: string } {
  try {
    return join(installNode(ROOT, NEWER_NODE), "node");
  } catch (error) {
    return { problem: String(error) };
  }
}
