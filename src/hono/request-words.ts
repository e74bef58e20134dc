import { OptionsError } from "../core/errors.ts";
import { optionsError } from "../core/option-errors.ts";

/** What a verb takes by name and this route takes within `filter`. */
const WITH_FILTER = "POST /jobs/bulk";
const OUTSIDE_FILTER = /^(|action|all|dryRun|expectedCount|filter|ids)(\W|$)/;

/** The error of a verb as one of the request: with the route, and the paths as the request has them. Other errors stay
 *  as they are. @param route such as `GET /results` */
export function inRequestWords(error: unknown, route: string): unknown {
  if (!(error instanceof OptionsError) || error.issues.length === 0) return error;
  const issues = error.issues.map((issue) => ({ ...issue, path: requestPath(issue.path, route) }));
  return optionsError(route, issues, { cause: error });
}

function requestPath(path: string, route: string): string {
  return route === WITH_FILTER && !OUTSIDE_FILTER.test(path) ? `filter.${path}` : path;
}
