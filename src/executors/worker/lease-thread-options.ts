import * as v from "valibot";
import { type Checker, checker, durationMs, objectOf } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { moduleUrl, programBeside, programUrl } from "../remote/remote-options.ts";

/** Options of a {@link LeaseThread}. */
export interface LeaseThreadOptions {
  /**
   * The module that the thread imports: `new URL("./store.ts", import.meta.url)`, or such a URL as text. On Node before
   * 22.18 it must be JavaScript. It exports `createDataStore()`, which returns (or resolves with) a new store of the
   * scheduler's database, so that the thread has a connection of its own. It may export `logger`, which gets the
   * warnings of the thread; without it they go to the standard error output.
   */
  readonly module: URL | string;
  /** For how long the thread keeps the leases of an event loop that is blocked. Then they end within `leaseDuration`,
   *  and others run the jobs. It must be longer than a third of `leaseDuration`. Default: 5 minutes. */
  readonly maxBlocked?: Duration | undefined;
  /** How long the thread may take to import the module and to open its store. Default: 30 s. */
  readonly startTimeout?: Duration | undefined;
  /** The program of the thread, for a scheduler that a bundler made into one file: a bundle of the package's
   *  `dist/executors/worker/lease-entry.js`. Default: that file, beside this class. */
  readonly entry?: URL | string | undefined;
}

export interface CheckedLeaseThreadOptions {
  readonly module: string;
  readonly maxBlockedMs: number;
  readonly startTimeoutMs: number;
  readonly entry: string;
}

const LEASE_ENTRY: string = programBeside(import.meta.url, "lease-entry");

/** @throws {OptionsError} with one issue per problem */
export const checkLeaseThreadOptions: Checker<CheckedLeaseThreadOptions> = checker(
  () =>
    objectOf({
      module: moduleUrl("./store.ts"),
      maxBlocked: v.optional(durationMs(1), { minutes: 5 }),
      startTimeout: v.optional(durationMs(1), { seconds: 30 }),
      entry: programUrl(LEASE_ENTRY),
    }),
  {
    takes: "{ module }",
    instead: (value) => (value instanceof URL ? "write { module: url }" : null),
    elsewhere: (name) =>
      /^(data_?)?store$/i.test(name) ? "its module exports it: export const createDataStore = () => ..." : null,
  },
);
