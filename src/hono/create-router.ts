import { type Context, Hono, type MiddlewareHandler } from "hono";
import { systemClock } from "../core/clock.ts";
import { leveledLogger } from "../core/leveled-logger.ts";
import { problemResponse } from "../core/problem.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { mountMetrics } from "./mount-metrics.ts";
import { assertClient, checkRouterOptions, type RouterOptions } from "./options.ts";
import { problemOf } from "./problem-of.ts";
import { BODY_BYTES_MAX, inputReader } from "./read-input.ts";
import type { Call, Reply, Route, Scope } from "./route.ts";
import { routes } from "./routes/mod.ts";

/** What the router keeps with a request. */
export interface RouterEnv {
  Variables: {
    /** What the caller may do. */
    scope: Scope;
  };
}

/** The scheduler, or what makes one for a request, where requests must not share a connection (Workers), or where the
 *  connection is known only when a request comes. */
// biome-ignore lint/suspicious/noExplicitAny: the router may be mounted in an application of any environment
export type RouterScheduler = SchedulerClient | ((context: Context<any>) => SchedulerClient | Promise<SchedulerClient>);

/**
 * Makes the routes that control a scheduler over HTTP, as a Hono app: mount it in another one, or serve it alone.
 * `docs/http.md` lists the routes; `GET /openapi.json` describes them.
 * @param scheduler a scheduler of any role, which need not be started, or a function that makes one for a request
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * const router = createRouter(scheduler, { auth: { tokens: [{ token: process.env.TOKEN, scope: "write" }] } });
 * app.route("/scheduler", router);
 */
export function createRouter(scheduler: RouterScheduler, options: RouterOptions): Hono<RouterEnv> {
  checkRouterOptions(scheduler, options);
  const { basePath, clock = systemClock } = options;
  const logger = leveledLogger(options.logger);
  const app = new Hono<RouterEnv>();
  const gate: MiddlewareHandler<RouterEnv>[] = [signIn(options)];
  for (const [key, route] of Object.entries(routes) as [string, Route][]) {
    const { method, path } = partsOf(key);
    const read = inputReader(key, route.query, route.body, route.bodyBytesMax ?? BODY_BYTES_MAX);
    const handle = async (context: Context<RouterEnv>): Promise<Response> => {
      const request = context.req.raw;
      try {
        const url = new URL(request.url);
        const query = read.query(url);
        const body = await read.body(request);
        const client = typeof scheduler === "function" ? assertClient(await scheduler(context)) : scheduler;
        const call: Call = {
          ...{ client, clock, request, query, body },
          scope: context.var.scope,
          params: context.req.param(),
          idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
          pathTo: (...segments) => [basePath ?? mountOf(url, path), ...segments.map(encodeURIComponent)].join("/"),
        } as Call;
        return answerOf(await route.handle(call));
      } catch (error) {
        return problemOf(error, request, logger);
      }
    };
    app.on(method, [path], ...(route.scope === "none" ? [] : gate), handle);
  }
  if (options.metrics !== undefined) mountMetrics(app, gate, options.metrics);
  refuseOtherMethods(app);
  app.notFound(() => problemResponse(404, "notFound"));
  app.onError((error, { req }) => problemOf(error, req.raw, logger));
  return app;
}

function partsOf(key: string): { method: string; path: string } {
  const [method = "", path = ""] = key.split(" ");
  return { method, path };
}

/** The path that stands before the route's own in a URL. */
function mountOf({ pathname }: URL, path: string): string {
  const own = path.split("/").length - 1;
  return pathname.split("/").slice(0, -own).join("/");
}

function answerOf({ status, body, headers }: Reply): Response {
  if (body === null) return new Response(null, { status, headers: { "cache-control": "no-store", ...headers } });
  return new Response(jsonOf(body), {
    status,
    headers: { "cache-control": "no-store", "content-type": "application/json", ...headers },
  });
}

/** A payload of another serializer may hold what JSON has no form for. */
function jsonOf(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

/** Answers the methods that a path does not have. It comes last, because the first route that fits counts. */
function refuseOtherMethods(app: Hono<RouterEnv>): void {
  const methods = new Map<string, string[]>();
  for (const { method, path } of Object.keys(routes).map(partsOf)) {
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, allowed] of methods) {
    app.all(path, () => problemResponse(405, "methodNotAllowed", { headers: { allow: allowed.join(", ") } }));
  }
}

function signIn({ auth }: RouterOptions): MiddlewareHandler<RouterEnv> {
  return async (context, next) => {
    if (auth !== "none") return problemResponse(401, "unauthorized");
    context.set("scope", "write");
    return next();
  };
}
