import { receivedEvents } from "../../records/event-schema.ts";
import type { EventRecord } from "../../records/events.ts";
import { instantMs } from "./values.ts";

/** The fields of events that are instants. In records they end in `Ms`. */
const INSTANTS: readonly string[] = [
  ...["timestamp", "nextFireTime", "fireTime", "formerFireTime", "runAt", "scheduledFireTime", "startedAt"],
  ...["dueAt", "raisedAt", "until"],
];

/** The event that a text of a stream is. @param onRefused called with the reason when it is none
 *  @returns null for what is no event, or one that only a newer version knows */
export function eventOf(text: string, onRefused: (reason: string) => void): EventRecord | null {
  return receivedEvents([recordOf(text)], onRefused)[0] ?? null;
}

function recordOf(text: string): unknown {
  try {
    return factsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

function factsOf(plain: unknown): unknown {
  if (typeof plain !== "object" || plain === null) return plain;
  return Object.fromEntries(
    Object.entries(plain).map(([name, value]) => {
      if (Array.isArray(value)) return [name, value.map(factsOf)];
      return INSTANTS.includes(name)
        ? [`${name}Ms`, typeof value === "string" ? instantMs(value) : value]
        : [name, value];
    }),
  );
}
