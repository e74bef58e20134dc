import type { SchedulerProfile } from "../../../records/scheduler.ts";
import type { SerializedError } from "../../../records/serialized-error.ts";

/** How often, during one lease, the event loop gives a heartbeat, and the lease thread looks for it. A loop that is
 *  blocked is noticed after a third of a lease and two such pauses. A lease then has a quarter of its time left at
 *  least, because the scheduler extends it every third. */
export const LOOKS_PER_LEASE = 24;

/** What a lease thread is started with. */
export interface LeaseThreadData {
  /** The URL of the module with `createDataStore`. */
  readonly module: string;
  readonly identity: string;
  readonly instanceId: string;
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

/** What a lease thread tells. `failed`: it cannot begin; `isModule` says whether its module is the reason, or else its
 *  store. `stopped`: its store is closed. */
export type FromLeaseThread =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly isModule: boolean; readonly error: SerializedError }
  | { readonly kind: "stopped" };
