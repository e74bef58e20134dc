import { describe, expect, test } from "vitest";
import { createRouter } from "../../src/hono/mod.ts";
import { OptionsError } from "../../src/mod.ts";
import { setUpWatched } from "../observability/support.ts";
import { problem, setUpRouter } from "./support.ts";

describe("GET /metrics", () => {
  test("answers the text of the metrics that the router was given", async () => {
    const { scheduler, metrics, clock } = setUpWatched();
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    const router = createRouter(scheduler, { auth: "none", metrics, clock });
    const answer = await router.request("https://localhost/metrics", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
      "no-store",
    ]);
    expect((await answer.text()).split("\n")).toContain('escapement_jobs{task="t",state="queued"} 1');
  });

  test("answers the numbers of the tasks that have the labels, where some are given", async () => {
    const { scheduler, metrics, clock } = setUpWatched();
    scheduler.task("bill", { labels: { team: "billing" } }, () => {});
    scheduler.task("mail", { labels: { team: "mail" } }, () => {});
    scheduler.task('odd "name', { labels: { team: "billing", odd: "1" } }, () => {});
    await scheduler.addJobs([{ task: "bill" }, { task: "mail" }, { task: 'odd "name' }]);
    const router = createRouter(scheduler, { auth: "none", metrics, clock });
    const linesOf = async (query: string): Promise<string[]> => {
      const headers = { "sec-fetch-site": "same-origin" };
      const answer = await router.request(`https://localhost/metrics?${query}`, { headers });
      expect(answer.status).toBe(200);
      return (await answer.text()).split("\n").filter((line) => line.startsWith("escapement_"));
    };
    const lines = await linesOf("label=team:billing");
    expect(lines).toContain('escapement_jobs{task="bill",state="queued"} 1');
    expect(lines).toContain('escapement_jobs{task="odd \\"name",state="queued"} 1');
    expect(lines).toContain("escapement_store_up 1");
    expect(lines.join()).not.toMatch(/mail|escapement_schedules|operation=/);
    expect((await linesOf("label=team:nobody")).filter((line) => !line.includes("auth_failures"))).toEqual([
      "escapement_store_up 1",
    ]);
    const wrong = await router.request("https://localhost/metrics?label=team", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect(wrong.status).toBe(400);
  });

  test("is answered with the headers of security, as every route is", async () => {
    const { router } = setUpRouter({ metrics: setUpWatched().metrics });
    const headersOf = async (path: string): Promise<unknown[]> => {
      const { headers } = await router.request(path);
      return ["content-security-policy", "x-content-type-options", "x-frame-options"].map((name) => headers.get(name));
    };
    expect(await headersOf("/metrics")).toEqual(await headersOf("/health/live"));
    expect(await headersOf("/metrics")).toEqual([expect.stringContaining("default-src 'none'"), "nosniff", "DENY"]);
  });

  test("is for those who may read", async () => {
    const { scheduler, metrics, clock } = setUpWatched();
    const router = createRouter(scheduler, { auth: () => null, metrics, clock });
    const answer = await router.request("https://localhost/metrics");
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain("escapement_");
  });

  test("is refused by other methods, and does not exist without metrics", async () => {
    const { metrics } = setUpWatched();
    const { ask } = setUpRouter({ metrics });
    const { status, body, headers } = await ask("POST /metrics");
    expect([status, body, headers.get("allow")]).toEqual([
      405,
      expect.objectContaining(problem(405, "Method Not Allowed", "methodNotAllowed")),
      "GET",
    ]);
    expect((await setUpRouter().ask("GET /metrics")).status).toBe(404);
  });

  test("is not made of what gives no text", () => {
    const { scheduler } = setUpWatched();
    expect(() => createRouter(scheduler, { auth: "none", metrics: {} as never })).toThrow(OptionsError);
  });
});
