import type { BenchRuntime, Contestant } from "../store/contestant.ts";

/** What limits the jobs of a run. */
export type FlowLimit =
  | { readonly kind: "none" }
  /** So many keys, and at most one running job for each. */
  | { readonly kind: "keys"; readonly keys: number }
  | { readonly kind: "rate"; readonly perSecond: number };

export interface FlowJob {
  readonly payload: number;
  /** Empty where there are no keys. */
  readonly key: string;
}

/** One queue of a contestant, empty at first. */
export interface FlowQueue {
  /** One call for all. */
  addMany(jobs: readonly FlowJob[]): Promise<unknown>;
  /** Runs the jobs that were added: each job's handler awaits `run`. Resolves when the outcome of `count` jobs is
   *  recorded. */
  process(count: number, run: (payload: number) => Promise<void>): Promise<void>;
  /** Stops and disconnects. */
  close(): Promise<void>;
}

export interface FlowContestant {
  readonly name: string;
  readonly runtime: BenchRuntime;
  readonly server: Contestant["server"];
  /** Its configuration, in words. */
  readonly configuration: string;
  /** Packages whose versions the report states. */
  readonly packages: readonly string[];
  /** The kinds of limits that it has, in what users get without paying. */
  readonly kinds: readonly FlowLimit["kind"][];
  open(address: string, name: string, limit: FlowLimit): Promise<FlowQueue>;
}
