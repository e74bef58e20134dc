import { problemResponse } from "../core/problem.ts";

/** The answer for a method that a path does not have. @param allowed those that it has */
export function methodNotAllowed(method: string, allowed: readonly string[]): Response {
  const detail = `the path has no method ${method}; its methods are ${allowed.join(", ")}`;
  return problemResponse(405, "methodNotAllowed", { detail, headers: { allow: allowed.join(", ") } });
}
