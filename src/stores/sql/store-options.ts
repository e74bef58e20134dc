import * as v from "valibot";
import { durationMs, objectOf, says, trueOrFalse, wholeNumber } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { serializerOption } from "../../serializers/option.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { LedgerLimits } from "../contract/ledger-types.ts";
import { type LedgerOptions, ledgerOption } from "../shared/ledger-option.ts";
import {
  BUSY_RETRY_MS_MAX,
  CONNECTION_RETRY_MS_MAX,
  CONNECTION_TRIES_MAX,
  RETRY_PAUSE_MS_FIRST,
  RETRY_PAUSE_MS_MAX,
  type RetryLimits,
  TABLE_PREFIX_LENGTH_MAX,
} from "./limits.ts";

// The options that the stores on SQLite's SQL share.

/** Options that every store in a database has. */
export interface SharedStoreOptions {
  /** Begins the names of all tables. Letters, digits and `_`, at most 64. Default: `"escapement_"`. */
  readonly tablePrefix?: string | undefined;
  /** Turns payloads and return values into text. Default: a `JSONSerializer`. */
  readonly serializer?: Serializer | undefined;
  /** Start from scratch: when this store is opened for the first time, its tables (those of its `tablePrefix`) are
   *  dropped and made anew, so that all tasks, schedules, jobs and results are gone. Other processes on these tables go
   *  on, and find nothing. For tests and development. Default: false. */
  readonly reset?: boolean | undefined;
  /** How long an operation is repeated that fails for a passing reason. */
  readonly retry?: StoreRetryOptions | undefined;
  /** How much the store remembers of what became of fire times, of changes of schedules, and of when schedulers lived;
   *  false for nothing. An entry is written in the commit that ends its job, and takes some 80 bytes. Default: 5,000
   *  entries of a schedule, for 90 days. */
  readonly ledger?: boolean | LedgerOptions | undefined;
}

/**
 * How long a store repeats an operation that fails for a passing reason, before a method rejects with
 * `StoreUnavailableError`. A scheduler that was started tries again after that, for as long as it runs.
 * @example
 * const retry: StoreRetryOptions = { maxAttempts: 3, maxDuration: { seconds: 5 }, backoff: { max: { seconds: 2 } } };
 */
export interface StoreRetryOptions {
  /** Attempts in all, the first included, while the connection to the database fails. 1 means no retry. Default: 10. */
  readonly maxAttempts?: number | undefined;
  /** Time after which an operation whose connection fails is not tried again. Default: 30 seconds. */
  readonly maxDuration?: Duration | undefined;
  /** Time after which an operation is not tried again while others hold the database's lock. Default: 20 seconds. */
  readonly maxBusyDuration?: Duration | undefined;
  /** The pauses between attempts. Each pause is random, between zero and twice the bound of the pause before.
   *  Default: from 20 ms to 1 s. */
  readonly backoff?:
    | {
        /** Bound of the first pause; longer than zero. Default: 20 milliseconds. */
        readonly initial?: Duration | undefined;
        /** Longest pause. While others hold the lock of a file, it is 100 milliseconds at most. Default: 1 second. */
        readonly max?: Duration | undefined;
      }
    | undefined;
}

export interface CheckedSharedOptions {
  readonly tablePrefix: string;
  readonly serializer?: Serializer | undefined;
  readonly reset: boolean;
  readonly retry: RetryLimits;
  readonly ledger: LedgerLimits | null;
}

const saysPrefix = says("letters, digits and _, at most 64, not beginning with a digit");

const tablePrefix: () => v.GenericSchema<string> = once(() =>
  v.pipe(
    v.string(saysPrefix),
    v.check((prefix) => prefix.length <= TABLE_PREFIX_LENGTH_MAX && /^([a-z_]\w*)?$/i.test(prefix), saysPrefix),
    v.check(
      (prefix) => !/^sqlite_/i.test(prefix),
      says("another prefix, because names that begin with sqlite_ are SQLite's own"),
    ),
  ),
);

const retry: () => v.GenericSchema<unknown, RetryLimits> = once(() =>
  v.pipe(
    objectOf(
      {
        maxAttempts: v.optional(wholeNumber(1), CONNECTION_TRIES_MAX),
        maxDuration: v.optional(durationMs(), { milliseconds: CONNECTION_RETRY_MS_MAX }),
        maxBusyDuration: v.optional(durationMs(), { milliseconds: BUSY_RETRY_MS_MAX }),
        backoff: v.optional(
          objectOf({
            initial: v.optional(durationMs(1), { milliseconds: RETRY_PAUSE_MS_FIRST }),
            max: v.optional(durationMs(1), { milliseconds: RETRY_PAUSE_MS_MAX }),
          }),
          {},
        ),
      },
      retryAdvice,
    ),
    v.transform(
      ({ maxAttempts, maxDurationMs, maxBusyDurationMs, backoff }): RetryLimits => ({
        attemptsMax: maxAttempts,
        durationMsMax: maxDurationMs,
        busyMsMax: maxBusyDurationMs,
        pauseMsFirst: backoff.initialMs,
        pauseMsMax: backoff.maxMs,
      }),
    ),
  ),
);

/** The schemas of {@link SharedStoreOptions}. @internal */
export const sharedEntries: () => {
  readonly tablePrefix: v.OptionalSchema<v.GenericSchema<string>, string>;
  readonly serializer: v.OptionalSchema<v.GenericSchema<Serializer>, undefined>;
  readonly reset: v.OptionalSchema<v.GenericSchema<boolean>, boolean>;
  readonly retry: v.OptionalSchema<v.GenericSchema<unknown, RetryLimits>, StoreRetryOptions>;
  readonly ledger: ReturnType<typeof ledgerOption>;
} = once(() => ({
  tablePrefix: v.optional(tablePrefix(), "escapement_"),
  serializer: v.optional(serializerOption(), undefined),
  reset: v.optional(trueOrFalse, false),
  retry: v.optional(retry(), {}),
  ledger: ledgerOption(),
}));

/** What callers mean by other words. */
export const SHARED_SYNONYMS: Readonly<Record<string, string>> = {
  prefix: "tablePrefix",
  startfromscratch: "reset",
  drop: "reset",
  retries: "retry",
  retrysettings: "retry",
  history: "ledger",
  occurrences: "ledger",
  books: "ledger",
};

function retryAdvice(value: unknown): string | null {
  if (typeof value === "number") return `write { maxAttempts: ${value} }`;
  return value === false ? 'write { maxAttempts: 1, maxBusyDuration: "PT0S" }' : null;
}
