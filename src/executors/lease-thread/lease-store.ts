import type { SchedulerProfile } from "../../records/scheduler.ts";

/** What a lease thread needs of a `DataStore`. */
export interface LeaseStore {
  readonly capabilities: { readonly sharedByProcesses: boolean };
  open(now: number): Promise<void>;
  getSchedulers(now: number): Promise<readonly { readonly incarnation: string }[]>;
  extendLeases(extension: StoredExtension): Promise<{ readonly lost: readonly string[] }>;
  close(): Promise<void>;
}

interface StoredExtension {
  readonly now: number;
  readonly schedulerId: string;
  readonly incarnation: string;
  readonly settledStepId: null;
  readonly until: number;
  readonly jobs: readonly { readonly jobId: string; readonly fence: number }[];
  readonly aliveUntil: number;
  readonly profile: SchedulerProfile;
}

export const LEASE_STORE_METHODS = ["open", "getSchedulers", "extendLeases", "close"] as const;
