/** How many times the default `burst` of a `rateLimit` is contained in its `limit`. A wake-up and a commit take some
 *  milliseconds, so that a fast rate is kept only by starting several jobs at a time. */
export const LIMIT_PER_BURST = 20;

/** How often a look compares what a scheduler has declared of its tasks with what the store has, in milliseconds:
 *  another version of the program may have changed it, and a comparison of all tasks at each look would cost more than
 *  the look. */
export const TASKS_WATCH_MS = 60_000;

/** Most tries to change what others keep changing at the same time: a schedule, or the declaration of a task. */
export const UPDATE_TRIES_MAX = 10;
