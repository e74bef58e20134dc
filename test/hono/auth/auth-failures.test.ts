import type { Context } from "hono";
import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { describe, expect, test } from "vitest";
import { AuthFailures } from "../../../src/hono/auth/auth-failures.ts";
import { OptionsError } from "../../../src/mod.ts";
import { VirtualClock } from "../../../src/testing/mod.ts";
import { setUpWatched } from "../../observability/support.ts";
import { recordingLogger, START } from "../../scheduler/support.ts";
import { setUpRouter } from "../support.ts";
import { bearer, checkAuth, type GateSetup, GRANTS, READ, setUpGate, signIn, WRITE } from "./support.ts";

type Way = (setup: GateSetup, token: string, headers?: Record<string, string>) => Promise<Response>;

const signingIn: Way = ({ ask }, token, headers) => ask("POST", "/session", headers, { token });
const withBearer: Way = ({ ask }, token, headers) => ask("GET", "/thing", { ...headers, ...bearer(token) });

/** A gate that knows its clients by a header. */
function setUpKnowing(): GateSetup {
  const clientAddress = (request: Request) => request.headers.get("x-real-ip") ?? "";
  return setUpGate({ tokens: GRANTS, clientAddress });
}

const from = (address: string) => ({ "x-real-ip": address });

describe.each([
  ["at the sign-in", signingIn],
  ["as a bearer token", withBearer],
] as const)("a wrong token %s", (_, send) => {
  const attempt = async (setup: GateSetup, token = "wrong"): Promise<[number, string | null]> => {
    const { status, headers } = await send(setup, token);
    return [status, headers.get("retry-after")];
  };

  test("may come ten times in a row, then once every six seconds", async () => {
    const setup = setUpGate();
    const first = [];
    for (let count = 0; count < 10; count++) first.push(await attempt(setup));
    expect(first).toEqual(first.map(() => [401, null]));
    expect(await attempt(setup)).toEqual([429, "6"]);
    await setup.clock.advance("PT5S");
    expect(await attempt(setup)).toEqual([429, "1"]);
    await setup.clock.advance("PT1S");
    expect(await attempt(setup)).toEqual([401, null]);
    expect(await attempt(setup)).toEqual([429, "6"]);
    await setup.clock.advance("PT1H");
    const later = [];
    for (let count = 0; count < 11; count++) later.push((await attempt(setup))[0]);
    expect(later).toEqual([...Array(10).fill(401), 429]);
  });

  test("gains nothing by many requests at once", async () => {
    const setup = setUpGate();
    const answers = await Promise.all(Array.from({ length: 50 }, () => attempt(setup)));
    expect(answers.filter(([status]) => status === 401)).toHaveLength(10);
    expect(answers.filter(([status]) => status === 429)).toHaveLength(40);
  });

  test("locks nobody out who has a right one, of the same address or with a session", async () => {
    const setup = setUpGate();
    const cookie = await signIn(setup, READ);
    for (let count = 0; count < 20; count++) await send(setup, "wrong");
    expect((await attempt(setup))[0]).toBe(429);
    const answers = [await signingIn(setup, WRITE), await withBearer(setup, READ)];
    answers.push(await setup.ask("GET", "/thing", cookie));
    expect(answers.map(({ status }) => status)).toEqual([204, 200, 200]);
  });

  test("is limited by address", async () => {
    const setup = setUpKnowing();
    for (let count = 0; count < 11; count++) await send(setup, "wrong", from("192.0.2.1"));
    expect((await send(setup, "wrong", from("192.0.2.1"))).status).toBe(429);
    expect((await send(setup, "wrong", from("192.0.2.2"))).status).toBe(401);
  });

  test("may come again when the clock was set back", async () => {
    const setup = setUpGate();
    for (let count = 0; count < 11; count++) await attempt(setup);
    await setup.clock.jumpTo("2029-01-01T00:00:00Z");
    expect((await attempt(setup))[0]).toBe(429);
    await setup.clock.advance("PT6S");
    expect((await attempt(setup))[0]).toBe(401);
  });

  test("is a line of the log with the address and without the token, once a minute", async () => {
    const setup = setUpKnowing();
    const forged = from("192.0.2.1 escapement: all is well");
    for (let count = 0; count < 100; count++) await send(setup, "guessed", forged);
    await setup.clock.advance("PT1M");
    await send(setup, "guessed", from("192.0.2.2"));
    const line = (text: string) => ({ level: "warn", message: `escapement: ${text}`, details: [] });
    expect(setup.log).toEqual([
      line('wrong tokens sent to the router: 1, the last by "192.0.2.1 escapement: all is well"'),
      line('wrong tokens sent to the router: 100, the last by "192.0.2.2"'),
    ]);
  });
});

test("10,000 addresses are known, and then the one that failed longest ago is forgotten", () => {
  const { logger } = recordingLogger();
  const clientAddress = ({ url }: Request) => url;
  const failures = new AuthFailures({ clock: new VirtualClock(START), logger, clientAddress });
  const fail = (name: string | number) =>
    failures.add({ req: { raw: new Request(`https://example.org/${name}`) } } as Context)?.status;
  for (let count = 0; count < 10; count++) fail("first");
  expect(fail("first")).toBe(429);
  for (let count = 1; count < 10_000; count++) fail(count);
  expect(fail("first")).toBe(429);
  for (let count = 0; count < 10_000; count++) fail(count);
  expect(fail("first")).toBeUndefined();
});

test.each([
  ["Node", { incoming: { socket: { remoteAddress: "192.0.2.1" } } }],
  ["Deno", { remoteAddr: { hostname: "192.0.2.1", port: 5, transport: "tcp" } }],
  ["Bun", { requestIP: () => ({ address: "192.0.2.1", port: 5, family: "IPv4" }) }],
])("the address of the client is the one that the server of %s tells", async (_, environment) => {
  const setup = setUpGate();
  await setup.app.request("/admin/thing", { headers: bearer("wrong") }, environment);
  expect(setup.log.map(({ message }) => message)).toEqual([expect.stringContaining('by "192.0.2.1"')]);
});

test("nothing but wrong tokens is counted, in the metrics of the router", async () => {
  const { router, ask } = setUpRouter({ auth: { tokens: GRANTS }, metrics: setUpWatched().metrics });
  for (let count = 0; count < 3; count++) await ask("GET /tasks", undefined, bearer("wrong"));
  await ask("POST /session", { token: "wrong" });
  await ask("GET /tasks");
  await ask("POST /tick", undefined, bearer(READ));
  const families = parsePrometheusTextFormat(
    await (await router.request("/metrics", { headers: bearer(READ) })).text(),
  );
  const [failures] = families.filter(({ name }) => name === "escapement_http_auth_failures_total");
  expect([failures?.type, failures?.metrics]).toEqual(["COUNTER", [{ value: "4" }]]);
});

test("an address that is told by no function is refused when the router is made", () => {
  expect(() => checkAuth({ tokens: GRANTS, clientAddress: "x-real-ip" })).toThrow(OptionsError);
});
