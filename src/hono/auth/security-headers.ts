import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

/**
 * Headers of each answer. A page may load its own scripts and styles, and ask its own origin, and nothing else; nobody
 * may frame it. Without HSTS, because that would bind the whole domain of the host. Answers that say nothing about
 * caches are kept by none.
 */
export function securityHeaders(): MiddlewareHandler {
  const secure = secureHeaders({
    strictTransportSecurity: false,
    xFrameOptions: "DENY",
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
  });
  return async function headers(c, next) {
    await secure(c, next);
    if (!c.res.headers.has("cache-control")) c.res.headers.set("cache-control", "no-store");
  };
}
