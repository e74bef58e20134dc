import { systemClock, yieldToEventLoop } from "../../core/clock.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { FailureKind, Row, SqlDriver, SqlStatement } from "./driver.ts";
import { unavailable } from "./failures.ts";
import {
  BUSY_RETRY_MS_MAX,
  CONNECTION_RETRY_MS_MAX,
  CONNECTION_TRIES_MAX,
  LOCAL_RETRY_PAUSE_MS_MAX,
  OPERATIONS_PER_YIELD,
  RETRY_PAUSE_MS_FIRST,
  RETRY_PAUSE_MS_MAX,
} from "./limits.ts";

export interface ConnectionOptions {
  /** The name of the database in errors. It never holds a token. */
  readonly where: string;
  readonly random: RandomSource;
  /** Longest wait for an answer of a database that is not local, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Runs statements on a driver. Writes go one after the other, because a local database has one lock, and a remote
 * server was seen to hang under many concurrent writers of one client. An operation that fails for a passing reason is
 * repeated, with full jitter and within bounds; in the end it fails with `StoreUnavailableError`.
 */
export class Connection {
  readonly #driver: SqlDriver;
  readonly #options: ConnectionOptions;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #operations = 0;
  /** Whether the connection is to be opened anew before the next operation. */
  #isStale = false;
  #reopening: Promise<void> | null = null;
  #isClosed = false;

  constructor(driver: SqlDriver, options: ConnectionOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  /** Whether no answer can get lost. */
  get isLocal(): boolean {
    return this.#driver.isLocal;
  }

  open(): Promise<void> {
    return this.#repeat("opening", async () => this.#driver.open?.());
  }

  /** Runs one statement outside of any transaction. */
  read(statement: SqlStatement): Promise<Row[]> {
    return this.#repeat("reading from", () => this.#driver.execute(statement));
  }

  /** Does the same as {@link read}, but the answer has what others have written, even if the database is a copy. */
  readFresh(statement: SqlStatement): Promise<Row[]> {
    if (this.#driver.synchronize === undefined) return this.read(statement);
    return this.#repeat("reading from", async () => {
      await this.#driver.synchronize?.();
      return this.#driver.execute(statement);
    });
  }

  /**
   * Runs one write transaction. `build` makes its statements, anew for every try. `isRepetition` is true when an
   * earlier try may have been committed and its answer was lost.
   */
  write(build: (isRepetition: boolean) => SqlStatement[]): Promise<Row[][]> {
    const run = (): Promise<Row[][]> =>
      this.#repeat("writing to", (isRepetition) => {
        const statements = build(isRepetition);
        // Some databases refuse a batch of nothing.
        return statements.length === 0 ? Promise.resolve([]) : this.#driver.batch(statements);
      });
    const result = this.#lastWrite.then(run, run);
    this.#lastWrite = result;
    return result;
  }

  /** What an error that one of the methods above rejected with means. */
  failureKind(error: unknown): FailureKind {
    const cause = error instanceof StoreUnavailableError ? error.cause : error;
    return cause instanceof TimeoutFailure ? "connection" : this.#driver.failureKind(cause);
  }

  /** Refuses new operations, waits for the writes that have begun, and closes the driver. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lastWrite.catch(() => undefined);
    await this.#driver.close?.();
  }

  async #repeat<T>(doing: string, run: (isRepetition: boolean) => Promise<T>): Promise<T> {
    const startedAt = systemClock.now();
    let isRepetition = false;
    let kind: FailureKind;
    for (let tries = 1; ; tries++) {
      if (this.#isClosed) throw this.#unavailable(doing, new Error("the store is closed"));
      if (++this.#operations % OPERATIONS_PER_YIELD === 0) await yieldToEventLoop();
      try {
        const reopening = this.#refresh();
        if (reopening !== null) await reopening;
        return await this.#inTime(run(isRepetition));
      } catch (error) {
        // This error already says what to do.
        if (error instanceof StoreUnavailableError) throw error;
        kind = this.failureKind(error);
        const { isLocal } = this.#driver;
        this.#isStale ||= isLocal ? kind === "busy" : error instanceof TimeoutFailure;
        const elapsedMs = systemClock.now() - startedAt;
        const isWorthIt =
          kind === "busy"
            ? elapsedMs < BUSY_RETRY_MS_MAX
            : kind === "connection" && tries < CONNECTION_TRIES_MAX && elapsedMs < CONNECTION_RETRY_MS_MAX;
        if (!isWorthIt) throw this.#unavailable(doing, error);
        isRepetition ||= kind === "connection";
      }
      // A local lock is free again in milliseconds, and goes to whoever asks next. With long pauses this process would
      // never get the lock.
      const isLock = kind === "busy" && this.#driver.isLocal;
      const longestMs = isLock ? LOCAL_RETRY_PAUSE_MS_MAX : RETRY_PAUSE_MS_MAX;
      const pauseMs = Math.min(longestMs, RETRY_PAUSE_MS_FIRST * 2 ** Math.min(tries - 1, 10));
      await systemClock.sleep(systemClock.now() + this.#options.random() * pauseMs);
    }
  }

  #unavailable(doing: string, error: unknown): StoreUnavailableError {
    const isLate = error instanceof TimeoutFailure;
    const advice = isLate ? "check that the server runs and can be reached" : this.#driver.adviceFor?.(error);
    return unavailable(doing, this.#options.where, error, advice);
  }

  /** Opens a stale connection anew. The opening may find the database busy too, and is then repeated like any other
   *  operation. */
  #refresh(): Promise<void> | null {
    if (!this.#isStale || this.#driver.reopen === undefined) return this.#reopening;
    this.#isStale = false;
    const reopening = this.#driver
      .reopen()
      .catch((error: unknown) => {
        this.#isStale = true;
        throw error;
      })
      .finally(() => {
        if (this.#reopening === reopening) this.#reopening = null;
      });
    this.#reopening = reopening;
    return reopening;
  }

  /** Rejects with a {@link TimeoutFailure} when the answer takes too long. It is then unknown what the server did. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    if (this.#driver.isLocal) return answer;
    const { timeoutMs } = this.#options;
    const cancellation = new AbortController();
    const timeout = systemClock.sleep(systemClock.now() + timeoutMs, cancellation.signal).then(() => {
      if (cancellation.signal.aborted) return undefined;
      throw new TimeoutFailure(timeoutMs);
    });
    try {
      // If the timeout wins the race, it throws: so a value is always the answer.
      return (await Promise.race([answer, timeout])) as T;
    } finally {
      cancellation.abort();
      answer.catch(() => undefined);
      timeout.catch(() => undefined);
    }
  }
}

/** A remote database took longer than `timeoutMs`. A connection on which an answer is overdue blocks all later
 *  statements. */
class TimeoutFailure extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = "TimeoutFailure";
  }
}
