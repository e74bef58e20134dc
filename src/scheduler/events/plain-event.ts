import { instantText } from "../../core/temporal.ts";
import type { EventRecord, EventType } from "../../records/events.ts";
import { type SerializedError, shownError } from "../../records/serialized-error.ts";

/** An event as it travels over HTTP: the fields of its record, but each instant is ISO 8601 text, in a field without
 *  the ending `Ms`. For example, `runAt` in place of `runAtMs`. An error has no `stack` and no
 *  `properties`, because whoever may see events need not see the program. */
export type PlainEvent<T extends EventType = EventType> = { [K in T]: PlainFacts<EventRecord<K>> }[T];

type PlainFacts<Facts> = {
  readonly [Name in keyof Facts as Name extends `${infer Instant}Ms` ? Instant : Name]: Name extends `${string}Ms`
    ? InstantText<Facts[Name]>
    : Facts[Name] extends readonly (infer Item)[]
      ? readonly PlainFacts<Item>[]
      : Facts[Name];
};

type InstantText<Ms> = null extends Ms ? string | null : string;

/** The plain form of an event. */
export function plainEvent<T extends EventType>(record: EventRecord<T>): PlainEvent<T> {
  return plainFacts(record) as PlainEvent<T>;
}

function plainFacts(facts: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (name.endsWith("Ms")) plain[name.slice(0, -2)] = typeof value === "number" ? instantText(value) : null;
    else if (Array.isArray(value)) plain[name] = value.map(plainFacts);
    else plain[name] = name === "error" && value !== null ? shownError(value as SerializedError) : value;
  }
  return plain;
}
