import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { Mosquitto } from "../support/mosquitto.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Starts the server of an example, and tells by which variables the example gets its address and that of the jobs. */
const EXAMPLES = {
  redis: { start: () => RedisServer.start(), url: "REDIS_URL", jobs: "DATABASE_URL" },
  mqtt: { start: () => Mosquitto.start(), url: "MQTT_URL", jobs: "DATABASE_URL" },
  postgres: { start: () => PostgresServer.start(), url: "DATABASE_URL", jobs: "JOBS_URL" },
} as const;

describe.each(Object.entries(EXAMPLES))("examples/brokers/%s.ts", (name, { start, url, jobs }) => {
  const node = [process.execPath, join(ROOT, "scripts/start.mjs"), `brokers/${name}`];
  const file = join(ROOT, `examples/brokers/${name}.ts`);
  const runtimes: Readonly<Record<string, readonly string[]>> = {
    Node: node,
    Deno: [denoBinary(), "run", "-A", "--cached-only", file],
    Bun: [BUN_BINARY, "run", file],
  };

  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  test.each(Object.entries(runtimes))("runs a job in a worker on %s that another process adds", async (_, command) => {
    const folder = await temporaryFolder();
    const variables = { [url]: server.url, [jobs]: `file:${join(folder.path, "jobs.db")}` };
    const worker = new Child([...command, "worker"], variables);
    await worker.prints(/waiting for jobs/);
    const client = new Child([...node, "greet", "Grace"], variables);
    expect([await client.ended, client.output.split("\n")[0]]).toEqual([
      0,
      `Hello, Grace, from process ${worker.process.pid}!`,
    ]);
    worker.process.kill("SIGINT");
    expect([await worker.ended, worker.output.match(/warn|error/gi)]).toEqual([0, null]);
    await folder.remove();
  });
});
