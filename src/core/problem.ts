import { ISSUES_MAX, PROBLEM_DETAIL_LENGTH_MAX, PROBLEM_ISSUES_BYTES_MAX } from "./check-limits.ts";
import type { Issue } from "./errors.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** What a problem says besides its status and its code. */
export interface ProblemOptions {
  /** One sentence for people. Nothing of a store, a stack or a secret belongs into it. */
  readonly detail?: string | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** More members of the document, such as the `position` of a syntax error. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * An answer that says what went wrong, as RFC 9457 has it: `{ type, title, status, code, detail?, issues? }`. No cache
 * keeps it.
 * @param code the `code` of the error, or the word for a refusal that has no error, such as `"unauthorized"`
 */
export function problemResponse(status: number, code: string, options: ProblemOptions = {}): Response {
  const { headers, facts } = options;
  const detail = options.detail?.slice(0, PROBLEM_DETAIL_LENGTH_MAX);
  const issues = options.issues && fitting(options.issues);
  const document = { ...facts, type: "about:blank", title: TITLES[status] ?? "Error", status, code, detail, issues };
  return new Response(JSON.stringify(document), {
    status,
    headers: { "cache-control": "no-store", "content-type": "application/problem+json", ...headers },
  });
}

/** The first problems, as far as an answer has room for them. */
function fitting(issues: readonly Issue[]): readonly Issue[] {
  const encoder = new TextEncoder();
  let bytes = 0;
  return issues.slice(0, ISSUES_MAX).filter((issue) => {
    bytes += encoder.encode(JSON.stringify(issue)).length;
    return bytes <= PROBLEM_ISSUES_BYTES_MAX;
  });
}
