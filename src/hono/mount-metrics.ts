import type { Env, Hono, MiddlewareHandler } from "hono";
import { methodNotAllowed } from "./method-not-allowed.ts";
import type { MetricsSource } from "./options.ts";

/** Answers `GET /metrics`, whose text is no JSON. @param gate who may read */
export function mountMetrics<E extends Env>(
  app: Hono<E>,
  gate: readonly MiddlewareHandler<E>[],
  metrics: MetricsSource,
): void {
  app.on("GET", ["/metrics"], ...gate, async () => {
    const headers = { "cache-control": "no-store", "content-type": metrics.contentType };
    return new Response(await metrics.text(), { headers });
  });
  app.all("/metrics", ({ req }) => methodNotAllowed(req.method, ["GET"]));
}
