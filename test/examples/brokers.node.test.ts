import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { Mosquitto } from "../support/mosquitto.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** How a runtime runs an example. */
const COMMANDS = {
  Node: (name: string) => [process.execPath, join(ROOT, "scripts/start.mjs"), `brokers/${name}`],
  Deno: (name: string) => [denoBinary(), "run", "-A", "--cached-only", join(ROOT, `examples/brokers/${name}.ts`)],
  Bun: (name: string) => [BUN_BINARY, "run", join(ROOT, `examples/brokers/${name}.ts`)],
} as const;

/** For each example: its server, and its variables for the addresses of the server and of the jobs' file. */
const EXAMPLES = {
  redis: { start: () => RedisServer.start(), broker: "REDIS_URL", jobs: "DATABASE_URL" },
  mqtt: { start: () => Mosquitto.start(), broker: "MQTT_URL", jobs: "DATABASE_URL" },
  postgres: { start: () => PostgresServer.start(), broker: "DATABASE_URL", jobs: "JOBS_URL" },
} as const;

// The brokers' own tests run all of them on every runtime.
test.each([
  ["redis", "Node"],
  ["redis", "Deno"],
  ["redis", "Bun"],
  ["mqtt", "Deno"],
  ["postgres", "Bun"],
] as const)("examples/brokers/%s.ts runs a job in a worker on %s that another process adds", async (name, runtime) => {
  const { start, broker, jobs } = EXAMPLES[name];
  const [server, folder] = [await start(), await temporaryFolder()];
  onTestFinished(async () => {
    await server.stop();
    await folder.remove();
  });
  const variables = { [broker]: server.url, [jobs]: `file:${join(folder.path, "jobs.db")}` };
  const worker = new Child([...COMMANDS[runtime](name), "worker"], variables);
  await worker.prints(/waiting for jobs/);
  const client = new Child([...COMMANDS.Node(name), "greet", "Grace"], variables);
  expect([await client.ended, client.output.split("\n")[0]]).toEqual([
    0,
    `Hello, Grace, from process ${worker.process.pid}!`,
  ]);
  worker.process.kill("SIGINT");
  expect([await worker.ended, worker.output.match(/warn|error/gi)]).toEqual([0, null]);
});
