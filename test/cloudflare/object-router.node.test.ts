import { expect, test } from "vitest";
import { Platform } from "./durable-object/platform.ts";

test("a router answers in the fetch() of a Durable Object, whose alarm runs the jobs that requests add", async () => {
  await using platform = await Platform.start(new URL("object-router-worker.ts", import.meta.url), { JOBS: "Jobs" });
  const headers = { authorization: "Bearer a-long-random-text-of-this-test", "content-type": "application/json" };
  const call = (path: string, method: string, body?: object): Promise<Response> =>
    platform.fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  expect((await platform.fetch("/schedules")).status).toBe(401);
  const schedule = { id: "morning", taskId: "greet", trigger: "0 9 * * *", payload: "Ada" };
  const posted = await call("/schedules", "POST", schedule);
  expect([posted.status, await posted.json()]).toEqual([201, expect.objectContaining({ id: "morning" })]);
  const explained = await call("/schedules/morning/explain?at=2040-01-01T09:00:00Z", "GET");
  expect([explained.status, Object.keys(await explained.json())]).toEqual([200, expect.arrayContaining(["verdict"])]);
  const run = (await (await call("/schedules/morning/run", "POST")).json()) as { id: string };
  const result = await call(`/jobs/${run.id}/result?wait=10`, "GET");
  expect(await result.json()).toMatchObject({ outcome: "success", returnValue: "Hello, Ada!" });
});
