/** Most bytes of schedules that one look shows, and most that one commit copies into jobs. Servers refuse requests and
 *  answers of some megabytes. */
export const COMMIT_BYTES_MAX = 500_000;

/** Most jobs that one commit makes of a schedule with `coalesce: "all"`. The other fire times stay due for the next
 *  commit. */
export const CATCH_UP_JOBS_PER_COMMIT_MAX = 500;

/** Most fire times that one plan of a schedule passes over whose fires may not overlap. They cost a scan of the
 *  trigger, and no write. The other fire times stay due for the next commit. */
export const PASSED_FIRES_PER_PLAN_MAX = 1000;

/** Most parsed triggers that a scheduler keeps, so that a trigger is not parsed anew at every fire. */
export const TRIGGER_CACHE_MAX = 10_000;

/** How long a trigger that cannot be read here counts as such without another try, in milliseconds: its codec may still
 *  be registered. */
export const UNREADABLE_MS = 10_000;

/** Most times of blackouts that one plan of a schedule tells apart in the ledger; those beyond are told as the
 *  others. */
export const BLACKED_OUT_RANGES_MAX = 100;

/** For how long the clock of a scheduler that stays must have gone on evenly before it takes back schedules that a
 *  wrong clock has moved, and how long it waits before it looks for them again, in milliseconds. A clock that has just
 *  been set may be set again. */
export const CLOCK_STEADY_MS = 300_000;

/** No clock that is right shows an earlier time to this program, in epoch milliseconds: 2026-01-01T00:00:00Z. A host
 *  without a battery for its clock starts at 1970 or at the date of its firmware. */
export const EARLIEST_NOW_MS = 1_767_225_600_000;
