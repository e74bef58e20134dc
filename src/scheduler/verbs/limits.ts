/** Most schedules that one commit adds. A larger list takes several, so that the store's write lock stays short. */
export const SCHEDULES_PER_COMMIT_MAX = 200;

/** Most jobs or schedules that one commit of a call about many changes, so that the store's write lock stays short. A
 *  plan has no more schedules. */
export const BULK_COMMIT_MAX = 1000;

/** Most fire times that a backfill looks at before its next commit, and about how many characters its jobs have in one:
 *  so few that others have their turn, and that a request to any database has room for it. */
export const BACKFILL_FIRE_TIMES_PER_COMMIT_MAX = 500;
export const BACKFILL_LENGTH_PER_COMMIT_MAX = 500_000;

/** How long somebody waits for a job before it is looked whether anybody is alive who runs jobs, in milliseconds: so
 *  long that short jobs cost no look. */
export const NO_WORKER_MS = 5000;

/** First and longest pause between two looks of a wait for a result, in milliseconds. The pause doubles with each look.
 *  An event usually ends the wait earlier. */
export const RESULT_POLL_MS_MIN = 50;
export const RESULT_POLL_MS_MAX = 2000;

/** Shortest time for which the result of a `runJob` call is kept, in milliseconds, because the call has to read the
 *  result. */
export const AWAITED_RESULT_MS_MIN = 60_000;

/** How long `health()` waits for the store, in milliseconds: longer than a store that works takes, and shorter than its
 *  time-outs and repetitions. */
export const HEALTH_ANSWER_MS = 5000;

/** Most refusals that the answer of a change of many lists. A cause that stands behind thousands shows in the first
 *  hundred. */
export const REFUSALS_MAX = 100;

/** Most failures that are looked through for their groups, the newest ones. In JSON they take some 2 MB. */
export const FAILURES_SEEN_MAX = 5000;
