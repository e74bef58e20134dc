import type { JobOutcome } from "./policies.ts";
import type { SerializedError } from "./serialized-error.ts";

/** How a job ended, as stores keep it: times are epoch milliseconds, the return value is serialized text. */
export interface JobResultRecord {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly scheduledFireTime: number | null;
  readonly outcome: JobOutcome;
  /** When the last attempt started, or null when it never did. */
  readonly startedAt: number | null;
  readonly finishedAt: number;
  /** Attempts made, the last one included. */
  readonly attempts: number;
  /** Serialized return value of a success, or null for none. */
  readonly returnValue: string | null;
  readonly error: SerializedError | null;
  /** From when on the result may be removed. */
  readonly expiresAt: number;
}
