// The bounds of the library, with their units and reasons. (Stores and cron have bounds of their own.) A loop, batch,
// retry or text without a bound is a fault.

/** Longest single timer, in milliseconds. Longer sleeps are taken in steps, because clocks jump, and because timers
 *  overflow at 24.8 days. */
export const TIMER_STEP_MS_MAX = 3_600_000;

/** Largest lag of a timer that counts as usual for the host, in milliseconds. Virtual machines were seen to have 25. If
 *  a lag is larger, something held the event loop, or the machine was suspended. */
export const LAG_MS_MAX = 60;

/** Shortest timer that counts as a sample of the lag of timers, in milliseconds. Shorter timers have hardly any lag. */
export const LAG_SAMPLE_MS_MIN = 20;

/** How long before a known fire time a precise sleep wakes to set a shorter timer, in milliseconds. A scheduler also
 *  looks ahead by this time. It is longer than a look takes, together with the lag of the timer before the look. */
export const LOOK_AHEAD_MS = 60;

/** The time before the instant from which on a precise sleep uses timers of 1 ms, and the time from which on it uses
 *  turns of the event loop, in milliseconds. The turns keep a core busy, so that more than one millisecond of them is
 *  not worth its cost. */
export const SHORT_TIMERS_MS = 4;
export const LAST_TURNS_MS = 1;

/** Most turns of the event loop at the end of a precise sleep. A millisecond has some hundreds. Without this bound, the
 *  turns would never end on a host whose clock stands still between inputs (Workers). */
export const LAST_TURNS_MAX = 2000;

/** Most precise sleeps a second. Each costs some milliseconds of CPU, so that all together take a tenth of a core at
 *  most. */
export const PRECISE_SLEEPS_PER_SECOND_MAX = 20;

/** Longest crontab text or field value, in UTF-16 units. The longest sensible text has a few hundred. */
export const CRON_TEXT_LENGTH_MAX = 1024;

/** Last millisecond of the year 9999 in UTC, in epoch milliseconds. No trigger answers with a later instant. */
export const FIRE_TIME_MS_MAX = 253_402_300_799_999;

/** Longest id of a task, schedule or job, in UTF-16 units. Ids are index keys, and stand in logs and URLs. */
export const ID_LENGTH_MAX = 256;

/** Most jobs or schedules that one call may add. A larger list would hold the store's write lock for seconds. */
export const BULK_ADD_MAX = 10_000;

/** Most fire times of one simulation. */
export const SIMULATED_FIRES_MAX = 100_000;

/** Most schedules that one commit adds. */
export const SCHEDULES_PER_COMMIT_MAX = 200;

/** Most jobs that one commit of a call about many jobs retries or cancels. */
export const BULK_COMMIT_MAX = 1000;

/** How long outcomes wait while handlers of a burst of fires begin, in milliseconds: longer than a thousand take. */
export const BURST_MS_MAX = 200;

/** Most schedules that one commit plans, and most jobs that the plans of one commit make. A store's lock stays short
 *  with them. Even with the longest ids, each parameter of a commit stays below 500 KB. */
export const PLANS_PER_COMMIT_MAX = 200;
export const FIRES_PER_COMMIT_MAX = 1000;

/** Most bytes of schedules that one look shows, and most that one commit copies into jobs. Servers refuse requests and
 *  answers of some megabytes. */
export const COMMIT_BYTES_MAX = 500_000;

/** Most jobs of additions that share a commit with other work, and most UTF-16 units of their payloads. A larger
 *  addition is a write of its own, so that it does not hold up the commit. */
export const COMMIT_ADDITIONS_MAX = 200;
export const COMMIT_ADDITION_LENGTH_MAX = 100_000;

/** Most UTF-16 units of payloads and metadata that one commit adds. It would hold up the event loop for long. */
export const ADDITION_LENGTH_MAX = 16_000_000;

/** Most outcomes that one commit tells the store, and most characters of theirs; the first is told whatever its
 *  size. */
export const RELEASES_PER_COMMIT_MAX = 1000;
export const RELEASE_LENGTH_PER_COMMIT_MAX = 500_000;

/** Shortest and longest time for which the other schedulers leave a fire to the schedule's preferred scheduler, in
 *  milliseconds. A preferred scheduler commits within a few milliseconds. */
export const PREFERRED_WAIT_MS_MIN = 50;
export const PREFERRED_WAIT_MS_MAX = 100;

/** How long after its fire time a schedule counts as fresh, in milliseconds. Every second page of due schedules has
 *  only fresh ones, so that schedules with much to catch up do not hold them up. */
export const FRESH_MS = 10_000;

/** Most commits, and most milliseconds, after which a loop yields to the event loop, so that timers and messages have
 *  their turn. */
export const STEPS_PER_TURN_MAX = 16;
export const TURN_MS_MAX = 10;

/** Most jobs that a scheduler takes in the first commit of a burst while others are alive, which may take some too.
 *  Each commit that leaves jobs lets the next one take twice as many, so that others that hear of the burst get their
 *  share, and a long burst costs a few commits more. */
export const SHARE_FIRST = 4;

/** How long a scheduler that leaves jobs of a burst to others waits before its next commit, in milliseconds: about as
 *  long as it takes another to hear of them, to look and to commit. The commits of a long burst that wait are few. */
export const SHARE_WAIT_MS = 10;

/** Most jobs that one commit makes of a schedule with `coalesce: "all"`. The other fire times stay due for the next
 *  commit. */
export const CATCH_UP_JOBS_PER_COMMIT_MAX = 500;

/** Most fire times that a backfill looks at before its next commit, and about how many characters its jobs have in one:
 *  so few that others have their turn, and that a request to any database has room for it. */
export const BACKFILL_FIRE_TIMES_PER_COMMIT_MAX = 500;
export const BACKFILL_LENGTH_PER_COMMIT_MAX = 500_000;

/** How long a store remembers a backfill after its last change: a repetition of the call may come late. */
export const BACKFILL_KEPT_MS: number = 30 * 86_400_000;

/** Most jobs that one commit ends because they have missed their `startDeadline`. */
export const MISSED_PER_COMMIT_MAX = 100;

/** Most waiting jobs of its schedule that one plan removes, and most running jobs that it cancels, because of its
 *  schedule's `overlap`. There is one at most, unless the schedule queued its jobs before. */
export const OVERLAP_JOBS_PER_PLAN_MAX = 100;

/** Most fire times that one plan of a schedule passes over whose fires may not overlap. They cost a scan of the
 *  trigger, and no write. The other fire times stay due for the next commit. */
export const PASSED_FIRES_PER_PLAN_MAX = 1000;

/** Largest page of `getSchedules`, `getJobs` and `getJobResults`, and its default. */
export const PAGE_SIZE_MAX = 1000;
export const PAGE_SIZE_DEFAULT = 100;

/** Size of the records after which such a page ends, in bytes: payloads of a page with 1,000 records could have a
 *  gigabyte. The first record is on the page whatever its size. */
export const PAGE_BYTES_MAX = 4_000_000;

/** Most jobs that a page of `getJobs` in the order of `runAt` sorts, besides those that are not due yet, which an index
 *  has in this order. An index of all jobs would make every addition dearer. */
export const SORTED_JOBS_MAX = 10_000;

/** Largest serialized payload, result or metadata, in UTF-16 units. Remote stores refuse answers above 10 MB. */
export const SERIALIZED_LENGTH_MAX = 1_000_000;

/** Events that an async iterator keeps for a slow reader before it drops the oldest. */
export const EVENT_BUFFER_MAX = 10_000;

/** Events that are kept for readers of an HTTP stream that come back, and most UTF-16 units of them: events have some
 *  300 each, but errors may be long. */
export const EVENT_LOG_MAX = 1000;
export const EVENT_LOG_LENGTH_MAX = 4_000_000;

/** How long events are kept when nobody reads them, in milliseconds: longer than a client needs to come back. */
export const EVENT_KEPT_MS = 600_000;

/** Events that wait for a slow reader of an HTTP stream before they are dropped, and the reader is told so. */
export const EVENT_STREAM_QUEUE_MAX = 2000;

/** HTTP streams of events at a time. Each costs a connection, and its part in the work of every event. */
export const EVENT_STREAMS_MAX = 200;

/** UTF-16 units of events after which a chunk of a stream is full. */
export const EVENT_CHUNK_LENGTH = 65_536;

/** Pause between two heartbeats of an HTTP stream, in milliseconds: proxies end connections that are silent for
 *  some 30 to 60 s. And how many a stream has: it ends after 10 minutes, so that a client whose rights have ended loses
 *  them there too, and clients spread over the instances of a service. */
export const EVENT_BEAT_MS = 15_000;
export const EVENT_STREAM_BEATS = 40;

/** Pause of a browser before it connects again, in milliseconds. */
export const EVENT_RETRY_MS = 2000;

/** Most events of one message that a broker takes: one call adds 10,000 jobs at most, and each makes an event. */
export const EVENTS_PER_MESSAGE_MAX = 20_000;

/** Most different things about messages that a broker tells its logger, because anybody may post anything. */
export const REFUSALS_TOLD_MAX = 100;

/** Most missed fire times that are counted one by one. When there are more, their number is reported as unknown. */
export const MISSED_COUNT_STEPS_MAX = 1000;

/** Most parsed triggers that a scheduler keeps, so that a trigger is not parsed anew at every fire. */
export const TRIGGER_CACHE_MAX = 10_000;

/** How long a trigger that cannot be read here counts as such without another try, in milliseconds: its codec may still
 *  be registered. */
export const UNREADABLE_MS = 10_000;

/** How often a job whose payload cannot be read here goes back to the queue, for schedulers that can read it, and the
 *  pauses before it may be taken again, in milliseconds: from the first to the longest, doubling. Together they are
 *  longer than a deploy usually keeps two versions of a program alive, some 5 minutes. */
export const UNREADABLE_PASSES_MAX = 10;
export const UNREADABLE_PAUSE_MS_MIN = 1000;
export const UNREADABLE_PAUSE_MS_MAX = 60_000;

/** How long a job that is due waits for somebody to take it before a scheduler that cannot run it tells of it, in
 *  milliseconds: longer than restarts and busy workers take. And how many tasks with their executors are watched. */
export const UNCLAIMED_MS = 60_000;
export const UNCLAIMED_WATCHED_MAX = 1000;

/** How long somebody waits for a job before it is looked whether anybody is alive who runs jobs, in milliseconds. */
export const NO_WORKER_MS = 5000;

/** Most unfinished jobs of a schedule that are no backlog, and the pause between two looks for backlogs, in
 *  milliseconds. A look reads the oldest jobs of the tasks with the most: so many jobs of so many tasks. */
export const BACKLOG_JOBS_MAX = 10;
export const BACKLOG_CHECK_MS = 60_000;
export const BACKLOG_PAGE_SIZE = 100;
export const BACKLOG_TASKS_MAX = 10;

/** A run that takes longer may hang, in milliseconds, where nothing is known of the times before; else one that takes
 *  so many times as long as 95% of those of so many days. The pause between two looks, which is also the shortest time.
 *  And how many jobs behind it are counted. */
export const LONG_RUN_MS = 600_000;
export const LONG_RUN_FACTOR = 10;
export const LONG_RUN_DAYS = 30;
export const LONG_RUN_CHECK_MS = 60_000;
export const LONG_RUN_WAITING_MAX = 100;

/** Jobs of a page, and most pages, that a start reads to tell of leases that a dead process left. */
export const LEFT_LEASES_PAGE_SIZE = 200;
export const LEFT_LEASES_PAGES_MAX = 5;

/** How often it is looked, in the time of a lease, whether the event loop stood still; and how long nothing is said of
 *  it after a warning, in milliseconds. */
export const LAG_BEATS_PER_LEASE = 12;
export const LAG_TOLD_MS = 600_000;

/** How long a handler whose signal was aborted may still run, in milliseconds, before the job's outcome is recorded
 *  without it. This is long enough to clean up. After a timeout or a cancellation, one that cannot be ended from
 *  outside may take as long as its task's `abandonAfter`. */
export const ABORT_GRACE_MS = 5000;

/** The same at the deadline of a tick, in milliseconds. Shorter, because the platform may end the program soon. */
export const TICK_GRACE_MS = 1000;

/** Longest wait of a tick or a stop for events to be sent, in milliseconds: a server that hangs never takes them. */
export const TICK_FLUSH_MS = 2000;

/** How long a scheduler waits for its broker to open, in milliseconds, before it works without. */
export const BROKER_OPEN_MS = 5000;

/** Pauses before a job is recovered that was recovered just before, in milliseconds. */
export const RECOVERY_PAUSE_MS_MIN = 50;
export const RECOVERY_PAUSE_MS_MAX = 1000;

/** First and longest pause between tries while the store is unavailable, in milliseconds. The pause doubles with each
 *  failure in a row, and the real wait is random between zero and the pause (full jitter). */
export const OUTAGE_PAUSE_MS_MIN = 100;
export const OUTAGE_PAUSE_MS_MAX = 10_000;

/** How long a store at least remembers the id of a job whose result is not kept, in milliseconds, so that a repeated
 *  addition does not run the job again. No repetition comes later than that. And how many such ids a store in memory
 *  remembers at least: when more jobs end in that time, it forgets the oldest ids earlier. */
export const TOMBSTONE_MS = 600_000;
export const TOMBSTONES_MAX = 2000;

/** Most problems that the error of wrong options lists: each costs time, and who sends options may be a stranger. */
export const ISSUES_MAX = 50;
/** Largest text of the problems in an answer, in bytes, and of the sentence about them, in UTF-16 units. Both stay
 *  below 64 KB, so that nobody gets far more back than was sent. */
export const PROBLEM_ISSUES_BYTES_MAX = 32_768;
export const PROBLEM_DETAIL_LENGTH_MAX = 4096;

/** Longest chain of causes that is kept with an error, and longest text of each field of an error, in UTF-16 units. */
export const ERROR_CAUSES_MAX = 8;
export const ERROR_TEXT_LENGTH_MAX = 16_384;

/** Most errors that are kept below a thrown one: its causes, and those of an `AggregateError`. And most own properties
 *  that are kept of each, how deep each is nested, and their length as JSON, in UTF-16 units. */
export const ERRORS_KEPT_MAX = 16;
export const ERROR_PROPERTIES_MAX = 32;
export const ERROR_PROPERTY_DEPTH_MAX = 8;
export const ERROR_PROPERTIES_LENGTH_MAX = 4096;

/** Most failed attempts that are kept with a job, the newest ones, and the longest message and stack that are kept of
 *  each, and the longest text of its cause, in UTF-16 units: 70,000 in all, so that a job that fails for days stays
 *  small. */
export const ATTEMPTS_KEPT_MAX = 20;
export const ATTEMPT_MESSAGE_LENGTH_MAX = 1000;
export const ATTEMPT_STACK_LENGTH_MAX = 2000;
export const ATTEMPT_CAUSE_LENGTH_MAX = 300;

/** Longest note of a job's progress that is kept, in UTF-16 units. */
export const PROGRESS_NOTE_LENGTH_MAX = 1000;

/** Most schedules, and most results, that one commit of the clean-up removes. */
export const CLEANUP_BATCH = 1000;

/** Most commits of one clean-up, so that the clean-up ends even while others keep adding. */
export const CLEANUP_STEPS_MAX = 1000;

/** Longest canonical crontab text, in UTF-16 units. It may be longer than the original, because a commit such as `1/7`
 *  can become a list of values. */
export const CRON_CANONICAL_LENGTH_MAX = 4096;

/** Most steps of one question to a trigger, with the steps of all triggers within it. A step is some 80 ns of work,
 *  such as one question to one cron trigger. So a question takes some 20 ms at most (`npm run bench:triggers` measures
 *  it). An excluded day of 25 hours costs 180,000 steps, two for each second. */
export const QUESTION_STEPS_MAX = 250_000;

/** Most dates and spans of dates that one `ExcludingTrigger` takes: enough for a century of holidays. */
export const EXCLUDED_DATES_MAX = 10_000;

/** How long it is kept how a job failed, where nobody says otherwise: somebody looks at failures days later. */
export const FAILURE_KEPT_MS: number = 30 * 86_400_000;

/** Characters that a schedule keeps of each text of the error of its last failure. */
export const FAILURE_TEXT_LENGTH_MAX = 1000;

/** Bytes of UTF-8 that a ledger keeps of the reason for which a handler skipped a run. 10,000 runs, which may be read
 *  together, then stay below the 2 MB that D1 has for a text. */
export const SKIP_REASON_BYTES_MAX = 100;

/** Most dates in a row that an `ExcludingTrigger` with `shift` takes: a question looks at each of them. Fire times that
 *  are moved further are a mistake. */
export const SHIFTED_DATES_MAX = 366;

/** Most parents of one job (`after`). */
export const PARENTS_MAX = 1000;

/** Largest `limit` and `burst` of a `rateLimit`, and largest `maxRunningPerKey`. */
export const FLOW_LIMIT_MAX = 1_000_000;

/** Most jobs of one concurrency key of a fair task that are admitted and wait: enough for a commit of one worker, and
 *  few enough for a key that comes late. */
export const TURNS_AHEAD_MAX = 16;

/** How far the clocks of hosts may differ before a stored instant counts as written by a wrong clock, in milliseconds.
 *  A call may also arrive half a minute after the present that it tells. A store keeps the full bucket of a rate whose
 *  key has no jobs for as long, because a clock that is ahead finds buckets full before they are. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** Most pauses that a store tells: enough to see that something is wrong. */
export const TASK_PAUSES_MAX = 10_000;

/** How many times the default `burst` of a `rateLimit` is contained in its `limit`. A wake-up and a commit take some
 *  milliseconds, so that a fast rate is kept only by starting several jobs at a time. */
export const LIMIT_PER_BURST = 20;

/** Most children of one combined trigger, because every search asks each child. */
export const COMBINED_TRIGGERS_MAX = 100;

/** Deepest nesting of triggers within triggers. The work of a search can grow with each level, and hostile JSON may be
 *  nested without end. */
export const TRIGGER_DEPTH_MAX = 8;

/** First and longest pause between two looks of a wait for a result, in milliseconds. The pause doubles with each look.
 *  An event usually ends the wait earlier. */
export const RESULT_POLL_MS_MIN = 50;
export const RESULT_POLL_MS_MAX = 2000;

/** Shortest time for which the result of a `runJob` call is kept, in milliseconds, because the call has to read the
 *  result. */
export const AWAITED_RESULT_MS_MIN = 60_000;

/** How often a sleeping loop asks a store whether other processes have changed something, in milliseconds. This is also
 *  the shortest time between two looks for that reason, so that a busy store costs 25 looks a second at most. */
export const CHANGE_POLL_MS = 40;

/** Longest sleep of a loop on a store to which no other process writes, in milliseconds. Schedulers of this process
 *  that share the store but no event broker notice each other's changes with this delay at most. */
export const IDLE_MS_UNSHARED = 60_000;

/** How long a job that was lost once with its process runs before the next such job starts beside it, in milliseconds;
 *  the factor for each further loss; and the longest time. Most jobs that end their process do so at once. */
export const QUARANTINE_MS = 5000;
export const QUARANTINE_FACTOR = 4;
export const QUARANTINE_MS_MAX = 300_000;

/** How long a stop may take beyond its drain and the grace of handlers, in milliseconds, to record outcomes and to
 *  close: some round trips, but not the time-outs of a store that hangs. */
export const STOP_SETTLE_MS = 2000;

/** How long `health()` waits for the store, in milliseconds: longer than a store that works takes, and shorter than its
 *  time-outs and repetitions. */
export const HEALTH_ANSWER_MS = 5000;

/** Most refusals that the answer of a change of many lists. */
export const REFUSALS_MAX = 100;

/** How far metrics count the jobs of each task and state, and the schedules of each state. SQLite counts a million
 *  entries of an index in 50 to 90 ms, and a local database holds up the process meanwhile. */
export const METRICS_COUNT_MAX = 2_000_000;

/** Failures to record the last outcomes when a scheduler stops, after which the scheduler gives up. Jobs whose outcomes
 *  are not recorded by then are recovered when their leases end. */
export const STOP_FLUSH_TRIES = 5;

/** How often a look compares what a scheduler has declared of its tasks with what the store has, in milliseconds. */
export const TASKS_WATCH_MS = 60_000;

/** Most tries to change what others keep changing at the same time: a schedule, or the declaration of a task. */
export const UPDATE_TRIES_MAX = 10;

/** Longest duration in options, in milliseconds: a thousand years. Temporal can represent the sum of such a duration
 *  and any fire time. */
export const DURATION_MS_MAX = 31_557_600_000_000;

/** Largest `catchUp.maxCount`. To find the first fire time to make up for costs one step per missed fire time. */
export const CATCH_UP_MAX = 10_000;

/** How much a store remembers of a schedule's fire times: entries of one schedule, and for how many milliseconds. An
 *  entry takes some 80 bytes in a database, and some 150 in memory. */
export const LEDGER_COUNT_DEFAULT = 5000;
export const LEDGER_COUNT_MAX = 1_000_000;
export const LEDGER_AGE_MS_DEFAULT = 7_776_000_000;
export const LEDGER_AGE_MS_MIN = 60_000;

/** Most entries that a store in memory keeps of all schedules together, about: they take some 100 MB. */
export const LEDGER_MEMORY_COUNT_MAX = 500_000;

/** How long counts of jobs that ended are kept, in milliseconds, unless the ledger keeps its entries for a shorter
 *  time; and most of them that one question looks through, because each costs about a microsecond. */
export const STATS_AGE_MS_MAX = 2_592_000_000;
export const STATS_COUNTS_SEEN_MAX = 200_000;
/** Most counts that a store in memory keeps: they take some 20 MB. */
export const STATS_MEMORY_COUNTS_MAX = 300_000;
/** Most buckets of statistics, of all tasks or schedules together. */
export const STATS_BUCKETS_MAX = 20_000;

/** Most entries that a store looks through for one page of them. */
export const LEDGER_SCAN_MAX = 10_000;

/** Changes of one schedule or task that a store remembers, the newest ones. */
export const CHANGES_KEPT_MAX = 100;

/** How long the row of a resident scheduler that no longer counts as alive is kept, in milliseconds: for those who look
 *  why it does not, and because the clock by which it does not may be ahead. Rows of schedulers that tick go with the
 *  next clean-up, because each tick may leave one. */
export const DEAD_SCHEDULER_MS = 86_400_000;

/** Most heartbeats of other schedulers in one answer of a store. */
export const HEARTBEATS_MAX = 1000;

/** Shortest time between two warnings that the clock of one other scheduler differs, in milliseconds. */
export const CLOCK_WARNINGS_APART_MS = 3_600_000;

/** How much longer than a heartbeat's period whoever has just begun to watch waits for a heartbeat: a tenth of the
 *  period, but no longer than this, in milliseconds. Timers and stores are late. */
export const HEARTBEAT_SLACK_MS_MAX = 500;

/** Most uptimes of schedulers in one answer of a store. */
export const UPTIMES_PER_ANSWER_MAX = 1000;

/** Longest time between the ticks of a scheduler that count as one uptime, in milliseconds: platforms end a tick within
 *  15 minutes, and few call them more rarely. */
export const TICK_GAP_MS_MAX = 900_000;

/** Longest reason of a pause or a blackout, in UTF-16 units. It stands in records, events and explanations. */
export const REASON_LENGTH_MAX = 500;

/** Most failures in a row after which a schedule may be paused. */
export const PAUSE_AFTER_FAILURES_MAX = 1000;

/** Most pauses of schedules, of tasks and of keys that one commit ends. The next commit ends the others. */
export const PAUSES_ENDED_PER_COMMIT_MAX = 100;

/** Most blackouts of a store. Whoever plans a fire compares it with each. */
export const BLACKOUTS_MAX = 1000;

/** Most tasks of one blackout. */
export const BLACKOUT_TASKS_MAX = 1000;

/** Most windows that one question about blackouts looks at, one after the other. Blackouts that follow each other for
 *  longer without a gap count as blackouts for ever. */
export const BLACKOUT_STEPS_MAX = 100;

/** Most times of blackouts that one plan of a schedule tells apart in the ledger; those beyond are told as the
 *  others. */
export const BLACKED_OUT_RANGES_MAX = 100;

/** How long a blackout that does not recur is kept after its end, because fire times within it may be planned late. */
export const BLACKOUT_KEPT_MS = 2_592_000_000;

/** Longest name of who changes something, in UTF-16 units. It stands in every change that the ledger keeps. */
export const BY_LENGTH_MAX = 200;

/** How long after its fire time a job may begin without a question why, in milliseconds. Schedulers look for the work
 *  of others every 10 seconds. */
export const LATE_MS = 10_000;

/** How long before a fire time it is asked who was alive, in milliseconds, so that an answer can say since when nobody
 *  was. */
export const UPTIMES_BEFORE_MS: number = 7 * 86_400_000;

/** Most fire times that a page of occurrences looks at, and most unfinished jobs that an answer about the past of a
 *  schedule reads. */
export const OCCURRENCE_STEPS_MAX = 10_000;
export const UNFINISHED_READ_MAX = 1000;

/** How many changes of a schedule, and pauses of its task, an answer about its past reads. Stores keep 100. */
export const CHANGES_READ_MAX = 200;

/** Most occurrences without a job, and most jobs, that one commit raises as overdue. Each costs some 20
 *  microseconds. */
export const OVERDUE_RAISED_PER_COMMIT_MAX = 100;

/** How many open overdue occurrences a commit looks at, to resolve those that are over. Other commits look at the
 *  others. */
export const OVERDUE_CHECKED_PER_COMMIT_MAX = 500;

/** Most open overdue occurrences that are counted, and most that `health()` lists. */
export const OVERDUE_COUNTED_MAX = 10_000;
export const OVERDUE_SHOWN_MAX = 100;

/** How long a store keeps a resolved overdue occurrence, in milliseconds, so that a repetition of the commit whose
 *  answer was lost can report it. */
export const RESOLVED_OVERDUE_KEPT_MS = 600_000;

/** Most fire times that one preview lists. */
export const PREVIEW_LENGTH_MAX = 1000;

/** Most failures that are looked through for their groups, the newest ones. In JSON they take some 2 MB. */
export const FAILURES_SEEN_MAX = 5000;

/** Most fire times that a page of schedules has with its schedules. Each costs some microseconds, and a search by key
 *  or three. */
export const INCLUDED_MAX = 10_000;

/** Most lines and bytes that a task may keep of the log of an attempt, and how many it keeps unless it says so. A row
 *  has the log of an attempt, and is written anew with each extension of its lease. */
export const JOB_LOG_LINES_MAX = 10_000;
export const JOB_LOG_BYTES_MAX = 262_144;
export const JOB_LOG_LINES_DEFAULT = 1000;
export const JOB_LOG_BYTES_DEFAULT = 65_536;

/** Longest message of a kept line, in UTF-16 units, and longest JSON of what is logged with it. */
export const JOB_LOG_MESSAGE_LENGTH_MAX = 4096;
export const JOB_LOG_FIELDS_LENGTH_MAX = 4096;

/** Most attempts of a job whose logs are kept, the last ones. */
export const JOB_LOGS_MAX = 20;

/** Most labels of a task, schedule or job. Each is a row of an index, so that a commit of 1,000 jobs writes 16,000 rows
 *  at most. */
export const LABELS_MAX = 16;

/** Longest name and value of a label, in UTF-16 units. */
export const LABEL_NAME_LENGTH_MAX = 64;
export const LABEL_VALUE_LENGTH_MAX = 256;

/** Deepest nesting of metadata. SQLite refuses JSON of more than 1,000 levels, and stores put metadata into JSON of
 *  their own. */
export const METADATA_DEPTH_MAX = 100;

/** Deepest nesting of a value that is carried as JSON. Engines overflow their stacks at some thousands of levels. */
export const JSON_DEPTH_MAX = 1000;

/** Most tokens of one router. Each request compares all of them. */
export const TOKENS_MAX = 100;

/** Length of a token below which a program is warned: 16 characters of base64 have 96 bits. */
export const TOKEN_LENGTH_MIN = 16;

/** How long a session of a page lasts, in milliseconds: a working day. */
export const SESSION_MS = 43_200_000;

/** How far the clocks of the processes behind one address may be apart, in milliseconds, for a session that one of them
 *  began. A session that ends later than a new one would was begun by a clock that was wrong. */
export const SESSION_SKEW_MS = 300_000;

/** How long a code of a link signs in, in milliseconds: an hour, because somebody may click late on what a program
 *  printed. */
export const SIGN_IN_CODE_MS = 3_600_000;

/** Most unused codes that a router keeps. */
export const SIGN_IN_CODES_MAX = 100;

/** Wrong tokens that an address may send in a row, and the time after which it may send one more, in milliseconds. */
export const AUTH_FAILURES_MAX = 10;
export const AUTH_FAILURE_REFILL_MS = 6000;
/** Addresses of which wrong tokens are known, and the longest text of one, in UTF-16 units. */
export const AUTH_ADDRESSES_MAX = 10_000;
export const AUTH_ADDRESS_LENGTH_MAX = 64;
/** Least time between two lines of the log about wrong tokens, in milliseconds. */
export const AUTH_FAILURES_LOG_MS = 60_000;

/** How long an answer to everybody, whether the store can be reached, is given again without a look, in
 *  milliseconds. */
export const READINESS_KEPT_MS = 1000;

/** Largest body of a request, in bytes: a payload of the largest size in ASCII, and what goes with it. Largest body of
 *  a preview: a trigger may hold others, and 683 KB of them took 1.6 s. Largest body of a sign-in. */
export const BODY_BYTES_MAX = 1_100_000;
export const PREVIEW_BODY_BYTES_MAX = 16_384;
export const SESSION_BODY_BYTES_MAX = 4096;

/** First and longest pause before an executor starts a thread or a process again after one could not be started, in
 *  milliseconds. The pause doubles with each failure in a row. */
export const WORKER_PAUSE_MS_MIN = 100;
export const WORKER_PAUSE_MS_MAX = 10_000;

/** How long an executor may take to end a thread or a process whose grace is over, in milliseconds. For so long, the
 *  lease of its job is kept, because the handler may still run. */
export const WORKER_END_MS = 1000;

/** Messages that a scheduler and a worker of an executor send together at most. Fewer cost more to send; with more, one
 *  side has nothing to do while the other works on all of them. */
export const WORKER_MESSAGES_MAX = 16;

/** Lines that a worker of an executor logs for its handlers in a second, and most UTF-16 units of a line and of each
 *  detail of it. What is more is dropped, and counted. */
export const WORKER_LOG_LINES_PER_SECOND_MAX = 1000;
export const WORKER_LOG_LENGTH_MAX = 16_384;

/** Shortest time between two reports of progress that a worker of an executor sends for a job, in milliseconds. The
 *  last report is sent in any case. */
export const WORKER_PROGRESS_MS_MIN = 10;

/** Most texts of zone rules that a scheduler compares at a time, because each zone of them that it has not seen yet
 *  costs up to some milliseconds. */
export const ZONE_TEXTS_MAX = 50;

/** Most schedules whose next fire time is computed anew at a time. */
export const ZONED_SCHEDULES_MAX = 200;

/** For how long the clock of a scheduler that stays must have gone on evenly before it takes back schedules that a
 *  wrong clock has moved, and how long it waits before it looks for them again, in milliseconds. */
export const CLOCK_STEADY_MS = 300_000;

/** No clock that is right shows an earlier time to this program: 2026-01-01T00:00:00Z. */
export const EARLIEST_NOW_MS = 1_767_225_600_000;

/** Most schedules that are read at a time to find those that a wrong clock has moved. */
export const HEALED_PAGE_MAX = 200;

/** A resident scheduler compares the zone rules again after this time, because a process of an earlier release may have
 *  planned with others until it ended. */
export const ZONE_CHECK_MS = 3_600_000;

/** Longest list in an event. */
export const EVENT_LIST_MAX = 100;

/** Most steps of a job (`context.step`), most characters of a value or a cursor as text, most of all of a job, and most
 *  of a name. A job with more is better two jobs, because an attempt reads all steps of its job. */
export const JOB_STEPS_MAX = 1000;
export const JOB_STEP_VALUE_LENGTH_MAX = 262_144;
export const JOB_STEPS_LENGTH_MAX = 4_194_304;
export const JOB_STEP_NAME_LENGTH_MAX = 200;

/** How long after the first commit of an attempt, and then how often, a clean-up asks whether a job and its result are
 *  gone, so that its steps go too; in milliseconds. */
export const STEPS_CHECKED_EVERY_MS = 3_600_000;

/** Of how many jobs one clean-up asks so. */
export const STEPS_CHECKED_PER_CLEANUP_MAX = 1000;

/** Of how many jobs one clean-up removes the commits at most: 4 MB each. */
export const STEPS_REMOVED_PER_CLEANUP_MAX = 20;

/** Longest line of an exported text that an import reads, in UTF-16 units: a record has a payload and metadata, each of
 *  which can double by its escapes, in a trigger twice. */
export const TRANSFER_LINE_LENGTH_MAX = 8_000_000;

/** Most text that an import keeps in memory between its two passes, in UTF-16 units: that of some 100,000 schedules. */
export const TRANSFER_TEXT_LENGTH_MAX = 64_000_000;

/** Text of the records that an import writes in one commit, in UTF-16 units. One record is written whatever its
 *  size. */
export const TRANSFER_COMMIT_LENGTH_MAX = 500_000;

/** Most jobs that the report of an import lists as not imported. */
export const NOT_IMPORTED_LISTED_MAX = 10_000;

/** How often attempts of a job may end with a `RetryAfter`, if its task says nothing else. */
export const SNOOZES_MAX_DEFAULT = 100;

/** Longest name of a channel of notices, in UTF-16 units. */
export const NOTICE_NAME_LENGTH_MAX = 64;

/** Longest text of an `RRuleTrigger`, in UTF-16 units: enough for its most dates. */
export const RRULE_TEXT_LENGTH_MAX = 32_768;

/** Most dates of `RDATE`, and of `EXDATE`, that one `RRuleTrigger` takes. */
export const RRULE_DATES_MAX = 1000;

/** Most events of a calendar that is written or read. */
export const CALENDAR_EVENTS_MAX = 10_000;

/** Longest text of a calendar that is read, in UTF-16 units. A country's holidays of ten years take 50,000. */
export const CALENDAR_TEXT_LENGTH_MAX = 1_000_000;

/** Most steps of the questions of one plan to the triggers of its declarations: some 80 ms of work. */
export const PLAN_STEPS_MAX = 1_000_000;
