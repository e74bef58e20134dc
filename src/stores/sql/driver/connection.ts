import { systemClock, yieldToEventLoop } from "../../../core/clock.ts";
import { StoreRefusedError, StoreUnavailableError } from "../../../core/errors.ts";
import { endsWorkWithRequests } from "../../../core/host.ts";
import type { RandomSource } from "../../../core/ids.ts";
import { afterTurn } from "../../../core/joined-call.ts";
import {
  LOCAL_RETRY_PAUSE_MS_MAX,
  LOG_BYTES_MAX,
  OPERATIONS_PER_YIELD,
  REQUEST_BYTES_MAX,
  RETRY_DEFAULTS,
  type RetryLimits,
} from "../limits.ts";
import { bytesOf } from "../sql-and-json.ts";
import {
  EMPTY_LOG,
  type FailureKind,
  positional,
  type Row,
  type SqlDriver,
  type SqlStatement,
  storeError,
} from "./driver-and-failures.ts";

export interface ConnectionOptions {
  /** The name of the database in errors. It never holds a token. */
  readonly where: string;
  readonly random: RandomSource;
  /** Longest wait for an answer of a database that is not local, in milliseconds. */
  readonly timeoutMs: number;
  /** What is not given has its default. */
  readonly retry?: Partial<RetryLimits>;
  /** Counts what the database is asked. Default: nobody knows the count. */
  readonly trips?: TripCount;
}

/** Numbers in a row of a probe, which is some 128 KiB. */
const PROBE_NUMBERS = 8000;
/** Most rows of a probe: together they are as large as the largest row of D1, which is 2 MB. */
const PROBE_ROWS_MAX = 16;

/** What a write does, in errors. */
const WRITING = "writing to";

/** How many requests a database was sent, those included that failed. */
export interface TripCount {
  count: number;
}

/**
 * Runs statements on a driver. Writes go one after the other, because a local database has one lock, and a remote
 * server was seen to hang under many concurrent writers of one client. Only where a request may end in the middle of a
 * write, a write waits for those of its own turn alone, because these belong to the same request. An operation that
 * fails for a passing reason is
 * repeated, with full jitter and within bounds; in the end it fails with `StoreUnavailableError`. Then the writes that
 * waited for it fail too, because one after the other they would take as long each. What the database will never take
 * fails with `StoreRefusedError`, by itself.
 */
export class Connection {
  readonly #driver: SqlDriver;
  readonly #options: ConnectionOptions;
  readonly #retry: RetryLimits;
  readonly #trips: TripCount;
  /** Whether an operation may wait for one that another call began. */
  readonly #joins = !endsWorkWithRequests();
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** The writes that have begun, and those that wait for them. */
  #writing = 0;
  /** The failure of the last write that could not reach the database. */
  #outage: StoreUnavailableError | null = null;
  /** Whether a try to write failed because of the database, and nothing as large was written since. */
  #hasFailedToWrite = false;
  /** How long the texts of the longest write are that failed so. */
  #failedLength = 0;
  /** The failure of the last write, until somebody looks. */
  #lastFailure: StoreUnavailableError | null = null;
  #operations = 0;
  /** Whether the connection is to be opened anew before the next operation. */
  #isStale = false;
  /** Counts how often the connection was opened anew. */
  #renewals = 0;
  /** The calls that were given up, and are still not answered. */
  #unanswered = 0;
  #reopening: Promise<void> | null = null;
  #isClosed = false;

  constructor(driver: SqlDriver, options: ConnectionOptions) {
    this.#driver = driver;
    this.#options = options;
    this.#retry = { ...RETRY_DEFAULTS, ...options.retry };
    this.#trips = options.trips ?? { count: 0 };
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
    return this.#repeat("reading from", () => this.#execute(statement));
  }

  /** Does the same as {@link read}, but the answer has what others have written, even if the database is a copy. */
  readFresh(statement: SqlStatement): Promise<Row[]> {
    if (this.#driver.synchronize === undefined) return this.read(statement);
    return this.#repeat("reading from", async () => {
      await this.#driver.synchronize?.();
      return this.#execute(statement);
    });
  }

  /** See {@link SqlDriver.dataVersion}; null where the driver lacks it. */
  dataVersion(): Promise<number | null> {
    return this.#repeat("reading from", async () => (await this.#driver.dataVersion?.()) ?? null);
  }

  #execute(statement: SqlStatement): Promise<Row[]> {
    this.#trips.count++;
    return this.#driver.execute(statement);
  }

  /**
   * Runs one write transaction. `build` makes its statements, anew for every try. `isRepetition` is true when an
   * earlier try may have been committed and its answer was lost.
   */
  write(build: (isRepetition: boolean) => SqlStatement[]): Promise<Row[][]> {
    const outage = this.#outage;
    const run = (): Promise<Row[][]> => this.#writeUnlessOut(build, outage);
    // A write that waits for nobody begins at once, because each turn costs a single addition time.
    const result = ++this.#writing === 1 ? run() : this.#lastWrite.then(run, run);
    this.#lastWrite = result;
    if (!this.#joins && !this.#driver.isLocal) {
      afterTurn(() => {
        if (this.#lastWrite === result) this.#lastWrite = Promise.resolve();
      });
    }
    return result;
  }

  /** @param outage the last failure that was known when the write was asked for */
  async #writeUnlessOut(
    build: (isRepetition: boolean) => SqlStatement[],
    outage: StoreUnavailableError | null,
  ): Promise<Row[][]> {
    const hadFailed = this.#hasFailedToWrite;
    let tries = 0;
    let sent: readonly SqlStatement[] = [];
    try {
      // This write waited for one that failed. It was not sent, so nothing of it is unknown.
      if (this.#outage !== null && this.#outage !== outage) throw this.#outage;
      const answer = await this.#repeat(WRITING, (isRepetition) => {
        tries++;
        const statements = build(isRepetition);
        sent = statements;
        return this.#batch(statements);
      });
      // What failed before may be larger.
      if (tries > 1) this.#hasFailedToWrite = hadFailed;
      this.#lastFailure = null;
      return answer;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      if (isOutage(this.failureKind(error))) this.#outage = error;
      this.#lastFailure = error;
      this.#failedLength = Math.max(this.#failedLength, lengthOf(sent));
      throw error;
    } finally {
      this.#writing--;
    }
  }

  #batch(statements: SqlStatement[]): Promise<Row[][]> {
    if (!this.#driver.isLocal) refuseAbove(REQUEST_BYTES_MAX, statements);
    // Some databases refuse a batch of nothing.
    if (statements.length === 0) return Promise.resolve([]);
    this.#trips.count++;
    return this.#driver.batch(statements);
  }

  /** How many calls were given up, and still wait for an answer in a place of the client. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** How long the log of a file is, in bytes, where it has become too long; else null. */
  get tooLongLog(): number | null {
    const { logBytes = 0 } = this.#driver;
    return logBytes > LOG_BYTES_MAX ? logBytes : null;
  }

  /** Empties such a log, if nobody reads what is in it. */
  async emptyLog(): Promise<void> {
    if (this.tooLongLog !== null) await this.#driver.execute({ sql: EMPTY_LOG, args: [] }).catch(() => {});
  }

  /** If a write has failed, tries one that is as large as that, and as most: what updates a row in place, or is undone
   *  within its transaction, needs no room. A write that failed since the last call fails this one, too, unless another
   *  has succeeded. @throws {StoreUnavailableError} */
  async confirmWrites(insert: string, remove: string): Promise<void> {
    if (!this.#hasFailedToWrite) return;
    const failure = this.#lastFailure;
    const length = this.#failedLength;
    const { random } = this.#options;
    // Numbers, because some databases would compress anything else.
    const text = Array.from({ length: PROBE_NUMBERS }, () => String(random()).slice(2)).join("");
    const rows = Math.min(PROBE_ROWS_MAX, Math.ceil((length + 1) / text.length));
    const ids = Array.from({ length: rows }, () => `probe ${random()}`);
    try {
      await this.write(() => ids.map((id) => ({ sql: insert, args: [id, text] })));
      await this.write(() => ids.map((id) => ({ sql: remove, args: [id] })));
    } finally {
      this.#lastFailure = null;
      this.#failedLength = length;
    }
    if (failure !== null) throw failure;
    this.#hasFailedToWrite = false;
    this.#failedLength = 0;
  }

  /** The statements, which somebody else runs. @throws {StoreRefusedError} when the database would not take them */
  prepared(given: SqlStatement[]): SqlStatement[] {
    try {
      const statements = given.map(this.#driver.prepared ?? positional);
      this.#driver.refuseTooLarge?.(statements);
      return statements;
    } catch (error) {
      throw this.#failure(this.failureKind(error), "preparing for", error);
    }
  }

  /** What an error that one of the methods above rejected with means. */
  failureKind(error: unknown): FailureKind {
    const isOurs = error instanceof StoreUnavailableError || error instanceof StoreRefusedError;
    const cause = isOurs ? error.cause : error;
    if (cause instanceof TooLargeFailure) return "tooLarge";
    return cause instanceof TimeoutFailure ? "connection" : this.#driver.failureKind(cause);
  }

  /** Refuses new operations, waits for the writes that have begun, and closes the driver. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lastWrite.catch(() => undefined);
    await this.#driver.close?.();
  }

  async #repeat<T>(doing: string, run: (isRepetition: boolean) => Promise<T>): Promise<T> {
    const { attemptsMax, durationMsMax, busyMsMax, pauseMsFirst, pauseMsMax } = this.#retry;
    const startedAt = systemClock.now();
    let isRepetition = false;
    let kind: FailureKind;
    for (let tries = 1; ; tries++) {
      if (this.#isClosed) throw this.#failure("unavailable", doing, new Error("the store is closed"));
      const loss = this.#driver.loss ?? null;
      if (loss !== null) throw loss;
      if (++this.#operations % OPERATIONS_PER_YIELD === 0) await yieldToEventLoop();
      let renewals = this.#renewals;
      try {
        const reopening = this.#refresh();
        if (reopening !== null) await reopening;
        renewals = this.#renewals;
        return await (this.#driver.isLocal ? run(isRepetition) : this.#inTime(run(isRepetition)));
      } catch (error) {
        // This error already says what to do.
        if (error instanceof StoreUnavailableError) throw error;
        kind = this.failureKind(error);
        this.#hasFailedToWrite ||= doing === WRITING && (isOutage(kind) || kind === "unavailable");
        const { isLocal } = this.#driver;
        // What is late on a connection that was replaced says nothing of the present one.
        const isOfPresent = renewals === this.#renewals;
        this.#isStale ||= isLocal ? kind === "busy" : isOfPresent && error instanceof TimeoutFailure;
        const elapsedMs = systemClock.now() - startedAt;
        const isWorthIt =
          kind === "busy"
            ? elapsedMs < busyMsMax
            : kind === "connection" && tries < attemptsMax && elapsedMs < durationMsMax;
        if (!isWorthIt) throw this.#failure(kind, doing, error);
        isRepetition ||= kind === "connection";
      }
      // A local lock is free again in milliseconds, and goes to whoever asks next. With long pauses this process would
      // never get the lock.
      const isLock = kind === "busy" && this.#driver.isLocal;
      const longestMs = isLock ? Math.min(LOCAL_RETRY_PAUSE_MS_MAX, pauseMsMax) : pauseMsMax;
      const pauseMs = Math.min(longestMs, pauseMsFirst * 2 ** Math.min(tries - 1, 30));
      await systemClock.sleep(systemClock.now() + this.#options.random() * pauseMs);
    }
  }

  #failure(kind: FailureKind, doing: string, error: unknown): StoreUnavailableError | StoreRefusedError {
    const isLate = error instanceof TimeoutFailure;
    const others = this.#unanswered > 1 ? `; ${this.#unanswered} calls are still without one` : "";
    const late = `check that the server runs and can be reached${others}`;
    const advice = isLate ? late : this.#driver.adviceFor?.(error);
    return storeError(kind, doing, this.#options.where, error, advice);
  }

  /** Opens a stale connection anew. The opening may find the database busy too, and is then repeated like any other
   *  operation. */
  #refresh(): Promise<void> | null {
    if (!this.#isStale || this.#driver.reopen === undefined) return this.#reopening;
    this.#isStale = false;
    this.#renewals++;
    const reopening = this.#driver
      .reopen()
      .catch((error: unknown) => {
        this.#isStale = true;
        throw error;
      })
      .finally(() => {
        if (this.#reopening === reopening) this.#reopening = null;
      });
    if (this.#joins || this.#driver.isLocal) this.#reopening = reopening;
    return reopening;
  }

  /** Rejects with a {@link TimeoutFailure} when the answer takes too long. It is then unknown what the server did. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    const cancellation = new AbortController();
    const timeout = systemClock.sleep(systemClock.now() + timeoutMs, cancellation.signal).then(() => {
      if (cancellation.signal.aborted) return undefined;
      this.#unanswered++;
      const settle = (): void => void this.#unanswered--;
      answer.then(settle, settle);
      throw new TimeoutFailure(timeoutMs);
    });
    try {
      // If the timeout wins the race, it throws: so a value is always the answer.
      return (await Promise.race([answer, timeout])) as T;
    } finally {
      // With a reason, because without one each abort makes an error with a stack.
      cancellation.abort(null);
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

/** Whether whatever comes next would be tried for as long, and fail too. Other failures come at once. */
function isOutage(kind: FailureKind): boolean {
  return kind === "connection" || kind === "busy";
}

/** A request that no remote database is sent, because it is larger than they take. */
class TooLargeFailure extends Error {
  constructor(bytes: number) {
    super(`a request of ${bytes} bytes, at most ${REQUEST_BYTES_MAX} are sent; add less in one call`);
    this.name = "TooLargeFailure";
  }
}

function textsOf(statements: readonly SqlStatement[]): string[] {
  return statements.flatMap(({ args }) => args.filter((arg) => typeof arg === "string"));
}

function lengthOf(statements: readonly SqlStatement[]): number {
  return textsOf(statements).reduce((length, text) => length + text.length, 0);
}

/** @throws {TooLargeFailure} */
function refuseAbove(bytesMax: number, statements: readonly SqlStatement[]): void {
  // A UTF-16 unit takes three bytes at most.
  if (lengthOf(statements) * 3 <= bytesMax) return;
  const bytes = textsOf(statements).reduce((sum, text) => sum + bytesOf(text), 0);
  if (bytes > bytesMax) throw new TooLargeFailure(bytes);
}
