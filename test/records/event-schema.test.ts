import { describe, expect, test } from "vitest";
import { receivedEvents } from "../../src/records/event-schema.ts";
import { ERROR_CAUSES_MAX, EVENTS_PER_MESSAGE_MAX } from "../../src/records/limits.ts";
import { type SerializedError, serializedError } from "../../src/records/serialized-error.ts";

const EVENT = { type: "taskAdded", timestampMs: 1, taskId: "t" };

/** What a message is taken for, and why something of it is dropped. */
function read(message: unknown): { events: unknown[]; refused: string[] } {
  const refused: string[] = [];
  return { events: receivedEvents(message, (reason) => refused.push(reason)), refused };
}

describe("events that a broker received", () => {
  test("come without the fields that this version does not know", () => {
    expect(read([{ ...EVENT, more: 1 }])).toEqual({ events: [EVENT], refused: [] });
  });

  test("of an earlier version are completed, and those of this version are kept as they are", () => {
    const old = {
      type: "jobAcquired",
      timestampMs: 1,
      taskId: "t",
      jobId: "j",
      scheduleId: "s",
      schedulerId: "x",
      attempt: 1,
    };
    const resumed = { type: "schedulerResumed", timestampMs: 1, schedulerId: "x" };
    const paused = { ...resumed, type: "schedulerPaused", reason: null };
    const present = [{ ...old, scheduledFireTimeMs: 5 }, paused, resumed];
    expect(read([old, ...present])).toEqual({
      events: [{ ...old, scheduledFireTimeMs: null }, ...present],
      refused: [],
    });
  });

  test("are dropped with a reason when they are none, and the others stay", () => {
    expect(read([null, EVENT, { ...EVENT, taskId: 7 }, { type: "toString" }])).toEqual({
      events: [EVENT],
      refused: [
        "a message that is no event is dropped",
        'an event of the type "taskAdded" is dropped, because its taskId is not what it must be',
        'events of the type "toString" are dropped, because this version knows none',
      ],
    });
  });

  test("are dropped when they cannot be read at all", () => {
    const trap = new Proxy({}, { get: () => { throw new Error("hands off"); } }); // biome-ignore format: one line
    expect(read([trap])).toEqual({ events: [], refused: ["a message that cannot be read is dropped"] });
  });

  test("are dropped when their list cannot be read", () => {
    const trap = new Proxy([], { get: () => { throw new Error("hands off"); } }); // biome-ignore format: one line
    const refused: string[] = [];
    expect(receivedEvents(trap, (reason) => refused.push(reason))).toEqual([]);
    expect(refused).toEqual(["a message that is no list of events is dropped"]);
  });

  test("are bounded in number", () => {
    const { events, refused } = read(Array.from({ length: EVENTS_PER_MESSAGE_MAX + 1 }, () => EVENT));
    expect([events.length, refused.length]).toEqual([EVENTS_PER_MESSAGE_MAX, 1]);
  });

  test("keep as many causes of an error as are kept anywhere, and no more", () => {
    let error: Error = new Error("the deepest");
    for (let depth = 0; depth < 2 * ERROR_CAUSES_MAX; depth++) error = new Error("outer", { cause: error });
    const event = {
      type: "scheduleFailed",
      timestampMs: 1,
      taskId: "t",
      scheduleId: "s",
      error: serializedError(error),
    };
    const deeper = structuredClone(event);
    deepest(deeper.error).cause = { name: "Error", message: "" };
    expect(read([event, deeper])).toEqual({ events: [event, event], refused: [] });
  });
});

function deepest(error: { cause?: SerializedError }): { cause?: SerializedError } {
  return error.cause === undefined ? error : deepest(error.cause);
}
