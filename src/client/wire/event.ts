import { receivedEvents } from "../../records/event-schema.ts";
import type { EventRecord } from "../../records/events.ts";
import { instantMs } from "./values.ts";

/** The fields of events that are instants. In records they end in `Ms`. */
const INSTANTS: readonly string[] = [
  ...["timestamp", "nextFireTime", "fireTime", "runAt", "scheduledFireTime", "startedAt"],
];

/** The event that a text of a stream is. @param onRefused called with the reason when it is none
 *  @returns null for what is no event, or one that only a newer version knows */
export function eventOf(text: string, onRefused: (reason: string) => void): EventRecord | null {
  return receivedEvents([recordOf(text)], onRefused)[0] ?? null;
}

function recordOf(text: string): unknown {
  try {
    const plain: unknown = JSON.parse(text);
    if (typeof plain !== "object" || plain === null) return plain;
    return Object.fromEntries(
      Object.entries(plain).map(([name, value]) =>
        INSTANTS.includes(name) ? [`${name}Ms`, typeof value === "string" ? instantMs(value) : value] : [name, value],
      ),
    );
  } catch {
    return null;
  }
}
