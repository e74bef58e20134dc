import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { dashboard } from "../../src/dashboard/mod.ts";
import { sayingOf } from "../../src/dashboard/page/verdicts.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { JOB_OUTCOMES } from "../../src/records/policies.ts";
import { EXPLAINED_VERDICTS } from "../../src/scheduler/views/explanation.ts";
import { setUp } from "../scheduler/support.ts";

const TOKEN = "a-long-random-text-for-the-dashboard";
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function setUpPage(options: { basePath?: string; instance?: string } = {}) {
  const { scheduler, clock } = setUp();
  const { basePath, instance } = options;
  const router = createRouter(scheduler, {
    auth: { tokens: [{ token: TOKEN, scope: "write" }] },
    clock,
    logger: quiet,
    ...(basePath === undefined ? {} : { basePath }),
    dashboard: dashboard(instance === undefined ? {} : { instance }),
  });
  return { router, clock };
}

describe("the page of a router", () => {
  test.each([
    ["/", "/", "./"],
    ["/scheduler", "/scheduler", "./scheduler/"],
    ["/scheduler", "/scheduler/", "./"],
    ["/a/b", "/a/b", "./b/"],
    ["/a/b", "/a/b/", "./"],
  ])("mounted at %s is at %s, with its files beside it", async (mount, path, folder) => {
    const app = new Hono().route(mount, setUpPage().router);
    const answer = await app.request(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
    const text = await answer.text();
    const file = folder.concat("dashboard.js");
    expect(text).toContain(file);
    const beside = new URL(file, new URL(path, "http://localhost"));
    expect((await app.request(beside.href)).status).toBe(200);
  });

  test("behind something that takes its path off, which it cannot see, is told where it stands", async () => {
    const text = await (await setUpPage({ basePath: "/tools/scheduler" }).router.request("/")).text();
    expect(text).toContain('src="/tools/scheduler/dashboard.js"');
  });

  test("leaves other paths below the mount to be not found, and to other methods nothing", async () => {
    const app = new Hono().route("/scheduler", setUpPage().router);
    expect((await app.request("/scheduler/nothing/")).status).toBe(404);
    expect((await app.request("/scheduler/", { method: "POST" })).status).toBe(404);
  });

  test("is not there without the option", async () => {
    const { scheduler } = setUp();
    const router = createRouter(scheduler, { auth: "none", logger: quiet });
    expect((await router.request("http://localhost/")).status).toBe(404);
  });

  test("says whether somebody is signed in, so that it need not ask", async () => {
    const { router } = setUpPage();
    expect(await (await router.request("/")).text()).not.toContain("data-signed-in");
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await (await router.request("/", { headers })).text()).toContain("data-signed-in");
  });

  test("shows the name of its instance as text", async () => {
    const text = await (await setUpPage({ instance: '"><script>' }).router.request("/")).text();
    expect(text).toContain('data-instance="&quot;&gt;&lt;script&gt;"');
    expect(text).toContain("<title>&quot;&gt;&lt;script&gt; · Escapement</title>");
  });

  test("has files that a browser keeps, until they are others", async () => {
    const { router } = setUpPage();
    for (const [name, type] of [
      ["dashboard.js", "text/javascript; charset=utf-8"],
      ["dashboard.css", "text/css; charset=utf-8"],
      ["dashboard.svg", "image/svg+xml"],
    ] as const) {
      const answer = await router.request(`/${name}`);
      expect(answer.headers.get("content-type")).toBe(type);
      expect((await answer.text()).length).toBeGreaterThan(100);
      const etag = answer.headers.get("etag") ?? "";
      const again = await router.request(`/${name}`, { headers: { "if-none-match": `W/${etag}` } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect((await router.request(`/${name}`, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    }
  });

  test("has words for all that can become of a run or a fire time", () => {
    const all = [...EXPLAINED_VERDICTS, ...JOB_OUTCOMES, "queued", "blocked", "running", "ended"];
    expect(all.filter((verdict) => /[A-Z]/.test(sayingOf(verdict).words))).toEqual([]);
    expect(new Set(all.filter((verdict) => sayingOf(verdict).words === verdict))).toEqual(
      new Set(["cancelled", "waiting", "running", "ended"]),
    );
  });

  test("takes options that are right alone", () => {
    expect(() => dashboard({ instance: "" })).toThrow("dashboard(): instance must be");
    expect(() => dashboard({ title: "production" } as object)).toThrow("dashboard()");
  });
});

describe("a code of a link", () => {
  const enter = async (router: ReturnType<typeof setUpPage>["router"], code: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await router.request("/session", { method: "POST", headers, body: JSON.stringify({ code }) });
    return [answer.status, answer.headers.get("set-cookie")?.split("=")[0] ?? null];
  };

  test("signs in once, with the rights of its token", async () => {
    const { router } = setUpPage();
    const code = router.signInCode(TOKEN);
    expect(await enter(router, code)).toEqual([204, "escapement_session"]);
    expect(await enter(router, code)).toEqual([401, null]);
  });

  test("counts for an hour", async () => {
    const { router, clock } = setUpPage();
    const [early, late] = [router.signInCode(TOKEN), router.signInCode(TOKEN)];
    await clock.advance({ milliseconds: 3_599_999 });
    expect(await enter(router, early)).toEqual([204, "escapement_session"]);
    await clock.advance({ milliseconds: 1 });
    expect(await enter(router, late)).toEqual([401, null]);
  });

  test("is forgotten when a hundred newer ones are unused", async () => {
    const { router } = setUpPage();
    const codes = Array.from({ length: 101 }, () => router.signInCode(TOKEN));
    expect(await enter(router, codes[0] ?? "")).toEqual([401, null]);
    expect(await enter(router, codes[1] ?? "")).toEqual([204, "escapement_session"]);
  });

  test("is made for a token of the router alone", () => {
    expect(() => setUpPage().router.signInCode("another")).toThrow("signInCode(): token must be one of auth.tokens");
  });

  test.each([{}, { token: TOKEN, code: "a" }, { code: 1 }])(
    "or a token, not %j, is what a sign-in takes",
    async (body) => {
      const headers = { "content-type": "application/json" };
      const { router } = setUpPage();
      const answer = await router.request("/session", { method: "POST", headers, body: JSON.stringify(body) });
      expect(answer.status).toBe(422);
    },
  );
});
