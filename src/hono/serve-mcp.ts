import type { Context, Hono } from "hono";
import type { Scope } from "./auth/auth-options.ts";
import type { Gate } from "./auth/gate.ts";
import type { GateEnv } from "./auth/gate-env.ts";
import { problemOf } from "./problem-of.ts";

/** What the router needs of an `mcp()` of `escapement/mcp`. */
export interface McpSource {
  /** Answers one request; `ask` is a request to the router, with the rights of the caller. */
  handle(
    request: Request,
    router: {
      readonly scope: Scope;
      ask(path: string, init: { readonly method: string; readonly body?: string }): Promise<Response>;
    },
  ): Promise<Response>;
}

/** Serves POST `/mcp`. Its tools ask the router's own routes, as the caller that the gate has let in. */
export function serveMcp(
  app: Hono<GateEnv>,
  source: McpSource,
  gate: Gate,
  logger: Parameters<typeof problemOf>[2],
): void {
  app.use("/mcp", gate.headers);
  app.post("/mcp", gate.admit("read"), async (context) => {
    const request = context.req.raw;
    try {
      return await source.handle(request, {
        scope: context.var.scope,
        ask: async (path, init) => {
          const own = asked(request, path, init);
          gate.letInFor(context, own);
          return app.fetch(own, context.env, executionOf(context));
        },
      });
    } catch (error) {
      return problemOf(error, request, logger);
    }
  });
}

/** Headers that say how the body travels, or what a route does with it. */
const OF_ONE_REQUEST =
  "accept content-encoding content-length content-type idempotency-key if-match if-none-match transfer-encoding".split(
    " ",
  );

/** The same caller's request of another route, with all headers by which a program may know that caller. That no other
 *  site's page sends it, the gate has seen to. */
function asked(request: Request, path: string, { method, body }: { method: string; body?: string }): Request {
  const headers = new Headers(request.headers);
  for (const name of OF_ONE_REQUEST) headers.delete(name);
  headers.set("sec-fetch-site", "same-origin");
  if (body !== undefined) headers.set("content-type", "application/json");
  const { signal } = request;
  return new Request(new URL(path, request.url), { method, headers, signal, ...(body === undefined ? {} : { body }) });
}

/** Runtimes other than Workers have none, which the context says by throwing. */
function executionOf(context: Context<GateEnv>): Context["executionCtx"] | undefined {
  try {
    return context.executionCtx;
  } catch {
    return undefined;
  }
}
