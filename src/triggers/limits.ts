/** Last millisecond of the year 9999 in UTC, in epoch milliseconds. No trigger answers with a later instant. */
export const FIRE_TIME_MS_MAX = 253_402_300_799_999;

/** Most steps of one question to a trigger, with the steps of all triggers within it. A step is some 80 ns of work,
 *  such as one question to one cron trigger. So a question takes some 20 ms at most (`npm run bench:triggers` measures
 *  it). An excluded day of 25 hours costs 180,000 steps, two for each second. */
export const QUESTION_STEPS_MAX = 250_000;

/** Most dates and spans of dates that one `ExcludingTrigger` takes: enough for a century of holidays. */
export const EXCLUDED_DATES_MAX = 10_000;

/** Most dates in a row that an `ExcludingTrigger` with `shift` takes: a question looks at each of them. Fire times that
 *  are moved further are a mistake. */
export const SHIFTED_DATES_MAX = 366;

/** Most children of one combined trigger, because every search asks each child. */
export const COMBINED_TRIGGERS_MAX = 100;

/** Deepest nesting of triggers within triggers. The work of a search can grow with each level, and hostile JSON may be
 *  nested without end. */
export const TRIGGER_DEPTH_MAX = 8;

/** Most windows that one question about blackouts looks at, one after the other. Blackouts that follow each other for
 *  longer without a gap count as blackouts for ever. */
export const BLACKOUT_STEPS_MAX = 100;
