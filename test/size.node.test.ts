import { stat } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker, isBenchPeerInstalled } from "./bundles/bundle.ts";
import { ROOT, stagePackage } from "./package/stage.ts";

const WASM_BYTES_MAX = 12_288;

let stage: Awaited<ReturnType<typeof stagePackage>> | undefined;
beforeAll(async () => {
  stage = await stagePackage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** Bytes of a program, bundled, minified and gzipped, without temporal-polyfill, which a project may have already. */
async function gzippedBytes(source: string, external: readonly string[] = []): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: stage?.path ?? "" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "neutral",
    conditions: ["browser"],
    target: "es2022",
    external: ["temporal-polyfill", ...external],
    legalComments: "none",
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).byteLength;
}

// The budgets are what there is plus a little, so that growth is noticed: what each import costs a page or a Worker.
for (const [name, source, bytesMax] of [
  [
    "the core (compiled cron, zones and WebAssembly)",
    `export { CompiledCron } from "${join(ROOT, "src/cron/compiled-cron.ts")}";`,
    13_100,
  ],
  ["CronTrigger, with its dialect, errors and descriptions", 'export { CronTrigger } from "escapement";', 29_020],
  ["rules of iCalendar", 'export * from "escapement/rrule";', 46_550],
  ["all triggers, without a scheduler", 'export * from "escapement/cron";', 41_150],
  ["a client of a router, with the triggers that its schedules have", 'export * from "escapement/client";', 86_750],
  ["everything: scheduler, memory store, all triggers", 'export * from "escapement";', 187_170],
  [
    "the same with Web Workers",
    'export * from "escapement"; export { WorkerExecutor } from "escapement/worker";',
    192_800,
  ],
  ["what runs tasks in a Web Worker", 'export { serveTasks } from "escapement/worker";', 16_400],
] as const) {
  test(`${name} stays below ${bytesMax} bytes gzipped, without the polyfill`, async ({ annotate }) => {
    const bytes = await gzippedBytes(source);
    await annotate(`size: ${name}: ${bytes} bytes gzipped, of ${bytesMax}`);
    expect(bytes).toBeLessThan(bytesMax);
  });
}

/** What there is plus a little: routes, checks, sign-in and streams of events. */
const ROUTER_BYTES_MAX = 20_490;

test("the router stays small beyond its peers: hono and a scheduler", async ({ annotate }) => {
  const scheduler = ["mod", "contracts"]
    .map((door) => `export * from "${join(ROOT, "src", `${door}.ts`)}";`)
    .join("\n");
  const router = `export { createRouter } from "${join(ROOT, "src/hono/mod.ts")}";`;
  // The document is loaded when somebody asks for it. It shares nothing with other modules. What does share something is
  // not loaded so: a bundler that makes one file, as for Workers, then wraps all that is shared, which made the file
  // 1.6 KB larger with events, previews and bulk actions apart.
  const apart = ["hono", "*/openapi/document.ts"];
  const bytes = (await gzippedBytes(`${scheduler}\n${router}`, apart)) - (await gzippedBytes(scheduler, apart));
  await annotate(`size: the router: ${bytes} bytes gzipped beyond its peers, of ${ROUTER_BYTES_MAX}`);
  expect(bytes).toBeLessThan(ROUTER_BYTES_MAX);
});

/** A Worker that adds a schedule and ticks. */
function ticking(imports: string, dataStore: string, scheduler = "escapement/scheduler"): string {
  return `
    import { Scheduler } from "${scheduler}";
    ${imports}
    export default {
      async scheduled(event, env) {
        const scheduler = new Scheduler({ ${dataStore} });
        await scheduler.schedule("report", "0 9 * * *", () => {});
        await scheduler.tick();
      },
    };`;
}

const CRON = `
  import { CronTrigger } from "escapement/cron";
  const trigger = CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" });
  export default { scheduled: ({ scheduledTime }) => console.log(trigger.nextMs(scheduledTime)) };`;
const CRONER = `
  import { Cron } from "croner";
  const cron = new Cron("0 9 * * *", { timezone: "Europe/Berlin" });
  export default { scheduled: ({ scheduledTime }) => console.log(cron.nextRun(new Date(scheduledTime))) };`;
const LIGHT = ticking(
  'import { LibsqlDataStore } from "escapement/libsql/http";',
  "dataStore: new LibsqlDataStore({ url: env.URL })",
);
const WEB = ticking(
  'import { createClient } from "@libsql/client/web"; import { LibsqlDataStore } from "escapement/libsql";',
  "dataStore: new LibsqlDataStore({ client: createClient({ url: env.URL }) })",
);
const BY_URL = ticking(
  'import { LibsqlDataStore } from "escapement/libsql";',
  "dataStore: new LibsqlDataStore({ url: env.URL })",
);
const D1 = ticking('import { D1DataStore } from "escapement/d1";', "dataStore: new D1DataStore(env.DATABASE)");
const OBJECT = `
  import { DurableObject } from "cloudflare:workers";
  import { Scheduler } from "escapement/scheduler";
  import { DurableObjectDataStore } from "escapement/durable-object";
  export class Jobs extends DurableObject {
    async alarm() {
      const scheduler = new Scheduler({ dataStore: new DurableObjectDataStore(this.ctx.storage) });
      await scheduler.schedule("report", "0 9 * * *", () => {});
      await scheduler.tick();
    }
  }`;

// All that a Worker uploads, WebAssembly, temporal-polyfill and valibot included. The second budget is that with
// escapement/no-temporal in the place of temporal-polyfill. What is reached plus a little, as above.
describe("a Worker, with everything that it uploads, stays within its budget:", () => {
  const notes: string[] = [];

  test.each([
    ["cron in Berlin", CRON, 46_950, 27_900],
    ["a scheduler with the memory store", ticking("", "", "escapement"), 201_420, 182_120],
    ["a scheduler in a Durable Object", OBJECT, 247_000, 227_600],
    ["a scheduler with D1", D1, 246_900, 227_500],
    ["a scheduler with libSQL over fetch alone", LIGHT, 248_900, 229_450],
    ["a scheduler with libSQL by a url", BY_URL, 250_400, 230_950],
    ["a scheduler with libSQL by @libsql/client/web", WEB, 269_550, 250_150],
  ])("%s", async (name, source, bytesMax, withoutTemporalMax) => {
    const worker = { stage: stage?.path ?? "" };
    const { gzippedBytes: bytes } = await bundleWorker(source, worker);
    const { gzippedBytes: withoutTemporal } = await bundleWorker(source, { ...worker, withoutTemporal: true });
    notes.push(`${name}: ${bytes} bytes gzipped, of ${bytesMax}; without polyfill ${withoutTemporal}`);
    expect(bytes).toBeLessThan(bytesMax);
    expect(withoutTemporal).toBeLessThan(withoutTemporalMax);
  });

  test("croner, a peer, is measured in the same way", async (context) => {
    if (!isBenchPeerInstalled("croner")) context.skip("croner is not installed: npm ci --prefix bench");
    const { gzippedBytes: bytes } = await bundleWorker(CRONER, { stage: stage?.path ?? "" });
    notes.push(`croner in Berlin: ${bytes} bytes gzipped`);
    expect(bytes).toBeGreaterThan(0);
  });

  test("and all of them are told", async ({ annotate }) => {
    for (const note of notes) await annotate(`size: a Worker with ${note}`);
    expect(notes.length).toBeGreaterThan(0);
  });
});

test("cron.wasm stays below 12 KB", async ({ annotate }) => {
  const { size } = await stat(join(stage?.path ?? "", "wasm/dist/cron.wasm"));
  await annotate(`size: cron.wasm: ${size} bytes, of ${WASM_BYTES_MAX}`);
  expect(size).toBeLessThan(WASM_BYTES_MAX);
});
