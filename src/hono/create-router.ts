import { type Context, type Env, Hono, type MiddlewareHandler } from "hono";
import { matchedRoutes, routePath } from "hono/route";
import { canParseUrl } from "../core/can-parse-url.ts";
import { systemClock } from "../core/clock.ts";
import { leveledLogger } from "../core/leveled-logger.ts";
import { problemResponse } from "../core/problem.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { changeOptions } from "./auth/change-options.ts";
import { createGate } from "./auth/gate.ts";
import type { GateEnv } from "./auth/gate-env.ts";
import { EventStreams } from "./events/event-streams.ts";
import { requestKeyOf } from "./idempotency.ts";
import { BODY_BYTES_MAX } from "./limits.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { assertClient, checkRouterOptions, type RouterOptions } from "./options.ts";
import { problemOf } from "./problem-of.ts";
import { inputReader } from "./read-input.ts";
import { guardedRedact, jsonText } from "./redaction.ts";
import { inRequestWords } from "./request-words.ts";
import type { Reply, Route, RouteCall } from "./route.ts";
import { insightRoutes } from "./routes/insight.ts";
import { routes } from "./routes/mod.ts";
import { nothing } from "./schemas.ts";
import { serveMcp } from "./serve-mcp.ts";
import { type PageSetup, pageBehindSlash, servePage } from "./serve-page.ts";
import { showFor } from "./show.ts";

/** The scheduler, or what makes one for a request, where requests must not share a connection (Workers), or where the
 *  connection is known only when a request comes. `E` is the environment of the application, as Hono has it. */
export type RouterScheduler<E extends Env = Env> =
  | SchedulerClient
  | ((context: Context<E>) => SchedulerClient | Promise<SchedulerClient>);

/** The routes of a scheduler. */
export type Router = Hono<GateEnv> & {
  /** Ends the streams of events, and opens no more: for the end of a server, whose connections they would keep open.
   *  Other requests are answered on. Idempotent. */
  close(): void;
  /**
   * Makes a code that signs a page in once, with the rights of a token, by `POST /session` with `{ code }`. It is for a
   * link of a program to its own page: put it into the fragment, `#code=...`, which no server and no log gets to see.
   * This process alone knows the code, for an hour at most; of more than 100 unused ones, the oldest are forgotten.
   * @param token one of `auth.tokens`
   * @throws {OptionsError} for a token that is none of them
   * @example
   * console.log(`http://127.0.0.1:${port}/scheduler#code=${router.signInCode(token)}`);
   */
  signInCode(token: string): string;
};

/**
 * Makes the routes that control a scheduler over HTTP, as a Hono app: mount it in another one, or serve it alone.
 * `docs/http.md` lists the routes; `GET /openapi.json` describes them.
 * @param scheduler a scheduler of any role, which need not be started, or a function that makes one for a request
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * const router = createRouter(scheduler, { auth: { tokens: [{ token: process.env.TOKEN, scope: "write" }] } });
 * app.route("/scheduler", router);
 */
export function createRouter<E extends Env = Env>(scheduler: RouterScheduler<E>, options: RouterOptions): Router {
  const {
    auth,
    allowedHosts,
    basePath,
    clock = systemClock,
    dashboard,
    maxEventStreams,
    insight = options.dashboard?.insight,
    mcp,
    metrics,
    redact,
  } = checkRouterOptions(scheduler, options);
  const logger = leveledLogger(options.logger);
  const streams = new EventStreams({ clock, maxStreams: maxEventStreams });
  const app = new Hono<GateEnv>();
  const gate = createGate({ auth, allowedHosts, logger, clock, basePath });
  const hide = redact === undefined ? null : guardedRedact(redact, logger);
  const served = (Object.entries(routes) as [string, Route][])
    .filter(([key]) => key !== "GET /metrics" || metrics !== undefined)
    .filter(([key]) => insight !== undefined || !(key in insightRoutes))
    .filter(([key]) => key !== "GET /calendar.ics" || insight?.calendar !== undefined)
    .map(([key, route]) => ({ key, route, ...partsOf(key) }));
  // By path, because an application may mount the router at its root, and has other routes there.
  for (const path of new Set(served.map(({ path }) => path))) app.use(path, gate.headers, refuseNoUrl);
  gate.session(app);
  const page: PageSetup | null = dashboard === undefined ? null : { page: dashboard, gate, basePath };
  if (page !== null) servePage(app, page);
  for (const { key, route, method, path } of served) {
    const body = route.body ?? (method === "POST" ? nothing : undefined);
    const read = inputReader(key, route.query ?? nothing, body, route.bodyBytesMax ?? BODY_BYTES_MAX);
    const handle = async (context: Context<GateEnv>): Promise<Response> => {
      const request = context.req.raw;
      try {
        const url = new URL(request.url);
        const query = read.query(url);
        const body = await read.body(request);
        const client =
          typeof scheduler === "function" ? assertClient(await scheduler(context as unknown as Context<E>)) : scheduler;
        const params = context.req.param();
        const call: RouteCall = {
          ...{ client, clock, request, streams, params, query, body, metrics, insight, logger },
          authFailures: gate.failures?.count,
          show: showFor(context.var.scope, hide),
          caller: context.var,
          by: (given) => changeOptions(auth, context.var.caller, given, key),
          requestKey: () => requestKeyOf(request, key, params, body),
          pathTo: (...segments) => [basePath ?? mountOf(url, path), ...segments.map(encodeURIComponent)].join("/"),
        } as RouteCall;
        return answerOf(await route.handle(call));
      } catch (error) {
        return problemOf(inRequestWords(error, key), request, logger);
      }
    };
    app.on(method, [path], ...(route.scope === "none" ? [] : [gate.admit(route.scope)]), handle);
  }
  if (mcp !== undefined) serveMcp(app, mcp, gate, logger);
  refuseOtherMethods(app, [...served, ...(mcp === undefined ? [] : [{ method: "POST", path: "/mcp" }])]);
  const notFound = async (context: Context<GateEnv>): Promise<Response> => {
    context.res = problemResponse(404, "notFound", { detail: "the router has no such path" });
    await gate.headers(context, async () => {});
    return context.res;
  };
  app.notFound(notFound);
  // An application that the router is mounted in answers by its own `notFound`. What lies below the path of the mount
  // is the router's, unless the application has a route there.
  app.all("*", async (context, next) => {
    const path = routePath(context);
    const isMountedAtRoot = path === "/*";
    const shown = page === null ? null : await pageBehindSlash(page, context, path);
    if (shown !== null) return shown;
    const hasOther = matchedRoutes(context).length > context.req.routeIndex + 1;
    return isMountedAtRoot || hasOther ? next() : notFound(context);
  });
  app.onError((error, { req }) => problemOf(error, req.raw, logger));
  return Object.assign(app, { close: () => streams.close(), signInCode: gate.signInCode });
}

/** The `Host` is a part of the URL that servers make. Of `a.99`, which looks like a bad IPv4 address, none is made. */
const refuseNoUrl: MiddlewareHandler = async ({ req }, next) => {
  if (canParseUrl(req.raw.url)) return next();
  return problemResponse(400, "badRequest", { detail: "the header Host is no host" });
};

function partsOf(key: string): { method: string; path: string } {
  const [method = "", path = ""] = key.split(" ");
  return { method, path };
}

/** The path that stands before the route's own in a URL. */
function mountOf({ pathname }: URL, path: string): string {
  const own = path.split("/").length - 1;
  return pathname.split("/").slice(0, -own).join("/");
}

function answerOf(reply: Reply): Response {
  if (reply instanceof Response) return reply;
  const { status, body, headers } = reply;
  if (body === null) return new Response(null, { status, headers: { "cache-control": "no-store", ...headers } });
  return new Response(jsonText(body), {
    status,
    headers: { "cache-control": "no-store", "content-type": "application/json", ...headers },
  });
}

/** Answers the methods that a path does not have. It comes last, because the first route that fits counts. */
function refuseOtherMethods(app: Hono<GateEnv>, served: readonly { method: string; path: string }[]): void {
  const methods = new Map<string, string[]>();
  for (const { method, path } of served) methods.set(path, [...(methods.get(path) ?? []), method]);
  for (const [path, allowed] of methods) {
    app.all(path, ({ req }) => methodNotAllowed(req.method, allowed));
  }
}
