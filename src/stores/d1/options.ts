import * as v from "valibot";
import { checker, durationMs, hasMethods, objectOf } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { cloudflareEntries, wrongArgument } from "../cloudflare-sqlite/options.ts";
import { REMOTE_TIMEOUT_MS_DEFAULT } from "../sql/limits.ts";
import { type CheckedSharedOptions, SHARED_SYNONYMS, type SharedStoreOptions } from "../sql/store-options.ts";
import type { D1Binding } from "./binding.ts";

/** Options of a {@link D1DataStore}. */
export interface D1StoreOptions extends SharedStoreOptions {
  /** Longest wait for one answer of the database. Default: 10 seconds. */
  readonly timeout?: Duration | undefined;
}

interface CheckedD1Options extends CheckedSharedOptions {
  readonly timeoutMs: number;
}

const checkStoreOptions = checker(
  () =>
    objectOf({
      ...cloudflareEntries(),
      timeout: v.optional(durationMs(1), { milliseconds: REMOTE_TIMEOUT_MS_DEFAULT }),
    }),
  { synonyms: SHARED_SYNONYMS },
);

/** @throws {OptionsError} when the value is no binding of D1 */
export function checkBinding(binding: D1Binding): D1Binding {
  const isSession = hasMethods(binding, ["prepare", "batch", "getBookmark"]);
  if (hasMethods(binding, ["prepare", "batch"]) && !isSession) return binding;
  throw wrongArgument("new D1DataStore(binding)", "a binding of D1", binding, adviceOn(binding, isSession));
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: D1StoreOptions, where: string): CheckedD1Options {
  return checkStoreOptions(options, where);
}

function adviceOn(value: unknown, isSession: boolean): string | null {
  if (isSession) return "pass the binding itself, because a session may read from a copy that is behind";
  if (value === undefined) return "is its name under d1_databases of the Worker's configuration?";
  if (typeof value === "string") return "pass the binding of that name, such as env.DB";
  if (hasMethods(value, ["transactionSync"])) {
    return "for the storage of a Durable Object there is DurableObjectDataStore of escapement/durable-object";
  }
  if (hasMethods(value, ["execute", "batch"])) return "for a libSQL client there is LibsqlDataStore({ client })";
  return null;
}
