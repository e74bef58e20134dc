import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../edge/bundle-worker.ts";
import { run } from "../package/run.ts";
import { ROOT } from "../support/child.ts";
import { Sqld } from "../support/sqld.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What the drive uses of a Worker's configuration. */
interface Configuration {
  readonly compatibility_date: string;
  readonly triggers: { readonly crons: readonly string[] };
}

function configurationOf(name: string): Configuration {
  const text = readFileSync(join(ROOT, "examples/cloudflare", name, "wrangler.jsonc"), "utf8");
  return JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, ""));
}

let server: Sqld;
let platform: Miniflare | null;
beforeEach(async () => {
  server = await Sqld.start();
  platform = null;
});
afterEach(async () => {
  await platform?.dispose();
  await server?.stop();
});

/** The Worker of an example in workerd, with what its platform calls. */
async function startWorker(name: string, bindings: object): Promise<Drive> {
  const { compatibility_date: compatibilityDate, triggers } = configurationOf(name);
  const { modules } = await bundleWorker(new URL(`../../examples/cloudflare/${name}/worker.ts`, import.meta.url));
  const started = new Miniflare({ modules, compatibilityDate, ...bindings } as MiniflareOptions);
  platform = started;
  // The types of what it returns are in a package of Cloudflare's that nothing else needs.
  const worker = (await started.getWorker()) as unknown as Scheduled;
  return {
    get: async (path) => (await started.dispatchFetch(`http://worker${path}`)).json(),
    post: async (path) => (await started.dispatchFetch(`http://worker${path}`, { method: "POST" })).status,
    cron: async () => (await worker.scheduled({ cron: triggers.crons[0] ?? "" })).outcome,
  };
}

interface Scheduled {
  scheduled(event: { readonly cron: string }): Promise<{ readonly outcome: string }>;
}

interface Drive {
  get(path: string): Promise<unknown>;
  post(path: string): Promise<number>;
  cron(): Promise<string>;
}

/** Waits for a greeting to be run after the answer to its request. */
async function results(drive: Drive, count: number): Promise<unknown[]> {
  for (;;) {
    const items = (await drive.get("/results")) as { readonly taskId: string }[];
    if (items.length >= count) return items.sort((a, b) => a.taskId.localeCompare(b.taskId));
  }
}

const BEAT = { taskId: "beat", outcome: "success", returnValue: "beaten" };
const GREETING = { taskId: "greet", outcome: "success", returnValue: "Hello, Ada!" };

describe.each(["turso", "d1"])("the Worker in examples/cloudflare/%s", (name) => {
  const bindings = (): object =>
    name === "d1" ? { d1Databases: ["DB"] } : { bindings: { DATABASE_URL: server.httpUrl } };

  test("fires a schedule by its Cron Trigger, and runs the jobs of a request after the answer", async () => {
    const drive = await startWorker(name, bindings());
    expect(await drive.cron()).toBe("ok");
    expect(await drive.get("/results")).toEqual([BEAT]);
    expect(await drive.post("/greet/Ada")).toBe(202);
    expect(await results(drive, 2)).toEqual([BEAT, GREETING]);
    expect(await drive.cron()).toBe("ok");
    expect(await results(drive, 2)).toEqual([BEAT, GREETING]);
  });

  test("can be deployed, as wrangler says without deploying it", async () => {
    const folder = await temporaryFolder();
    const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
    const arguments_ = ["deploy", "--dry-run", "--outdir", folder.path, "--config", `${name}/wrangler.jsonc`];
    const ended = await run([process.execPath, wrangler, ...arguments_], {
      cwd: join(ROOT, "examples/cloudflare"),
      env: { WRANGLER_SEND_METRICS: "false", WRANGLER_LOG_PATH: folder.path, CI: "1" },
    });
    await folder.remove();
    expect(ended).toMatchObject({ exitCode: 0, output: expect.stringContaining("--dry-run: exiting now.") });
  });
});

test("a Worker whose database is gone fails its Cron Trigger, so that the platform shows it", async () => {
  const drive = await startWorker("turso", {
    bindings: { DATABASE_URL: server.httpUrl },
    handleRuntimeStdio: () => {},
  });
  expect(await drive.cron()).toBe("ok");
  await server.kill();
  expect(await drive.cron()).toBe("exception");
});
