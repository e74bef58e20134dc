import type { ErrorFacts } from "../../core/error-of-code.ts";
import { EscapementError } from "../../core/errors.ts";

const NAMES = ["issues", "id", "field", "element", "position", "suggestion"] as const;

/** What an error of ours has beside its message, so that it can be made again elsewhere; undefined for nothing. */
export function factsOf(error: unknown): ErrorFacts | undefined {
  if (!(error instanceof EscapementError)) return undefined;
  const facts = NAMES.flatMap((name) => (name in error ? [[name, Reflect.get(error, name)] as const] : []));
  if (facts.length === 0) return undefined;
  try {
    return JSON.parse(JSON.stringify(Object.fromEntries(facts))) as ErrorFacts;
  } catch {
    return undefined;
  }
}
