import { describe, expect, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.ts";
import { PostgresEventBroker } from "../../../src/postgres.ts";

/** The message of the error of these options. */
function messageOf(options: unknown): string {
  try {
    new PostgresEventBroker(options as ConstructorParameters<typeof PostgresEventBroker>[0]);
  } catch (error) {
    if (error instanceof OptionsError) return error.message;
    throw error;
  }
  throw new Error("these options are taken");
}

const HEAD = "new PostgresEventBroker(options)";
const EXAMPLE = "postgres://user:password@host:5432/database";
const url = "postgres://127.0.0.1/app";

describe("PostgresEventBroker says what is wrong with", () => {
  test.each([
    [
      "a text in the place of options",
      url,
      `${HEAD} takes { url } or { client }; got "${url}": write { url: "${url}" }`,
    ],
    [
      "an address without a scheme",
      { url: "localhost:5432/app" },
      `${HEAD}: url must be postgres:// and an address; got "localhost:5432/app": write "postgres://localhost:5432/app"`,
    ],
    [
      "settings in the place of an address, without showing them",
      { url: "host=localhost password=hunter2" },
      `${HEAD}: url must be postgres:// and an address; got text that is not shown: write it as "${EXAMPLE}"`,
    ],
    ["no address", {}, `${HEAD}: url is missing; it must be postgres:// and an address`],
    ["the word of other clients", { url, dsn: url }, `${HEAD}: dsn is no option; did you mean "url"?`],
    [
      "a part of the address",
      { url, database: "app" },
      `${HEAD}: database is no option here; it is a part of the url: { url: "${EXAMPLE}" }`,
    ],
    [
      "a channel that is too long in bytes",
      { url, channel: "ü".repeat(32) },
      `${HEAD}: channel must be text of 1 to 63 bytes, without NUL; got "${"ü".repeat(32)}"`,
    ],
    [
      "a client of pg",
      { client: { connect: () => {}, query: () => {} } },
      `${HEAD}: client must be the sql of postgres.js; got { connect: the function connect, query: the function query }: a ` +
        "client of pg never listens again; pass { url }",
    ],
  ])("%s", (_, options, message) => {
    expect(messageOf(options)).toBe(message);
  });

  test("a url whose password is not encoded, without showing it", () => {
    const message = messageOf({ url: "postgres://app:p/s#s@127.0.0.1:port/app" });
    expect(message).not.toContain("p/s#s");
  });
});

test("a url may name several hosts, and a channel may be any text of 63 bytes", () => {
  const several = new PostgresEventBroker({ url: "postgresql://a:1,b:2/app", channel: `"${"ü".repeat(31)}` });
  expect(several).toBeInstanceOf(PostgresEventBroker);
});
