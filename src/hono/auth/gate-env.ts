import type { Scope } from "./auth-options.ts";

/** What handlers behind a gate find in `c.var`. */
export interface GateEnv {
  Variables: {
    /** What the caller may do. */
    scope: Scope;
    /** Who it is; undefined where nobody knows. */
    caller: string | undefined;
    /** When its session ends, in epoch milliseconds; undefined for never. */
    sessionEnd: number | undefined;
  };
}
