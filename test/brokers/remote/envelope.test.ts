import { describe, expect, test } from "vitest";
import { EnvelopeWriter, readEnvelope } from "../../../src/brokers/remote/envelope.ts";
import { receivedEvents } from "../../../src/records/event-schema.ts";
import type { EventRecord } from "../../../src/records/events.ts";

/** What is left free for the largest number. */
const ROOM_FOR_NUMBERS = 16;

function added(taskId: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1, taskId };
}

function failed(text: string): EventRecord {
  const cause = { name: "Error", message: text, stack: text };
  const error = { name: "Error", message: text, stack: text, code: "E", cause };
  return { type: "scheduleFailed", timestampMs: 1, taskId: "t", scheduleId: "s", error };
}

function writer(bytesMax: number, namespace = "shop"): EnvelopeWriter {
  return new EnvelopeWriter({ namespace, from: "me", bytesMax });
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

describe("messages", () => {
  test("carry a namespace, their sender, their number and the events", () => {
    const messages = writer(10_000);
    expect([messages.write([added("a"), added("b")]), messages.write([added("c")])].flat().map(readEnvelope)).toEqual([
      { escapement: 1, namespace: "shop", from: "me", number: 1, events: [added("a"), added("b")] },
      { escapement: 1, namespace: "shop", from: "me", number: 2, events: [added("c")] },
    ]);
    expect(readEnvelope(messages.writeNumber())).toEqual({
      escapement: 1,
      namespace: "shop",
      from: "me",
      number: 2,
      events: [],
    });
  });

  test.each(["x", "ü", "\u{1F551}", '"\\', "\u0001", "\ud800"])(
    "are never larger than the limit, for ids of %j",
    (character) => {
      const events = Array.from({ length: 300 }, (_, index) => added(character.repeat(index % 100)));
      for (const bytesMax of [1000, 1001, 1002, 1003, 7999]) {
        const messages = writer(bytesMax, "ü").write(events);
        expect(messages.map(bytesOf).filter((bytes) => bytes > bytesMax)).toEqual([]);
        expect(messages.flatMap((message) => readEnvelope(message)?.events ?? [])).toEqual(events);
      }
    },
  );

  test("are as few as hold the events", () => {
    const events = Array.from({ length: 95 }, () => added("a"));
    const size = bytesOf(writer(100_000).write(events.slice(0, 10)).join(""));
    const messages = writer(size + ROOM_FOR_NUMBERS).write(events);
    expect(messages.map((message) => readEnvelope(message)?.events.length)).toEqual([...Array(9).fill(10), 5]);
  });

  test.each([
    ["large", [90, 1, 1, 1, 1]],
    ["small", [1, 90, 90, 90, 90]],
  ])("are as few as hold the events, also where the first one is %s", (_, lengths) => {
    const events = lengths.map((length) => added("a".repeat(length)));
    const size = bytesOf(writer(100_000).write(events).join("")) + ROOM_FOR_NUMBERS;
    const counts = (bytesMax: number): unknown[] =>
      writer(bytesMax)
        .write(events)
        .map((message) => readEnvelope(message)?.events.length);
    expect([counts(size), counts(size - ROOM_FOR_NUMBERS)]).toEqual([[5], [4, 1]]);
  });

  test("hold no more events than receivers take", () => {
    const messages = writer(100_000_000).write(Array.from({ length: 45_000 }, () => added("a")));
    expect(messages.map((message) => receivedEvents(readEnvelope(message)?.events).length)).toEqual([
      20_000, 20_000, 5000,
    ]);
  });

  test("are none where there are no events", () => {
    expect(writer(1000).write([])).toEqual([]);
  });
});

describe("an event that is too large", () => {
  test.each([
    ["x", 2000],
    ["ü", 2000],
    ["\u{1F551}", 2000],
    ["\u0001", 500],
  ])("loses the stack, the causes and the end of its error, in text of %j", (character, lengthMax) => {
    const event = failed(character.repeat(16_000 / character.length));
    const [message = ""] = writer(7999).write([event]);
    expect(bytesOf(message)).toBeLessThanOrEqual(7999);
    const text = character.repeat(lengthMax).slice(0, lengthMax);
    expect(receivedEvents(readEnvelope(message)?.events)).toEqual([
      { ...event, error: { name: "Error", message: `${text}...`, code: "E" } },
    ]);
  });

  test("loses the end of its note", () => {
    const progress = { type: "jobProgressed", timestampMs: 1, jobId: "j", taskId: "t", scheduleId: null } as const;
    const messages = writer(7999).write([{ ...progress, fraction: 0.5, note: "x".repeat(100_000) }]);
    expect(messages.flatMap((message) => receivedEvents(readEnvelope(message)?.events))).toEqual([
      { ...progress, fraction: 0.5, note: `${"x".repeat(2000)}...` },
    ]);
  });

  test("goes alone with what is left of it, between its neighbours in order", () => {
    const messages = writer(3000).write([added("a"), failed("x".repeat(10_000)), added("b")]);
    const types = messages.flatMap((message) => receivedEvents(readEnvelope(message)?.events).map(({ type }) => type));
    expect(types).toEqual(["taskAdded", "scheduleFailed", "taskAdded"]);
  });

  test("is left out where nothing can be taken from it, and its number is missing", () => {
    const messages = writer(300).write([added("a"), added("x".repeat(256)), added("b")]);
    expect(messages.map(readEnvelope).map((envelope) => [envelope?.number, envelope?.events])).toEqual([
      [1, [added("a")]],
      [3, [added("b")]],
    ]);
  });
});

test.each([
  "",
  "hello",
  "null",
  "7",
  "[]",
  "{}",
  '{"escapement":2,"namespace":"","events":[]}',
  '{"escapement":1,"events":[]}',
  '{"escapement":1,"namespace":7,"events":[]}',
  '{"escapement":1,"namespace":"","events":{}}',
  '{"escapement":1,"namespace":"","from":"a","events":[]}',
  '{"escapement":1,"namespace":"","number":1,"events":[]}',
  '{"escapement":1,"namespace":"","from":"a","number":1e300,"events":[]}',
  '{"escapement":1,"namespace":"","from":"a","number":"1","events":[]}',
  JSON.stringify({ escapement: 1, namespace: "", from: "x".repeat(257), number: 1, events: [] }),
  "[".repeat(100_000),
])("what is no message is none, case %#", (text) => {
  expect(readEnvelope(text)).toBeNull();
});

test("a writer knows its own messages, and no others", () => {
  const [own, other] = ["a", "b"].map((from) => new EnvelopeWriter({ namespace: "", from, bytesMax: 1000 }));
  const texts = [own, other].map((writer) => writer?.writeNumber() ?? "");
  expect([...texts, ""].map((text) => own?.isOwn(text))).toEqual([true, false, false]);
});
