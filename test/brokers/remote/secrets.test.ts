import { expect, test } from "vitest";
import { secretsOf } from "../../../src/brokers/remote/address.ts";
import { redacted } from "../../../src/brokers/remote/failure.ts";

const URLS = [
  "redis://localhost",
  "redis://:hidden@localhost:6379/2",
  "rediss://user:hidden@[::1]:6379?family=6&password=hidden",
  "unix:///run/redis.sock",
  "postgres://user:hidden@one:5432,two:5432/db?sslmode=require",
  "mqtt://us%40er:hid%2Fden@host",
  "redis://:hid/den@host:1",
  "redis://:hid@den@host:1",
  "redis://:hid#den@host:1",
];

test.each(URLS)("a failure that repeats %s shows nothing that is secret", (url) => {
  const error = redacted(new Error(`connecting to ${url} failed`), secretsOf(url));
  expect(error.message).not.toMatch(/hid|den@/);
});

test("the password of a url is known as it stands there, and as it is meant", () => {
  expect(secretsOf("redis://user:p%40ss%2F@host?token=t%20t&family=6")).toEqual(["p%40ss%2F", "p@ss/", "t%20t", "t t"]);
});

test("of a failure only the name, the message and the code are taken over, and the secrets in them are covered", () => {
  const failure = Object.assign(new TypeError("WRONGPASS for hunter2"), {
    code: "hunter2",
    command: { name: "auth", args: ["hunter2"] },
    cause: new Error("hunter2"),
  });
  const error = redacted(failure, ["hunter2"]);
  expect([error.name, error.message, error.stack, { ...error }, error.cause]).toEqual([
    "TypeError",
    "WRONGPASS for …",
    "TypeError: WRONGPASS for …",
    expect.objectContaining({ code: "…" }),
    undefined,
  ]);
});

test.each([
  [undefined, "the connection was lost"],
  [null, "the connection was lost"],
  ["ended", "ended"],
  [{ message: 7 }, "the connection was lost"],
  [{ code: "ECONNREFUSED", message: "" }, "ECONNREFUSED"],
  [
    new AggregateError([new Error("connect ::1"), new Error("connect 127.0.0.1")], ""),
    "connect ::1; connect 127.0.0.1",
  ],
  [new Error("x".repeat(1000)), `${"x".repeat(500)}…`],
])("a failure of any kind can be told: %s", (failure, message) => {
  expect(redacted(failure, []).message).toBe(message);
});
