/** Most jobs of one concurrency key of a fair task that are admitted and wait: enough for a commit of one worker, and
 *  few enough for a key that comes late. */
export const TURNS_AHEAD_MAX = 16;

/** Most pauses that a store tells: enough to see that something is wrong. */
export const TASK_PAUSES_MAX = 10_000;

/** Most entries that a store in memory keeps of all schedules together, about: they take some 100 MB. */
export const LEDGER_MEMORY_COUNT_MAX = 500_000;
