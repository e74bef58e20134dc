import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { problemResponse } from "../../core/problem.ts";

/** Answers 413 to bodies of more than so many bytes, before they are in memory as a whole. */
export function bodyBound(bytesMax: number): MiddlewareHandler {
  const detail = `The body may have ${bytesMax} bytes at most.`;
  return bodyLimit({ maxSize: bytesMax, onError: () => problemResponse(413, "tooLarge", { detail }) });
}
