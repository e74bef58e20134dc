import * as v from "valibot";
import { expect, test } from "vitest";
import { answerSchemas } from "../../src/hono/openapi/answer-schemas.ts";
import { routeDocs } from "../../src/hono/openapi/route-docs.ts";
import { insight } from "../../src/insight/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { setUpRouter } from "./support.ts";

/** What an answer is called in the document: the name of a schema, null for no body, or undefined. */
function nameOf(route: string, status: number): string | null | undefined {
  const [method, address = ""] = route.split(" ");
  const path = address
    .replace(/\?.*/, "")
    .replace(/^\/(schedules|jobs|tasks|runs|blackouts)\/(?!bulk|batch)[^/]+/, "/$1/:id");
  const docs = Object.entries(routeDocs).find(([key]) => key === `${method} ${path}`)?.[1];
  if (docs === undefined) throw new Error(`the document has no ${route}`);
  if (status >= 400 && docs.problems.includes(status)) return "Problem";
  return Object.entries(docs.answers).find(([known]) => Number(known) === status)?.[1];
}

test("every answer is what the document says that it is", async () => {
  const { ask, scheduler, clock } = setUpRouter({ insight: insight() });
  scheduler.task(
    "t",
    { rateLimit: { limit: 10, per: "1s" }, timeout: "5m", maxRunningJobs: null },
    (payload) => payload,
  );
  scheduler.task("fail", { retry: { maxAttempts: 2, backoff: { initial: "0s" } }, keepLogs: {} }, (_, { logger }) => {
    logger.info("prints", { pages: 2 });
    throw new Error("no paper", { cause: new Error("no trees") });
  });
  const seen = new Set<string>();
  const check = async (route: string, body?: unknown): Promise<unknown> => {
    const answer = await ask(route, body);
    const name = nameOf(route, answer.status);
    if (name === undefined) throw new Error(`${route} answers ${answer.status}, which the document does not say`);
    const schema = name === null ? v.null() : answerSchemas[name as keyof typeof answerSchemas];
    const issues = v.safeParse(schema, answer.body).issues ?? [];
    const wrong = issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
    expect({ route, wrong, isEmpty: answer.body === null }).toEqual({ route, wrong: [], isEmpty: name === null });
    seen.add(`${route.split(" ")[0]} ${name}`);
    return answer.body;
  };

  await check("GET /health/live");
  await check("GET /health/ready");
  await check("GET /openapi.json");
  await check("GET /session");
  await check("POST /schedules", { id: "s", taskId: "t", trigger: { cron: "0 9 * * *" }, misfireGraceTime: "5m" });
  await check("POST /schedules", { id: "s", taskId: "t", trigger: { every: "1h" } });
  await check("GET /schedules");
  await check("GET /schedules?limit=0");
  await check("GET /schedules/s");
  await check("GET /schedules/none");
  await check("PUT /schedules/s", { taskId: "t", trigger: { every: "1h" }, payload: { n: 1 } });
  await check("PATCH /schedules/s", { name: "S", catchUp: { maxAge: "PT1H", maxCount: 5, pace: null } });
  await check("PATCH /schedules/s", { expectStartWithin: "5m", expectFinishWithin: null });
  await check("PATCH /schedules/s", { nme: "S" });
  await check("POST /schedules/s/pause");
  await check("POST /schedules/s/unpause", { resumeFrom: "now" });
  await check("POST /schedules/bulk", { action: "pause", ids: ["s"] });
  await check("GET /schedules/s/preview");
  const blackout = { id: "b", trigger: { cron: "0 2 * * sun" }, duration: "2h", reason: "closed" };
  await check("POST /blackouts", blackout);
  await check("POST /blackouts", blackout);
  await check("POST /blackouts", { id: "c", from: "2030-02-01T00:00:00Z" });
  await check("GET /blackouts");
  await check("DELETE /blackouts/b");
  await check("DELETE /blackouts/b");
  await check("POST /schedules/s/run");
  await check("GET /schedules/s/changes");
  await check("GET /schedules/s/changes?cursor=x");
  await check("GET /schedules/none/changes");
  await check("POST /triggers/preview", { trigger: { at: "2030-02-01T00:00:00Z" } });
  const { id } = (await check("POST /jobs", { taskId: "fail", metadata: { owner: "Ada" } })) as { id: string };
  await check("POST /jobs/batch", { jobs: [{ taskId: "t", payload: 1 }], then: { taskId: "t" } });
  await check("GET /jobs");
  await check(`GET /jobs/${id}`);
  await check(`GET /jobs/${id}/result`);
  scheduler.task("steps", async (_: undefined, { step }) => {
    await step.run("load", ({ save }) => save(5));
    await step.sleep("settle", "1d");
  });
  const steps = (await check("POST /jobs", { taskId: "steps" })) as { id: string };
  await check("GET /health");
  await check("POST /tick");
  await drain(scheduler);
  await check(`GET /jobs/${id}/result`);
  await check(`GET /jobs/${steps.id}`);
  const lines = [{ message: "prints", fields: { pages: 2 } }];
  const logs = [1, 2].map((attempt) => ({ attempt, lines }));
  expect(await check(`GET /jobs/${id}/logs`)).toMatchObject({ items: logs });
  await check("GET /jobs/none/logs");
  await check("GET /results");
  await check("GET /runs");
  await check("GET /forecast?bucket=1h");
  await check("GET /forecast?bucket=soon");
  const code = { owner: "billing", declared: [{ id: "code", task: "t", trigger: "0 9 * * *" }] };
  const { revision } = (await check("POST /plan", code)) as { revision: string };
  await check("POST /plan", { ...code, owner: "" });
  await check("POST /apply", { ...code, revision });
  await check("POST /apply", { ...code, revision });
  await check("GET /failures?groupBy=task,error");
  await check("GET /stats?by=task&bucket=12h");
  await check("GET /stats?bucket=1ms");
  await check("GET /schedules?ids=s&include=next:2,runs:3,stats");
  await check(`GET /runs/${id}`);
  await check("GET /overview");
  await check("POST /schedules", { id: "often", taskId: "fail", trigger: { every: "1s" }, coalesce: "all" });
  await clock.advance("PT5S");
  await drain(scheduler);
  await check("GET /schedules/often/occurrences");
  await check("GET /schedules/often/occurrences?verdict=success,error&verdict=waiting&order=oldest");
  await check("GET /schedules/often/occurrences?verdict=ran");
  for (const at of ["2030-01-01T00:00:02Z", "2029-01-01", "2031-01-01T00:00:00.5Z"]) {
    await check(`GET /schedules/often/explain?at=${at}`);
  }
  await check("GET /schedules/often/explain?at=soon");
  const range = { from: "2030-01-01T00:00:00Z", until: "2030-01-01T00:00:04Z" };
  await check("POST /schedules/often/backfill", { ...range, dryRun: true });
  await check("POST /schedules/often/backfill", { ...range, includeRan: true, limit: 1, pace: "5m" });
  await check("POST /schedules/often/backfill", { from: range.from });
  await check("POST /schedules/none/backfill", range);
  await check("GET /schedules/s/explain?at=2030-01-05");
  await check(`POST /jobs/${id}/retry`);
  await check(`POST /jobs/${id}~1/cancel`);
  await check(`POST /jobs/${id}~1/cancel`);
  await check("POST /jobs/bulk", { action: "purge", filter: { outcome: "success" } });
  await check("GET /schedulers");
  await check("GET /tasks");
  await check("GET /tasks/t");
  await check("GET /tasks/none");
  await check("POST /tasks/t/pause", { key: "k" });
  await check("POST /tasks/t/unpause");
  await check("POST /cleanup");
  await check("DELETE /schedules/s");
  await check("DELETE /tasks/fail");
  await check("DELETE /tasks/none");
  const shown = Object.values(routeDocs).flatMap((docs) => Object.values(docs.answers));
  const names = new Set([...seen].map((one) => one.split(" ")[1]));
  expect(shown.filter((name) => !names.has(String(name)))).toEqual([]);
});
