import { systemClock, yieldToEventLoop } from "../../core/clock.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { LibsqlClient, SqlResult, SqlStatement } from "./client.ts";
import { failureKind, TimeoutFailure, unavailable } from "./failures.ts";
import {
  BUSY_RETRY_MS_MAX,
  CONNECTION_RETRY_MS_MAX,
  CONNECTION_TRIES_MAX,
  FILE_RETRY_PAUSE_MS_MAX,
  OPERATIONS_PER_YIELD,
  RETRY_PAUSE_MS_FIRST,
  RETRY_PAUSE_MS_MAX,
} from "./limits.ts";

export interface ConnectionOptions {
  /** Shown in errors; never holds a token. */
  readonly where: string;
  readonly random: RandomSource;
  /** Longest wait for an answer, or null for none: a local database answers synchronously. */
  readonly timeoutMs: number | null;
  /** Opens the database file anew, or null where there is no file of ours. See {@link Connection}. */
  readonly reopen: (() => Promise<void>) | null;
}

/**
 * Runs statements on a client. Writes go one after the other: a local database has one lock, and a remote server was seen to
 * hang under many concurrent writers of one client. What fails for a passing reason is repeated, with full jitter
 * and within bounds, and ends as `StoreUnavailableError`.
 *
 * A `BEGIN IMMEDIATE` that finds the file locked stays an active statement of the native client until the garbage collector
 * takes it. Meanwhile the snapshot of the next read stays open with it, so later reads are stale and writes fail with
 * SQLITE_BUSY_SNAPSHOT, however often they are repeated. Hence a busy file is opened anew before whatever comes next.
 */
export class Connection {
  readonly #client: LibsqlClient;
  readonly #options: ConnectionOptions;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #operations = 0;
  /** Whether a statement that found the file busy may still be active. */
  #isPinned = false;
  #reopening: Promise<void> | null = null;
  #isClosed = false;

  constructor(client: LibsqlClient, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** One statement outside of any transaction. */
  read(statement: SqlStatement): Promise<SqlResult> {
    return this.#repeat("reading from", () => this.#client.execute(statement));
  }

  /**
   * One write transaction. `build` makes its statements, anew for every try: `isRepetition` says that an earlier try may
   * have been committed without our knowing.
   */
  write(build: (isRepetition: boolean) => SqlStatement[]): Promise<SqlResult[]> {
    const run = (): Promise<SqlResult[]> =>
      this.#repeat("writing to", (isRepetition) => this.#client.batch(build(isRepetition), "write"));
    const result = this.#lastWrite.then(run, run);
    this.#lastWrite = result;
    return result;
  }

  /** Anything else that may fail as statements do, and that may be repeated. */
  run<T>(doing: string, operation: () => Promise<T>): Promise<T> {
    return this.#repeat(doing, operation);
  }

  /** Lets the writes that were asked for end, and refuses new operations. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lastWrite.catch(() => undefined);
  }

  async #repeat<T>(doing: string, run: (isRepetition: boolean) => Promise<T>): Promise<T> {
    const startedAt = systemClock.now();
    let isRepetition = false;
    for (let tries = 1; ; tries++) {
      if (this.#isClosed) throw unavailable(doing, this.#options.where, new Error("the store is closed"));
      if (++this.#operations % OPERATIONS_PER_YIELD === 0) await yieldToEventLoop();
      try {
        const reopening = this.#unpin();
        if (reopening !== null) await reopening;
        return await this.#inTime(run(isRepetition));
      } catch (error) {
        const kind = failureKind(error);
        this.#isPinned ||= kind === "busy";
        const elapsedMs = systemClock.now() - startedAt;
        const isWorthIt =
          kind === "busy"
            ? elapsedMs < BUSY_RETRY_MS_MAX
            : kind === "connection" && tries < CONNECTION_TRIES_MAX && elapsedMs < CONNECTION_RETRY_MS_MAX;
        if (!isWorthIt) throw unavailable(doing, this.#options.where, error);
        isRepetition ||= kind === "connection";
      }
      // A file's lock is free again in milliseconds, and goes to whoever asks next: long pauses would starve.
      const longestMs = this.#options.reopen === null ? RETRY_PAUSE_MS_MAX : FILE_RETRY_PAUSE_MS_MAX;
      const pauseMs = Math.min(longestMs, RETRY_PAUSE_MS_FIRST * 2 ** Math.min(tries - 1, 10));
      await systemClock.sleep(systemClock.now() + this.#options.random() * pauseMs);
    }
  }

  /** Opens the file anew where the connection is pinned. That can find the file busy too, and is repeated like the rest. */
  #unpin(): Promise<void> | null {
    const { reopen } = this.#options;
    if (!this.#isPinned || reopen === null) return this.#reopening;
    this.#isPinned = false;
    const reopening = reopen()
      .catch((error: unknown) => {
        this.#isPinned = true;
        throw error;
      })
      .finally(() => {
        if (this.#reopening === reopening) this.#reopening = null;
      });
    this.#reopening = reopening;
    return reopening;
  }

  /** Rejects with a {@link TimeoutFailure} when the answer takes too long; what the server does then is unknown. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    if (timeoutMs === null) return answer;
    const cancellation = new AbortController();
    const timeout = systemClock.sleep(systemClock.now() + timeoutMs, cancellation.signal).then(() => {
      if (cancellation.signal.aborted) return undefined;
      throw new TimeoutFailure(timeoutMs);
    });
    try {
      // The timeout only ever wins by throwing.
      return (await Promise.race([answer, timeout])) as T;
    } catch (error) {
      if (error instanceof TimeoutFailure) {
        // A connection on which an answer is overdue blocks what is sent after it.
        await this.#client.reconnect?.();
      }
      throw error;
    } finally {
      cancellation.abort();
      answer.catch(() => undefined);
      timeout.catch(() => undefined);
    }
  }
}

/** The text of SQLite's error for `json('mismatch')`, which a batch uses to undo itself (see `guardChanges`). */
const GUARD_FAILURE = /malformed JSON/i;

/** Whether a batch was rolled back by its own guard; the message of the error around it ends with SQLite's. */
export function isGuardFailure(error: unknown): boolean {
  return error instanceof StoreUnavailableError && GUARD_FAILURE.test(error.message);
}
