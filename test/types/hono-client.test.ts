import { hc } from "hono/client";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { Api, Problem } from "../../src/hono/mod.ts";
import { IntervalTrigger, type Job, type JobResult, type Occurrence, type Schedule } from "../../src/mod.ts";
import type { Plain } from "../../src/scheduler/views/plain.ts";
import { type RouterSetup, setUpRouter } from "../hono/support.ts";

describe("Hono's client of the type Api", () => {
  test("asks the routes, and knows what they take and answer", async () => {
    const { router, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    const client = clientOf(router);
    const added = await client.schedules.$post({ json: { id: "a/b", taskId: "t", trigger: { every: "1h" } } });
    if (added.ok) expectTypeOf(added.status).toEqualTypeOf<201>();
    const read = await client.schedules[":id"].$get({ param: { id: encodeURIComponent("a/b") } });
    const schedule = await bodyOf(read);
    expectTypeOf(schedule.nextFireTime).toEqualTypeOf<Plain<Schedule>["nextFireTime"]>();
    expect([added.status, schedule.id]).toEqual([201, "a/b"]);

    const job = await bodyOf(await client.jobs.$post({ json: { taskId: "t" } }));
    expectTypeOf(job.state).toEqualTypeOf<Plain<Job>["state"]>();
    const page = await bodyOf(await client.jobs.$get({ query: { limit: "1" } }));
    expectTypeOf(page.items.map(({ id }) => id)).toEqualTypeOf<string[]>();
    expect(page.items.map(({ id }) => id)).toEqual([job.id]);

    const result = await client.jobs[":id"].result.$get({ param: { id: job.id } });
    if (result.status === 200) expectTypeOf((await result.json()).outcome).toEqualTypeOf<Plain<JobResult>["outcome"]>();
    expect(result.status).toBe(202);
  });

  test("asks for occurrences, explanations and changes", async () => {
    const { router, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    const { occurrences, explain, changes } = clientOf(router).schedules[":id"];
    const param = { id: "s" };
    const page = await bodyOf(await occurrences.$get({ param, query: { verdict: ["waiting", "paused"], limit: "5" } }));
    expectTypeOf(page.items).items.toEqualTypeOf<Plain<Occurrence>>();
    expect(page.items.map(({ verdict, fireTime }) => [verdict, fireTime])).toEqual([
      ["waiting", "2030-01-01T00:00:00Z"],
    ]);
    const explanation = await bodyOf(await explain.$get({ param, query: { at: "2030-01-01T00:00:00Z" } }));
    expectTypeOf(explanation.clockChanges).items.toEqualTypeOf<{
      readonly [Name in "timeZone" | "at" | "from" | "to"]: string;
    }>();
    // @ts-expect-error: an explanation is of an instant
    expect((await explain.$get({ param })).status).toBe(400);
    const { items } = await bodyOf(await changes.$get({ param }));
    expect(items.map(({ kind }) => kind)).toEqual(["added"]);
  });

  test("needs no argument where a route needs none", async () => {
    const { router, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    const client = clientOf(router);
    const param = { id: "s" };
    const answers = [
      await client.health.$get(),
      await client.health.live.$get(),
      await client.health.ready.$get(),
      await client.overview.$get(),
      await client.tasks.$get(),
      await client.schedulers.$get(),
      await client["openapi.json"].$get(),
      await client.schedules.$get(),
      await client.jobs.$get(),
      await client.results.$get(),
      await client.cleanup.$post(),
      await client.tick.$post(),
      await client.session.$delete(),
      await client.schedules[":id"].preview.$get({ param }),
      await client.schedules[":id"].pause.$post({ param }),
      await client.schedules[":id"].unpause.$post({ param }),
      await client.tasks[":id"].pause.$post({ param: { id: "t" } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      ...[200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
      ...[204, 200, 404, 200, 200, 200, 200],
    ]);
    expectTypeOf((await bodyOf(await client.health.$get())).isStoreReached).toEqualTypeOf<boolean>();
  });

  test("knows the form of a failure", async () => {
    const answer = await clientOf(setUpRouter().router).schedules.$post({
      json: { taskId: "none", trigger: { every: "never" } },
    });
    expect(answer.status).toBe(422);
    if (answer.status !== 422) return;
    const failure = await answer.json();
    expectTypeOf(failure).toEqualTypeOf<Problem>();
    expect([failure.code, failure.issues?.map(({ path }) => path)]).toEqual(["options", ["trigger.every"]]);
  });

  test("refuses what a route does not take", () => {
    const client = hc<Api>("http://localhost");
    // @ts-expect-error: a schedule needs a trigger
    void (() => client.schedules.$post({ json: { taskId: "t" } }));
    void (() => client.schedules.$get({ query: { limit: "10", include: ["payload"], paused: "true" } }));
    // @ts-expect-error: the words of a query are those of the route
    void (() => client.schedules.$get({ query: { limti: "10" } }));
    // @ts-expect-error: a list of jobs has no such word
    void (() => client.jobs.$get({ query: { paused: "true" } }));
    // @ts-expect-error: what a query carries is text
    void (() => client.jobs.$get({ query: { limit: 10 } }));
    // @ts-expect-error: there is no such route
    void (() => client.nothing.$get());
    expect(client).toBeTypeOf("function");
  });
});

function clientOf(router: RouterSetup["router"]): ReturnType<typeof hc<Api>> {
  return hc<Api>("http://localhost", {
    fetch: (input: RequestInfo | URL, init?: RequestInit) => router.request(input, init),
    headers: { "sec-fetch-site": "same-origin" },
  });
}

/** The body of an answer when all is well. */
async function bodyOf<T>(answer: { ok: true; json(): Promise<T> } | { ok: false; status: number }): Promise<T> {
  if (answer.ok) return answer.json();
  throw new Error(`the answer has the status ${answer.status}`);
}
