import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOk } from "../package/run.ts";
import { ROOT, stagePackage, temporaryFolder } from "../package/stage.ts";

// A project that has installed the package alone, without the clients of servers.

let project = "";
const cleanup: AsyncDisposable[] = [];

beforeAll(async () => {
  const [stage, folder] = [await stagePackage(), await temporaryFolder("without-clients")];
  cleanup.push(stage, folder);
  project = folder.path;
  const modules = join(project, "node_modules");
  await mkdir(join(modules, "escapement"), { recursive: true });
  for (const name of ["package.json", "dist", "wasm"]) {
    await cp(join(stage.path, name), join(modules, "escapement", name), { recursive: true });
  }
  for (const name of ["temporal-polyfill", "temporal-utils", "valibot"]) {
    await symlink(join(ROOT, "node_modules", name), join(modules, name), "dir");
  }
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
});
afterAll(async () => {
  for (const item of cleanup) await item[Symbol.asyncDispose]();
});

test.each([
  [
    "redis",
    "RedisEventBroker",
    "redis://127.0.0.1",
    "reaching Redis by its url needs the package ioredis, which is missing: npm install ioredis, or pass { client }",
  ],
  [
    "postgres",
    "PostgresEventBroker",
    "postgres://127.0.0.1",
    "reaching PostgreSQL by its url needs the package postgres, which is missing: npm install postgres, or pass { client }",
  ],
  [
    "mqtt",
    "MqttEventBroker",
    "mqtt://127.0.0.1",
    "reaching an MQTT server by its url needs the package mqtt, which is missing: npm install mqtt, or pass { client }",
  ],
])("without its package, the broker of escapement/%s says how to install it", async (door, name, url, message) => {
  await writeFile(
    join(project, "program.js"),
    `import { ${name} } from "escapement/${door}";
    const broker = new ${name}({ url: "${url}" });
    await broker.open().catch((error) => console.log(error.name, error.message, error.cause.code));`,
  );
  expect(await runOk(["node", "program.js"], { cwd: project })).toBe(
    `BrokerUnavailableError ${message} ERR_MODULE_NOT_FOUND\n`,
  );
});
