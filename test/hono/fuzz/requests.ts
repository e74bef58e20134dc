import fc from "fast-check";
import { routes } from "../../../src/hono/routes/mod.ts";
import { READ, WRITE } from "../auth/support.ts";
import { fitting, KNOWN_IDS, text } from "./arbitraries.ts";

/** A request before it is sent. */
export interface Draft {
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

interface RouteShape {
  readonly query?: () => object;
  readonly body?: () => object;
}

const ROUTES = Object.entries(routes) as [key: string, RouteShape][];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"] as const;

/** Requests to every route, each as its schemas say, or nearly so. */
export function fittingRequest(): fc.Arbitrary<Draft> {
  return fc.constantFrom(...ROUTES).chain(([key, { query, body }]) => {
    const [method = "", path = ""] = key.split(" ");
    return fc.record({
      method: mostly(fc.constant(method), fc.constantFrom(...METHODS)),
      target: fc
        .tuple(pathOf(path), query === undefined ? fc.constant("") : queryOf(query()))
        .map(([path, search]) => path + search),
      headers: headers(),
      body: body === undefined ? fc.constant(null) : bodyOf(body()),
    });
  });
}

/** Requests whose paths, queries, headers and bodies are any bytes. */
export function rawRequest(): fc.Arbitrary<Draft> {
  const piece = fc.oneof(
    fc.constantFrom(
      "schedules",
      "jobs",
      "tasks",
      "results",
      "session",
      "events",
      "%",
      "%00",
      "%ff",
      "%2e%2e",
      "..",
      "",
    ),
    fc.string({ unit: "grapheme", maxLength: 10 }),
    fc.webPath({ size: "small" }),
  );
  return fc.record({
    method: fc.constantFrom(...METHODS),
    target: fc
      .tuple(fc.array(piece, { maxLength: 5 }), fc.option(fc.webQueryParameters(), { nil: "" }))
      .map(([pieces, query]) => `/${pieces.join("/")}${query === "" ? "" : `?${query}`}`),
    headers: headers(),
    body: fc.option(bytes()),
  });
}

function mostly<T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 20, arbitrary: good }, { weight: 1, arbitrary: bad });
}

function pathOf(path: string): fc.Arbitrary<string> {
  const id = mostly<string>(fc.constantFrom(...KNOWN_IDS), text).map(encodedOnce);
  const segments = path.split("/").map((segment) => (segment.startsWith(":") ? id : fc.constant(segment)));
  return fc.tuple(...segments).map((parts) => parts.join("/"));
}

/** Half a surrogate pair has no encoding, and so it is sent as it is. */
function encodedOnce(id: string): string {
  try {
    return encodeURIComponent(id);
  } catch {
    return id;
  }
}

function queryOf(schema: object): fc.Arbitrary<string> {
  return fitting(schema).map((query) => {
    if (typeof query !== "object" || query === null) return "?%";
    // A list is given with commas, or by its name several times.
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      Array.isArray(value) && value.length !== 2
        ? [[name, value.map(wordOf).join(",")]]
        : [value].flat().map((one) => [name, wordOf(one)]),
    );
    return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs as [string, string][])}`;
  });
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function bodyOf(schema: object): fc.Arbitrary<string | Uint8Array | null> {
  const written = fitting(schema).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 30, arbitrary: written },
    { weight: 1, arbitrary: written.map((body) => body.slice(0, -1)) },
    { weight: 1, arbitrary: bytes() },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function bytes(): fc.Arbitrary<string | Uint8Array> {
  return fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.constantFrom("", "null", "[]", "{}", '"', "\ufeff{}", "[".repeat(100_000), `${'{"a":'.repeat(20_000)}1`),
    fc.constantFrom('{"__proto__":{"taskId":"t"}}', '{"taskId":"t","taskId":"u"}', "1e400", "{'a':1}", "NaN"),
  );
}

function headers(): fc.Arbitrary<Record<string, string>> {
  return fc
    .record({
      authorization: mostly<string | undefined>(
        fc.constantFrom(...Array(4).fill(`Bearer ${WRITE}`), `Bearer ${READ}`),
        fc.constantFrom("Bearer", "Bearer x", "Basic eDp5", "", undefined),
      ),
      "content-type": mostly<string | undefined>(
        fc.constant("application/json"),
        fc.constantFrom("text/plain", "application/json; charset=utf-16", "multipart/form-data", "", undefined),
      ),
      "idempotency-key": optional("k1", "", "x".repeat(300), "'--"),
      "last-event-id": optional("1.1", "x", "9999999999999999999999.1"),
      "x-http-method-override": optional("DELETE"),
      "sec-fetch-site": optional("same-origin", "cross-site"),
      origin: optional("null", "http://x", "not an origin"),
      cookie: optional("escapement_session=1.2", "escapement_session=%", "a"),
      "content-length": optional("-1", "99999999999", "x"),
      accept: optional("text/html", "*/*", "application/xml"),
    })
    .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never);
}

function optional(...values: readonly string[]): fc.Arbitrary<string | undefined> {
  return fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, fc.constantFrom(...values));
}
