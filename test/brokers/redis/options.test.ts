import { expect, test } from "vitest";
import { RedisEventBroker } from "../../../src/brokers/redis/mod.ts";
import { OptionsError } from "../../../src/core/errors.ts";

class Client {
  readonly status: string = "ready";
  publish(): void {}
  subscribe(): void {}
  duplicate(): void {}
  on(): void {}
  off(): void {}
}
const client = new Client();

function messageOf(options: unknown): string {
  try {
    Reflect.construct(RedisEventBroker, [options]);
    return "none";
  } catch (error) {
    if (error instanceof OptionsError) return error.message;
    throw error;
  }
}

test.each([
  [{ url: "redis://localhost" }],
  [{ url: "rediss://user:password@[::1]:6379/2", tls: { ca: ["-----BEGIN"], rejectUnauthorized: true } }],
  [{ url: "rediss://localhost", tls: { ca: undefined, key: undefined, rejectUnauthorized: undefined } }],
  [{ url: "unix:///run/redis.sock", username: undefined, password: undefined }],
  [{ client, channel: "jobs", namespace: "shop" }],
])("options that fit are taken: %o", (options) => {
  expect(messageOf(options)).toBe("none");
});

test.each([
  [undefined, "new RedisEventBroker(options) takes { url } or { client }; got undefined"],
  [
    "redis://localhost",
    'new RedisEventBroker(options) takes { url } or { client }; got "redis://localhost": write { url: "redis://localhost" }',
  ],
  [client, "new RedisEventBroker(options) takes { url } or { client }; got a Client: pass it as { client }"],
  [{}, 'new RedisEventBroker(options): url is missing; it must be an address such as "redis://127.0.0.1:6379"'],
  [
    { url: undefined },
    'new RedisEventBroker(options): url must be an address such as "redis://127.0.0.1:6379"; got undefined: is the ' +
      "environment variable set?",
  ],
  [
    { url: "localhost:6379" },
    "new RedisEventBroker(options): url must be redis:// or rediss:// and a host, or unix:/// and a path; got " +
      '"localhost:6379": write "redis://localhost:6379"',
  ],
  [
    { url: "/run/redis.sock" },
    "new RedisEventBroker(options): url must be redis:// or rediss:// and a host, or unix:/// and a path; got " +
      '"/run/redis.sock": write "unix:///run/redis.sock"',
  ],
  [
    { url: "redis://:se/cret@localhost:port" },
    "new RedisEventBroker(options): url must be a url that can be read; got text that is not shown: write " +
      "encodeURIComponent(password) for the password in it",
  ],
  [
    { url: "redis://h", password: "" },
    "new RedisEventBroker(options): password must be text that is not empty; got text that is not shown: is the " +
      "environment variable set?",
  ],
  [
    { url: "redis://h", client },
    "new RedisEventBroker(options): url is no option here; a server is given by url or by client, not by both",
  ],
  [
    { client: {} },
    "new RedisEventBroker(options): client must be a client of ioredis or node-redis; got {}: it lacks publish(), " +
      "subscribe(), duplicate(), on(), off()",
  ],
  [
    "localhost",
    'new RedisEventBroker(options) takes { url } or { client }; got "localhost": write { url: "redis://localhost" }',
  ],
  [
    { url: "valkeys://h:6379" },
    "new RedisEventBroker(options): url must be redis:// or rediss:// and a host, or unix:/// and a path; got " +
      '"valkeys://h:6379": write "rediss://h:6379"',
  ],
  [
    { url: "redis://h", port: 6379 },
    "new RedisEventBroker(options): port is no option here; it is a part of the url: " +
      '{ url: "redis://user:password@host:6379" }',
  ],
  [
    { url: "redis://h", db: 1 },
    "new RedisEventBroker(options): db is no option here; channels belong to no database; { namespace } keeps stores apart",
  ],
  [
    { url: "redis://h", client_or_url: "redis://h" },
    'new RedisEventBroker(options): client_or_url is no option; did you mean "url"?',
  ],
  [{ url: "redis://h", topic: "x" }, 'new RedisEventBroker(options): topic is no option; did you mean "channel"?'],
  [
    { url: "redis://h", channel: "" },
    'new RedisEventBroker(options): channel must be text of 1 to 256 characters; got ""',
  ],
  [
    { url: "redis://h", namespace: 7 },
    "new RedisEventBroker(options): namespace must be text of at most 256 characters; got 7",
  ],
])("options that do not fit get an error that says what to do, case %#", (options, message) => {
  expect(messageOf(options)).toBe(message);
});

test.each([
  "user:hidden@host",
  "redis:/user:hidden@host",
  " redis://user:hidden@host",
  "/user:hidden@host",
  "redis;//host?password=hidden",
])("what is no url is not shown where a password may stand in it: %s", (url) => {
  expect(messageOf({ url })).toBe(
    "new RedisEventBroker(options): url must be redis:// or rediss:// and a host, or unix:/// and a path; got text that is not shown",
  );
});
