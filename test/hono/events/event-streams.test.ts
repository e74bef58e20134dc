import { describe, expect, test } from "vitest";
import type { EventBroker, EventRecord } from "../../../src/contracts.ts";
import { EventStreams, type EventStreamsOptions } from "../../../src/hono/events/event-streams.ts";
import type { WantedEvents } from "../../../src/hono/events/messages.ts";
import { LocalEventBroker, type Scheduler } from "../../../src/mod.ts";
import { VirtualClock } from "../../../src/testing/mod.ts";
import { START, START_MS, setUp } from "../../scheduler/support.ts";
import { BlockReader } from "./reading.ts";

/** Streams of a scheduler that was not started, with a broker by which the test tells what happens. */
function make({ maxStreams }: { maxStreams?: number } = {}): {
  clock: VirtualClock;
  streams: Streams;
  scheduler: Scheduler;
  happen: (...events: EventRecord[]) => Promise<void>;
} {
  const eventBroker = new LocalEventBroker();
  const { scheduler, clock } = setUp({ eventBroker, clock: new VirtualClock(START) });
  const streams = streamsOf(scheduler, { clock, maxStreams });
  return { clock, streams, scheduler, happen: (...events) => eventBroker.publish(events) };
}

interface Streams {
  readonly size: number;
  answer(request: Request, wanted?: WantedEvents): Response;
}

function streamsOf(scheduler: Scheduler, options: EventStreamsOptions): Streams {
  const streams = new EventStreams(options);
  return {
    get size() {
      return streams.size;
    },
    answer: (request, wanted) => streams.answer(scheduler, request, wanted),
  };
}

function ask(lastEventId?: string, signal?: AbortSignal): Request {
  return new Request("http://localhost/events", {
    ...(lastEventId === undefined ? {} : { headers: { "last-event-id": lastEventId } }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function added(number: number): EventRecord<"jobAdded"> {
  const facts = { jobId: `j${number}`, taskId: "t", scheduleId: null, executor: "inline", isLeased: false };
  return { type: "jobAdded", timestampMs: START_MS, runAtMs: START_MS + 1500, ...facts };
}

function removed(taskId: string): EventRecord<"taskRemoved"> {
  return { type: "taskRemoved", timestampMs: START_MS, taskId };
}

function many(count: number, from = 1): EventRecord[] {
  return Array.from({ length: count }, (_, index) => added(from + index));
}

/** Opens a stream and reads the block that it begins with. */
async function open(streams: Streams, lastEventId?: string): Promise<{ reader: BlockReader; epoch: string }> {
  const reader = new BlockReader(streams.answer(ask(lastEventId)));
  const opening = await reader.next();
  expect(opening?.retry).toBe("2000");
  return { reader, epoch: opening?.id?.split(".")[0] ?? "" };
}

describe("a stream", () => {
  test("begins at once with its position, and carries events as their records with instants as text", async () => {
    const { streams, happen } = make();
    const { reader, epoch } = await open(streams);
    await happen(added(1));
    expect(await reader.next()).toEqual({
      id: `${epoch}.1`,
      event: "jobAdded",
      data: {
        type: "jobAdded",
        timestamp: "2030-01-01T00:00:00Z",
        jobId: "j1",
        taskId: "t",
        scheduleId: null,
        executor: "inline",
        runAt: "2030-01-01T00:00:01.5Z",
        isLeased: false,
      },
    });
  });

  test("shows errors without the stacks of the program, those of causes too", async () => {
    const { streams, happen } = make();
    const { reader } = await open(streams);
    const cause = { name: "TypeError", message: "inner", stack: "at secret.ts:1" };
    const error = { name: "Error", message: "line 1\nline 2", stack: "at secret.ts:2", code: "E", cause };
    const facts = { scheduledFireTimeMs: null, startedAtMs: START_MS };
    await happen(
      {
        ...facts,
        type: "jobReleased",
        timestampMs: START_MS,
        jobId: "j",
        taskId: "t",
        scheduleId: "s",
        ...ended(error),
      },
      {
        ...facts,
        type: "jobReleased",
        timestampMs: START_MS,
        jobId: "k",
        taskId: "t",
        scheduleId: "s",
        ...ended(null),
      },
    );
    const plain = {
      type: "jobReleased",
      timestamp: "2030-01-01T00:00:00Z",
      jobId: "j",
      taskId: "t",
      scheduleId: "s",
      schedulerId: "w",
      outcome: "error",
      error: { name: "Error", message: "line 1\nline 2", code: "E", cause: { name: "TypeError", message: "inner" } },
      scheduledFireTime: null,
      startedAt: "2030-01-01T00:00:00Z",
    };
    expect((await reader.take(2)).map((block) => block?.data)).toEqual([plain, { ...plain, jobId: "k", error: null }]);
  });

  test("of some types leaves out the others", async () => {
    const { streams, happen } = make();
    const reader = new BlockReader(streams.answer(ask(), { types: new Set(["taskRemoved"]) }));
    await reader.next();
    await happen(added(1), removed("a"), added(2), removed("b"));
    expect((await reader.take(2)).map((block) => block?.data)).toMatchObject([{ taskId: "a" }, { taskId: "b" }]);
  });

  test("beats every 15 seconds, and each beat moves the position of its reader", async () => {
    const { streams, happen, clock } = make();
    const reader = new BlockReader(streams.answer(ask(), { types: new Set(["taskRemoved"]) }));
    const epoch = (await reader.next())?.id?.split(".")[0];
    await happen(...many(3));
    const beats: unknown[] = [];
    for (const _ of [1, 2]) {
      const next = reader.next();
      await clock.advance("PT15S");
      beats.push(await next);
    }
    expect(beats).toEqual(Array(2).fill({ comment: "beat", id: `${epoch}.3` }));
  });

  test("ends after 10 minutes, and the client that comes again misses nothing", async () => {
    const { streams, happen, clock } = make();
    const { reader, epoch } = await open(streams);
    await happen(added(1));
    expect((await reader.next())?.id).toBe(`${epoch}.1`);
    for (let beat = 1; beat < 40; beat++) {
      await clock.advance("PT15S");
      expect((await reader.next())?.comment).toBe("beat");
    }
    await clock.advance("PT15S");
    expect([await reader.next(), streams.size]).toEqual([null, 0]);
    await happen(added(2));
    const again = await open(streams, `${epoch}.1`);
    expect((await again.reader.next())?.data).toMatchObject({ jobId: "j2" });
  });

  test("answers HEAD without a body, and does not count as one", async () => {
    const { streams } = make();
    const answer = streams.answer(new Request("http://localhost/events", { method: "HEAD" }));
    expect([answer.status, answer.headers.get("content-type"), answer.body, streams.size]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      null,
      0,
    ]);
  });

  test("is kept by no cache, and neither compressed nor collected on its way", async () => {
    const { streams } = make();
    const { headers } = streams.answer(ask());
    expect([headers.get("cache-control"), headers.get("x-accel-buffering")]).toEqual(["no-store, no-transform", "no"]);
  });
});

type End = Pick<EventRecord<"jobReleased">, "outcome" | "schedulerId" | "error">;

function ended(error: End["error"]): End {
  return { schedulerId: "w", outcome: "error", error };
}

describe("a client that comes again", () => {
  test("gets what it missed, in order and once, and then what happens", async () => {
    const { streams, happen } = make();
    const { reader, epoch } = await open(streams);
    await happen(...many(5));
    await reader.take(2);
    await reader.leave();
    await happen(...many(5, 6));
    const again = await open(streams, `${epoch}.2`);
    await happen(added(11));
    const ids = (await again.reader.take(9)).map((block) => block?.id);
    expect(ids).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11].map((seq) => `${epoch}.${seq}`));
  });

  test("gets the last 1,000 events, and a reset when there were more", async () => {
    const { streams, happen } = make();
    const { reader, epoch } = await open(streams);
    await happen(...many(1000));
    await reader.leave();
    const whole = await open(streams, `${epoch}.0`);
    expect((await whole.reader.take(1000)).map((block) => block?.id)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `${epoch}.${index + 1}`),
    );
    await happen(added(1001));
    const late = await open(streams, `${epoch}.0`);
    await happen(added(1002));
    expect((await late.reader.take(2)).map((block) => [block?.id, block?.event, block?.data])).toMatchObject([
      [`${epoch}.1001`, "reset", { type: "reset", reason: "lost" }],
      [`${epoch}.1002`, "jobAdded", { jobId: "j1002" }],
    ]);
  });

  test("gets a reset when its position is of another process, of the future, or none at all", async () => {
    const { streams, happen } = make();
    const { epoch } = await open(streams);
    await happen(added(1));
    const wrong = ["2", "", "1.1", "-1", "1e0"].map((seq) => `${epoch}.${seq}`);
    const positions = ["zzz.1", "nonsense", ...wrong];
    const answers: unknown[] = [];
    for (const position of positions) answers.push(await (await open(streams, position)).reader.next());
    expect(answers).toEqual(
      positions.map(() => ({ id: `${epoch}.1`, event: "reset", data: { type: "reset", reason: "lost" } })),
    );
  });

  test("gets none of the events before it when it brings no position", async () => {
    const { streams, happen } = make();
    await open(streams);
    await happen(added(1));
    const { reader } = await open(streams, "");
    await happen(added(2));
    expect((await reader.next())?.data).toMatchObject({ jobId: "j2" });
  });

  test("gets a reset when errors too long to be kept lie between", async () => {
    const { streams, happen } = make();
    const { reader, epoch } = await open(streams);
    const error = { name: "Error", message: "x".repeat(1_500_000) };
    const failed = (jobId: string): EventRecord =>
      ({ ...added(0), type: "jobRetried", jobId, attempt: 1, error }) as EventRecord<"jobRetried">;
    await reader.leave();
    await happen(failed("a"), failed("b"), failed("c"));
    const late = await open(streams, `${epoch}.0`);
    const near = await open(streams, `${epoch}.1`);
    expect([(await late.reader.next())?.event, (await near.reader.next())?.id]).toEqual(["reset", `${epoch}.2`]);
  });
});

describe("a slow reader", () => {
  test("gets all of 2,000 events that waited for it", async () => {
    const { streams, happen } = make();
    const { reader, epoch } = await open(streams);
    await happen(...many(2000));
    const ids = (await reader.take(2000)).map((block) => block?.id);
    expect([ids[0], ids[1999]]).toEqual([`${epoch}.1`, `${epoch}.2000`]);
  });

  test("gets a reset in their place when one more waits, and then what happens", async () => {
    const { streams, happen } = make();
    const { reader, epoch } = await open(streams);
    await happen(...many(2001), added(2002));
    expect(await reader.take(2)).toMatchObject([
      { id: `${epoch}.2001`, event: "reset", data: { type: "reset", reason: "slow" } },
      { id: `${epoch}.2002`, event: "jobAdded", data: { jobId: "j2002" } },
    ]);
  });

  test("gets a reset after a gap in the events, and so does a client that comes again", async () => {
    const eventBroker: EventBroker = new LocalEventBroker();
    let lose = (): void => {};
    eventBroker.onGap = (listener) => {
      lose = listener;
      return () => {};
    };
    const { scheduler, clock } = setUp({ eventBroker, clock: new VirtualClock(START) });
    const streams = streamsOf(scheduler, { clock });
    const stays = await open(streams);
    const leaves = await open(streams);
    const { epoch } = stays;
    await eventBroker.publish([added(1)]);
    await leaves.reader.next();
    await leaves.reader.leave();
    lose();
    await eventBroker.publish([added(2)]);
    const again = await open(streams, `${epoch}.1`);
    expect([await stays.reader.take(2), await again.reader.next()]).toMatchObject([
      [
        { id: `${epoch}.2`, event: "reset", data: { type: "reset", reason: "lost" } },
        { id: `${epoch}.3`, event: "jobAdded", data: { jobId: "j2" } },
      ],
      { id: `${epoch}.3`, event: "reset", data: { type: "reset", reason: "lost" } },
    ]);
  });

  test("that stays slow gets one reset, and nobody else gets any", async () => {
    const { streams, happen } = make();
    const slow = await open(streams);
    const quick = await open(streams);
    for (let round = 0; round < 10; round++) {
      await happen(...many(500, round * 500));
      const blocks = await quick.reader.take(500);
      expect(blocks.filter((block) => block?.event === "reset")).toEqual([]);
    }
    expect((await slow.reader.until("reset")).length).toBe(1);
    expect((await slow.reader.take(998)).at(-1)?.data).toMatchObject({ jobId: "j4999" });
  });

  test("does not see the beats that it slept through", async () => {
    const { streams, happen, clock } = make();
    const { reader } = await open(streams);
    await clock.advance("PT5M");
    await happen(added(1));
    const next = [(await reader.next())?.event];
    const beat = reader.next();
    await clock.advance("PT15S");
    expect([...next, (await beat)?.comment]).toEqual(["jobAdded", "beat"]);
  });
});

describe("200 streams", () => {
  test("all get each event, and the next client gets 503 until one leaves", async () => {
    const { streams, happen } = make();
    const readers: BlockReader[] = [];
    for (let count = 0; count < 200; count++) readers.push((await open(streams)).reader);
    const refused = streams.answer(ask());
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
      503,
      "10",
      {
        type: "about:blank",
        title: "Service Unavailable",
        status: 503,
        code: "tooManyStreams",
        detail: "there are 200 streams of events already; close some, or come again later",
      },
    ]);
    await happen(added(1), added(2));
    const ids = await Promise.all(readers.map(async (reader) => (await reader.take(2)).map((block) => block?.data)));
    expect(ids).toMatchObject(readers.map(() => [{ jobId: "j1" }, { jobId: "j2" }]));
    await readers[7]?.leave();
    expect([streams.answer(ask()).status, streams.answer(ask()).status, streams.size]).toEqual([200, 503, 200]);
  });

  test("may be fewer", () => {
    const { streams } = make({ maxStreams: 1 });
    expect([streams.answer(ask()).status, streams.answer(ask()).status]).toEqual([200, 503]);
  });
});

describe("a client that is gone", () => {
  test("frees its stream and its timer when the runtime cancels the body", async () => {
    const { streams, clock } = make();
    const sleepers = clock.sleeperCount;
    const { reader } = await open(streams);
    const next = reader.next();
    expect([streams.size, clock.sleeperCount - sleepers]).toEqual([1, 1]);
    await reader.leave();
    await clock.settle();
    expect([await next, streams.size, clock.sleeperCount - sleepers]).toEqual([null, 0, 0]);
  });

  test("frees them too when the runtime aborts the signal of the request alone", async () => {
    const { streams, clock, happen } = make();
    const sleepers = clock.sleeperCount;
    const gone = new AbortController();
    const reader = new BlockReader(streams.answer(ask(undefined, gone.signal)));
    await happen(added(1));
    gone.abort();
    await clock.settle();
    expect([streams.size, clock.sleeperCount - sleepers, await reader.next()]).toEqual([0, 0, null]);
  });

  test("before its answer was made costs no stream", async () => {
    const { streams } = make();
    const answer = streams.answer(ask(undefined, AbortSignal.abort()));
    expect([streams.size, (await new BlockReader(answer).next())?.retry]).toEqual([0, "2000"]);
  });

  test("frees its stream after 10 minutes when the runtime tells nothing, and nobody reads the body", async () => {
    const { streams, clock } = make();
    streams.answer(ask());
    await clock.advance("PT9M59S");
    expect(streams.size).toBe(1);
    await clock.advance("PT1S");
    expect(streams.size).toBe(0);
  });

  test("makes room for the next one when its timers ended with its request", async () => {
    const { scheduler, clock } = make();
    const lost = { ...frozen(clock), now: () => clock.now() };
    const streams = streamsOf(scheduler, { clock: lost, maxStreams: 1 });
    const { reader } = await open(streams);
    await clock.advance("PT45S");
    expect(streams.answer(ask()).status).toBe(503);
    await clock.advance("PT1S");
    expect([streams.answer(ask()).status, await reader.next(), streams.size]).toEqual([200, null, 1]);
  });
});

/** A clock whose timers never fire, like those of a request that has ended. */
function frozen(clock: VirtualClock): Pick<VirtualClock, "sleep" | "yield"> {
  return { sleep: () => new Promise(() => {}), yield: () => clock.yield() };
}

describe("streams of a scheduler", () => {
  test("tell the life of a job", async () => {
    const { scheduler, clock } = setUp();
    const streams = streamsOf(scheduler, { clock });
    scheduler.task("greet", () => "hello");
    await scheduler.start();
    const reader = new BlockReader(
      streams.answer(ask(), { types: new Set(["jobAdded", "jobAcquired", "jobReleased"]) }),
    );
    const { id } = await scheduler.addJob("greet");
    await clock.advance("PT1S");
    const blocks = (await reader.until("jobReleased")).slice(1);
    expect(blocks.map(({ data }) => data)).toMatchObject([
      { type: "jobAdded", jobId: id },
      { type: "jobAcquired", jobId: id, attempt: 1 },
      { type: "jobReleased", jobId: id, outcome: "success", error: null },
    ]);
  });

  test("end when it stops, after its last event, and a client that comes after the next start is reset", async () => {
    const { scheduler, clock } = setUp();
    const streams = streamsOf(scheduler, { clock });
    await scheduler.start();
    const { reader } = await open(streams);
    await scheduler.stop();
    const [last] = await reader.until("schedulerStopped");
    expect([await reader.next(), streams.size]).toEqual([null, 0]);
    await scheduler.start();
    const again = await open(streams, last?.id);
    expect((await again.reader.next())?.event).toBe("reset");
  });

  test("do not end when another scheduler stops", async () => {
    const { scheduler, clock, streams, happen } = make();
    const { reader } = await open(streams);
    await happen({ type: "schedulerStopped", timestampMs: clock.now(), schedulerId: "another" });
    expect([(await reader.next())?.event, streams.size, scheduler.identity === "another"]).toEqual([
      "schedulerStopped",
      1,
      false,
    ]);
  });

  test("are refused with a typed error once it has stopped", async () => {
    const { scheduler, streams } = make();
    await scheduler.start();
    await scheduler.stop();
    expect(() => streams.answer(ask())).toThrow(expect.objectContaining({ code: "schedulerState" }));
  });

  test("keep events for 10 minutes after the last one, and then listen no more", async () => {
    const { clock, streams, happen } = make();
    const { reader, epoch } = await open(streams);
    await reader.leave();
    await clock.advance("PT10M");
    await happen(added(1));
    const again = await open(streams, `${epoch}.0`);
    expect((await again.reader.next())?.id).toBe(`${epoch}.1`);
    await again.reader.leave();
    await clock.advance("PT10M0.001S");
    await happen(added(2));
    const late = await open(streams, `${epoch}.1`);
    const reset = await late.reader.next();
    expect([reset?.event, reset?.id?.endsWith(".0")]).toEqual(["reset", true]);
  });
});
