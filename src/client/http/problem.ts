import * as v from "valibot";
import { type ErrorFacts, errorOfCode } from "../../core/error-of-code.ts";
import type { Issue } from "../../core/errors.ts";
import { once } from "../../core/once.ts";
import { RemoteError } from "../remote-error.ts";

/** The parts of a problem (RFC 9457) that matter. Each may be missing, because what stands in front of a router has
 *  answers of its own. */
interface ReceivedProblem {
  readonly title?: string | undefined;
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly id?: string | undefined;
  readonly field?: string | null | undefined;
  readonly element?: string | undefined;
  readonly position?: number | undefined;
  readonly suggestion?: string | null | undefined;
}

const schema = once((): v.GenericSchema<unknown, ReceivedProblem> => {
  const text = v.fallback(v.optional(v.string()), undefined);
  const issue = v.object({ path: v.string(), message: v.string(), suggestion: v.exactOptional(v.string()) });
  return v.object({
    title: text,
    code: text,
    detail: text,
    issues: v.fallback(v.optional(v.array(issue)), undefined),
    id: text,
    field: v.fallback(v.optional(v.nullable(v.string())), undefined),
    element: text,
    position: v.fallback(v.optional(v.number()), undefined),
    suggestion: v.fallback(v.optional(v.nullable(v.string())), undefined),
  });
});

/** Longest part of an answer that is no problem which a message shows, in UTF-16 units. */
const SHOWN_LENGTH_MAX = 120;

/**
 * The error that an answer tells of: that of the scheduler, by its code, or else a {@link RemoteError}.
 * @param body what the answer had, as text
 * @param about the id that the request was about; errors of look-ups name it
 * @param call what was asked for, for messages
 */
export function errorOf(status: number, body: string, about: string, call: string): Error {
  const problem = problemOf(body);
  const said = problem.detail ?? problem.title ?? excerpt(body);
  const message = said === "" ? `${call} was answered with status ${status}` : said;
  const code = problem.code ?? codeOf(status);
  const facts: ErrorFacts = { ...problem, id: problem.id ?? about };
  const known = errorOfCode(code === "badRequest" ? "options" : code, message, facts);
  if (known !== null) return known;
  return new RemoteError(`${call} was answered with status ${status}: ${adviceOn(status, code, message)}`, {
    code,
    status,
  });
}

function problemOf(body: string): ReceivedProblem {
  try {
    const result = v.safeParse(schema(), JSON.parse(body));
    return result.success ? result.output : {};
  } catch {
    return {};
  }
}

/** What is said by an answer that is no problem. A page of HTML says nothing. */
function excerpt(body: string): string {
  return /^\s*[<{[]/.test(body) ? "" : body.trim().slice(0, SHOWN_LENGTH_MAX);
}

function codeOf(status: number): string {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "notFound";
  if (status === 405) return "methodNotAllowed";
  if (status === 413) return "tooLarge";
  if (status === 429) return "tooManyAttempts";
  // Whatever stands in front of the router, it is not reached.
  if (status === 502 || status === 503 || status === 504) return "storeUnavailable";
  return status >= 300 && status < 400 ? "redirected" : status < 500 ? "refused" : "internal";
}

function adviceOn(status: number, code: string, message: string): string {
  if (status === 401) return `${message}; pass connect({ token }), a token that the router knows`;
  if (code === "forbidden") return `${message}; its token may not do this`;
  if (status === 404) return `${message}; is url the address that the router is mounted at?`;
  return message;
}
