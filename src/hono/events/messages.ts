import type { EventRecord, EventType } from "../../records/events.ts";
import { plainEvent } from "../../scheduler/events/plain-event.ts";
import { EVENT_RETRY_MS } from "./limits.ts";

// The text of Server-Sent Events: https://html.spec.whatwg.org/multipage/server-sent-events.html
// A block with an id and without data moves the position of the reader, and is no event for it.

/** An event as the streams send it. */
export interface EventMessage {
  readonly record: EventRecord;
  readonly text: string;
}

/** Which events a reader wants: those of which all that is given is true. */
export interface WantedEvents {
  readonly types?: ReadonlySet<EventType> | undefined;
  readonly taskId?: string | undefined;
  readonly scheduleId?: string | undefined;
}

export function isWanted(record: EventRecord, { types, ...ids }: WantedEvents): boolean {
  if (types?.has(record.type) === false) return false;
  return Object.entries(ids).every(([name, id]) => id === undefined || Reflect.get(record, name) === id);
}

/** Why a reader has to read the present state anew: events that it has not seen are not kept any more, or never came
 *  (`lost`), or it was too slow for what happened (`slow`). */
export type ResetReason = "lost" | "slow";

/** @param position of the reader after this event */
export function eventText(record: EventRecord, position: string): string {
  return `id: ${position}\nevent: ${record.type}\ndata: ${JSON.stringify(plainEvent(record))}\n\n`;
}

/** What a stream begins with, so that its headers are sent at once. @param position of the reader; null when it brought
 *  its own */
export function openingText(position: string | null): string {
  return `retry: ${EVENT_RETRY_MS}\n${idLine(position)}\n`;
}

/** A heartbeat. */
export function beatText(position: string): string {
  return `: beat\n${idLine(position)}\n`;
}

export function resetText(reason: ResetReason, position: string): string {
  return `${idLine(position)}event: reset\ndata: ${JSON.stringify({ type: "reset", reason })}\n\n`;
}

function idLine(position: string | null): string {
  return position === null ? "" : `id: ${position}\n`;
}
