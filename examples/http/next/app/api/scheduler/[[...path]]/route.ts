// The router as a route handler of Next.js: app/api/scheduler/[[...path]]/route.ts of an application.
//
//     curl -H "Authorization: Bearer $SCHEDULER_TOKEN" http://127.0.0.1:3000/api/scheduler/schedules
//
// Where functions do not stay, as on Vercel, a cron runs the jobs: see examples/http-cron.ts.
import { Hono } from "hono";
import { makeRouter } from "../../../../../scheduler.ts";

let app: Hono | undefined;

/** The router is made at the first request, because `next build` imports this module without the variables. */
function handle(request: Request): Response | Promise<Response> {
  app ??= new Hono().route("/api/scheduler", makeRouter());
  return app.fetch(request);
}

export { handle as DELETE, handle as GET, handle as HEAD, handle as PATCH, handle as POST, handle as PUT };
// No answer is made at build time.
export const dynamic = "force-dynamic";
