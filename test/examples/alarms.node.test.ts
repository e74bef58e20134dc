import { cp } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { stagePackage } from "../package/stage.ts";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { startServer } from "../support/http-server.ts";

// Deno and Bun run the sources; Node 20 takes no types, so that it runs the package as it is built.

let stage: Awaited<ReturnType<typeof stagePackage>> | undefined;
beforeAll(async () => {
  stage = await stagePackage();
  await cp(join(ROOT, "examples/alarms"), join(stage.path, "examples/alarms"), { recursive: true });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

interface Received {
  readonly path: string;
  readonly query: string;
  readonly text: string;
}

/** A server that fails to take the first request, as servers do, and remembers the others. */
async function receiver(): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  let isUp = false;
  const server = await startServer(async (request) => {
    if (!isUp) {
      isUp = true;
      return new Response("not yet", { status: 503 });
    }
    const { pathname, search } = new URL(request.url);
    received.push({ path: pathname, query: search, text: await request.text() });
    return new Response("OK");
  });
  onTestFinished(() => server.stop());
  return { url: server.url, received };
}

describe.each(["Node", "Deno", "Bun"])("on %s", (runtime) => {
  const run = async (name: string, variables: Readonly<Record<string, string>>): Promise<unknown[]> => {
    const deno = [denoBinary(), "run", "--cached-only", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];
    const command = runtime === "Node" ? [process.execPath] : runtime === "Deno" ? deno : [BUN_BINARY];
    const root = runtime === "Node" ? (stage?.path ?? "") : ROOT;
    const path = join(root, "examples/alarms", name);
    const child = new Child([...command, path], { DENO_NO_UPDATE_CHECK: "1", ...variables });
    return [await child.ended, child.output.trim().split("\n")];
  };

  test("webhook.js posts what is overdue and that it is over, once each, although the first try fails", async () => {
    const { url, received } = await receiver();
    expect(await run("webhook.js", { WEBHOOK_URL: `${url}/alarms` })).toEqual([0, ["all alarms are posted"]]);
    const posts = received.map(({ path, text }) => {
      const { type, scheduleId, kind } = JSON.parse(text);
      return [path, type, scheduleId, kind];
    });
    expect(posts).toEqual([
      ["/alarms", "occurrenceOverdue", "hourly report", "finish"],
      ["/alarms", "occurrenceResolved", "hourly report", "finish"],
    ]);
    expect(new Set(received.map(({ text }) => JSON.parse(text).id)).size).toBe(2);
  });

  test("pings.js tells a dead-man service of starts, successes and failures, each with its run", async () => {
    const { url, received } = await receiver();
    expect(await run("pings.js", { PING_URL: `${url}/check` })).toEqual([0, ["all pings are sent"]]);
    const [first, second] = [received.slice(0, 2), received.slice(2, 4)];
    expect(first.map(({ path, text }) => [path, text])).toEqual([
      ["/check/start", "attempt 1"],
      ["/check", "success"],
    ]);
    expect(second.map(({ path, text }) => [path, text])).toEqual([
      ["/check/start", "attempt 1"],
      ["/check/fail", "error: the disk is full"],
    ]);
    const runs = [first, second].map((pings) => [...new Set(pings.map(({ query }) => query))]);
    expect(runs).toEqual([[expect.stringMatching(/^\?rid=/)], [expect.stringMatching(/^\?rid=/)]]);
  });
});
