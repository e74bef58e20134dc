import * as v from "valibot";
import { type Checker, checker, says } from "../core/check.ts";
import { problemResponse } from "../core/problem.ts";
import type { McpRouter } from "./call-tool.ts";
import { answerOverHttp } from "./server.ts";

/** Options of `mcp`. */
export interface McpOptions {
  /** Origins of pages, such as `https://agents.example.org`, that may call besides those of the router itself. Requests
   *  without an `Origin`, as programs send them, are not pages'. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** What the option `mcp` of `createRouter` takes. */
export interface Mcp {
  /** Answers a POST of a caller whom the router has let in. */
  handle(request: Request, router: McpRouter): Promise<Response>;
}

/** The schema is made at the first call, because importing must cost nothing. */
let check: Checker<McpOptions> | undefined;

/**
 * Makes what answers POST `/mcp` of a router: the Model Context Protocol over streamable HTTP, for agents. Its tools
 * are routes of the router, with the token, the rights and the redaction of the caller. The package
 * `@modelcontextprotocol/sdk` is needed.
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * const router = createRouter(scheduler, { auth, insight: insight(), mcp: mcp() });
 */
export function mcp(options: McpOptions = {}): Mcp {
  check ??= checker(
    () =>
      v.strictObject({ allowedOrigins: v.optional(v.array(v.string(), says("a list of origins"))) }) as v.GenericSchema<
        unknown,
        McpOptions
      >,
  );
  const { allowedOrigins = [] } = check(options, "mcp()");
  return {
    async handle(request, router) {
      const origin = request.headers.get("origin");
      if (origin !== null && !allowedOrigins.includes(origin) && !isOwn(origin, request)) {
        return problemResponse(403, "crossOrigin", { detail: "pages of this origin may not call tools" });
      }
      return answerOverHttp(request, router);
    },
  };
}

function isOwn(origin: string, request: Request): boolean {
  try {
    return new URL(origin).host === (request.headers.get("host") ?? new URL(request.url).host);
  } catch {
    return false;
  }
}
