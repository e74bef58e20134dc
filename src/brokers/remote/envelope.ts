import type { EventRecord } from "../../records/events.ts";
import { EVENTS_PER_MESSAGE_MAX, ID_LENGTH_MAX } from "../../records/limits.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import { SLIM_TEXT_LENGTHS } from "./limits.ts";

/**
 * A message between brokers, as JSON. Receivers take the events through `receivedEvents`, because anybody may post on a
 * channel.
 */
export interface Envelope {
  readonly escapement: 1;
  /** Which of the stores that share the channel the events belong to. */
  readonly namespace: string;
  /** The broker that sends: a new name each time that it is opened. Absent in messages of others. */
  readonly from?: string;
  /** The number of the message among those of its sender, from 1 on. Who sees a number twice drops the second message;
   *  who misses one knows that events were lost. */
  readonly number?: number;
  readonly events: readonly unknown[];
}

/** Makes the messages of one sender. */
export class EnvelopeWriter {
  /** The text of a message up to its number. */
  readonly #head: string;
  /** Room for the events of a message, in bytes, with the commas between them. */
  readonly #room: number;
  #number = 0;

  /** @param bytesMax largest message of the transport, in bytes of UTF-8 */
  constructor(options: { namespace: string; from: string; bytesMax: number }) {
    const { namespace, from, bytesMax } = options;
    this.#head = `{"escapement":1,"namespace":${JSON.stringify(namespace)},"from":"${from}","number":`;
    this.#room = bytesMax - byteLength(this.#head) - NUMBER_AND_END_BYTES;
  }

  /**
   * The messages that carry these events, in order: as few as hold them. An event that is too large by itself loses
   * what a receiver can do without: the stack, the causes and the end of an error, and the end of a note. If even that
   * is too large, the event is left out, and its number with it, so that receivers know that one is missing.
   */
  write(events: readonly EventRecord[]): string[] {
    if (events.length === 0) return [];
    if (events.length <= EVENTS_PER_MESSAGE_MAX && this.#mayFit(events)) {
      // One call for all of them takes half the time of one for each.
      const list = JSON.stringify(events).slice(1, -1);
      if (isWithin(list, this.#room)) return [this.#message(list)];
    }
    return this.#split(events);
  }

  /** Whether a text is a message of this writer, found without reading it all: where servers send each message back,
   *  half of what comes is a broker's own. */
  isOwn(text: string): boolean {
    return text.startsWith(this.#head);
  }

  /** A message without events. It tells receivers whether they have missed one. */
  writeNumber(): string {
    return `${this.#head}${this.#number},"events":[]}`;
  }

  /** Whether the events would fit into one message if all were as large as the first. */
  #mayFit(events: readonly EventRecord[]): boolean {
    return JSON.stringify(events[0]).length * events.length <= this.#room;
  }

  #split(events: readonly EventRecord[]): string[] {
    const messages: string[] = [];
    let items: string[] = [];
    let bytes = 0;
    const end = (): void => {
      if (items.length > 0) messages.push(this.#message(items.join(",")));
      items = [];
      bytes = 0;
    };
    for (const event of events) {
      const item = fitting(event, JSON.stringify(event), this.#room);
      if (item === null) {
        end();
        this.#number++;
        continue;
      }
      const size = byteLength(item) + 1;
      if (bytes + size > this.#room + 1 || items.length >= EVENTS_PER_MESSAGE_MAX) end();
      items.push(item);
      bytes += size;
    }
    end();
    return messages;
  }

  #message(list: string): string {
    return `${this.#head}${++this.#number},"events":[${list}]}`;
  }
}

/** Room for the number, and for the list's brackets: 16 digits, and `,"events":[]}`. */
const NUMBER_AND_END_BYTES = 30;

/** The envelope that a text holds, or null. Never throws. */
export function readEnvelope(text: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(text);
    return isEnvelope(value) ? value : null;
  } catch {
    return null;
  }
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null) return false;
  const { escapement, namespace, from, number, events } = value as { readonly [K in keyof Envelope]: unknown };
  // Names of senders are remembered, so that they are short.
  const isSigned = typeof from === "string" && from.length <= ID_LENGTH_MAX && Number.isSafeInteger(number);
  return (
    escapement === 1 &&
    typeof namespace === "string" &&
    (isSigned || (from === undefined && number === undefined)) &&
    Array.isArray(events)
  );
}

/** The event's JSON, of `bytesMax` bytes at most; null when no form of it is so small. */
function fitting(event: EventRecord, whole: string, bytesMax: number): string | null {
  if (isWithin(whole, bytesMax)) return whole;
  for (const lengthMax of SLIM_TEXT_LENGTHS) {
    const item = JSON.stringify(slim(event, lengthMax));
    if (isWithin(item, bytesMax)) return item;
  }
  return null;
}

function slim(event: EventRecord, lengthMax: number): EventRecord {
  if (event.type === "jobProgressed")
    return { ...event, note: event.note === null ? null : cut(event.note, lengthMax) };
  return "error" in event && event.error !== null
    ? ({ ...event, error: slimError(event.error, lengthMax) } as EventRecord)
    : event;
}

function slimError({ name, message, code }: SerializedError, lengthMax: number): SerializedError {
  const slimmed = { name: cut(name, lengthMax), message: cut(message, lengthMax) };
  return code === undefined ? slimmed : { ...slimmed, code: cut(code, lengthMax) };
}

/** A cut may halve a surrogate pair. */
function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax).toWellFormed()}...`;
}

const encoder = new TextEncoder();

const NOT_ASCII = /[\u0080-\uffff]/;

/** Bytes of a text in UTF-8. Most texts are of ASCII, and to see that is faster than to encode them. */
function byteLength(text: string): number {
  return NOT_ASCII.test(text) ? encoder.encode(text).length : text.length;
}

/** A UTF-16 unit takes 3 bytes at most, so that short texts need no count. */
function isWithin(text: string, bytesMax: number): boolean {
  return text.length * 3 <= bytesMax || byteLength(text) <= bytesMax;
}
