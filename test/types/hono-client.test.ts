import { hc } from "hono/client";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { Api } from "../../src/hono/mod.ts";
import type { Job, JobResult, Schedule } from "../../src/mod.ts";
import type { Plain } from "../../src/scheduler/views/plain.ts";
import { setUpRouter } from "../hono/support.ts";

describe("Hono's client of the type Api", () => {
  test("asks the routes, and knows what they take and answer", async () => {
    const { router, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    const client = hc<Api>("https://example.org", {
      fetch: (input: RequestInfo | URL, init?: RequestInit) => router.request(input, init),
      headers: { "sec-fetch-site": "same-origin" },
    });
    const added = await client.schedules.$post({ json: { id: "a/b", taskId: "t", trigger: { every: "1h" } } });
    expectTypeOf(added.status).toEqualTypeOf<201>();
    const read = await client.schedules[":id"].$get({ param: { id: encodeURIComponent("a/b") } });
    const schedule = await read.json();
    expectTypeOf(schedule.nextFireTime).toEqualTypeOf<Plain<Schedule>["nextFireTime"]>();
    expect([added.status, schedule.id]).toEqual([201, "a/b"]);

    const job = await (await client.jobs.$post({ json: { taskId: "t" } })).json();
    expectTypeOf(job.state).toEqualTypeOf<Plain<Job>["state"]>();
    const page = await (await client.jobs.$get({ query: { limit: "1" } })).json();
    expectTypeOf(page.items[0]?.id).toEqualTypeOf<string | undefined>();
    expect(page.items.map(({ id }) => id)).toEqual([job.id]);

    const result = await client.jobs[":id"].result.$get({ param: { id: job.id }, query: {} });
    if (result.status === 200) expectTypeOf((await result.json()).outcome).toEqualTypeOf<Plain<JobResult>["outcome"]>();
    expect(result.status).toBe(202);
  });

  test("refuses what a route does not take", () => {
    const client = hc<Api>("https://example.org");
    // @ts-expect-error: a schedule needs a trigger
    void (() => client.schedules.$post({ json: { taskId: "t" } }));
    // @ts-expect-error: there is no such route
    void (() => client.nothing.$get());
    expect(client).toBeTypeOf("function");
  });
});
