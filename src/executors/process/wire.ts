import { Buffer } from "node:buffer";
import process from "node:process";
import { types } from "node:util";
import { deserialize, serialize } from "node:v8";

// Processes talk in JSON, because Node and Bun copy it several times as fast as anything else. What JSON would change,
// such as dates and maps, is copied by the runtime's own serializer, and goes through JSON as base64. Deno is faster
// with structured clones than with JSON. But it finds out that a value cannot be copied when it has sent a part of the
// message, and then the connection is broken: so the value is copied once before.

/** How the runtime itself copies messages. */
export const SERIALIZATION: "json" | "advanced" = process.versions.deno === undefined ? "json" : "advanced";

/** A list of messages as JSON takes it. */
export type Wired = { readonly escapement: readonly object[] } | { readonly escapementBytes: string };

/** @throws what the runtime throws about a value that it cannot copy */
export function toWire(messages: readonly object[]): Wired {
  const budget = { values: JSON_VALUES_MAX };
  if (messages.every((message) => Object.values(message).every((value) => isJson(value, budget)))) {
    return { escapement: messages };
  }
  if (SERIALIZATION === "advanced") return { escapement: structuredClone(messages) };
  return { escapementBytes: serialize(messages).toString("base64") };
}

/** What came through the channel; null for what cannot be read. Whoever gets it checks it. */
export function fromWire(data: unknown): unknown {
  if (typeof data !== "object" || data === null || !("escapementBytes" in data)) return data;
  try {
    return { escapement: deserialize(Buffer.from(String(data.escapementBytes), "base64")) };
  } catch {
    // A program may send messages of its own.
    return null;
  }
}

/** Most values that are looked at one by one. */
const JSON_VALUES_MAX = 10_000;
/** Deepest value that is looked at. It ends cycles. */
const JSON_DEPTH_MAX = 100;

/** Whether a field of a message is the same after JSON. A field may be undefined, because it is then absent. */
function isJson(value: unknown, budget: { values: number }): boolean {
  return value === undefined || isSameInJson(value, budget, 0);
}

function isSameInJson(value: unknown, budget: { values: number }, depth: number): boolean {
  if (--budget.values < 0 || depth > JSON_DEPTH_MAX) return false;
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      return value === null || isSameObject(value, budget, depth + 1);
    default:
      return false;
  }
}

function isSameObject(value: object, budget: { values: number }, depth: number): boolean {
  // A Proxy looks like plain data, but cannot be cloned.
  if (SERIALIZATION === "advanced" && types.isProxy(value)) return false;
  if (Array.isArray(value)) {
    // By index, because holes are to be seen.
    for (let index = 0; index < value.length; index++) if (!isSameInJson(value[index], budget, depth)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) {
    if (!isSameInJson((value as Record<string, unknown>)[key], budget, depth)) return false;
  }
  return true;
}
