import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { StoreRefusedError, StoreUnavailableError } from "../../src/core/errors.ts";
import { JoinedCall } from "../../src/core/joined-call.ts";
import { timerHost } from "../../src/core/timer-host.ts";
import type { NewJobRecord } from "../../src/records/job.ts";
import { Connection } from "../../src/stores/sql/driver/connection.ts";
import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { AdditionQueue } from "../../src/stores/sql/jobs/additions.ts";
import { COALESCED_LENGTH_MAX, CONNECTION_TRIES_MAX, REQUEST_BYTES_MAX } from "../../src/stores/sql/limits.ts";
import { sqliteFailureKind } from "../../src/stores/sql/sqlite/driver/driver-and-failures.ts";
import { makeJob, makeJobs } from "../../src/testing/data-store-contract/makers.ts";

const LIMIT = { where: "the test", random: () => 0 };

/** A database elsewhere: its batches do what `answer` says. */
class RemoteDriver implements SqlDriver {
  readonly isLocal = false;
  readonly sent: (readonly SqlStatement[])[] = [];
  answer: () => Promise<Row[][]> = async () => [[]];

  async execute(): Promise<Row[]> {
    return [];
  }

  batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.sent.push(statements);
    return this.answer();
  }

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return error instanceof LostConnection ? "connection" : sqliteFailureKind(error);
  }
}

class LostConnection extends Error {}

function setUp(): { driver: RemoteDriver; connection: Connection; write: (text?: string) => Promise<unknown> } {
  const driver = new RemoteDriver();
  // Without pauses between the tries.
  const connection = new Connection(driver, { where: "the test", random: () => 0, timeoutMs: 10_000 });
  const write = (text = ""): Promise<unknown> => connection.write(() => [{ sql: "x", args: [text] }]);
  return { driver, connection, write };
}

async function failuresOf(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((one) => (one.status === "rejected" ? one.reason : null));
}

describe("a call without an answer", () => {
  const silent = new Promise<never>(() => {});
  const retry = { attemptsMax: 1 };

  test("is given up after the timeout, and counts until it is answered or ended", async () => {
    const driver = new RemoteDriver();
    const connection = new Connection(driver, { ...LIMIT, timeoutMs: 1, retry });
    let end = (_reason: unknown): void => {};
    const pending = new Promise<Row[][]>((_, reject) => (end = reject));
    driver.answer = () => pending;
    const write = () => connection.write(() => [{ sql: "x", args: [] }]);
    await expect(write()).rejects.toThrow("no answer within 1 ms");
    expect(connection.unanswered).toBe(1);
    await expect(write()).rejects.toThrow(/can be reached; 2 calls are still without one$/);
    expect(connection.unanswered).toBe(2);
    end(new LostConnection("reset"));
    await pending.catch(() => {});
    expect(connection.unanswered).toBe(0);
  });

  test("of a connection that was replaced does not have the present one replaced, too", async () => {
    const renewalsWith = async (timeoutMs: number): Promise<number | null> => {
      let renewals = 0;
      let answer: () => Promise<Row[]> = () => silent;
      const driver: SqlDriver = Object.assign(new RemoteDriver(), {
        execute: () => answer(),
        reopen: async () => void renewals++,
      });
      const connection = new Connection(driver, { ...LIMIT, timeoutMs, retry });
      const read = () => connection.read({ sql: "x", args: [] });
      const begunAt = systemClock.now();
      const isGivenUp = () => expect(read()).rejects.toThrow("no answer");
      const first = isGivenUp();
      while (systemClock.now() === begunAt) await new Promise<void>((resolve) => timerHost.nextTurn(resolve));
      if (connection.unanswered > 0) return first.then(() => null);
      const second = isGivenUp();
      await first;
      answer = async () => [];
      await read();
      const isSecondWaiting = connection.unanswered === 1;
      await second;
      await read();
      return isSecondWaiting ? renewals : null;
    };
    // On a busy machine the second call may begin too late, or be given up too early, unless both wait for longer.
    let renewals: number | null = null;
    for (let timeoutMs = 20; renewals === null; timeoutMs *= 2) renewals = await renewalsWith(timeoutMs);
    expect(renewals).toBe(1);
  });
});

describe("a look after a write that failed", () => {
  const full = (): Error => Object.assign(new Error("no room"), { code: "SQLITE_FULL" });
  const textOf = (statements: readonly SqlStatement[]): string => statements.flatMap(({ args }) => args).join("");

  /** A database that refuses what `isRefused` says. */
  function database(isRefused: (statements: readonly SqlStatement[]) => boolean) {
    const driver = new RemoteDriver();
    driver.answer = async () => {
      if (isRefused(driver.sent.at(-1) ?? [])) throw full();
      return [[]];
    };
    const connection = new Connection(driver, { ...LIMIT, random: () => 0.123456789012345, timeoutMs: 10_000 });
    const write = (text: string) => connection.write(() => [{ sql: "work", args: [text] }]);
    const look = () => connection.confirmWrites("insert", "remove");
    return { driver, write, look };
  }

  test("tries a write that is as large, and believes neither smaller ones nor one that is undone", async () => {
    let room = 300_000;
    const { driver, write, look } = database((statements) => textOf(statements).length > room);
    await expect(write("x".repeat(400_000))).rejects.toThrow("no room");
    await write("small");
    for (let again = 0; again < 3; again++) await expect(look()).rejects.toThrow("no room");
    room = 1_000_000;
    const before = driver.sent.length;
    await look();
    const probes = driver.sent.slice(before);
    expect(probes.map((statements) => statements[0]?.sql)).toEqual(["insert", "remove"]);
    expect(textOf(probes[0] ?? []).length).toBeGreaterThan(400_000);
    await look();
    expect(driver.sent.length).toBe(before + 2);
  });

  test("fails once more for what has failed since the last look, although the probe succeeds", async () => {
    let isFull = true;
    const { write, look } = database(([statement]) => isFull && statement?.sql === "work");
    for (let again = 0; again < 3; again++) {
      await expect(write("x")).rejects.toThrow("no room");
      await expect(look()).rejects.toThrow("no room");
    }
    await expect(write("x")).rejects.toThrow("no room");
    isFull = false;
    await write("x");
    await look();
  });

  test("is not needed after a write that succeeded in a later try", async () => {
    const { driver, write, look } = database(() => false);
    driver.answer = () =>
      driver.sent.length === 1 ? Promise.reject(new LostConnection("reset")) : Promise.resolve([[]]);
    await write("x");
    await look();
    expect(driver.sent.length).toBe(2);
  });
});

describe("writes that wait for one another", () => {
  test("fail together in an outage, after the tries of the first", async () => {
    const { driver, write } = setUp();
    driver.answer = () => Promise.reject(new LostConnection("fetch failed"));
    const failures = await failuresOf(Array.from({ length: 12 }, () => write()));
    expect(failures.every((failure) => failure instanceof StoreUnavailableError)).toBe(true);
    expect(driver.sent.length).toBe(CONNECTION_TRIES_MAX);
  });

  test("that come after an outage are tried by themselves", async () => {
    const { driver, write } = setUp();
    driver.answer = () => Promise.reject(new LostConnection("fetch failed"));
    await failuresOf([write(), write()]);
    driver.answer = async () => [[]];
    expect(await failuresOf([write(), write()])).toEqual([null, null]);
  });

  test("go on when one of them is refused", async () => {
    const { driver, write } = setUp();
    driver.answer = () => {
      const isFirst = driver.sent.length === 1;
      return isFirst
        ? Promise.reject(Object.assign(new Error("no"), { code: "SQLITE_CONSTRAINT" }))
        : Promise.resolve([]);
    };
    const failures = await failuresOf([write(), write(), write()]);
    expect(failures).toEqual([expect.any(StoreRefusedError), null, null]);
  });
});

describe("a request that is too large for a database elsewhere", () => {
  test("is refused before it is sent, and says what to do", async () => {
    const { driver, write } = setUp();
    const [failure] = await failuresOf([write("ü".repeat(REQUEST_BYTES_MAX / 2 + 1))]);
    expect(failure).toBeInstanceOf(StoreRefusedError);
    expect(String(failure)).toMatch(/add less in one call/);
    expect(driver.sent.length).toBe(0);
    expect(await failuresOf([write("ü".repeat(REQUEST_BYTES_MAX / 2))])).toEqual([null]);
  });
});

describe("calls that add jobs and travel together", () => {
  function queueThat(
    fails: (count: number, jobs: readonly NewJobRecord[]) => Error | null,
    meanwhile: () => void = () => {},
  ): { queue: AdditionQueue; inserts: number[] } {
    const inserts: number[] = [];
    const queue = new AdditionQueue(async (jobs) => {
      inserts.push(jobs.length);
      meanwhile();
      const failure = fails(inserts.length, jobs);
      if (failure !== null) throw failure;
      return jobs.map((job) => ({ job, isNew: true }));
    }, true);
    return { queue, inserts };
  }

  test("fail together in an outage, also those that came during the insert", async () => {
    const calls: Promise<unknown>[] = [];
    const addMore = (): void => {
      calls.push(...Array.from({ length: 9 }, () => queue.add([makeJob()])));
    };
    const { queue, inserts } = queueThat(() => new StoreUnavailableError("down"), addMore);
    calls.push(...[1, 2, 3].map(() => queue.add([makeJob()])));
    await failuresOf(calls);
    expect((await failuresOf(calls)).map((failure) => (failure as Error).name)).toEqual(
      Array.from({ length: 12 }, () => "StoreUnavailableError"),
    );
    expect(inserts).toEqual([3]);
  });

  test("are halved when something in them is refused, until it is known which", async () => {
    const isBad = (jobs: readonly NewJobRecord[]) => jobs.some(({ taskId }) => taskId === "bad");
    const { queue, inserts } = queueThat((_, jobs) => (isBad(jobs) ? new StoreRefusedError("no") : null));
    const tasks = ["good", "good", "bad", "good", "good", "good", "good", "good"];
    const failures = await failuresOf(tasks.map((taskId) => queue.add([makeJob({ taskId })])));
    expect(failures).toEqual(tasks.map((taskId) => (taskId === "bad" ? expect.any(StoreRefusedError) : null)));
    expect(inserts).toEqual([8, 4, 2, 2, 1, 1, 4]);
  });

  test("are no more than fit into a request", async () => {
    const { queue, inserts } = queueThat(() => null);
    const payload = JSON.stringify("x".repeat(COALESCED_LENGTH_MAX / 2));
    await Promise.all(makeJobs(4, { payload }).map((job) => queue.add([job])));
    expect(inserts).toEqual([1, 1, 1, 1]);
    await queue.add(makeJobs(4, { payload }));
    expect(inserts.at(-1)).toBe(4);
  });
});

describe("where a request may end in the middle of its work", () => {
  test("calls of one turn that add jobs travel together, and wait for no others", async () => {
    const inserts: number[] = [];
    const answers: (() => void)[] = [];
    const queue = new AdditionQueue(async (jobs) => {
      inserts.push(jobs.length);
      await new Promise<void>((resolve) => answers.push(resolve));
      return jobs.map((job) => ({ job, isNew: true }));
    }, false);
    // Never answered.
    void queue.add([makeJob()]);
    await Promise.resolve();
    const calls = [1, 2, 3].map(() => queue.add([makeJob()]));
    while (answers.length < 2) await Promise.resolve();
    answers[1]?.();
    expect(await failuresOf(calls)).toEqual([null, null, null]);
    expect(inserts).toEqual([1, 3]);
  });

  test("calls of one turn share an answer, and later ones do not wait for it", async () => {
    let times = 0;
    const call = new JoinedCall(() => (++times === 1 ? new Promise<number>(() => {}) : Promise.resolve(times)), false);
    expect(call.run()).toBe(call.run());
    await Promise.resolve();
    expect(await call.run()).toBe(2);
  });
});
