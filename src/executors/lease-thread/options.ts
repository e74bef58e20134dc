import * as v from "valibot";
import { type Checker, checker, durationMs, says } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { once } from "../../core/once.ts";

/** Options of a `LeaseThread`. */
export interface LeaseThreadOptions {
  /** The module that the thread loads: a URL, such as `new URL("./store.ts", import.meta.url)`, or the text of a
   *  `file:` URL. It exports `createDataStore()`, which makes (or resolves with) a store of the database that the
   *  scheduler uses, with a connection of its own. It may export `logger`, a `Logger` that gets the warnings of the
   *  thread; without it they go to the standard error output. */
  readonly module: URL | string;
  /** How long the event loop may be blocked. Then the thread no longer extends its leases, which end after
   *  `leaseDuration` at most: others run the jobs. It is longer than a third of `leaseDuration`. Default: 5 minutes. */
  readonly maxBlocked?: Duration | undefined;
  /** The longest time in which the thread gets ready, before `start()` rejects. Default: 30 seconds. */
  readonly startTimeout?: Duration | undefined;
}

interface CheckedLeaseThreadOptions {
  readonly module: URL;
  readonly maxBlocked: number;
  readonly startTimeout: number;
}

const saysModule = says('the URL of a module, such as new URL("./store.ts", import.meta.url)');

const schema = once(() =>
  v.strictObject({
    module: v.pipe(
      v.custom<URL | string>(isModuleUrl, saysModule),
      v.transform((url) => new URL(url)),
    ),
    maxBlocked: v.optional(durationMs(1), { minutes: 5 }),
    startTimeout: v.optional(durationMs(1), { seconds: 30 }),
  }),
);

export const checkLeaseThreadOptions: Checker<CheckedLeaseThreadOptions> = checker(schema);

/** The code of the program, and nothing from elsewhere. */
function isModuleUrl(value: unknown): boolean {
  if (typeof value !== "string" && !(value instanceof URL)) return false;
  try {
    return new URL(value).protocol === "file:";
  } catch {
    return false;
  }
}
