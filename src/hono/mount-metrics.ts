import type { Env, Hono, MiddlewareHandler } from "hono";
import type { AuthFailures } from "./auth/auth-failures.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import type { MetricsSource } from "./options.ts";

/** Answers `GET /metrics`, whose text is no JSON. @param gate who may read @param failures of the router itself */
export function mountMetrics<E extends Env>(
  app: Hono<E>,
  gate: readonly MiddlewareHandler<E>[],
  metrics: MetricsSource,
  failures: AuthFailures | null,
): void {
  app.on("GET", ["/metrics"], ...gate, async () => {
    const headers = { "cache-control": "no-store", "content-type": metrics.contentType };
    return new Response((await metrics.text()) + failuresText(failures), { headers });
  });
  app.all("/metrics", ({ req }) => methodNotAllowed(req.method, ["GET"]));
}

function failuresText(failures: AuthFailures | null): string {
  if (failures === null) return "";
  const name = "escapement_http_auth_failures_total";
  const head = `# HELP ${name} Requests to the router with a wrong token.\n# TYPE ${name} counter\n`;
  return `${head}${name} ${failures.count}\n`;
}
