// The router as an API route of Next.js's pages: pages/api/jobs/[[...path]].ts of an application.
//
//     curl -H "Authorization: Bearer $SCHEDULER_TOKEN" http://127.0.0.1:3000/api/jobs/schedules
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { makeRouter } from "../../../../scheduler.ts";

let listener: ReturnType<typeof getRequestListener> | undefined;

/** The router is made at the first request, because `next build` imports this module without the variables. */
export default function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  listener ??= getRequestListener(new Hono().route("/api/jobs", makeRouter()).fetch);
  return listener(request, response);
}

/** The router reads bodies itself. */
export const config = { api: { bodyParser: false } };
