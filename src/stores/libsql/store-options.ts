import * as v from "valibot";
import { type Checker, checker, durationMs, namesOf, objectOf, oneOf } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { mustBe } from "../../core/option-errors.ts";
import { REMOTE_TIMEOUT_MS_DEFAULT } from "../sql/limits.ts";
import {
  type CheckedSharedOptions,
  SHARED_SYNONYMS,
  type SharedStoreOptions,
  sharedEntries,
} from "../sql/store-options.ts";

/** Options of a {@link LibsqlDataStore}. */
export interface LibsqlStoreOptions extends SharedStoreOptions {
  /** For a file that is opened by its `url`. With `"full"` (default), commits that were acknowledged survive a power
   *  failure, at the cost of one fsync per commit. With `"normal"`, they survive a crash of the process, but a power
   *  failure can lose the last moments. As measured, `"normal"` processes jobs 1.2 times as fast, and adds jobs 1.1
   *  times (in bulk) to 2.7 times (one by one) as fast (bench/README.md). */
  readonly durability?: "full" | "normal" | undefined;
  /** Longest wait for one answer of a remote database. Default: 10 seconds. */
  readonly timeout?: Duration | undefined;
}

export interface CheckedLibsqlOptions extends CheckedSharedOptions {
  readonly durability: "full" | "normal";
  readonly timeoutMs: number;
}

/** @internal */
export const UNSET = "is the environment variable set?";

/** @internal */
export const text: () => v.GenericSchema<string> = once(() => v.pipe(v.string(saysText), v.nonEmpty(saysText)));
/** Text whose value no error message shows. @internal */
export const secret: () => v.GenericSchema<string> = once(() => v.pipe(v.string(saysSecret), v.nonEmpty(saysSecret)));

const optionsSchema = once(() =>
  objectOf({
    ...sharedEntries(),
    durability: v.optional(oneOf(["full", "normal"]), "full"),
    timeout: v.optional(durationMs(1), { milliseconds: REMOTE_TIMEOUT_MS_DEFAULT }),
  }),
);

/** The names of the options that come second, after the connection. */
export function optionNames(): readonly string[] {
  return namesOf(optionsSchema());
}

/** The check of a store's second argument. @param connectionNames what belongs into the first argument */
export function optionsChecker(connectionNames: () => readonly string[]): Checker<CheckedLibsqlOptions> {
  return checker(optionsSchema, {
    instead: (value) => (typeof value === "string" ? "write { url, authToken } for a database with a token" : null),
    elsewhere: (name) =>
      connectionNames().includes(name) ? `it comes first: new LibsqlDataStore({ url, ${name} })` : null,
    synonyms: SHARED_SYNONYMS,
  });
}

function saysText({ input }: { readonly input: unknown }): string {
  const advice = input instanceof URL ? "write url.href" : input === undefined ? UNSET : null;
  return mustBe("text that is not empty", input, "", advice);
}

function saysSecret({ input }: { readonly input: unknown }): string {
  return mustBe("text that is not empty", input, "secret", input === "" ? UNSET : null);
}
