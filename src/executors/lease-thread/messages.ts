import type { SchedulerProfile } from "../../records/scheduler.ts";

/** What a lease thread is started with. */
export interface LeaseThreadData {
  /** The URL of the module with `createDataStore`. */
  readonly module: string;
  readonly identity: string;
  readonly incarnation: string;
  readonly leaseMs: number;
  readonly maxBlockedMs: number;
  /** The scheduler's time, in epoch milliseconds. */
  readonly now: number;
  readonly buffer: SharedArrayBuffer;
  readonly profile: SchedulerProfile;
}

/** What a lease thread is told. */
export type ToLeaseThread =
  | { readonly kind: "table"; readonly buffer: SharedArrayBuffer }
  | { readonly kind: "profile"; readonly profile: SchedulerProfile }
  | { readonly kind: "stop" };

/** What a lease thread tells. `failed`: it cannot begin; `fault` says whether the module is wrong, or the store cannot
 *  be opened. `stopped`: its store is closed. */
export type FromLeaseThread =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly fault: "module" | "store"; readonly message: string; readonly stack: string }
  | { readonly kind: "stopped" };
