import type { Context, Hono, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import * as v from "valibot";
import { bearerOf, matching } from "../../core/bearer.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import { leveledLogger } from "../../core/leveled-logger.ts";
import type { Logger } from "../../core/logger.ts";
import { mustBe } from "../../core/option-errors.ts";
import { problemResponse } from "../../core/problem.ts";
import { BY_LENGTH_MAX } from "../../scheduler/options/limits.ts";
import { hasAllowedHost } from "./allowed-host.ts";
import { AuthFailures } from "./auth-failures.ts";
import { type Caller, callerName, type RouterAuth, type Scope, type TokenGrant } from "./auth-options.ts";
import type { GateEnv } from "./gate-env.ts";
import { TOKEN_LENGTH_MIN } from "./limits.ts";
import { isSameOrigin } from "./same-origin.ts";
import { securityHeaders } from "./security-headers.ts";
import { openSession, SESSION_COOKIE } from "./session-cookie.ts";
import { mountSession } from "./session-routes.ts";
import { SignInCodes } from "./sign-in-codes.ts";

const CHALLENGE = 'Bearer realm="escapement"';
const ASK_FOR_TOKEN = "nobody is signed in; send a token of the router in the header `Authorization: Bearer TOKEN`";
const WRONG_TOKEN = "the bearer token is none of the router's tokens";
const NEEDS_WRITE = "this needs the scope `write`, and the caller has the scope `read`";
/** What to do about a request that another site made a browser send. */
const CROSS_ORIGIN =
  "another site sent this request; send a bearer token, or ask from a page of the router's own origin";

const WRONG_HOST = "the router does not go by this host; list its name in allowedHosts";

/** What a gate needs; `auth` has been checked by `authSchema()`. */
export interface GateOptions {
  readonly auth: RouterAuth;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** Names that a request may be for, besides those of loopback. Default: all, but none with `auth: "none"`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Where the router is mounted, for the path of the cookie. Default: what the request's own path says. */
  readonly basePath?: string | undefined;
}

/** Stands in front of the routes. */
export interface Gate {
  /** Sets the headers of security of each answer. Comes first. */
  readonly headers: MiddlewareHandler;
  /** Lets through whom `auth` knows, and tells what that caller may do as `c.var.scope`. Answers 401 to others, and 403
   *  to whom this scope is not enough, to what another site made a browser send, unless it is a GET or a HEAD, and to
   *  what is for another host.
   *  @param needed the scope that the route needs. Default: `"read"` for GET and HEAD, `"write"` for other methods */
  admit(needed?: Scope): MiddlewareHandler<GateEnv>;
  /** Lets a request through as one of the caller that was let in, whom `auth` is not asked for once more.
   *  @param asked a request that the router makes itself */
  letInFor(c: Context<GateEnv>, asked: Request): void;
  /** Wrong tokens; null where there are no tokens. */
  readonly failures: AuthFailures | null;
  /** Whether the sender of a request is known, whatever that caller may do. */
  knows(c: Context): Promise<boolean>;
  /** Makes a code that signs in once. @throws {OptionsError} for a token that is none of the router's */
  signInCode(token: string): string;
  /** Mounts the routes of sessions, where there are tokens. They come before what is admitted. */
  session(app: Hono<GateEnv>): void;
}

/** Makes the gate of a router. Warns of what leaves it open: `auth: "none"`, and tokens that can be guessed. */
export function createGate({ auth, clock = systemClock, basePath, ...options }: GateOptions): Gate {
  const logger = leveledLogger(options.logger);
  warnOf(auth, logger);
  const letIn = new WeakMap<Request, KnownCaller>();
  const callerOfAuth = callerReader(auth, clock);
  const callerOf: typeof callerOfAuth = (c) => letIn.get(c.req.raw) ?? callerOfAuth(c);
  const tokens = typeof auth === "object" ? auth.tokens.map(({ token }) => token) : [];
  const codes = new SignInCodes({ clock, tokens });
  const hosts = options.allowedHosts ?? (auth === "none" ? [] : null);
  const failures =
    typeof auth === "object" ? new AuthFailures({ clock, logger, clientAddress: auth.clientAddress }) : null;
  return {
    headers: securityHeaders(),
    admit: (needed) =>
      async function admit(c, next) {
        const request = c.req.raw;
        if (hosts !== null && !hasAllowedHost(request, hosts)) {
          return problemResponse(403, "wrongHost", { detail: WRONG_HOST });
        }
        const isGet = request.method === "GET" || request.method === "HEAD";
        // A page of another site can make a browser send cookies, and passwords that it knows, but no bearer token.
        if (!isGet && bearerOf(request) === null && !isSameOrigin(request)) {
          return problemResponse(403, "crossOrigin", { detail: CROSS_ORIGIN });
        }
        let caller: KnownCaller | null;
        try {
          caller = await callerOf(c);
        } catch (error) {
          logger.error("escapement: the function auth of the router failed", error);
          return problemResponse(500, "internal");
        }
        if (caller === null) {
          const refusal = bearerOf(request) === null ? null : failures?.add(c);
          return refusal ?? unauthorized(auth, request);
        }
        const { scope, name, sessionEnd } = caller;
        if (scope === "read" && (needed ?? (isGet ? "read" : "write")) === "write") {
          return problemResponse(403, "forbidden", { detail: NEEDS_WRITE });
        }
        c.set("scope", scope);
        c.set("caller", name);
        c.set("sessionEnd", sessionEnd);
        return next();
      },
    letInFor({ var: { scope, caller: name, sessionEnd } }, asked) {
      letIn.set(asked, { scope, name, ...(sessionEnd === undefined ? {} : { sessionEnd }) });
    },
    failures,
    async knows(c) {
      try {
        return (await callerOf(c)) !== null;
      } catch {
        // The page asks who is signed in, and tells of what is wrong.
        return true;
      }
    },
    signInCode: (token) => codes.add(token),
    session(app) {
      if (failures === null) return;
      mountSession(app, { tokens, codes, clock, logger, basePath: basePath ?? null, failures });
    },
  };
}

/** The answer for a caller who is not let in. With a function for `auth`, nobody knows here what that caller lacks. */
function unauthorized(auth: RouterAuth, request: Request): Response {
  const isWrong = typeof auth === "object" && bearerOf(request) !== null;
  const detail = isWrong ? WRONG_TOKEN : typeof auth === "object" ? ASK_FOR_TOKEN : "the caller is not signed in";
  const challenge = isWrong ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE;
  return problemResponse(401, "unauthorized", { detail, headers: { "www-authenticate": challenge } });
}

interface KnownCaller extends Caller {
  readonly sessionEnd?: number;
}

function callerReader(
  auth: RouterAuth,
  clock: Clock,
): (c: Context) => KnownCaller | null | Promise<KnownCaller | null> {
  if (auth === "none") return () => ({ scope: "write" });
  if (typeof auth === "function") return async (c) => checkedCaller(await auth(c.req.raw, nativeOf(c)));
  const tokens = auth.tokens.map(({ token }) => token);
  return async (c) => {
    const bearer = bearerOf(c.req.raw);
    if (bearer !== null) return widest(auth.tokens, await matching(bearer, tokens));
    const session = getCookie(c, SESSION_COOKIE);
    const caller = session && widest(auth.tokens, await openSession(session, tokens, clock.now()));
    // The cookie begins with it.
    return caller ? { ...caller, sessionEnd: Number.parseInt(session, 10) } : null;
  };
}

/** What the server calls the request: Node's adapter passes it on within the environment. */
function nativeOf({ env }: Context): never {
  const { incoming, outgoing } = Object(env) as { readonly [Name in "incoming" | "outgoing"]?: unknown };
  return (outgoing === undefined ? (env ?? {}) : incoming) as never;
}

/** What a function has answered, which may be anything. @throws {TypeError} for a name that no change can have */
function checkedCaller(answer: unknown): Caller | null {
  const { scope = answer, name } = Object(answer) as { scope?: unknown; name?: unknown };
  if (scope !== "read" && scope !== "write") return null;
  if (!v.is(callerName(), name)) {
    throw new TypeError(`the name of a caller ${mustBe(`text of 1 to ${BY_LENGTH_MAX} characters`, name)}`);
  }
  return { scope, name };
}

/** The widest of the grants that match, because one token may be listed twice; null where none does. */
function widest(grants: readonly TokenGrant[], matches: readonly boolean[]): Caller | null {
  const own = grants.filter((_, index) => matches[index]);
  return own.find(({ scope }) => scope === "write") ?? own[0] ?? null;
}

function warnOf(auth: RouterAuth, logger: Logger): void {
  if (auth === "none") {
    logger.warn('escapement: the router has auth "none": whoever reaches it may change and run everything');
  } else if (typeof auth === "object" && auth.tokens.some(({ token }) => token.length < TOKEN_LENGTH_MIN)) {
    logger.warn(`escapement: a token of the router has fewer than ${TOKEN_LENGTH_MIN} characters and can be guessed`);
  }
}
