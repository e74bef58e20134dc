import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { Mosquitto } from "../support/mosquitto.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NODE = [process.execPath, join(ROOT, "scripts/start.mjs"), "brokers/mqtt"];
const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  Node: NODE,
  Deno: [denoBinary(), "run", "-A", "--cached-only", join(ROOT, "examples/brokers/mqtt.ts")],
  Bun: [BUN_BINARY, "run", join(ROOT, "examples/brokers/mqtt.ts")],
};

let server: Mosquitto;
beforeAll(async () => {
  server = await Mosquitto.start();
});
afterAll(() => server.stop());

describe("examples/brokers/mqtt.ts", () => {
  test.each(Object.entries(RUNTIMES))("runs a job in a worker on %s that another process adds", async (_, command) => {
    const folder = await temporaryFolder();
    const variables = { MQTT_URL: server.url, DATABASE_URL: `file:${join(folder.path, "jobs.db")}` };
    const worker = new Child([...command, "worker"], variables);
    await worker.prints(/waiting for jobs/);
    const client = new Child([...NODE, "greet", "Grace"], variables);
    expect([await client.ended, client.output.split("\n")[0]]).toEqual([
      0,
      `Hello, Grace, from process ${worker.process.pid}!`,
    ]);
    worker.process.kill("SIGINT");
    expect([await worker.ended, worker.output.match(/warn|error/gi)]).toEqual([0, null]);
    await folder.remove();
  });
});
