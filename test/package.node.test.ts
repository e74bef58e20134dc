import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client";
// The package names types that Deno does not find.
// @ts-types="../node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.d.ts"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InstalledProject, type Packed } from "./package/installed.ts";
import { runOk } from "./package/run.ts";
import { ROOT, temporaryFolder, tool } from "./package/stage.ts";
import { Child, denoBinary } from "./support/child.ts";
import { whyNoSqlite } from "./support/sqlite-store.ts";

/** The first program of a chapter of a page. */
async function programOf(path: string, title: string): Promise<string> {
  const page = await readFile(join(ROOT, path), "utf8");
  const [, program = ""] = page.slice(page.indexOf(title)).split("```");
  return program.replace("ts\n", "");
}

/** Packed, for whoever installs the package. */
const PACKED_BYTES_MAX = 1133 * 1024;

let installed: InstalledProject | undefined;
let packed: Packed;
/** A project that has installed the tarball. */
let project = "";

beforeAll(async () => {
  installed = await InstalledProject.make("install");
  packed = installed.packed;
  project = installed.path;
  await installed.link(["zod", "hono", "@hono/node-server", "@modelcontextprotocol/sdk"]);
});

afterAll(() => installed?.[Symbol.asyncDispose]());

describe("the packed tarball", () => {
  // After a change of what is packed: npx vitest run test/package.node.test.ts -u
  test("holds the files that are listed, and nothing else", async () => {
    const paths = packed.files.map(({ path }) => path).sort();
    await expect(`${paths.join("\n")}\n`).toMatchFileSnapshot("golden/packed-files.txt");
  });

  test("is at most 1133 KB", async ({ annotate }) => {
    const { files, size, unpackedSize } = packed;
    await annotate(
      `package: ${files.length} files, ${size} bytes packed, of ${PACKED_BYTES_MAX}, ${unpackedSize} unpacked`,
    );
    expect(size).toBeLessThanOrEqual(PACKED_BYTES_MAX);
  });

  test("brings temporal-polyfill along, and nothing that they do not need", async () => {
    const { dependencies } = (await import("../package.json", { with: { type: "json" } })).default;
    expect(Object.keys(dependencies).sort()).toEqual(["temporal-polyfill"]);
    expect(await readdir(join(project, "node_modules", "escapement"))).not.toContain("node_modules");
  });

  test.each([
    ["this TypeScript", [tool("tsc")], ["es2024", "dom", "esnext.temporal", "esnext.disposable", "esnext.intl"]],
    ["this TypeScript, without the types of Temporal", [tool("tsc")], ["es2022", "dom", "esnext.disposable"]],
    [
      "TypeScript 5.4",
      ["node", join(ROOT, "node_modules/typescript54/bin/tsc")],
      ["es2022", "dom", "esnext.disposable"],
    ],
  ])("type-checks in strict projects that look into declarations and emit theirs: %s", async (_, tsc, lib) => {
    const files = ["types.ts", "inferred.ts", "schemas.ts"];
    for (const file of files) await copyFile(join(ROOT, "test/package/consumer", file), join(project, file));
    const strict = { strict: true, skipLibCheck: false, noEmit: true, declaration: true, types: [] };
    for (const exactOptionalPropertyTypes of [false, true]) {
      const compilerOptions = { ...strict, module: "nodenext", target: "es2022", lib, exactOptionalPropertyTypes };
      await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      expect(await runOk([...tsc, "-p", "tsconfig.json"], { cwd: project })).toBe("");
    }
  });

  test("type-checks without dom and without a runtime's types, but for what names theirs", async () => {
    const named = /^\.\/(client|cloudflare|fastify|hono|http-cron|mcp|nestjs|otel|process|worker|package\.json)$/;
    const doors = Object.keys((await import("../package.json", { with: { type: "json" } })).default.exports);
    const lines = doors
      .filter((door) => !named.test(door))
      .map((door) => `import "${posix.join("escapement", door)}";`);
    const program = await readFile(join(ROOT, "test/package/consumer/without-dom.ts"), "utf8");
    await writeFile(join(project, "without-dom.ts"), `${lines.join("\n")}\n${program}`);
    const strict = { strict: true, skipLibCheck: false, noEmit: true, types: [] };
    const compilerOptions = { ...strict, module: "nodenext", target: "es2022", lib: ["es2022", "esnext.disposable"] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["without-dom.ts"] }));
    expect(await runOk([tool("tsc"), "-p", "tsconfig.json"], { cwd: project })).toBe("");
  });

  test("has declarations that import no package but those that it names, and what workerd brings", async () => {
    const { dependencies, peerDependencies } = (await import("../package.json", { with: { type: "json" } })).default;
    const folder = join(project, "node_modules/escapement/dist");
    const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".d.ts"));
    const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), "utf8")));
    const imported = texts.flatMap((text) => [
      ...text.matchAll(/^(?:import|export)\b[^;]* from "([^."][^"]*)";|\bimport\("([^."][^"]*)"\)/gm),
    ]);
    const names = [...new Set(imported.map(([, name, inline]) => name ?? inline ?? ""))];
    const known = [...Object.keys(dependencies), ...Object.keys(peerDependencies), "cloudflare:workers"];
    expect(names).toContain("temporal-polyfill");
    expect(names.filter((name) => !known.some((each) => name === each || name.startsWith(`${each}/`)))).toEqual([]);
  });

  test.each([
    ["Node", ["node"]],
    ["Deno", [tool("deno"), "run", "-A", "--cached-only", "--no-lock"]],
    ["Bun", [tool("bun"), "run"]],
  ])("has a command line that ends with the codes that it promises: %s", async (_, command) => {
    // The signals below are for Deno itself, around which its package has a process.
    const runtime = command[0] === tool("deno") ? [denoBinary(), ...command.slice(1)] : command;
    const program = [...runtime, join(project, "node_modules/.bin/escapement")];
    const rule = ["30 2 * * *", "--tz", "Europe/Berlin", "-n", "1", "--from", "2027-03-27T12:00:00Z"];
    const output = await runOk([...program, "next", ...rule], { cwd: project });
    expect(output).toMatch(/^At 02:30, in Europe\/Berlin\n {2}Sun 2027-03-28 03:00 \+02:00 {3}2027-03-28T01:00:00Z /);
    const wrong = new Child([...program, "next", "0 9 * * mon-fir"]);
    expect([await wrong.ended, wrong.output]).toEqual([2, expect.stringContaining("did you mean mon-fri?")]);
    const file = join(project, "scheduler.mjs");
    await copyFile(join(ROOT, "test/package/consumer/scheduler.mjs"), file);
    expect(await runOk([...program, "run", file, "--once"], { cwd: project })).toBe("it ran\n1 run, 1 success\n");
    for (const [signal, code] of [
      ["SIGTERM", 0],
      ["SIGINT", 130],
    ] as const) {
      const running = new Child([...program, "run", file]);
      await running.prints(/it ran/);
      running.process.kill(signal);
      expect([signal, await running.ended]).toEqual([signal, code]);
    }
  });

  test("writes a Worker that type-checks, and in wrangler dev has a page, wants its token, and ticks", async () => {
    await using folder = await temporaryFolder("init");
    const program = join(project, "node_modules/.bin/escapement");
    await runOk(["node", program, "init", "cloudflare", "jobs"], { cwd: folder.path });
    const jobs = join(folder.path, "jobs");
    const manifest = JSON.parse(await readFile(join(jobs, "package.json"), "utf8"));
    manifest.dependencies.escapement = `file:${join(project, packed.filename)}`;
    await writeFile(join(jobs, "package.json"), JSON.stringify({ ...manifest, devDependencies: {} }));
    await runOk(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: jobs });
    // The types of Cloudflare, which are among its devDependencies. The examples of a Durable Object compile beside it.
    await mkdir(join(jobs, "node_modules/@cloudflare"));
    const types = "node_modules/@cloudflare/workers-types";
    await symlink(join(ROOT, types), join(jobs, types), "dir");
    for (const [index, title] of ["## A Durable Object", "### A router in the object"].entries()) {
      const program = await programOf("docs/edge.md", title);
      expect(program).toContain("extends SchedulerDurableObject");
      await writeFile(join(jobs, `src/object-${index}.ts`), program);
    }
    expect(await runOk([tool("tsc")], { cwd: jobs })).toBe("");

    await copyFile(join(jobs, ".dev.vars.example"), join(jobs, ".dev.vars"));
    const dev = [tool("wrangler"), "dev", "--test-scheduled", "--ip", "127.0.0.1", "--port", "0"];
    const variables = { CI: "true", WRANGLER_SEND_METRICS: "false", HOME: folder.path };
    const worker = new Child([...dev, "--inspector-port", "0", "--cwd", jobs], variables);
    try {
      await worker.prints(/Ready on http/);
      const address = /Ready on (http:\S+)/.exec(worker.output)?.[1] ?? "";
      expect((await fetch(`${address}/scheduler`)).headers.get("content-type")).toContain("text/html");
      expect((await fetch(`${address}/scheduler/dashboard.js`)).status).toBe(200);
      expect((await fetch(`${address}/scheduler/schedules`)).status).toBe(401);
      // The first event adds the schedules of the program, and the second does what is due.
      expect((await fetch(`${address}/__scheduled`)).status).toBe(200);
      const headers = { authorization: "Bearer a-token-for-this-machine-alone", "content-type": "application/json" };
      const listed = await fetch(`${address}/scheduler/schedules`, { headers });
      const { items } = (await listed.json()) as { items: { id: string }[] };
      expect(items.map(({ id }) => id).sort()).toEqual(["every minute", "good morning"]);
      const body = JSON.stringify({ taskId: "report", trigger: { every: "1s" } });
      const replaced = await fetch(`${address}/scheduler/schedules/good%20morning`, { method: "PUT", headers, body });
      expect(replaced.status).toBe(200);
      expect((await fetch(`${address}/__scheduled`)).status).toBe(200);
      await worker.prints(/report, due at/);
    } finally {
      worker.process.kill("SIGINT");
      await worker.ended;
    }
  });

  test("serves agents on stdio, to the client of the protocol's own package", async () => {
    const client = new Client({ name: "test", version: "1" });
    const args = [join(project, "node_modules/.bin/escapement"), "mcp", "--store", "file:agents.db"];
    await writeFile(join(project, "crontab"), "0 1 * * * backup\n");
    await runOk(["node", args[0] ?? "", "import", "crontab", "--tz", "UTC", "--store", "file:agents.db"], {
      cwd: project,
    });
    await client.connect(new StdioClientTransport({ command: "node", args, cwd: project }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("list_schedules");
    expect(tools.map(({ name }) => name)).not.toContain("pause");
    const { content } = await client.callTool({ name: "list_schedules", arguments: {} });
    expect(JSON.stringify(content)).toContain("backup");
    await client.close();
  });

  test.each([
    ["Node", ["node"]],
    ["Deno", [tool("deno"), "run", "-A", "--cached-only", "--no-lock"]],
    ["Bun", [tool("bun"), "run"]],
  ])("runs handlers in threads on %s, and their program ends by itself", async (_, command) => {
    for (const file of ["threads.js", "thread-tasks.js"]) {
      await copyFile(join(ROOT, "test/package/consumer", file), join(project, file));
    }
    const output = await runOk([...command, "threads.js"], { cwd: project });
    expect(output).toBe("add knowsItsJob spin\n3\ntrue\nenough\n5\n");
  });

  test.each([
    ["Node", ["node"], whyNoSqlite === null],
    ["Deno", [tool("deno"), "run", "-A", "--cached-only", "--no-lock"], true],
    ["Bun", [tool("bun"), "run"], true],
  ])(
    "runs a program on a libSQL file, and opens one of SQLite, in a fresh folder on %s",
    async (_, command, hasSqlite) => {
      await using folder = await temporaryFolder("run");
      await copyFile(join(ROOT, "test/package/consumer/program.js"), join(project, "program.js"));
      const output = await runOk([...command, join(project, "program.js")], { cwd: folder.path });
      const lastLine = hasSqlite ? "0 tasks" : "storeUnavailable";
      expect(output).toBe(`2026-03-30T09:00:00+02:00[Europe/Berlin]\n42\nfired\nstopped\n${lastLine}\n`);
      expect(await readdir(folder.path)).toContain("jobs.db");
    },
  );
});
