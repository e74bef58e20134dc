// Every bound of the library, with its unit and reason. A loop, batch, retry or text without one is a fault.

/** Longest single timer. Clocks jump and timers overflow at 24.8 days, so longer sleeps are taken in steps. */
export const TIMER_STEP_MS_MAX = 3_600_000;

/** Largest lag of a timer that is taken for a habit of the host, in milliseconds: 25 were seen on virtual machines.
 *  Above that, something held the event loop, or the machine was suspended. */
export const LAG_MS_MAX = 60;

/** Shortest timer that tells something about the lag of timers, in milliseconds: below, a lag is hardly one. */
export const LAG_SAMPLE_MS_MIN = 20;

/** How long before a known fire time a precise sleep wakes to set a shorter timer, in milliseconds. It is also when a
 *  scheduler looks ahead, and longer than a look and the lag of the timer before it. */
export const LOOK_AHEAD_MS = 60;

/** From where on a precise sleep takes timers of 1 ms, and from where on turns of the event loop, in milliseconds. The
 *  turns keep a core busy: more than one millisecond of them is not worth it. */
export const SHORT_TIMERS_MS = 4;
export const LAST_TURNS_MS = 1;

/** Most turns of the event loop at the end of a precise sleep: a millisecond has some hundreds. On a host whose clock
 *  stands still between inputs (Workers), the turns would never end. */
export const LAST_TURNS_MAX = 2000;

/** Most precise sleeps a second: with some milliseconds of CPU each, they take a tenth of a core at most. */
export const PRECISE_SLEEPS_PER_SECOND_MAX = 20;

/** Longest crontab text or field value, in UTF-16 units. The longest sensible one has a few hundred. */
export const CRON_TEXT_LENGTH_MAX = 1024;

/** Last millisecond of the year 9999 in UTC: no trigger answers beyond it. */
export const FIRE_TIME_MS_MAX = 253_402_300_799_999;

/** Longest id of a task, schedule or job, in UTF-16 units. Ids are index keys, and stand in logs and URLs. */
export const ID_LENGTH_MAX = 256;

/** Most jobs or schedules that one call may add. A larger list would hold the store's write lock for seconds. */
export const BULK_ADD_MAX = 10_000;

/** Most schedules that one step plans, and most jobs that it makes of them: a commit's lock stays short, and each of
 *  its parameters below 500 KB. */
export const PLANS_PER_STEP_MAX = 200;
export const FIRES_PER_STEP_MAX = 1000;

/** Most bytes of schedules that one look shows, and most that one step copies into jobs. Servers refuse requests and
 *  answers of some megabytes. */
export const STEP_BYTES_MAX = 500_000;

/** Most jobs, and most characters of theirs, that an addition may have to share a step with other work. */
export const STEP_ADDITIONS_MAX = 200;
export const STEP_ADDITION_LENGTH_MAX = 100_000;

/** Most outcomes that one step tells the store, and most characters of theirs; the first is told whatever its size. */
export const RELEASES_PER_STEP_MAX = 1000;
export const RELEASE_LENGTH_PER_STEP_MAX = 500_000;

/** How long after a fire time a scheduler leaves it to the favourite of the schedule, in milliseconds: from, and up to.
 *  A favourite commits within a few. */
export const FAVOURITE_WAIT_MS_MIN = 50;
export const FAVOURITE_WAIT_MS_MAX = 100;

/** How long after its fire time a schedule counts as fresh, in milliseconds: every other page of due schedules begins
 *  with fresh ones, whatever others have to catch up. */
export const FRESH_MS = 10_000;

/** Steps, and milliseconds, after which a loop lets timers and messages have their turn. */
export const STEPS_PER_TURN_MAX = 16;
export const TURN_MS_MAX = 10;

/** Most jobs that one commit of `coalesce: "all"` makes per schedule; the rest follows on the next pass. */
export const CATCH_UP_JOBS_PER_COMMIT_MAX = 500;

/** Largest page of `getSchedules`, `getJobs` and `getJobResults`, and its default. */
export const PAGE_SIZE_MAX = 1000;
export const PAGE_SIZE_DEFAULT = 100;

/** Largest serialized payload, result or metadata, in UTF-16 units. Remote stores refuse answers above 10 MB. */
export const SERIALIZED_LENGTH_MAX = 1_000_000;

/** Events that an async iterator keeps for a slow reader before it drops the oldest. */
export const EVENT_BUFFER_MAX = 10_000;

/** Most fire times that are stepped through to tell how many were missed; more than that is reported as unknown. */
export const MISSED_COUNT_STEPS_MAX = 1000;

/** Parsed triggers that a scheduler keeps, so that a schedule is not parsed anew at every fire. */
export const TRIGGER_CACHE_MAX = 10_000;

/** How long a handler whose signal was aborted still holds its slot, in milliseconds, before its job is recorded
 *  without it. Long enough to clean up, short enough that one that ignores its signal blocks nobody. */
export const ABORT_GRACE_MS = 5000;

/** Pauses between tries while the store is unavailable, in milliseconds: full jitter up to this, doubling. */
export const OUTAGE_PAUSE_MS_MIN = 100;
export const OUTAGE_PAUSE_MS_MAX = 10_000;

/** How long the id of a job that ended without a result that is kept is remembered, in milliseconds, so that an
 *  addition that is repeated does not run it again; and how many of them a store in memory remembers at least. */
export const TOMBSTONE_MS = 600_000;
export const TOMBSTONES_MAX = 2000;

/** Deepest chain of `cause` that is kept with an error, and longest text of each of its fields, in UTF-16 units. */
export const ERROR_CAUSES_MAX = 8;
export const ERROR_TEXT_LENGTH_MAX = 16_384;

/** Schedules and results that one step of the clean-up removes. */
export const CLEANUP_BATCH = 1000;

/** Most steps of one clean-up, so that it ends while others keep adding. */
export const CLEANUP_STEPS_MAX = 1000;

/** Longest canonical crontab text, in UTF-16 units: a step of the original can become a list of its values. */
export const CRON_CANONICAL_LENGTH_MAX = 4096;

/** Steps of one question to a trigger, all triggers within it included. A step is some 80 ns of work, such as one
 *  question to one cron trigger, so that a question takes some 20 ms at most (`npm run bench:triggers` prints it).
 *  An excluded day of 25 hours costs 180,000 steps, two for each second. */
export const QUESTION_STEPS_MAX = 250_000;

/** Dates and spans of dates that one `ExcludingTrigger` takes: a century of holidays. */
export const EXCLUDED_DATES_MAX = 10_000;

/** Children of one combined trigger: every search asks each of them. */
export const COMBINED_TRIGGERS_MAX = 100;

/** Depth of triggers within triggers. The work of a search can grow with each level; hostile JSON nests without end. */
export const TRIGGER_DEPTH_MAX = 8;

/** How often a wait for a result looks into the store, in milliseconds: from the first pause to the last, doubling. An
 *  event usually wakes it earlier. */
export const RESULT_POLL_MS_MIN = 50;
export const RESULT_POLL_MS_MAX = 2000;

/** How long the result of a `runJob` call is kept at least, in milliseconds, because the call could not read the result
 *  otherwise. */
export const AWAITED_RESULT_MS_MIN = 60_000;

/** Longest sleep of a loop on a store that no other process writes to, in milliseconds: schedulers of this process that
 *  share the store without sharing an event broker notice each other's changes this late. */
export const IDLE_MS_UNSHARED = 60_000;

/** How long a stop may take beyond its drain and the grace of handlers, in milliseconds, to record outcomes and to
 *  close: some round trips, but not the time-outs of a store that hangs. */
export const STOP_SETTLE_MS = 2000;

/** Failures to record the last outcomes when a scheduler stops, after which it gives up; what is left then is recovered
 *  when its lease ends. */
export const STOP_FLUSH_TRIES = 5;

/** Tries to change a schedule that others keep changing at the same time. */
export const UPDATE_TRIES_MAX = 10;

/** Longest duration in options, in milliseconds: a thousand years, so that no sum with an instant leaves what Temporal
 *  can represent. */
export const DURATION_MS_MAX = 31_557_600_000_000;

/** Largest `maxCatchUp`: finding where to begin costs a step per missed fire time. */
export const CATCH_UP_MAX = 10_000;

/** Most fire times that one preview lists. */
export const PREVIEW_LENGTH_MAX = 1000;

/** Deepest nesting of a value that is carried as JSON: engines overflow their stacks at some thousands. */
export const JSON_DEPTH_MAX = 1000;
