/** How long a handler whose signal was aborted may still run, in milliseconds, before the job's outcome is recorded
 *  without it. This is long enough to clean up. After a timeout or a cancellation, one that cannot be ended from
 *  outside may take as long as its task's `abandonAfter`. */
export const ABORT_GRACE_MS = 5000;

/** First and longest pause before an executor starts a thread or a process again after one could not be started, in
 *  milliseconds. The pause doubles with each failure in a row. */
export const WORKER_PAUSE_MS_MIN = 100;
export const WORKER_PAUSE_MS_MAX = 10_000;

/** Messages that a scheduler and a worker of an executor send together at most. Fewer cost more to send; with more, one
 *  side has nothing to do while the other works on all of them. */
export const WORKER_MESSAGES_MAX = 16;

/** Most steps of a job (`context.step`), most characters of a value or a cursor as text, most of all of a job, and most
 *  of a name. A job with more is better two jobs, because an attempt reads all steps of its job. */
export const JOB_STEPS_MAX = 1000;
export const JOB_STEP_VALUE_LENGTH_MAX = 262_144;
export const JOB_STEPS_LENGTH_MAX = 4_194_304;
export const JOB_STEP_NAME_LENGTH_MAX = 200;
