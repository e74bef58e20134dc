import { describe, expect, test } from "vitest";
import type { RouterAuth } from "../../../src/hono/auth/auth-options.ts";
import { bearer, checkAuth, GRANTS, READ, read, setUpGate, signIn, WRITE } from "./support.ts";

describe("a gate with tokens", () => {
  test.each([
    ["GET", READ, [200, { scope: "read" }]],
    ["HEAD", READ, [200, null]],
    ["GET", WRITE, [200, { scope: "write" }]],
    ["POST", WRITE, [200, { scope: "write" }]],
    ["PUT", WRITE, [200, { scope: "write" }]],
    ["DELETE", WRITE, [200, { scope: "write" }]],
    ["POST", READ, [403, "forbidden"]],
    ["PATCH", READ, [403, "forbidden"]],
    ["DELETE", READ, [403, "forbidden"]],
    ["OPTIONS", READ, [403, "forbidden"]],
    ["GET", `${WRITE}x`, [401, "unauthorized"]],
    ["GET", WRITE.slice(0, -1), [401, "unauthorized"]],
    ["POST", "", [401, "unauthorized"]],
  ])("answers %s with the token %s by %j", async (method, token, expected) => {
    expect(await read(await setUpGate().ask(method, "/thing", bearer(token)))).toEqual(expected);
  });

  test.each([
    ["no header", {}],
    ["another scheme", { authorization: `Basic ${btoa(`x:${WRITE}`)}` }],
    ["a token of some other place", { "x-api-key": WRITE }],
    ["two tokens", { authorization: `Bearer ${READ} ${WRITE}` }],
    ["a cookie that is the token itself", { cookie: `escapement_session=${WRITE}` }],
  ])("asks for a bearer token where there is %s", async (_, headers) => {
    const answer = await setUpGate().ask("GET", "/thing", headers as Record<string, string>);
    expect([answer.headers.get("www-authenticate"), ...(await read(answer))]).toEqual([
      'Bearer realm="escapement"',
      401,
      "unauthorized",
    ]);
  });

  test("tells a wrong bearer token from a missing one, and a scope that is not enough", async () => {
    const { ask } = setUpGate();
    const said = async (answer: Response) => [
      answer.headers.get("www-authenticate"),
      ((await answer.json()) as { detail: string }).detail,
    ];
    expect([
      await said(await ask("GET", "/thing")),
      await said(await ask("GET", "/thing", bearer("wrong"))),
      await said(await ask("POST", "/thing", bearer(READ))),
    ]).toEqual([
      [
        'Bearer realm="escapement"',
        "nobody is signed in; send a token of the router in the header `Authorization: Bearer TOKEN`",
      ],
      ['Bearer realm="escapement", error="invalid_token"', "the bearer token is none of the router's tokens"],
      [null, "this needs the scope `write`, and the caller has the scope `read`"],
    ]);
  });

  test("takes no token from the query", async () => {
    expect(await read(await setUpGate().ask("GET", `/thing?token=${WRITE}`))).toEqual([401, "unauthorized"]);
  });

  test("takes a wrong bearer token for a stranger's, whatever the cookie says", async () => {
    const setup = setUpGate();
    const cookie = await signIn(setup, WRITE);
    const answer = await setup.ask("GET", "/thing", { ...cookie, ...bearer("wrong") });
    expect(await read(answer)).toEqual([401, "unauthorized"]);
  });

  test("gives a token that is listed twice the wider scope", async () => {
    const setup = setUpGate({
      tokens: [
        { token: READ, scope: "read" },
        { token: READ, scope: "write" },
      ],
    });
    expect(await read(await setup.ask("POST", "/thing", bearer(READ)))).toEqual([200, { scope: "write" }]);
  });

  test("lets a route need another scope than its method does", async () => {
    const { ask } = setUpGate();
    expect(await read(await ask("POST", "/preview", bearer(READ)))).toEqual([200, { scope: "read" }]);
    expect(await read(await ask("GET", "/secret", bearer(READ)))).toEqual([403, "forbidden"]);
    expect(await read(await ask("GET", "/secret", bearer(WRITE)))).toEqual([200, { scope: "write" }]);
  });

  test("lets a token in that is sent from another site, because no page can make a browser send it", async () => {
    const headers = { ...bearer(WRITE), "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    expect(await read(await setUpGate().ask("POST", "/thing", headers))).toEqual([200, { scope: "write" }]);
  });
});

describe("a gate with a function", () => {
  const byHeader = (scopes: Readonly<Record<string, unknown>>): RouterAuth =>
    ((request: Request) => scopes[request.headers.get("x-user") ?? ""]) as RouterAuth;

  test.each([
    ["GET", "ann", [200, { scope: "write" }]],
    ["POST", "ann", [200, { scope: "write" }]],
    ["GET", "bob", [200, { scope: "read" }]],
    ["POST", "bob", [403, "forbidden"]],
    ["GET", "promised", [200, { scope: "read" }]],
    ["GET", "nobody", [401, "unauthorized"]],
    ["GET", "unknown", [401, "unauthorized"]],
    ["GET", "admin", [401, "unauthorized"]],
    ["GET", "yes", [401, "unauthorized"]],
  ])("answers %s of %s by %j", async (method, user, expected) => {
    const scopes = {
      ann: "write",
      bob: "read",
      promised: Promise.resolve("read"),
      nobody: null,
      admin: "admin",
      yes: true,
    };
    expect(await read(await setUpGate(byHeader(scopes)).ask(method, "/thing", { "x-user": user }))).toEqual(expected);
  });

  test("that fails lets nobody in, and tells the log alone", async () => {
    const failure = new Error("the directory is down");
    const { ask, log } = setUpGate(() => Promise.reject(failure));
    expect(await read(await ask("GET", "/thing"))).toEqual([500, "internal"]);
    expect(log).toEqual([
      { level: "error", message: "escapement: the function auth of the router failed", details: [failure] },
    ]);
  });

  test("has no sign-in, because only tokens have one", async () => {
    const { ask } = setUpGate(() => "write");
    expect((await ask("POST", "/session", {}, { token: WRITE })).status).toBe(404);
  });

  test("refuses writes of other sites, because the function may look at a cookie", async () => {
    const { ask } = setUpGate(() => "write");
    expect(await read(await ask("POST", "/thing", { "sec-fetch-site": "cross-site" }))).toEqual([403, "crossOrigin"]);
  });
});

describe("a gate without authentication", () => {
  test("lets everybody write, and says so in the log once", async () => {
    const { ask, log } = setUpGate("none");
    const answers = [await ask("POST", "/thing"), await ask("DELETE", "/thing")];
    expect(await Promise.all(answers.map(read))).toEqual([
      [200, { scope: "write" }],
      [200, { scope: "write" }],
    ]);
    expect(log).toEqual([
      {
        level: "warn",
        message: 'escapement: the router has auth "none": whoever reaches it may change and run everything',
        details: [],
      },
    ]);
  });
});

describe("a write that a page makes a browser send", () => {
  const host = { host: "example.org" };

  test.each<[string, Record<string, string>]>([
    ["the router's own pages", { "sec-fetch-site": "same-origin" }],
    [
      "the router's own pages behind a proxy that changes the host",
      { "sec-fetch-site": "same-origin", host: "localhost:8080" },
    ],
    ["the same origin, where the browser says no more", { origin: "http://example.org", ...host }],
    ["the same origin in capitals", { origin: "https://EXAMPLE.org", host: "Example.ORG" }],
    ["the same port", { origin: "http://localhost:3000", host: "localhost:3000" }],
    ["curl", {}],
  ])("is let in from %s", async (_, headers) => {
    expect((await setUpGate("none").ask("POST", "/thing", headers)).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["a sibling of the domain", { "sec-fetch-site": "same-site" }],
    ["the address bar", { "sec-fetch-site": "none" }],
    ["another site that says the host", { "sec-fetch-site": "cross-site", origin: "https://example.org", ...host }],
    ["another origin", { origin: "https://evil.example", ...host }],
    ["another port", { origin: "http://example.org:8080", ...host }],
    ["a longer name", { origin: "https://example.org.evil.example", ...host }],
    ["a name with a user", { origin: "https://example.org@evil.example", ...host }],
    ["a sandboxed page", { origin: "null", ...host }],
    ["an extension", { origin: "chrome-extension://example.org", ...host }],
    ["an empty origin", { origin: "", ...host }],
  ])("is refused from %s", async (_, headers) => {
    const cookie = await signIn(setUpGate(), WRITE);
    expect(await read(await setUpGate("none").ask("POST", "/thing", headers))).toEqual([403, "crossOrigin"]);
    expect(await read(await setUpGate().ask("POST", "/thing", { ...headers, ...cookie }))).toEqual([
      403,
      "crossOrigin",
    ]);
  });

  test("is a read's own affair: another site may ask, and its browser keeps the answer from it", async () => {
    const answer = await setUpGate("none").ask("GET", "/thing", { "sec-fetch-site": "cross-site" });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  });
});

test.each(["/thing", "/session", "/nothing"])("every answer has headers of security, that of %s too", async (path) => {
  const { headers } = await setUpGate().ask("GET", path);
  const names = [
    "cache-control",
    "content-security-policy",
    "cross-origin-opener-policy",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
    "x-frame-options",
  ];
  expect(Object.fromEntries(names.map((name) => [name, headers.get(name)]))).toEqual({
    "cache-control": "no-store",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "strict-transport-security": null,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
});

describe("the option auth", () => {
  test.each([
    ["none", "none"],
    [{ tokens: [{ token: " abc\n", scope: "read" }] }, { tokens: [{ token: "abc", scope: "read" }] }],
  ])("takes %j", (auth, expected) => {
    expect(checkAuth(auth)).toEqual(expected);
  });

  const form = 'an object { tokens: [{ token, scope }] }, a function of a Request, or "none"';
  const tokens = '{ tokens: [{ token, scope: "write" }] }';
  const text = "text without spaces";
  test.each<[unknown, string]>([
    [undefined, `auth must be ${form}; got undefined`],
    [null, `auth must be ${form}; got null`],
    ["", `auth must be ${form}; got ""`],
    ["s3cret-token", `auth must be ${form}; got text that is not shown: write ${tokens}`],
    [[], `auth must be ${form}; got a list of 0`],
    [{ token: "s3cret" }, `auth must be ${form}; got { token: text that is not shown }: write ${tokens}`],
    [
      { tokens: ["s3cret"] },
      'auth.tokens.0 must be an object { token, scope }; got text that is not shown: write { token, scope: "write" }',
    ],
    [{ tokens: [{ token: "s3cret" }] }, "auth.tokens.0.scope is missing"],
    [{ tokens: [] }, "auth.tokens must be a list of 1 to 100 objects { token, scope }; got 0: that is their number"],
    [
      { tokens: [{ token: "", scope: "read" }] },
      `auth.tokens.0.token must be ${text}; got "": is the environment variable set?`,
    ],
    [
      { tokens: [{ token: "a b", scope: "read" }] },
      `auth.tokens.0.token must be ${text}; got text that is not shown: a header carries nothing but visible ASCII`,
    ],
    [{ tokens: [{ token: "abc", scope: "admin" }] }, 'auth.tokens.0.scope must be "read" or "write"; got "admin"'],
    [{ tokens: ["s3cret"] }, "auth.tokens.0 must be an object { token, scope }; got text that is not shown"],
  ])("refuses %j with a message without the token", (auth, message) => {
    expect(() => checkAuth(auth)).toThrow(message);
    expect(() => checkAuth(auth)).not.toThrow("s3cret");
  });

  test("is told of a token that can be guessed, without the token", () => {
    const { log } = setUpGate({ tokens: [{ token: "hunter2", scope: "write" }] });
    expect(log).toEqual([
      {
        level: "warn",
        message: "escapement: a token of the router has fewer than 16 characters and can be guessed",
        details: [],
      },
    ]);
  });
});

describe("a gate without authentication lets in", () => {
  const nameOf = async (host: string, allowedHosts?: readonly string[], auth: RouterAuth = "none") => {
    const setup = setUpGate(auth, { allowedHosts });
    const headers = { host, "sec-fetch-site": "same-origin", origin: `http://${host}`, ...bearer(WRITE) };
    return (await read(await setup.ask("POST", "/thing", headers)))[1];
  };

  test.each([
    "localhost",
    "localhost:3000",
    "LOCALHOST:80",
    "app.localhost:1",
    "127.0.0.1:3000",
    "127.9.9.9",
    "[::1]:80",
  ])("what is for %s, an address of loopback", async (host) => {
    expect(await nameOf(host)).toEqual({ scope: "write" });
  });

  test.each([
    "evil.example:3000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "10.0.0.7",
    "[::2]",
    "evillocalhost",
  ])("nothing that is for %s, which a page of another site may be loaded from", async (host) => {
    expect(await nameOf(host)).toBe("wrongHost");
  });

  test("what is for a name that is listed, on any port", async () => {
    const names = ["scheduler.internal"];
    const answers = [];
    for (const host of ["Scheduler.internal:8080", "localhost:1", "evil.example"])
      answers.push(await nameOf(host, names));
    expect(answers).toEqual([{ scope: "write" }, { scope: "write" }, "wrongHost"]);
  });

  test("anybody with a token for any name, unless names are listed", async () => {
    const tokens = { tokens: GRANTS };
    expect(await nameOf("evil.example", undefined, tokens)).toEqual({ scope: "write" });
    expect(await nameOf("evil.example", ["scheduler.internal"], tokens)).toBe("wrongHost");
  });
});
