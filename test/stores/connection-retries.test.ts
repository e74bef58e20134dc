import { describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { Connection } from "../../src/stores/sql/driver/connection.ts";
import type { Row, SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import * as limits from "../../src/stores/sql/limits.ts";
import { RETRY_DEFAULTS, type RetryLimits } from "../../src/stores/sql/limits.ts";
import { sqliteFailureKind } from "../../src/stores/sql/sqlite/driver/driver-and-failures.ts";

/** A database whose answers fail for the same reason, and that counts how often it is asked. */
class FailingDriver implements SqlDriver {
  readonly isLocal: boolean;
  readonly #kind: "busy" | "connection";
  asked = 0;
  failuresMax = Number.POSITIVE_INFINITY;

  constructor(kind: "busy" | "connection", isLocal = false) {
    this.#kind = kind;
    this.isLocal = isLocal;
  }

  async execute(): Promise<Row[]> {
    if (++this.asked > this.failuresMax) return [];
    throw new Error("not now");
  }

  async batch(): Promise<Row[][]> {
    return [await this.execute()];
  }

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return error instanceof Error && error.message === "not now" ? this.#kind : sqliteFailureKind(error);
  }
}

/** How often a database is asked that fails, and between which bounds the pauses are drawn. */
async function triesOf(driver: FailingDriver, retry: Partial<RetryLimits>): Promise<{ asked: number; draws: number }> {
  let draws = 0;
  const random = (): number => {
    draws++;
    return 0;
  };
  const connection = new Connection(driver, { where: "the test", random, timeoutMs: 10_000, retry });
  const failure = await connection.read({ sql: "x", args: [] }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreUnavailableError);
  return { asked: driver.asked, draws };
}

describe("an operation that fails for a passing reason", () => {
  test("is repeated by default as often and as long as the bounds say", () => {
    expect(RETRY_DEFAULTS).toEqual({
      attemptsMax: limits.CONNECTION_TRIES_MAX,
      durationMsMax: limits.CONNECTION_RETRY_MS_MAX,
      busyMsMax: limits.BUSY_RETRY_MS_MAX,
      pauseMsFirst: limits.RETRY_PAUSE_MS_FIRST,
      pauseMsMax: limits.RETRY_PAUSE_MS_MAX,
    });
  });

  test.each([1, 3, 12])("is tried %i times where the connection fails, as it is told", async (attemptsMax) => {
    const tries = await triesOf(new FailingDriver("connection"), { attemptsMax });
    expect(tries).toEqual({ asked: attemptsMax, draws: attemptsMax - 1 });
  });

  test("is not repeated after its time", async () => {
    expect(await triesOf(new FailingDriver("connection"), { durationMsMax: 0 })).toEqual({ asked: 1, draws: 0 });
    for (const isLocal of [true, false]) {
      expect(await triesOf(new FailingDriver("busy", isLocal), { busyMsMax: 0 })).toEqual({ asked: 1, draws: 0 });
    }
  });

  test("is repeated for as long as others may hold the lock, however many attempts that takes", async () => {
    const driver = new FailingDriver("busy");
    driver.failuresMax = 30;
    const retry = { attemptsMax: 1, busyMsMax: Number.POSITIVE_INFINITY };
    const connection = new Connection(driver, { where: "the test", random: () => 0, timeoutMs: 10_000, retry });
    expect(await connection.read({ sql: "x", args: [] })).toEqual([]);
    expect(driver.asked).toBe(31);
  });
});
