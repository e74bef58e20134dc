import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { GRANTS, READ, read, setUpGate, signIn, WRITE } from "./support.ts";

const wrong = { token: "wrong" };

describe("a sign-in", () => {
  test("gives a cookie that no page can read, that no other site gets, and that is not the token", async () => {
    const answer = await setUpGate().ask("POST", "/session", {}, { token: WRITE });
    expect(answer.status).toBe(204);
    const [cookie = "", ...attributes] = (answer.headers.get("set-cookie") ?? "").split("; ");
    expect(cookie).toMatch(/^escapement_session=1893499200000\.[0-9a-f]{64}$/);
    expect(cookie).not.toContain(WRITE);
    expect(attributes).toEqual(["Max-Age=43200", "Path=/admin", "HttpOnly", "Secure", "SameSite=Strict"]);
  });

  test.each([
    ["http://example.org", "https://example.org", true],
    ["http://example.org", "http://example.org", false],
    ["https://example.org", null, true],
  ])("on %s from the origin %s has a cookie for https alone: %s", async (url, origin, isSecure) => {
    const headers = { "content-type": "application/json", ...(origin === null ? {} : { origin }) };
    const body = JSON.stringify({ token: READ });
    const answer = await setUpGate().app.request(`${url}/admin/session`, { method: "POST", headers, body });
    expect(answer.headers.get("set-cookie")?.includes("; Secure")).toBe(isSecure);
  });

  test.each([
    ["/base", "/base"],
    ["", "/"],
  ])("at the base path %j has the path %s", async (basePath, path) => {
    const setup = setUpGate({ tokens: GRANTS }, { basePath });
    const answer = await setup.ask("POST", "/session", {}, { token: READ });
    expect(answer.headers.get("set-cookie")).toContain(`; Path=${path};`);
  });

  test.each([
    ["/日本", "/%E6%97%A5%E6%9C%AC"],
    ["/a b", "/a%20b"],
    ["/a%3Bb", "/a%3Bb"],
  ])("mounted at %j has the path %s, as browsers send it", async (mount, path) => {
    const app = new Hono().route("/:name", setUpGate().app);
    const answer = await app.request(`https://example.org${mount}/admin/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: READ }),
    });
    expect([answer.status, answer.headers.get("set-cookie")?.split("; ")[2]]).toEqual([204, `Path=${path}/admin`]);
  });

  test.each([
    [READ, "GET", [200, { scope: "read" }]],
    [READ, "POST", [403, "forbidden"]],
    [WRITE, "POST", [200, { scope: "write" }]],
  ])("with %s lets %s do what the token may", async (token, method, expected) => {
    const setup = setUpGate();
    const cookie = await signIn(setup, token);
    expect(await read(await setup.ask(method, "/thing", { ...cookie, "sec-fetch-site": "same-origin" }))).toEqual(
      expected,
    );
  });

  test("takes a token with the line break that came along when it was pasted", async () => {
    expect((await setUpGate().ask("POST", "/session", {}, { token: ` ${READ}\n` })).status).toBe(204);
  });

  test.each<[string, Record<string, string>, unknown, [number, string]]>([
    ["a wrong token", {}, wrong, [401, "unauthorized"]],
    ["no token", {}, {}, [422, "options"]],
    ["a token that is no text", {}, { token: 5 }, [422, "options"]],
    ["null", {}, "null", [422, "options"]],
    ["no JSON", {}, "{", [400, "badRequest"]],
    [
      "a form",
      { "content-type": "application/x-www-form-urlencoded" },
      `token=${WRITE}`,
      [415, "unsupportedMediaType"],
    ],
    [
      "text, which pages of other sites may send",
      { "content-type": "text/plain" },
      { token: WRITE },
      [415, "unsupportedMediaType"],
    ],
    ["too long a body", {}, { token: "x".repeat(4096) }, [413, "tooLarge"]],
    ["another site", { "sec-fetch-site": "cross-site" }, { token: WRITE }, [403, "crossOrigin"]],
  ])("is refused with %s", async (_, headers, body, expected) => {
    const answer = await setUpGate().ask("POST", "/session", headers, body);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await read(answer)).toEqual(expected);
  });
});

describe("a session", () => {
  test("lasts twelve hours, and not a millisecond longer", async () => {
    const setup = setUpGate();
    const cookie = await signIn(setup, READ);
    await setup.clock.advance("PT11H59M59.999S");
    expect((await setup.ask("GET", "/thing", cookie)).status).toBe(200);
    await setup.clock.advance("PT0.001S");
    expect(await read(await setup.ask("GET", "/thing", cookie))).toEqual([401, "unauthorized"]);
  });

  test("that a clock began which was far ahead ends when that clock is set right", async () => {
    const ahead = setUpGate();
    await ahead.clock.advance("P1D");
    const cookie = await signIn(ahead, READ);
    expect((await ahead.ask("GET", "/thing", cookie)).status).toBe(200);
    expect(await read(await setUpGate().ask("GET", "/thing", cookie))).toEqual([401, "unauthorized"]);
  });

  test("is known to a process whose clock is some minutes behind", async () => {
    const ahead = setUpGate();
    await ahead.clock.advance("PT5M");
    expect((await setUpGate().ask("GET", "/thing", await signIn(ahead, READ))).status).toBe(200);
  });

  test("is not made longer by a change of its expiry", async () => {
    const setup = setUpGate();
    const { cookie } = await signIn(setup, READ);
    const longer = cookie.replace(/=\d/, "=2");
    expect(longer).not.toBe(cookie);
    expect(await read(await setup.ask("GET", "/thing", { cookie: longer }))).toEqual([401, "unauthorized"]);
  });

  test("ends when its token is taken from the list, and outlives the change of another", async () => {
    const old = setUpGate();
    const [reader, writer] = [await signIn(old, READ), await signIn(old, WRITE)];
    const renewed = setUpGate({ tokens: [{ token: "another-token-0123456789", scope: "write" }, GRANTS[0]] });
    const during = setUpGate({ tokens: [{ token: "another-token-0123456789", scope: "write" }, ...GRANTS] });
    expect(await read(await during.ask("GET", "/thing", writer))).toEqual([200, { scope: "write" }]);
    expect(await read(await renewed.ask("GET", "/thing", writer))).toEqual([401, "unauthorized"]);
    expect(await read(await renewed.ask("GET", "/thing", reader))).toEqual([200, { scope: "read" }]);
  });

  test("has the scope that its token has now", async () => {
    const cookie = await signIn(setUpGate(), WRITE);
    const demoted = setUpGate({ tokens: [{ token: WRITE, scope: "read" }] });
    expect(await read(await demoted.ask("GET", "/thing", cookie))).toEqual([200, { scope: "read" }]);
  });

  const forged = ["0".repeat(64), "f".repeat(64)].map((hex) => `9999999999999.${hex}`);

  test.each(["", "x", "1.2", ...forged, `1e99.${"0".repeat(64)}`, "%00", "a".repeat(5000)])(
    "is none with the cookie %j",
    async (value) => {
      const answer = await setUpGate().ask("GET", "/thing", { cookie: `escapement_session=${value}` });
      expect(await read(answer)).toEqual([401, "unauthorized"]);
    },
  );

  test("is left by DELETE, which removes the cookie", async () => {
    const setup = setUpGate();
    const cookie = await signIn(setup, READ);
    const answer = await setup.ask("DELETE", "/session", { ...cookie, "sec-fetch-site": "same-origin" });
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([
      204,
      "escapement_session=; Max-Age=0; Path=/admin; HttpOnly; Secure; SameSite=Strict",
    ]);
  });

  test("is not left because another site says so", async () => {
    const answer = await setUpGate().ask("DELETE", "/session", { "sec-fetch-site": "cross-site" });
    expect([answer.headers.get("set-cookie"), ...(await read(answer))]).toEqual([null, 403, "crossOrigin"]);
  });
});
