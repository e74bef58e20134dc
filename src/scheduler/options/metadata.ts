import { isPlain, mustBe } from "../../core/option-errors.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "../../core/text.ts";
import { SERIALIZED_LENGTH_MAX } from "../../records/limits.ts";
import type { Metadata } from "../../records/policies.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import { METADATA_DEPTH_MAX } from "./limits.ts";

const json = new JSONSerializer();

/** A copy of metadata, or what is wrong with it (`problem`). What a store could change or lose is refused. */
export function checkMetadata(value: unknown): { readonly metadata: Metadata } | { readonly problem: string } {
  if (!isPlain(value)) return { problem: mustBe("an object of JSON data", value) };
  let text: string;
  try {
    text = json.serialize(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/;.*/s, "") : String(error);
    const advice = reason.includes("class Date") ? "write date.toISOString()" : "write it as plain data";
    return { problem: `must be an object of JSON data: ${reason}; ${advice}` };
  }
  if (text.length > SERIALIZED_LENGTH_MAX) {
    return { problem: `must have at most ${SERIALIZED_LENGTH_MAX} characters as JSON; it has ${text.length}` };
  }
  const problem = problemIn(value, "", 1);
  return problem === null ? { metadata: JSON.parse(text) as Metadata } : { problem };
}

/** The first problem of a value that is JSON data, or null. `depth` is 1 for the metadata itself. */
function problemIn(value: unknown, path: string, depth: number): string | null {
  if (typeof value === "string") {
    return isStorable(value) ? null : `must hold ${STORABLE}; ${path} does not: ${STORABLE_ADVICE}`;
  }
  if (typeof value !== "object" || value === null) return null;
  if (depth > METADATA_DEPTH_MAX) return `must be nested at most ${METADATA_DEPTH_MAX} levels deep`;
  for (const [key, item] of Object.entries(value)) {
    const itemPath = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    if (key === "__proto__") return 'must have no key "__proto__": code that copies it would set a prototype';
    if (!isStorable(key)) return `must have keys of ${STORABLE}: ${STORABLE_ADVICE}`;
    const problem = problemIn(item, itemPath, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}
