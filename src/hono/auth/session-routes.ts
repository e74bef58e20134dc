import type { Context, Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { matching } from "../../core/bearer.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-errors.ts";
import { problemResponse } from "../../core/problem.ts";
import { SESSION_BODY_BYTES_MAX } from "../limits.ts";
import { problemOf } from "../problem-of.ts";
import { inputReader } from "../read-input.ts";
import { nothing, sessionBody } from "../schemas.ts";
import type { SessionBody } from "../wire.ts";
import type { AuthFailures } from "./auth-failures.ts";
import type { GateEnv } from "./gate-env.ts";
import { SESSION_MS } from "./limits.ts";
import { isSameOrigin } from "./same-origin.ts";
import { SESSION_COOKIE, sealSession } from "./session-cookie.ts";
import type { SignInCodes } from "./sign-in-codes.ts";

/** What the routes of sessions need. */
interface SessionSetup {
  readonly tokens: readonly string[];
  readonly codes: SignInCodes;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the router is mounted; null: where the request says. */
  readonly basePath: string | null;
  readonly failures: AuthFailures;
}

const PATH = "/session";

/** `POST /session` exchanges a token, or a code that stands for one, for a cookie, which a page cannot read;
 *  `DELETE /session` removes the cookie. */
export function mountSession(app: Hono<GateEnv>, setup: SessionSetup): void {
  const { tokens, codes, clock, logger, basePath, failures } = setup;
  const read = inputReader("POST /session", nothing, sessionBody, SESSION_BODY_BYTES_MAX);
  const cookieOf = (c: Context) => ({
    // The path as it was sent: browsers compare cookies with that, and a header cannot carry every character decoded.
    path: cookiePath(basePath ?? new URL(c.req.url).pathname.slice(0, -PATH.length)),
    httpOnly: true,
    sameSite: "Strict" as const,
    secure: isHttps(c.req.raw),
  });

  app.use(PATH, async (c, next) => {
    if (c.req.method === "GET" || isSameOrigin(c.req.raw)) return next();
    return problemResponse(403, "crossOrigin", {
      detail: "another site sent this request; sign in on a page of this one",
    });
  });

  app.post(PATH, async (c) => {
    let body: SessionBody;
    try {
      body = (await read.body(c.req.raw)) as typeof body;
      if ((body.token === undefined) === (body.code === undefined)) {
        throw optionError("POST /session", "token", "must be text; give a token, or the code of a link, and not both");
      }
    } catch (error) {
      return problemOf(error, c.req.raw, logger);
    }
    const { code, token = "" } = body;
    const known = code === undefined ? await tokenOf(token, tokens) : codes.take(code);
    if (known === undefined) {
      const detail =
        code === undefined ? "the token is none of the router's tokens" : "the code was used or has expired";
      return failures.add(c) ?? problemResponse(401, "unauthorized", { detail });
    }
    const value = await sealSession(known, clock.now() + SESSION_MS);
    setCookie(c, SESSION_COOKIE, value, { ...cookieOf(c), maxAge: SESSION_MS / 1000 });
    return c.body(null, 204);
  });

  app.delete(PATH, (c) => {
    deleteCookie(c, SESSION_COOKIE, cookieOf(c));
    return c.body(null, 204);
  });
}

async function tokenOf(text: string, tokens: readonly string[]): Promise<string | undefined> {
  // Without the spaces and line breaks that come along when a token is pasted.
  const matches = await matching(text.trim(), tokens);
  return tokens.find((_, index) => matches[index]);
}

/** Whether the browser talks https, be it to a proxy in front of this program. */
function isHttps(request: Request): boolean {
  const { protocol } = new URL(request.url);
  return protocol === "https:" || request.headers.get("origin")?.startsWith("https:") === true;
}

/** A path as the attribute of a cookie, where a semicolon would end it. */
function cookiePath(mount: string): string {
  return mount.replaceAll(";", "%3B") || "/";
}
