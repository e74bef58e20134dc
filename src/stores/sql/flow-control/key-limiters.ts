// Flow control: limits of concurrency keys, rates, fairness and pauses. A *key limiter* is the row of a task and a
// concurrency key, or of the task's jobs without a key. A job that is due is *blocked* until its key limiter has
// *admitted* it: then the job is ready. Whatever makes room at a limiter, or adds a blocked job, marks the limiter
// *dirty*. So a commit reads the dirty limiters alone, however many there are. The keys of a fair task take turns by
// their *virtual time* (start-time fair queueing: Goyal, Vin and Cheng, 1996).

/** Whether the statements of looks and commits apply flow control, which costs more than the rest of a commit. */
export type FlowMode = "off" | "on";

/**
 * Whether a database needs flow control, as the last look reported to its store.
 *
 * Nothing goes wrong while the store believes that it needs none. Statements without flow control acquire no job of a
 * task with limits, and release no job with a concurrency key. The look at the end of a commit finds the key limiters,
 * and the store repeats the commit with flow control at once. Jobs that were added without the key of their task get it
 * from the commits that apply flow control, see `backfillKeys`.
 */
export interface FlowState {
  flow: FlowMode;
  /** Whether limiters keep an account of tokens or of virtual time, because a task has a rate or is fair. Where none
   *  does, a commit leaves out the statements about them, and a guard undoes it if one does after all. */
  hasAccounts: boolean;
  /** Whether a look has reported it yet. */
  isKnown: boolean;
}
