/** How long after its fire time a job may begin without a question why, in milliseconds. Schedulers look for the work
 *  of others every 10 seconds. */
export const LATE_MS = 10_000;

/** How long before a fire time it is asked who was alive, in milliseconds, so that an answer can say since when nobody
 *  was. */
export const UPTIMES_BEFORE_MS: number = 7 * 86_400_000;

/** Most fire times that a page of occurrences looks at, and most unfinished jobs that an answer about the past of a
 *  schedule reads. A trigger that fires each second would otherwise cost a day's 86,400 for one page. */
export const OCCURRENCE_STEPS_MAX = 10_000;
export const UNFINISHED_READ_MAX = 1000;

/** How many changes of a schedule, and pauses of its task, an answer about its past reads. Stores keep 100. */
export const CHANGES_READ_MAX = 200;
