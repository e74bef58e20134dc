import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventRecord } from "../../../src/contracts.ts";
import { EventStreams } from "../../../src/hono/events/event-streams.ts";
import { LocalEventBroker, Scheduler } from "../../../src/mod.ts";
import { VirtualClock } from "../../../src/testing/mod.ts";
import { START, START_MS } from "../../scheduler/support.ts";
import { type HttpServer, startServer } from "../../support/http-server.ts";
import { BlockReader } from "./reading.ts";

let broker: LocalEventBroker;
let clock: VirtualClock;
let streams: WatchedStreams;
let scheduler: Scheduler;
let server: HttpServer;
beforeEach(async () => {
  broker = new LocalEventBroker();
  clock = new VirtualClock(START);
  scheduler = new Scheduler({ clock, eventBroker: broker });
  streams = new WatchedStreams({ clock });
  server = await startServer((request) => streams.answer(scheduler, request));
});
afterEach(async () => {
  await server.stop();
});

/** Streams whose number can be waited for. */
class WatchedStreams extends EventStreams {
  /** Resolves when there are so many. The runtime says in its own time that a client has gone. */
  async become(count: number): Promise<void> {
    while (this.size !== count) await new Promise((resolve) => setImmediate(resolve));
  }
}

const happen = (...events: EventRecord[]): Promise<void> => broker.publish(events);

function progressed(number: number, note: string | null = null): EventRecord<"jobProgressed"> {
  const facts = { jobId: `j${number}`, taskId: "t", scheduleId: null };
  return { type: "jobProgressed", timestampMs: START_MS, fraction: 0.5, note, ...facts };
}

async function open(headers: Record<string, string> = {}): Promise<{ reader: BlockReader; epoch: string }> {
  const reader = new BlockReader(await fetch(server.url, { headers }));
  const opening = await reader.next();
  return { reader, epoch: opening?.id?.split(".")[0] ?? "" };
}

/** A client that has sent its request, and reads nothing before the test wants it. */
async function openSocket(): Promise<Socket> {
  const before = streams.size;
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAccept: text/event-stream\r\n\r\n`);
  await streams.become(before + 1);
  return socket;
}

describe("over real connections", () => {
  test("events, beats and what was missed arrive", async () => {
    const { reader, epoch } = await open();
    await happen(progressed(1));
    const first = await reader.next();
    const beat = reader.next();
    await clock.advance("PT15S");
    expect([first?.data, await beat]).toMatchObject([{ jobId: "j1" }, { comment: "beat", id: `${epoch}.1` }]);
    await reader.leave();
    await happen(progressed(2));
    const again = await open({ "last-event-id": `${epoch}.1` });
    expect((await again.reader.next())?.data).toMatchObject({ jobId: "j2" });
    await again.reader.leave();
  });

  test("a stream ends after 10 minutes", async () => {
    const { reader } = await open();
    await clock.advance("PT10M");
    let block = await reader.next();
    while (block !== null) block = await reader.next();
    expect(streams.size).toBe(0);
  });

  test("200 clients get each event, and the next one gets 503 until one leaves", async () => {
    const readers = await Promise.all(Array.from({ length: 200 }, () => open()));
    const refused = await fetch(server.url);
    expect([refused.status, (await refused.json()) as unknown]).toMatchObject([503, { code: "tooManyStreams" }]);
    await happen(progressed(1), progressed(2));
    const blocks = await Promise.all(readers.map(({ reader }) => reader.take(2)));
    const wanted = [{ data: { jobId: "j1" } }, { data: { jobId: "j2" } }];
    expect(blocks).toMatchObject(readers.map(() => wanted));
    await readers[0]?.reader.leave();
    await streams.become(199);
    const { reader } = await open();
    await Promise.all([reader, ...readers.slice(1).map((one) => one.reader)].map((one) => one.leave()));
    await streams.become(0);
  });

  test("a client that cuts its connection is freed, with its timer, while nothing happens", async () => {
    const sleepers = clock.sleeperCount;
    const socket = await openSocket();
    await once(socket, "data");
    socket.destroy();
    await streams.become(0);
    await clock.settle();
    expect(clock.sleeperCount).toBe(sleepers);
  });

  test("a client that reads nothing gets a reset, and is freed when it goes", async () => {
    const socket = await openSocket();
    const note = "x".repeat(1000);
    // More than what the buffers of two sockets hold, and then more events than may wait.
    for (let count = 0; count < 20_000; count++) {
      await happen(progressed(count, note));
      if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await happen({ type: "taskRemoved", timestampMs: START_MS, taskId: "the end" });
    let resets = 0;
    let rest = "";
    for await (const data of socket) {
      const blocks = (rest + String(data)).split("\n\n");
      rest = blocks.pop() ?? "";
      resets += blocks.filter((block) => block.includes('data: {"type":"reset","reason":"slow"}')).length;
      if (blocks.some((block) => block.includes('"the end"'))) break;
    }
    expect(resets).toBe(1);
    socket.destroy();
    await streams.become(0);
  });
});
