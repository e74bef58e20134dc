import { afterAll, beforeAll, expect, test } from "vitest";
import { BareProject } from "../package/bare-project.ts";

let project: BareProject;
beforeAll(async () => {
  project = await BareProject.make("without-clients");
});
afterAll(() => project[Symbol.asyncDispose]());

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
  const output = await project.outputOf(`
    import { ${name} } from "escapement/${door}";
    const broker = new ${name}({ url: "${url}" });
    await broker.open().catch((error) => console.log(error.name, error.message, error.cause.code));
  `);
  expect(output).toBe(`BrokerUnavailableError ${message} ERR_MODULE_NOT_FOUND\n`);
});
