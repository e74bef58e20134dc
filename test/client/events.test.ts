import { describe, expect, onTestFinished, test } from "vitest";
import { RemoteError } from "../../src/client/mod.ts";
import { OptionsError, type SchedulerEvent, StoreUnavailableError } from "../../src/mod.ts";
import { rejectionOf } from "../scheduler/support.ts";
import { json, setUpClient } from "./support.ts";

/** A stream of a server of the test. */
interface ServedStream {
  readonly route: string;
  readonly lastEventId: string | null;
  send(text: string): void;
  end(): void;
  break(): void;
  readonly isCancelled: boolean;
  /** Resolves when the client has left. */
  readonly cancelled: Promise<void>;
}

/** A client of a server with streams, whose events the test sends. */
function setUpStreams(answer: (count: number) => Response | null = () => null) {
  const streams: ServedStream[] = [];
  const arrivals: (() => void)[] = [];
  const encoder = new TextEncoder();
  const setup = setUpClient(({ route, headers }) => {
    if (!route.includes("/events")) return json({ items: [], cursor: null });
    const refusal = answer(streams.length);
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
    let isCancelled = false;
    let tell = (): void => {};
    const cancelled = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
      cancel: () => {
        isCancelled = true;
        tell();
      },
    });
    streams.push({
      route,
      lastEventId: headers.get("last-event-id"),
      send: (text) => controller?.enqueue(encoder.encode(text)),
      end: () => controller?.close(),
      break: () => controller?.error(new TypeError("terminated")),
      cancelled,
      get isCancelled() {
        return isCancelled;
      },
    });
    for (const arrive of arrivals.splice(0)) arrive();
    return refusal ?? new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  /** The stream with this number, as soon as the client opens it. */
  const stream = async (number: number): Promise<ServedStream> => {
    while (streams[number] === undefined) await new Promise<void>((resolve) => arrivals.push(resolve));
    return streams[number];
  };
  return { ...setup, streams, stream };
}

const OPENING = "retry: 2000\nid: e.0\n\n";

function added(seq: number, jobId: string, epoch = "e"): string {
  const event = {
    ...{ type: "jobAdded", timestamp: "2030-01-01T00:00:00Z", jobId, taskId: "t", scheduleId: null },
    ...{ executor: "inline", runAt: "2030-01-01T00:00:01.5Z", isLeased: false },
  };
  return `id: ${epoch}.${seq}\nevent: jobAdded\ndata: ${JSON.stringify(event)}\n\n`;
}

function paused(seq: number, taskId: string): string {
  const event = {
    ...{ type: "taskPaused", timestamp: "2030-01-01T00:00:00Z", taskId, concurrencyKey: null },
    ...{ until: null, reason: null, by: "scheduler" },
  };
  return `id: e.${seq}\nevent: taskPaused\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Notes the ids that events are about, and tells when so many have come. */
function recorder() {
  const ids: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const note = (event: SchedulerEvent<"jobAdded" | "taskPaused">): void => {
    ids.push("jobId" in event ? event.jobId : event.taskId);
    for (const { count, resolve } of waiting) if (ids.length >= count) resolve();
  };
  const come = (count: number): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ count, resolve });
      if (ids.length >= count) resolve();
    });
  return { ids, note, come };
}

describe("events", () => {
  test("come as beside a scheduler, with their instants", async () => {
    const { client, stream } = setUpStreams();
    const next = client.nextEvent("jobAdded");
    const { route, lastEventId, send } = await stream(0);
    expect([route, lastEventId]).toEqual(["GET /events?types=jobAdded", null]);
    send(OPENING + added(1, "j"));
    const { runAt, ...event } = await next;
    expect(String(runAt)).toBe("2030-01-01T00:00:01.5Z");
    expect(event).toEqual({
      ...{ type: "jobAdded", timestampMs: Date.UTC(2030, 0, 1), jobId: "j", taskId: "t", scheduleId: null },
      ...{ executor: "inline", runAtMs: Date.UTC(2030, 0, 1, 0, 0, 1, 500), isLeased: false },
    });
  });

  test("of all types are asked for without naming them", async () => {
    const { client, stream } = setUpStreams();
    client.subscribe(null, () => {});
    expect((await stream(0)).route).toBe("GET /events");
  });

  test("are iterated over until the client is closed", async () => {
    const { client, stream } = setUpStreams();
    const events = client.events("jobAdded");
    (await stream(0)).send(OPENING + added(1, "a") + added(2, "b"));
    const ids = [(await events.next()).value.jobId, (await events.next()).value.jobId];
    await client.close();
    expect([ids, await events.next()]).toEqual([["a", "b"], { value: undefined, done: true }]);
  });

  test("share one connection, which ends with the last listener", async () => {
    const { client, stream, streams } = setUpStreams();
    const { note, come } = recorder();
    const first = client.subscribe("jobAdded", note);
    const second = client.subscribe("jobAdded", note);
    const served = await stream(0);
    served.send(OPENING + added(1, "a"));
    await come(2);
    first.unsubscribe();
    expect(served.isCancelled).toBe(false);
    second.unsubscribe();
    await client.getTasks();
    expect([served.isCancelled, streams.length]).toEqual([true, 1]);
  });

  test("of a write are heard by who listened before it, because the write waits for the stream", async () => {
    const { client, stream, seen } = setUpStreams();
    client.subscribe("jobAdded", () => {});
    const cleanup = client.cleanup();
    const served = await stream(0);
    await client.getTasks();
    expect(seen.map(({ route }) => route)).toEqual(["GET /events?types=jobAdded", "GET /tasks"]);
    served.send(OPENING);
    await cleanup;
    expect(seen.at(-1)?.route).toBe("POST /cleanup");
  });

  test("of an unknown type are refused as beside a scheduler", () => {
    const { client } = setUpStreams();
    expect(() => client.subscribe("jobStarted" as never, () => {})).toThrow(OptionsError);
  });
});

describe("a stream that ends or breaks", () => {
  test.each(["end", "break"] as const)("goes on after the last event (%s)", async (how) => {
    const { client, clock, stream } = setUpStreams();
    const { ids, note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(OPENING + added(1, "a"));
    await come(1);
    first[how]();
    const [second] = await Promise.all([stream(1), clock.advance("PT10S")]);
    expect(second.lastEventId).toBe("e.1");
    second.send(`retry: 2000\n\n${added(2, "b")}`);
    await come(2);
    expect(ids).toEqual(["a", "b"]);
  });

  test("begins anew after a position that no header can bring back", async () => {
    const { client, clock, stream } = setUpStreams();
    const { note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(added(1, "a").replace("e.1", "☃"));
    await come(1);
    first.end();
    const [second] = await Promise.all([stream(1), clock.advance("PT10S")]);
    expect(second.lastEventId).toBe(null);
  });

  test("is opened anew within a minute, however long a pause the router asks for", async () => {
    const { client, clock, stream } = setUpStreams();
    const { note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(`retry: 99999999999999999999\n${added(1, "a")}`);
    await come(1);
    first.end();
    const [second] = await Promise.all([stream(1), clock.advance("PT1M")]);
    expect(second.lastEventId).toBe("e.1");
  });

  test("goes on after the last beat", async () => {
    const { client, clock, stream } = setUpStreams();
    const { note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(`${OPENING}: beat\nid: e.9\n\n${added(9, "a")}`);
    await come(1);
    first.end();
    const [second] = await Promise.all([stream(1), clock.advance("PT10S")]);
    expect(second.lastEventId).toBe("e.9");
  });

  test("is opened anew when nothing comes for 45 s", async () => {
    const { client, clock, stream } = setUpStreams();
    const { note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(OPENING + added(1, "a"));
    await come(1);
    const [second] = await Promise.all([stream(1), clock.advance("PT1M")]);
    expect([first.isCancelled, second.lastEventId]).toEqual([true, "e.1"]);
  });

  test("tells in the log that events were lost, when the router says so", async () => {
    const { client, stream, log } = setUpStreams();
    const next = client.nextEvent("jobAdded");
    (await stream(0)).send(
      `${OPENING}id: f.5\nevent: reset\ndata: {"type":"reset","reason":"lost"}\n\n${added(6, "a", "f")}`,
    );
    await next;
    expect(log).toEqual([
      { level: "warn", message: "escapement: events were lost while their stream was interrupted", details: [] },
    ]);
  });

  test("tells subscribers of the gap, when the router says that events were lost", async () => {
    const { client, stream } = setUpStreams();
    const gap = new Promise<string>((resolve) => {
      client.subscribe("jobAdded", () => resolve("an event"), { onGap: () => resolve("a gap") });
    });
    (await stream(0)).send(`${OPENING}id: f.5\nevent: reset\ndata: {"type":"reset","reason":"lost"}\n\n`);
    expect(await gap).toBe("a gap");
  });

  test("is opened anew while the router is busy, with ever longer pauses", async () => {
    const { client, clock, stream, log } = setUpStreams((count) =>
      count < 4 ? json({ code: "tooManyStreams" }, 503) : null,
    );
    const next = client.nextEvent("jobAdded");
    const [served] = await Promise.all([stream(4), clock.advance("PT30S")]);
    served.send(OPENING + added(1, "a"));
    expect((await next).jobId).toBe("a");
    expect(log.map(({ message }) => message)).toEqual([
      "escapement: the stream of events was interrupted; it is opened anew",
    ]);
  });
});

describe("a client that the router refuses", () => {
  test("ends waits for events with the reason", async () => {
    const { client } = setUpStreams(() => json({ code: "unauthorized", detail: "no" }, 401));
    const events = client.events("jobAdded");
    const [next, event] = await Promise.all([rejectionOf(client.nextEvent("jobAdded")), rejectionOf(events.next())]);
    expect(next).toBeInstanceOf(RemoteError);
    expect(next).toMatchObject({ code: "unauthorized", status: 401 });
    expect(event).toBe(next);
  });

  test("hears events when it is let in later", async () => {
    const { client, clock, stream } = setUpStreams((count) =>
      count === 0 ? json({ code: "unauthorized" }, 401) : null,
    );
    const { ids, note, come } = recorder();
    client.subscribe("jobAdded", note);
    const [served] = await Promise.all([stream(1), clock.advance("PT1M")]);
    served.send(OPENING + added(1, "a"));
    await come(1);
    expect(ids).toEqual(["a"]);
  });

  test("is not kept from writing", async () => {
    const { client } = setUpStreams(() => json({ code: "notFound" }, 404));
    client.subscribe("jobAdded", () => {});
    await client.cleanup();
  });
});

describe("further types of events", () => {
  test("come over a second connection, and nothing is lost or comes twice on the way", async () => {
    const { client, clock, stream, streams } = setUpStreams();
    const { ids, note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(OPENING + added(1, "a"));
    await come(1);
    client.subscribe("taskPaused", note);
    const second = await stream(1);
    expect([second.route, second.lastEventId]).toEqual(["GET /events?types=jobAdded%2CtaskPaused", null]);
    // The second one begins after the third event. Of the second and the third, the first one tells.
    second.send(`retry: 2000\nid: e.3\n\n${added(4, "d")}${paused(5, "p")}`);
    await come(3);
    expect(first.isCancelled).toBe(false);
    first.send(added(2, "b") + added(3, "c") + added(4, "d"));
    await come(5);
    second.send(added(6, "f"));
    await come(6);
    await clock.advance("PT1M");
    expect([ids, streams.length]).toEqual([["a", "d", "p", "b", "c", "f"], 2 + 1]);
    expect(first.isCancelled).toBe(true);
  });

  test("leave the first connection at once when another process answers", async () => {
    const { client, stream } = setUpStreams();
    const { ids, note, come } = recorder();
    client.subscribe("jobAdded", note);
    const first = await stream(0);
    first.send(OPENING);
    await client.cleanup();
    client.subscribe("taskPaused", note);
    const second = await stream(1);
    second.send(`id: other.7\n\n${added(8, "b", "other")}`);
    await come(1);
    await first.cancelled;
    expect(ids).toEqual(["b"]);
  });
});

test("a failing listener is told to the log, and disturbs nobody", async () => {
  const { client, stream, log } = setUpStreams();
  onTestFinished(() => client.close());
  const { note, come } = recorder();
  client.subscribe("jobAdded", () => {
    throw new StoreUnavailableError("listener");
  });
  client.subscribe("jobAdded", note);
  (await stream(0)).send(OPENING + added(1, "a"));
  await come(1);
  expect(log.map(({ message }) => message)).toEqual(["escapement: a listener of jobAdded failed"]);
});
