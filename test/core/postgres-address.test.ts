import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { optionsOfPlaces, postgresUrl, readPostgresAddress } from "../../src/core/postgres-address.ts";

describe("what postgres.js is told of", () => {
  test.each([
    ["postgres://a:b@h:1/db", "postgres://a:b@localhost/db", { host: "h", port: 1 }],
    ["postgres:///db", "postgres:///db", {}],
    ["postgres://h", "postgres://localhost", { host: "h" }],
    ["postgres://a@/db?host=/run", "postgres://a@localhost/db", { host: "/run" }],
    ["postgres:///db?host=/run&port=2", "postgres://localhost/db", { host: "/run", port: 2 }],
    ["postgres://h:3/db?host=/run", "postgres://localhost/db", { host: "/run", port: 3 }],
    ["postgres://a@%2Frun%2Fpg:4/db", "postgres://a@localhost/db", { host: "/run/pg", port: 4 }],
    ["postgres://a@[::1]:5/db", "postgres://a@localhost/db", { host: ["::1"], port: [5] }],
    ["postgres://a@[::1]/db", "postgres://a@localhost/db", { host: ["::1"], port: [5432] }],
    [
      "postgres://a@x:1,[::1]:2,y/db?sslmode=require",
      "postgres://a@localhost/db?sslmode=require",
      { host: ["x", "::1", "y"], port: [1, 2, 5432] },
    ],
    ["postgres:///db?host=x,y&port=1,2", "postgres://localhost/db", { host: ["x", "y"], port: [1, 2] }],
  ])("by %s", (given, url, options) => {
    const address = readPostgresAddress(given);
    expect([address.url, optionsOfPlaces(address.places)]).toEqual([url, options]);
    expect([address.schema, address.leftOut]).toEqual([null, []]);
  });
});

test("what other libraries write into urls is left out, a schema is taken, and the server's settings stay", () => {
  const others = "pgbouncer=true&channel_binding=require&connection_limit=1&schema=jobs&options=-c%20a.b%3D1";
  const address = readPostgresAddress(`postgres://h/db?sslmode=require&${others}&application_name=x`);
  expect(address.url).toBe("postgres://localhost/db?sslmode=require&options=-c+a.b%3D1&application_name=x");
  expect(address.leftOut).toEqual(["pgbouncer", "channel_binding", "connection_limit"]);
  expect(address.schema).toBe("jobs");
});

test.each([
  [undefined, "postgres:// and an address; got undefined: is the environment variable set?"],
  ["h:5432/db", 'postgres:// and an address; got "h:5432/db": write "postgres://h:5432/db"'],
  ["postgres://h/db?sslcert=/a", "must be a url without sslcert, which only a client of yours can follow"],
  ["postgres://h/db?sslrootcert=/a", "must be a url without sslrootcert"],
  ["postgres://h:99999/db", "must be ports from 1 to 65535"],
  ["postgres://::1/db", 'must be hosts such as "host:5432" or "[::1]:5432"'],
  ["postgres:///db?host=/a,/b", "must be one host, where it is the folder of a unix socket"],
  ["postgres://a:p/s#s@h/db", "must be"],
])("%s is refused", (url, message) => {
  const { issues } = v.safeParse(postgresUrl(), url);
  expect(issues?.[0].message).toContain(message);
  expect(issues?.[0].message).not.toContain("p/s#s");
});
