import type { SchedulerClient } from "escapement";
import { tasks } from "../tasks.ts";

/** The routes of both Workers: POST /greet/NAME adds a job, GET /results lists what jobs have returned. */
export async function router(request: Request, scheduler: SchedulerClient): Promise<Response> {
  const { pathname } = new URL(request.url);
  const name = /^\/greet\/(\w+)$/.exec(pathname)?.[1];
  if (request.method === "POST" && name !== undefined) {
    const { id } = await scheduler.addJob(tasks.greet, { payload: name });
    return Response.json({ id }, { status: 202 });
  }
  if (request.method === "GET" && pathname === "/results") {
    const { items } = await scheduler.getJobResults({ limit: 20 });
    return Response.json(items.map(({ taskId, outcome, returnValue }) => ({ taskId, outcome, returnValue })));
  }
  return new Response("Not Found", { status: 404 });
}
