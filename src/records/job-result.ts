import type { JobOutcome } from "./policies.ts";
import type { SerializedError } from "./serialized-error.ts";

/** How a job ended, in the form that stores keep. Times are epoch milliseconds. */
export interface JobResultRecord {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly scheduledFireTime: number | null;
  readonly outcome: JobOutcome;
  /** When the handler of the last attempt was called; null when that attempt did not call it, or when the store ended
   *  the job by itself (`cancelled`, `abandoned`). */
  readonly startedAt: number | null;
  readonly finishedAt: number;
  /** How many attempts the job had, the last one included. */
  readonly attempts: number;
  /** The serialized return value of a success; null when there is none to keep. */
  readonly returnValue: string | null;
  readonly error: SerializedError | null;
  /** The instant from which on the result counts as removed. */
  readonly expiresAt: number;
}
