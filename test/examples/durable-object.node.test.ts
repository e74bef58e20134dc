import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { Platform } from "../cloudflare/durable-object/platform.ts";
import { run } from "../package/run.ts";
import { ROOT } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const FOLDER = join(ROOT, "examples/cloudflare/durable-object");

interface Result {
  readonly taskId: string;
  readonly outcome: string;
  readonly returnValue: unknown;
}

/** The results of an object, once it has so many; in the order of their tasks. */
async function resultsOf(platform: Platform, name: string, count: number): Promise<Result[]> {
  for (;;) {
    const results = (await (await platform.fetch(`/${name}/results`)).json()) as Result[];
    if (results.length >= count) return results.sort((a, b) => a.taskId.localeCompare(b.taskId));
  }
}

const BEAT = { taskId: "beat", outcome: "success", returnValue: "beaten" };

test("the Durable Object of the example fires its schedules by its alarm, and runs what a Worker adds", async () => {
  await using platform = await Platform.start(new URL(`file://${FOLDER}/worker.ts`), { JOBS: "Jobs" });
  expect(await resultsOf(platform, "Ada", 1)).toEqual([BEAT]);
  expect((await platform.fetch("/Ada/greet", { method: "POST" })).status).toBe(202);
  const greeting = { taskId: "greet", outcome: "success", returnValue: "Hello, Ada!" };
  expect(await resultsOf(platform, "Ada", 2)).toEqual([BEAT, greeting]);
  // Another object has schedules of its own.
  expect(await resultsOf(platform, "Grace", 1)).toEqual([BEAT]);
  // What an object has done outlives it.
  await platform.restart();
  expect(await resultsOf(platform, "Ada", 2)).toEqual([BEAT, greeting]);
});

test("the Durable Object of the example can be deployed, as wrangler says without deploying it", async () => {
  const folder = await temporaryFolder();
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const ended = await run([process.execPath, wrangler, "deploy", "--dry-run", "--outdir", folder.path], {
    cwd: FOLDER,
    env: { WRANGLER_SEND_METRICS: "false", WRANGLER_LOG_PATH: folder.path, CI: "1" },
  });
  await folder.remove();
  expect(ended).toMatchObject({ exitCode: 0, output: expect.stringContaining("--dry-run: exiting now.") });
});
