import { CronSyntaxError, EscapementError, type Issue, OptionsError, PayloadError } from "../core/errors.ts";
import { TooManyQuestions } from "../core/in-turns.ts";
import type { Logger } from "../core/logger.ts";
import { problemResponse } from "../core/problem.ts";
import { Refusal } from "./refusal.ts";

const STATUSES: Readonly<Record<string, number>> = {
  taskLookup: 404,
  scheduleLookup: 404,
  jobLookup: 404,
  conflictingId: 409,
  schedulerState: 409,
  revisionConflict: 412,
  storeUnavailable: 503,
  storeRefused: 422,
  options: 422,
  cronSyntax: 422,
  payload: 422,
  serialization: 422,
  deserialization: 422,
  maxIterationsReached: 422,
  brokenTrigger: 422,
};

/** What an answer says in the place of a message that may show what the database said. */
const DETAILS: Readonly<Record<string, string>> = {
  storeUnavailable: "the store cannot be reached; try again",
  storeRefused: "the store does not take this: it is too large, or names a job in `after` that the store does not know",
};

/** The answer for what a route threw. What is no fault of the request is logged, and not shown. */
export function problemOf(error: unknown, request: Request, logger: Logger): Response {
  if (error instanceof Refusal) {
    return problemResponse(error.status, error.code, { detail: error.message, issues: error.issues });
  }
  if (error instanceof TooManyQuestions) {
    return problemResponse(503, "tooManyQuestions", { detail: error.message, headers: { "retry-after": "5" } });
  }
  const known = error instanceof EscapementError ? STATUSES[error.code] : undefined;
  const status = known === 422 && /^(GET|HEAD)$/.test(request.method) ? 400 : (known ?? 500);
  if (!(error instanceof EscapementError) || status >= 500) {
    if (!request.signal.aborted) logger.error(`escapement: ${request.method} of the router failed`, error);
  }
  if (!(error instanceof EscapementError) || known === undefined) return problemResponse(500, "internal");
  return problemResponse(status, error.code, {
    detail: DETAILS[error.code] ?? error.message,
    issues: issuesOf(error),
    facts: factsOf(error),
    headers: status === 503 ? { "retry-after": "1" } : {},
  });
}

function issuesOf(error: EscapementError): readonly Issue[] | undefined {
  return error instanceof OptionsError || error instanceof PayloadError ? error.issues : undefined;
}

/** The fields with which the error can be made anew. */
function factsOf(error: EscapementError): Readonly<Record<string, unknown>> {
  if (error instanceof CronSyntaxError) {
    const { field, element, position, suggestion } = error;
    return { field, element, position, suggestion };
  }
  return "id" in error ? { id: error.id } : {};
}
