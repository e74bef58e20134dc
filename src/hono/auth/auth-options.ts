import * as v from "valibot";
import { says, textUpTo } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe } from "../../core/option-errors.ts";
import { BY_LENGTH_MAX } from "../../scheduler/options/limits.ts";
import { TOKENS_MAX } from "./limits.ts";

/** What a caller may do: `"read"` sees everything but the stacks of errors, `"write"` may also change everything. */
export type Scope = "read" | "write";

/** A token, and what its bearers may do. */
export interface TokenGrant {
  /** Visible characters of ASCII, without spaces between them: 32 random characters or more. Spaces and line breaks
   *  around it do not count, because files end in one. */
  readonly token: string;
  readonly scope: Scope;
  /** Whose token it is: text of 1 to 200 characters. It is told as `by` of what the bearer changes, see
   *  {@link Caller}. Default: the identity of the router's scheduler stands there. */
  readonly name?: string | undefined;
}

/** Who sent a request, and what that caller may do. */
export interface Caller {
  readonly scope: Scope;
  /** Stands in `getScheduleChanges` and `explain` as `by` for what this caller changes: text of 1 to 200 characters.
   *  Everybody who may read sees it. Default: the identity of the router's scheduler. */
  readonly name?: string | undefined;
}

/** Finds out who sent a request, and what that caller may do; null for nobody. A scope alone stands for a caller
 *  without a name. It must not read the request's body.
 *  @param native what the server itself calls the request, for who is signed in there already: the `req` of Express,
 *    Fastify or Node behind `getRequestListener`; elsewhere the second argument of the router's `fetch`, which is the
 *    `env` of a Worker and `c.env` of an application of Hono's. An empty object where the server gives nothing. Its
 *    type is the application's to name */
export type Authenticate<Native = never> = (
  request: Request,
  native: Native,
) => Scope | Caller | null | Promise<Scope | Caller | null>;

/**
 * Who may use a router. `{ tokens }` takes bearer tokens, and `POST /session` exchanges one for a cookie of a page. A
 * function is asked for each request, for programs that have users of their own. `"none"` gives everybody the scope
 * `"write"`: only where something else decides who reaches the router.
 *
 * @example
 * const auth = { tokens: [{ token: process.env.ESCAPEMENT_TOKEN, scope: "write" }] };
 */
export type RouterAuth = TokenAuth | Authenticate | "none";

/** Bearer tokens. */
export interface TokenAuth {
  /** Who may enter: at least one. */
  readonly tokens: readonly TokenGrant[];
  /** The address of the client that sent a request, such as `request.headers.get("x-real-ip") ?? ""` behind a proxy
   *  that sets this header. Wrong tokens of one address are limited. Default: the address that the server tells. */
  readonly clientAddress?: ((request: Request) => string) | undefined;
}

/** The schema of the name of a caller, which may be missing. @internal */
export const callerName: () => v.GenericSchema<string | undefined> = once(() => v.optional(textUpTo(BY_LENGTH_MAX)));

/** The schema of the option `auth`. Its value has tokens without the spaces around them. @internal */
export function authSchema(): v.GenericSchema<RouterAuth, RouterAuth> {
  const tokens = tokensSchema();
  const others = v.custom<RouterAuth>(
    (value) => value === "none" || typeof value === "function",
    // Text that is given here may be a token, which no message shows.
    ({ input }) => mustBe(FORMS, input, typeof input === "string" && input !== "" ? "token" : "", advice(input)),
  );
  const hasTokens = (input: unknown): boolean => typeof input === "object" && input !== null && "tokens" in input;
  return v.lazy((input) => (hasTokens(input) ? tokens : others)) as v.GenericSchema<RouterAuth>;
}

/** What to write in place of a token alone. */
function advice(auth: unknown): string | null {
  const isToken = (typeof auth === "string" && auth !== "") || (isPlain(auth) && "token" in auth);
  return isToken ? 'write { tokens: [{ token, scope: "write" }] }' : null;
}

const FORMS = 'an object { tokens: [{ token, scope }] }, a function of a Request, or "none"';

function tokensSchema(): v.GenericSchema<unknown, TokenAuth> {
  const count = `a list of 1 to ${TOKENS_MAX} objects { token, scope }`;
  const mustBeList = ({ input }: { input: unknown }): string =>
    mustBe(
      count,
      Array.isArray(input) ? input.length : input,
      "",
      Array.isArray(input) ? "that is their number" : null,
    );
  const grant = v.strictObject(
    {
      token: v.pipe(
        v.string(mustBeToken),
        v.transform((text) => text.trim()),
        v.regex(SENDABLE, mustBeToken),
      ),
      scope: v.picklist(["read", "write"], ({ input }) => mustBe('"read" or "write"', input)),
      name: callerName(),
    },
    ({ input }) =>
      mustBe(
        "an object { token, scope }",
        input,
        "token",
        input === undefined ? null : 'write { token, scope: "write" }',
      ),
  );
  return v.strictObject({
    tokens: v.pipe(v.array(grant, mustBeList), v.minLength(1, mustBeList), v.maxLength(TOKENS_MAX, mustBeList)),
    clientAddress: v.optional(
      v.custom<NonNullable<TokenAuth["clientAddress"]>>(isFunction, says("a function of a Request")),
    ),
  });
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** A header carries visible characters of ASCII as they are, and nothing else surely. */
const SENDABLE = /^[!-~]+$/;

function mustBeToken({ input }: { input: unknown }): string {
  const isMissing = input === undefined || input === "";
  const advice = isMissing ? "is the environment variable set?" : "a header carries nothing but visible ASCII";
  return mustBe("text without spaces", input, isMissing ? "" : "token", advice);
}
