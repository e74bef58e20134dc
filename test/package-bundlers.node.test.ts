import { copyFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, transform } from "esbuild";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run, runOk } from "./package/run.ts";
import { ROOT, stagePackage, temporaryFolder, tool } from "./package/stage.ts";
import { extractCodeBlocks } from "./readme/code-blocks.ts";
import { answerInChromium } from "./support/chromium.ts";

const ANSWERS = { next: "2026-03-30T09:00:00+02:00[Europe/Berlin]", sums: [42], isOneClass: true };
const PROGRAMS = [
  ...["bundled.js", "bundled-page.js", "bundled-program.js", "bundled-worker.js"],
  ...["bundled-executors.js", "bundled-tasks.js"],
];
/** The first one on which Workers may compile WebAssembly while they start. */
const DATE_MIN = "2025-06-01";
/** The one of the suite in workerd. */
const DATE_OF_TESTS = "2026-04-26";

const cleanup: AsyncDisposable[] = [];
/** A project that has the package in its node_modules. */
let project = "";

beforeAll(async () => {
  const stage = await stagePackage();
  const fresh = await temporaryFolder("bundlers");
  cleanup.push(stage, fresh);
  project = fresh.path;
  const packages = join(project, "node_modules");
  await mkdir(join(packages, "escapement"), { recursive: true });
  for (const name of ["package.json", "dist", "wasm"]) {
    await cp(join(stage.path, name), join(packages, "escapement", name), { recursive: true });
  }
  for (const name of ["temporal-polyfill", "@libsql"]) {
    await symlink(join(ROOT, "node_modules", name), join(packages, name), "dir");
  }
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const name of PROGRAMS) await copyFile(join(ROOT, "test/package/consumer", name), join(project, name));
  await writeGuide();
});

afterAll(async () => {
  for (const item of cleanup) await item[Symbol.asyncDispose]();
});

describe("bundled by esbuild", () => {
  test("for Node, a program runs", async () => {
    await bundle("bundled-program.js", "node");
    expect(JSON.parse(await runOk(["node", "esbuild/bundled-program.js"], { cwd: project }))).toEqual(ANSWERS);
  });

  test("for Node, a program has its threads and processes in a folder without packages", async () => {
    const entry = (path: string): string => join(project, "node_modules/escapement/dist/executors", path);
    await using elsewhere = await temporaryFolder("bundled");
    await build({
      entryPoints: {
        main: join(project, "bundled-executors.js"),
        tasks: join(project, "bundled-tasks.js"),
        "thread-entry": entry("worker/thread-entry.js"),
        "process-entry": entry("process/process-entry.js"),
      },
      outdir: elsewhere.path,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "es2022",
      logLevel: "error",
    });
    await writeFile(join(elsewhere.path, "package.json"), JSON.stringify({ type: "module" }));
    const answer = { threads: "ADA in ada", processes: "ADA in ada" };
    expect(JSON.parse(await runOk(["node", "main.js"], { cwd: elsewhere.path }))).toEqual(answer);
    await rm(join(elsewhere.path, "thread-entry.js"));
    await rm(join(elsewhere.path, "process-entry.js"));
    const { exitCode, output } = await run(["node", "main.js"], { cwd: elsewhere.path });
    expect(exitCode).not.toBe(0);
    expect(output).toContain("whoever bundles the program adds thread-entry.js of escapement, or names it by entry");
  });

  test("without the condition of workerd, a Worker runs from a compatibility date on, and not before", async () => {
    const script = await readFile(await bundle("bundled-worker.js", "browser"), "utf8");
    await expect(answerOfWorker({ script, modules: true }, DATE_MIN)).resolves.toEqual(ANSWERS);
    await expect(answerOfWorker({ script, modules: true }, "2025-05-31")).rejects.toThrow();
  });
});

describe("bundled for a browser, the page of the guide runs a job in a Web Worker", () => {
  test("by esbuild", async () => {
    const [page = "", worker = ""] = await Promise.all(
      ["page.js", "tasks-worker.js"].map(async (name) => readFile(await bundle(name, "browser"), "utf8")),
    );
    expect(await answerInChromium(page, { scripts: { "/tasks-worker.js": worker } })).toBe(9592);
  });

  test("by Vite", async () => {
    await vite("vite-worker", { rolldownOptions: { input: "page.js" }, target: "esnext" });
    const folder = join(project, "vite-worker/assets");
    const names = await readdir(folder);
    const files = names.map(async (name) => [`/assets/${name}`, await readFile(join(folder, name), "utf8")] as const);
    const scripts = Object.fromEntries(await Promise.all(files));
    const page = Object.keys(scripts).find((path) => basename(path).startsWith("page-")) ?? "";
    expect(await answerInChromium(scripts[page] ?? "", { scripts })).toBe(9592);
  });
});

describe("bundled by Vite", () => {
  test("for the browser, a page runs", async () => {
    await vite("vite-page", { rolldownOptions: { input: "bundled-page.js" }, minify: true, target: "esnext" });
    const [script = ""] = await readdir(join(project, "vite-page/assets"));
    const text = await readFile(join(project, "vite-page/assets", script), "utf8");
    expect(await answerInChromium(text)).toEqual(ANSWERS);
  });

  test.each([
    ["with the package in it", true],
    ["with the package beside it", false],
  ])("for a server, %s, a program runs", async (_, noExternal) => {
    await vite("vite-server", { ssr: "bundled-program.js", minify: false, target: "esnext" }, noExternal);
    expect(JSON.parse(await runOk(["node", "vite-server/bundled-program.js"], { cwd: project }))).toEqual(ANSWERS);
  });
});

describe("bundled by wrangler", () => {
  // Without nodejs_compat, and older than what is needed where WebAssembly is not imported.
  test.each(["2024-01-01", DATE_MIN, DATE_OF_TESTS])("a Worker runs, with compatibility date %s", async (date) => {
    const settings = { name: "bundled", main: "bundled-worker.js", compatibility_date: date, send_metrics: false };
    await writeFile(join(project, "wrangler.json"), JSON.stringify(settings));
    const deploy = [tool("wrangler"), "deploy", "--dry-run", "--outdir", "worker"];
    await runOk(deploy, { cwd: project, env: { CI: "true", WRANGLER_SEND_METRICS: "false", HOME: project } });
    const folder = join(project, "worker");
    const modulesRules = [{ type: "CompiledWasm", include: ["**/*.wasm"] }] as const;
    const worker = { modules: true, modulesRoot: folder, modulesRules: [...modulesRules] } as const;
    const options = { ...worker, scriptPath: join(folder, "bundled-worker.js") };
    expect(await answerOfWorker(options, date)).toEqual(ANSWERS);
  });
});

/** Writes the files of the guide about executors. What its page prints is its answer. */
async function writeGuide(): Promise<void> {
  const guide = await readFile(join(ROOT, "docs/executors.md"), "utf8");
  for (const { file, code } of extractCodeBlocks(guide)) {
    if (file === undefined) continue;
    const text = (await transform(code, { loader: "ts" })).code;
    const answering = "console.log = (value) => void (globalThis.answer = value);\n";
    await writeFile(join(project, file), file === "page.js" ? answering + text : text);
  }
}

/** @returns where the bundle is */
async function bundle(program: string, platform: "node" | "browser"): Promise<string> {
  const outfile = join(project, "esbuild", program);
  await build({
    entryPoints: [join(project, program)],
    outfile,
    bundle: true,
    format: "esm",
    platform,
    target: "es2022",
    logLevel: "error",
  });
  return outfile;
}

async function vite(
  outDir: string,
  { rolldownOptions, ...options }: Readonly<Record<string, unknown>> & { readonly rolldownOptions?: object },
  noExternal = false,
): Promise<void> {
  const config = {
    logLevel: "warn",
    // On a busy machine a build is slow, which is no fault of what is built.
    build: {
      chunkSizeWarningLimit: 1000,
      rolldownOptions: { ...rolldownOptions, checks: { bundlerTimings: false } },
      ...options,
      outDir,
    },
    ...(noExternal && { ssr: { noExternal } }),
  };
  await writeFile(join(project, "vite.config.mjs"), `export default ${JSON.stringify(config)};`);
  const { exitCode, output } = await run([tool("vite"), "build"], { cwd: project });
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: "" });
}

/** What a Worker answers to a request in workerd. */
async function answerOfWorker(
  options: { modules: true } & ({ script: string } | { scriptPath: string }),
  compatibilityDate: string,
): Promise<unknown> {
  const workerd = new Miniflare({ ...options, compatibilityDate });
  try {
    const response = await workerd.dispatchFetch("http://localhost/");
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text);
  } finally {
    await workerd.dispose();
  }
}
