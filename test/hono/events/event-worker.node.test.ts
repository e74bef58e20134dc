import { Miniflare } from "miniflare";
import { afterEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../../edge/bundle-worker.ts";
import { BlockReader } from "./reading.ts";

let worker: Miniflare | undefined;
let url = "";
afterEach(() => worker?.dispose());

/** A Worker behind a real socket. */
async function start(compatibilityFlags: string[] = []): Promise<void> {
  const modules = await bundleWorker(new URL("./event-worker.ts", import.meta.url));
  worker = new Miniflare({ ...modules, compatibilityFlags, host: "127.0.0.1", port: 0 });
  url = (await worker.ready).origin;
}

async function call(path: string): Promise<unknown> {
  return (await fetch(`${url}/${path}`)).json();
}

interface Opened {
  readonly reader: BlockReader;
  readonly epoch: string;
  /** Cuts the connection. */
  cut(): void;
}

async function open(lastEventId = ""): Promise<Opened> {
  const connection = new AbortController();
  const headers = { "last-event-id": lastEventId };
  const reader = new BlockReader(await fetch(`${url}/events`, { headers, signal: connection.signal }));
  const opening = await reader.next();
  return { reader, epoch: opening?.id?.split(".")[0] ?? "", cut: () => connection.abort() };
}

describe("in a Worker,", () => {
  test("what happens in one request reaches the streams of others, in order", async () => {
    await start();
    const opened = await Promise.all(Array.from({ length: 20 }, () => open()));
    await call("happen/3");
    await call("happen/2");
    const seen = await Promise.all(opened.map(({ reader }) => reader.take(5)));
    const wanted = [1, 2, 3, 4, 5].map((number) => ({ data: { taskId: `t${number}` } }));
    expect(seen).toMatchObject(opened.map(() => wanted));
  });

  test("a client that comes again gets what it missed, and a reset after a loss", async () => {
    await start();
    const { reader, epoch, cut } = await open();
    await call("happen/2");
    await reader.take(2);
    cut();
    await call("happen/3");
    const again = await open(`${epoch}.2`);
    expect((await again.reader.take(3)).map((block) => block?.id)).toEqual([3, 4, 5].map((seq) => `${epoch}.${seq}`));
    await call("happen/1001");
    const late = await open(`${epoch}.4`);
    expect((await late.reader.next())?.event).toBe("reset");
  });

  test("beats arrive, and a stream ends after 10 minutes", async () => {
    await start();
    const { reader } = await open();
    for (let beat = 1; beat < 40; beat++) {
      await call("advance/15");
      expect((await reader.next())?.comment).toBe("beat");
    }
    await call("advance/15");
    expect([await reader.next(), await call("size")]).toEqual([null, 0]);
  });

  test("200 streams work, and clients that are gone make room, although the runtime tells of none", async () => {
    await start();
    const opened: Opened[] = [];
    for (let count = 0; count < 200; count++) opened.push(await open());
    await call("happen/1");
    const seen = await Promise.all(opened.map(({ reader }) => reader.next()));
    expect(seen).toMatchObject(opened.map(() => ({ data: { taskId: "t1" } })));
    expect((await fetch(`${url}/events`)).status).toBe(503);
    for (const { cut } of opened.slice(1)) cut();
    // The first beat is sent to clients that are gone, and ends their requests. Four more are missing then. A busy
    // runtime learns late that a connection was cut, so that other beats may be needed; after 40 the first stream ends.
    let size: unknown;
    for (let round = 1; size !== 2 && round <= 7; round++) {
      for (let beats = 0; beats < 5; beats++) await call("advance/15");
      const last = await fetch(`${url}/events`);
      size = await call("size");
      if (size !== 2) await last.body?.cancel();
    }
    expect(size).toBe(2);
    // A stream whose client is there has lost nothing.
    await call("happen/1");
    expect((await opened[0]?.reader.until("taskRemoved"))?.at(-1)?.data).toMatchObject({ taskId: "t2" });
  });

  test("clients that are gone are freed by the next event with the flag enable_request_signal", async () => {
    await start(["enable_request_signal"]);
    const opened = await Promise.all(Array.from({ length: 10 }, () => open()));
    for (const { cut } of opened) cut();
    while ((await call("size")) !== 0) await call("happen/1");
  });
});
