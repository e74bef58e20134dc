import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CronTrigger } from "../../src/mod.ts";
import { Platform } from "./durable-object/platform.ts";
import { CLASSES, type Counts, runStorm, WORKER } from "./durable-object/storm.ts";
import type { Run, Seen } from "./durable-object/worker.ts";

// Each test has objects of its own, by their names.

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start(WORKER, CLASSES);
});
afterAll(() => platform?.[Symbol.asyncDispose]());

type Call = <T>(method: string, ...args: unknown[]) => Promise<T>;

const objectOf =
  (name: string): Call =>
  (method, ...args) =>
    platform.call(`JOBS/${name}`, method, ...args);

/** Reads until what is read fits. */
async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
  }
}

interface Rejection {
  readonly name: string;
  readonly message: string;
}

const rejectionOf = (call: Promise<unknown>): Promise<Rejection | null> =>
  call.then(
    () => null,
    ({ name, message }: Rejection) => ({ name, message }),
  );

describe("a remote call", () => {
  test("takes crontab text, and returns a plain record", async () => {
    const call = objectOf("text");
    const added = await call("addSchedule", "hit", "0 9 * * mon-fri", { id: "a", payload: 3 });
    expect(added).toMatchObject({
      id: "a",
      taskId: "hit",
      payload: 3,
      trigger: { type: "cron" },
      nextFireTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT09:00:00Z$/),
      resultExpirationTime: "PT24H",
    });
    expect(await call("getSchedule", "a")).toEqual(added);
    expect(await call("getSchedules")).toEqual({ items: [added], cursor: null });
    expect(await call("previewSchedule", "a", { limit: 1, from: "2030-01-01T12:00:00Z" })).toEqual([
      "2030-01-02T09:00:00+00:00[UTC]",
    ]);
    const { revision, ...others } = added as { revision: number };
    expect(await call("pauseSchedule", "a")).toEqual({
      ...others,
      paused: true,
      pausedBy: "durable-object",
      revision: revision + 1,
    });
  });

  test("takes the JSON of a trigger, for a new schedule and for one that is changed", async () => {
    const call = objectOf("json");
    const trigger = new CronTrigger({ minute: 30 }, { timeZone: "Europe/Berlin" }).toJSON();
    const other = CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" }).toJSON();
    expect(await call("addSchedule", "hit", trigger, { id: "a" })).toMatchObject({ trigger });
    expect(await call("updateSchedule", "a", { trigger: other })).toMatchObject({ trigger: other });
  });

  test("rejects with what the scheduler says", async () => {
    const call = objectOf("errors");
    const messages = [
      await rejectionOf(call("getSchedule", "missing")),
      await rejectionOf(call("addSchedule", "hit", "0 9 * * mox")),
      await rejectionOf(call("addJob", "hit", { priorty: 1 })),
    ].map((rejection) => rejection?.message ?? "");
    expect(messages).toEqual([
      expect.stringContaining('"missing"'),
      expect.stringContaining("mox"),
      expect.stringContaining("priority"),
    ]);
  });

  test("may wait for the result of a job, which the alarm runs at once", async () => {
    const call = objectOf("results");
    const { id } = await call<{ id: string }>("addJob", "hit", { payload: 1 });
    const result = await call("getJobResult", id, { wait: true });
    expect(result).toMatchObject({ jobId: id, outcome: "success", returnValue: 1, attempts: 1 });
  });

  test("explains an instant, lists what became of fire times, retries a job, and tells how the object is", async () => {
    const call = objectOf("insight");
    await call("addSchedule", "hit", "0 9 * * *", { id: "a" });
    expect(await call("explain", "a", "2030-01-01T09:00:00Z")).toMatchObject({ scheduleId: "a" });
    expect(await call("getOccurrences", "a")).toEqual({ items: [], cursor: null });
    const { id } = await call<{ id: string }>("addJob", "hit", { payload: 1 });
    await call("getJobResult", id, { wait: true });
    const retried = await call<{ id: string }>("retryJob", id);
    expect(await call("getJobResult", retried.id, { wait: true })).toMatchObject({ outcome: "success" });
    const health = await call<{ schedulers: object[] }>("health");
    expect(health).toMatchObject({ isStoreReached: true, schedulers: [{ role: "both" }] });
  });

  test("adds a job that runs beside one that runs already, as do the fires of a schedule", async () => {
    const call = objectOf("beside");
    const { id } = await call<{ id: string }>("addJob", "waitsForBeats", { payload: 3 });
    await call("addJob", "beat");
    await call("addSchedule", "beat", { type: "interval", version: 1, milliseconds: 300 });
    expect(await call("getJobResult", id, { wait: true })).toMatchObject({ outcome: "success", attempts: 1 });
  });
});

describe("the alarm", () => {
  test("is set by each change to when something is due, and is gone when nothing is", async () => {
    const call = objectOf("alarm");
    const alarms: unknown[] = [];
    const note = async (): Promise<void> => {
      const { alarm } = await call<Seen>("seen");
      alarms.push(alarm === null ? null : new Date(alarm).toISOString());
    };
    await note();
    await call("addSchedule", "hit", { type: "date", version: 1, runTime: "2100-03-01T00:00:00Z" }, { id: "later" });
    await note();
    await call("addJob", "hit", { payload: 0, runAt: "2100-01-01T00:00:00Z", idempotencyKey: "a" });
    await note();
    const { items } = await call<{ items: { id: string }[] }>("getJobs");
    await call("cancelJob", items[0]?.id);
    await note();
    await call("pauseSchedule", "later");
    await note();
    await call("unpauseSchedule", "later");
    await note();
    await call("removeSchedule", "later");
    await note();
    expect(alarms).toEqual([
      null,
      "2100-03-01T00:00:00.000Z",
      "2100-01-01T00:00:00.000Z",
      "2100-03-01T00:00:00.000Z",
      null,
      "2100-03-01T00:00:00.000Z",
      null,
    ]);
  });

  test("that was lost is set again when the object begins", async () => {
    const call = objectOf("lost");
    await call("addSchedule", "hit", { type: "date", version: 1, runTime: "2100-03-01T00:00:00Z" }, { id: "later" });
    await call("deleteAlarm");
    await call("abort").catch(() => {});
    expect((await call<Seen>("seen")).alarm).toBe(Date.UTC(2100, 2, 1));
  });

  test("that comes several times at once runs each job once", async () => {
    const call = objectOf("repeated");
    await call("addJob", "hit", { payload: 5 });
    await call("repeatAlarm", 3);
    const counts = await until(
      () => call<Counts>("counts"),
      ({ unfinished }) => unfinished === 0,
    );
    expect([counts.successes, (await call<unknown[]>("runs")).length]).toEqual([1, 1]);
    expect((await call<Seen>("seen")).alarm).toBe(null);
  });

  test("goes on after seven attempts of a job that threw", async () => {
    const call = objectOf("throws");
    const { id } = await call<{ id: string }>("addJob", "fails");
    const result = await call("getJobResult", id, { wait: true });
    expect(result).toMatchObject({ outcome: "success", attempts: 8, returnValue: "done" });
  });

  test("goes on after seven ticks that failed, where the platform would have given up", async () => {
    const call = objectOf("failed-ticks");
    await call("failTicks", 7);
    await call("addJob", "hit", { payload: 0 });
    const counts = await until(
      async () => {
        await call("hurry");
        return call<Counts>("counts");
      },
      ({ unfinished }) => unfinished === 0,
    );
    expect([counts.successes, (await call<unknown[]>("runs")).length]).toEqual([1, 1]);
  });

  test("goes on after an object could not begin seven times", async () => {
    const call = objectOf("beginnings");
    await call("addJob", "hit", { payload: 0, runAt: "2100-01-01T00:00:00Z" });
    await call("failToBegin", 7);
    await call("abort").catch(() => {});
    const failures = [];
    for (let index = 0; index < 7; index++) failures.push(await rejectionOf(call("seen")));
    expect(failures.map((failure) => failure?.message.includes("cannot begin"))).toEqual(Array(7).fill(true));
    expect((await call<Seen>("seen")).alarm).toBe(Date.UTC(2100, 0, 1));
  });
});

describe("a job that an abort of its object cut", () => {
  /** Adds such a job, and waits until it was cut. */
  async function cut(name: string): Promise<{ id: string; first: Run }> {
    const { id } = await objectOf(name)<{ id: string }>("addJob", "cut");
    const [first] = await until(
      () => platform.call<Run[]>(`RECORDER/${id}`, "runs"),
      ({ length }) => length > 0,
    );
    if (first === undefined) throw new Error("the job did not run");
    return { id, first };
  }

  const rerun = (id: string): Promise<Run[]> =>
    until(
      () => platform.call<Run[]>(`RECORDER/${id}`, "runs"),
      ({ length }) => length > 1,
    );

  test.concurrent("runs again without a request, by the alarm that was set before the work", async () => {
    const { id, first } = await cut("untouched");
    const [, second, ...others] = await rerun(id);
    expect([second?.birth === first.birth, others]).toEqual([false, []]);
    const result = await objectOf("untouched")("getJobResult", id, { wait: true });
    expect(result).toMatchObject({ outcome: "success", attempts: 2 });
  });

  test.concurrent("runs again at once when a request comes, which does not wait for that alarm", async () => {
    const { id, first } = await cut("touched");
    const { alarm } = await objectOf("touched")<Seen>("seen");
    expect(alarm).not.toBe(first.alarm);
    expect((await rerun(id)).length).toBe(2);
    const result = await objectOf("touched")("getJobResult", id, { wait: true });
    expect(result).toMatchObject({ outcome: "success", attempts: 2 });
    expect((await objectOf("touched")<Seen>("seen")).alarm).toBe(null);
  });
});

test("a job that takes longer than the tick of an alarm may take goes back to the queue, and runs again", async () => {
  expect(await platform.call("ROWS/slow", "runSlowly")).toMatchObject({ outcome: "success", returnValue: 2 });
});

test("a fire writes at most 22 rows, and an object whose schedule is gone has no alarm", async ({ annotate }) => {
  await platform.call("ROWS/a", "every", 200);
  const rows = await until(
    () => platform.call<number[]>("ROWS/a", "rowsOfFires"),
    ({ length }) => length >= 5,
  );
  await annotate(`rows written per fire: ${rows.join(", ")}`);
  // A busy machine is late for some of them.
  expect(Math.min(...rows)).toBeLessThanOrEqual(22);
  expect(rows.filter((count) => count > 24)).toEqual([]);
  expect(await platform.call("ROWS/a", "stop")).toEqual({ alarm: null });
});

test("a job that a transaction of the object's own adds at the end of a tick runs", async () => {
  await platform.call("ROWS/prepared", "addAtTheEnd");
  const { runs } = await until(
    () => platform.call<{ runs: number; alarm: number | null }>("ROWS/prepared", "state"),
    (state) => state.runs === 2 || state.alarm === null,
  );
  expect(runs).toBe(2);
});

test("schedules fire once each through aborts, restarts, failed ticks, and alarms lost and repeated", async () => {
  const { counts, doubled, alarm } = await runStorm({ schedules: 100, spanMs: 3000 });
  expect(counts).toEqual({ results: 100, schedules: 100, successes: 100, unfinished: 0 });
  expect([doubled, alarm]).toEqual([[], null]);
});
