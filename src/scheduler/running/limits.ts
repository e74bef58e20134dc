/** Most outcomes that one commit tells the store, and most characters of theirs; the first is told whatever its
 *  size. */
export const RELEASES_PER_COMMIT_MAX = 1000;
export const RELEASE_LENGTH_PER_COMMIT_MAX = 500_000;

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

/** Jobs of a page, and most pages, that a start reads to tell of leases that a dead process left: a look at the oldest
 *  thousand is enough for a line of the log. */
export const LEFT_LEASES_PAGE_SIZE = 200;
export const LEFT_LEASES_PAGES_MAX = 5;

/** How often it is looked, in the time of a lease, whether the event loop stood still; and how long nothing is said of
 *  it after a warning, in milliseconds. */
export const LAG_BEATS_PER_LEASE = 12;
export const LAG_TOLD_MS = 600_000;

/** Longest note of a job's progress that is kept, in UTF-16 units. An extension of the lease carries it to the store,
 *  and all who look at the job read it. */
export const PROGRESS_NOTE_LENGTH_MAX = 1000;

/** How long a job that was lost once with its process runs before the next such job starts beside it, in milliseconds;
 *  the factor for each further loss; and the longest time. Most jobs that end their process do so at once. */
export const QUARANTINE_MS = 5000;
export const QUARANTINE_FACTOR = 4;
export const QUARANTINE_MS_MAX = 300_000;

/** Shortest time between two warnings that the clock of one other scheduler differs, in milliseconds: each of its
 *  heartbeats shows it, and the log would have nothing else. */
export const CLOCK_WARNINGS_APART_MS = 3_600_000;

/** How much longer than a heartbeat's period whoever has just begun to watch waits for a heartbeat: a tenth of the
 *  period, but no longer than this, in milliseconds. Timers and stores are late. */
export const HEARTBEAT_SLACK_MS_MAX = 500;

/** Longest message of a kept line, in UTF-16 units, and longest JSON of what is logged with it, so that one line does
 *  not take the room of all. */
export const JOB_LOG_MESSAGE_LENGTH_MAX = 4096;
export const JOB_LOG_FIELDS_LENGTH_MAX = 4096;

/** How long an executor may take to end a thread or a process whose grace is over, in milliseconds. For so long, the
 *  lease of its job is kept, because the handler may still run. */
export const WORKER_END_MS = 1000;
