import { describe, expect, test } from "vitest";
import { OptionsError, StoreUnavailableError } from "../../src/core/errors.ts";
import { HranaHttpDriver, type HttpFetch, type HttpRequest } from "../../src/stores/libsql-http/driver.ts";
import { LibsqlDataStore } from "../../src/stores/libsql-http/mod.ts";
import { checkConnection } from "../../src/stores/libsql-http/options.ts";
import { LibsqlDataStore as WorkerdDataStore } from "../../src/stores/libsql-workerd/mod.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";

const URL_OF_PIPELINE = "https://db.example/v3/pipeline";
const SELECT = { sql: "SELECT 1 AS one", args: [] };
const ONE_ROW = JSON.stringify({
  baton: null,
  base_url: "https://elsewhere.example",
  results: [
    { type: "ok", response: { type: "execute", result: { cols: [{ name: "one" }], rows: [[integer("1")]] } } },
    { type: "ok", response: { type: "close" } },
  ],
});

function integer(value: string): unknown {
  return { type: "integer", value };
}

/** A server that answers with each of these in turn. */
function serving(...answers: (() => Response | Promise<Response>)[]): {
  driver: HranaHttpDriver;
  asked: { url: string; request: HttpRequest }[];
} {
  const asked: { url: string; request: HttpRequest }[] = [];
  const fetch: HttpFetch = async (url, request) => {
    asked.push({ url, request });
    const answer = answers[asked.length - 1];
    if (answer === undefined) throw new Error("nothing more was expected");
    return answer();
  };
  return { driver: new HranaHttpDriver(URL_OF_PIPELINE, { authToken: "secret", fetch, timeoutMs: 10_000 }), asked };
}

/** What a failing request tells. */
async function failureOf(answer: () => Response | Promise<Response>): Promise<unknown> {
  const { driver } = serving(answer);
  const error: unknown = await driver.execute(SELECT).catch((failure: unknown) => failure);
  if (!(error instanceof Error)) throw new Error("the request did not fail");
  return { message: error.message, kind: driver.failureKind(error), advice: driver.adviceFor(error) };
}

describe("a request", () => {
  test("carries the token, the statement and the end of its stream", async () => {
    const { driver, asked } = serving(() => new Response(ONE_ROW));
    expect(await driver.execute({ sql: "SELECT ?1", args: [1] })).toEqual([{ one: 1 }]);
    expect(asked.map(({ url, request: { signal: _, ...request } }) => ({ url, ...request }))).toEqual([
      {
        url: URL_OF_PIPELINE,
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer secret" },
        redirect: "manual",
        body: JSON.stringify({
          requests: [{ type: "execute", stmt: { sql: "SELECT ?1", args: [integer("1")] } }, { type: "close" }],
        }),
      },
    ]);
  });

  test("goes to the address of the store, whatever base_url an answer names", async () => {
    const { driver, asked } = serving(
      () => new Response(ONE_ROW),
      () => new Response(ONE_ROW),
    );
    await driver.execute(SELECT);
    await driver.execute(SELECT);
    expect(asked.map(({ url }) => url)).toEqual([URL_OF_PIPELINE, URL_OF_PIPELINE]);
  });

  test("is aborted when the answer takes too long", async () => {
    const fetch: HttpFetch = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const driver = new HranaHttpDriver(URL_OF_PIPELINE, { authToken: null, fetch, timeoutMs: 1 });
    const failure: unknown = await driver.execute(SELECT).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "TimeoutError" });
    expect(driver.failureKind(failure)).toBe("connection");
  });
});

describe("an answer to a batch", () => {
  const NO_ROWS = { cols: [], rows: [] };
  test.each([
    ["no step at all", []],
    ["fewer steps than were sent", [NO_ROWS, NO_ROWS, null]],
    ["more steps than were sent", [NO_ROWS, NO_ROWS, NO_ROWS, NO_ROWS, null]],
  ])("with %s is no commit", async (_, step_results) => {
    const result = { step_results, step_errors: step_results.map(() => null) };
    const { driver } = serving(() => Response.json({ results: [{ type: "ok", response: { type: "batch", result } }] }));
    const failure: unknown = await driver.batch([SELECT]).catch((error: unknown) => error);
    expect([failure, driver.failureKind(failure)]).toEqual([
      expect.objectContaining({ code: "HRANA_PROTO_ERROR" }),
      "connection",
    ]);
  });
});

describe("a redirect", () => {
  const to = (status: number, location: string): (() => Response) => {
    return () => new Response(null, { status, headers: { location } });
  };

  test("within a host is followed, with method, body and token", async () => {
    const { driver, asked } = serving(to(307, "/moved"), to(308, "https://db.example:8443/there"), () => {
      return new Response(ONE_ROW);
    });
    expect(await driver.execute(SELECT)).toEqual([{ one: 1 }]);
    expect(asked.map(({ url }) => url)).toEqual([
      URL_OF_PIPELINE,
      "https://db.example/moved",
      "https://db.example:8443/there",
    ]);
    expect(asked[2]?.request).toEqual(asked[0]?.request);
  });

  test.each([
    ["to another host", 307, "https://other.example/x?authToken=y", "a redirect to https://other.example/x"],
    ["to plain text", 308, "http://db.example/", "a redirect to http://db.example"],
    ["to what is no address", 307, "http://[", "a redirect to nowhere"],
    ["that may turn into a GET", 301, "/moved", "a redirect to https://db.example/moved"],
  ])("%s is refused, and named", async (_, status, location, message) => {
    expect(await failureOf(to(status, location))).toEqual({
      message: `Server returned HTTP status ${status}, ${message}`,
      kind: "unavailable",
      advice: "check the url",
    });
  });

  test("is not followed for ever", async () => {
    const again = to(307, "/again");
    const { driver, asked } = serving(again, again, again, again, again);
    await expect(driver.execute(SELECT)).rejects.toThrow("a redirect to https://db.example/again");
    expect(asked.length).toBe(4);
  });
});

describe("an answer that is none", () => {
  const start = (text: string): string => JSON.stringify(text.slice(0, 80));
  const isNone = (text: string): unknown => ({
    message: `the answer is not Hrana's JSON, or was cut off; its ${text.length} characters begin with ${start(text)}`,
    kind: "connection",
    advice: "check the url",
  });

  test.each([
    ["a page of HTML", "<!doctype html><title>Sign in</title>"],
    ["JSON that was cut off", ONE_ROW.slice(0, -20)],
    ["nothing", ""],
    ["JSON of another service", '{"ok":true}'],
    ["null", "null"],
    ["a result without rows", '{"results":[{"type":"ok","response":{"type":"execute","result":{}}}]}'],
    ["a value of an unknown type", ONE_ROW.replace('"type":"integer","value":"1"', '"type":"vector"')],
  ])("is told with its beginning: %s", async (_, text) => {
    expect(await failureOf(() => new Response(text))).toEqual(isNone(text));
  });

  test("because the server refuses is told with its status", async () => {
    const answer = (status: number, body = ""): Promise<unknown> => failureOf(() => new Response(body, { status }));
    const says = (text: string): string => `Server returned HTTP status ${text}`;
    const running = "check that the server runs and can be reached";
    expect(await answer(401, '{"error":"Unauthorized"}')).toEqual({
      message: says('401: {"error":"Unauthorized"}'),
      kind: "unavailable",
      advice: "check the authToken",
    });
    expect(await answer(403)).toMatchObject({ kind: "unavailable", advice: "check the authToken" });
    expect(await answer(404)).toMatchObject({ kind: "unavailable", advice: "check the url" });
    expect(await answer(413)).toMatchObject({ kind: "tooLarge", advice: "add less in one call" });
    expect(await answer(429, "slow down")).toEqual({
      message: says("429: slow down"),
      kind: "connection",
      advice: running,
    });
    // Digits in the text that the server sends along mean nothing.
    expect(await answer(503, "upstream said 404")).toMatchObject({ kind: "connection", advice: running });
    expect(await answer(500, "x".repeat(1000))).toMatchObject({ message: says(`500: ${"x".repeat(200)}`) });
  });

  test("because the statement failed is told with its code", async () => {
    const text = (code: string | null): string =>
      JSON.stringify({ results: [{ type: "error", error: { message: "database is locked", code } }] });
    expect(await failureOf(() => new Response(text("SQLITE_BUSY")))).toMatchObject({
      message: "SQLITE_BUSY: database is locked",
      kind: "busy",
    });
    expect(await failureOf(() => new Response(text(null)))).toMatchObject({ message: "database is locked" });
  });
});

test("a refused token ends in a StoreUnavailableError that says what to check, and shows no token", async () => {
  const fetch: HttpFetch = async () => new Response('{"error":"Unauthorized"}', { status: 401 });
  const store = new LibsqlDataStore({ url: "libsql://db.example?authToken=abc", authToken: "secret", fetch });
  await store.open(T0);
  const failure = await store.getTasks().catch((error: unknown) => error);
  await store.close();
  expect(failure).toBeInstanceOf(StoreUnavailableError);
  expect(String(failure)).toBe(
    "StoreUnavailableError: reading from libsql://db.example failed: Server returned HTTP status 401: " +
      '{"error":"Unauthorized"}; check the authToken',
  );
});

describe("the address of a database", () => {
  test.each([
    ["libsql://db.example", "https://db.example/v3/pipeline", null],
    ["LIBSQL://db.example/", "https://db.example/v3/pipeline", null],
    ["libsql://127.0.0.1:8080?tls=0", "http://127.0.0.1:8080/v3/pipeline", null],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v3/pipeline", null],
    ["https://db.example/dev/one/", "https://db.example/dev/one/v3/pipeline", null],
    ["https://db.example?authToken=abc", "https://db.example/v3/pipeline", "abc"],
  ])("%s is understood", (url, pipeline, authToken) => {
    expect(checkConnection({ url })).toEqual({ url: pipeline, authToken, fetch: null });
  });

  test("may come with a token that was read from a file, and a fetch", () => {
    const fetch: HttpFetch = async () => new Response();
    expect(checkConnection({ url: "https://a", authToken: "abc\n", fetch })).toMatchObject({ authToken: "abc", fetch });
  });

  const refused: [string, unknown, unknown, RegExp][] = [
    ["none", {}, {}, /url is missing/],
    ["text in place of an object", "https://a", {}, /write \{ url: "https:\/\/a" \}/],
    ["a file", { url: "file:jobs.db" }, {}, /a file needs escapement\/sqlite/],
    ["a path", { url: "jobs.db" }, {}, /a file needs escapement\/sqlite/],
    ["WebSockets", { url: "wss://a" }, {}, /write "https:\/\/a".*; WebSockets need escapement\/libsql/],
    ["a password", { url: "https://me:pass@a" }, {}, /got "https:\/\/…@a": pass the token as authToken/],
    ["a foreign parameter", { url: "https://a?x=1" }, {}, /nothing but authToken and tls/],
    [
      "a token that no header can carry",
      { url: "https://a", authToken: "a b" },
      {},
      /authToken.*text that is not shown/,
    ],
    ["an empty token", { url: "https://a", authToken: "" }, {}, /authToken.*environment variable/],
    ["a client", { url: "https://a", client: {} }, {}, /client.*needs LibsqlDataStore of escapement\/libsql/],
    ["a replica", { url: "https://a", syncUrl: "https://b" }, {}, /syncUrl.*needs LibsqlDataStore/],
    ["a fetch that is none", { url: "https://a", fetch: {} }, {}, /fetch must be a function like fetch/],
    ["an option in the wrong place", { url: "https://a", timeout: "5s" }, {}, /timeout.*it comes second/],
    ["an unknown option", { url: "https://a" }, { tableprefix: "x" }, /tableprefix/],
    ["an address in the wrong place", { url: "https://a" }, { fetch }, /fetch.*it comes first/],
  ];
  for (const [name, connection, options, message] of refused) {
    test(`is refused, and says what to do: ${name}`, () => {
      // What callers without types can pass.
      const make = (): unknown => Reflect.construct(LibsqlDataStore, [connection, options]);
      expect(make).toThrow(OptionsError);
      expect(make).toThrow(message);
      expect(make).not.toThrow(/pass@/);
    });
  }
});

describe("escapement/libsql as workerd gets it", () => {
  test.each([
    ["file:jobs.db", /url names a file, which a Worker does not have/],
    [":memory:", /url names a file/],
    ["wss://db.example", /url needs WebSockets: pass \{ client \}, made by createClient of @libsql\/client\/web/],
  ])("refuses %s, and says what to do", (url, message) => {
    expect(() => new WorkerdDataStore({ url })).toThrow(OptionsError);
    expect(() => new WorkerdDataStore({ url })).toThrow(message);
  });

  test("refuses a replica, and says what to do", () => {
    const connection = { url: "https://a", syncUrl: "https://b" };
    expect(() => new WorkerdDataStore(connection)).toThrow(/syncUrl needs a file/);
  });
});
