import type { Temporal } from "../../core/temporal.ts";
import type { JobOutcome } from "../../records/policies.ts";

/** What one `tick()` did. */
export interface TickReport {
  /** How many plans of due schedules were committed. */
  readonly schedulesProcessed: number;
  /** How many jobs the schedules made. */
  readonly jobsAdded: number;
  /** How many attempts were started. */
  readonly jobsRun: number;
  /** How many jobs ended, by outcome. */
  readonly outcomes: Readonly<Record<JobOutcome, number>>;
  /** When there is something to do again: call `tick()` at this instant. Null when nothing is planned. Made when it is
   *  read. */
  readonly nextWakeAt: Temporal.Instant | null;
  /** The same in epoch milliseconds. */
  readonly nextWakeAtMs: number | null;
  /** Whether a bound (`maxDuration`, `maxJobs`, `maxRoundTrips`) or the signal ended the tick while there was more to
   *  do. */
  readonly exhausted: boolean;
  /** How many requests the store sent to its database meanwhile, in whatever way they ended; those of handlers, and of
   *  other work on the same store, included. 0 for a store without a database. */
  readonly roundTrips: number;
}
