import { type ErrorFacts, errorOfCode } from "../../core/error-of-code.ts";

const NAMES = ["issues", "id", "field", "element", "position", "suggestion"] as const;

/** What an error of ours has beside its message, so that it can be made again elsewhere; undefined for nothing. It is
 *  recognized by its code, because a bundled module has its own copies of the classes. */
export function factsOf(error: unknown): ErrorFacts | undefined {
  try {
    if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
    if (errorOfCode(error.code, "") === null) return undefined;
    const facts = NAMES.flatMap((name) => (name in error ? [[name, Reflect.get(error, name)] as const] : []));
    return facts.length === 0 ? undefined : (JSON.parse(JSON.stringify(Object.fromEntries(facts))) as ErrorFacts);
  } catch {
    // An error may throw at any question.
    return undefined;
  }
}
