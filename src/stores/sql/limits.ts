/** Longest time that an operation is repeated while others hold the database's lock, in milliseconds: longer than
 *  commits take, so that a lock that is held longer is a fault to tell. */
export const BUSY_RETRY_MS_MAX = 20_000;

/** Tries of an operation whose connection fails at once. With the pauses below, these tries span two seconds on average
 *  and four at most. In a longer outage the scheduler tries again after a pause. */
export const CONNECTION_TRIES_MAX = 10;

/** Time after which an operation whose connection fails is not tried again, in milliseconds. Where each failure takes a
 *  whole timeout, all tries together would take minutes. */
export const CONNECTION_RETRY_MS_MAX = 30_000;

/** First and longest pause between two tries, in milliseconds. The real pause is random between zero and this pause
 *  (full jitter). */
export const RETRY_PAUSE_MS_FIRST = 20;
export const RETRY_PAUSE_MS_MAX = 1000;

/** How long an operation is repeated that fails for a passing reason. */
export interface RetryLimits {
  /** Tries of an operation whose connection fails, the first included. Default: 10. */
  readonly attemptsMax: number;
  /** Time after which an operation whose connection fails is not tried again, in milliseconds. Default: 30,000. */
  readonly durationMsMax: number;
  /** Time after which an operation is not tried again while others hold the lock, in milliseconds. Default: 20,000. */
  readonly busyMsMax: number;
  /** Bound of the first pause, in milliseconds. It doubles with each try; the pause is random below it. Default: 20. */
  readonly pauseMsFirst: number;
  /** Longest pause, in milliseconds. Default: 1,000. */
  readonly pauseMsMax: number;
}

export const RETRY_DEFAULTS: RetryLimits = Object.freeze({
  attemptsMax: CONNECTION_TRIES_MAX,
  durationMsMax: CONNECTION_RETRY_MS_MAX,
  busyMsMax: BUSY_RETRY_MS_MAX,
  pauseMsFirst: RETRY_PAUSE_MS_FIRST,
  pauseMsMax: RETRY_PAUSE_MS_MAX,
});

/** Longest pause between two tries to get the lock of a local database, in milliseconds. Others hold it for some
 *  milliseconds, and nobody tells when it is free. */
export const LOCAL_RETRY_PAUSE_MS_MAX = 100;

/** Longest wait for the answer of a remote database, by default, in milliseconds. A lease has to be extended meanwhile,
 *  and a server that hangs answers never. */
export const REMOTE_TIMEOUT_MS_DEFAULT = 10_000;

/** Operations after which the event loop gets a turn. A local database answers within microtasks, so a loop of awaited
 *  calls would hold up everything else. Besides, libSQL's native client frees memory only in such turns, and would grow
 *  by gigabytes. */
export const OPERATIONS_PER_YIELD = 64;

/** Delayed jobs that become due in one commit. Bounds the time under the write lock when very many jobs are due at
 *  once. The other jobs follow in the next commits. */
export const DUE_PER_COMMIT_MAX = 5000;

/** How many due delayed jobs a look searches for jobs of its queues, because a look cannot make jobs ready. When there
 *  are more such jobs, the look answers that there is a job to run, and the next commit makes the jobs ready. */
export const DUE_DELAYED_SEEN_MAX = 1000;

/** Lost leases that one write takes back. Bounds the write's time under the write lock, and its answer. While more
 *  leases are lost, nothing is leased, so that the next commit comes at once. */
export const RECOVERIES_PER_COMMIT_MAX = 1000;

/** Jobs that one write cancels because of their parents, and dependencies that it resolves. Bounds the write's time
 *  under the write lock, and its answer. While there is more, looks say that there is something to do. */
export const DESCENDANTS_PER_COMMIT_MAX = 1000;
export const RESOLVED_PER_COMMIT_MAX = 2000;

/** How long a store that knows of nothing that can be overdue does not ask again, in milliseconds: others may have
 *  added a schedule that expects something. */
export const OVERDUE_UNASKED_MS_MAX = 10_000;

/** Resolved overdue occurrences that one commit removes, once their time has come, so that the write lock stays
 *  short. */
export const RESOLVED_OVERDUE_REMOVED_PER_COMMIT_MAX = 1000;

/** Changes of schedules that one clean-up looks at, twice. Each costs some microseconds. */
export const CHANGES_SEEN_PER_CLEANUP_MAX = 3000;

/** Counts of jobs that ended long ago, of which one clean-up removes so many. An hour has a few hundred, unless very
 *  many schedules fire; each costs a microsecond. */
export const COUNTS_REMOVED_PER_CLEANUP_MAX = 20_000;

/** Commits after the last parent that was seen to end, in which parents may end at once. A commit that does not expect
 *  parents takes a second write for them. */
export const CHAINED_COMMITS_MAX = 100;

/** Largest JSON parameter of rows, and most bytes (about) of jobs that one commit leases. Cloud databases take and send
 *  one or two megabytes at once. The first row is taken whatever its size. */
export const PARAMETER_BYTES_MAX = 500_000;
export const ACQUIRED_BYTES_MAX = 1_000_000;

/** Largest request to a database that is not local, in bytes. Servers were seen to drop a connection that carried more
 *  than 16 MB at once, which looks like an outage. */
export const REQUEST_BYTES_MAX = 10_000_000;

/** Most jobs of one batch that get a stamp each. More jobs share one stamp, because a row for each job would cost as
 *  much as a result. */
export const STAMPED_BY_JOB_MAX = 16;

/** Longest details of a job that travel as they are, in UTF-16 units. Longer ones travel as they come back in an
 *  answer, where each quote takes more room, so that a database with small rows refuses those that it could not give
 *  back. */
export const ALIKE_DETAILS_LENGTH_MAX = 500_000;

/** Stamps that one commit of the clean-up removes. Stamps are small rows, and a busy store makes a hundred of them a
 *  second. */
export const STAMPS_PER_CLEANUP_MAX = 100_000;

/** An instant before any fire time, in epoch milliseconds: the begin of lists, and where there is no instant. It is a
 *  whole number that JavaScript has exactly. */
export const FAR_PAST_MS = -9_000_000_000_000_000;

/** Most queues for which an acquisition has a sub-select each, with an exact limit. For more queues, such a statement
 *  would cost more to prepare than the general form costs to run. */
export const ACQUISITION_ARMS_MAX = 4;

/** An instant later than the end of any lease, in epoch milliseconds: the end of lists. It is a whole number that
 *  JavaScript has exactly. */
export const FAR_FUTURE_MS = 9_000_000_000_000_000;

/** Longest table prefix, in characters. SQLite has no limit, but names end up in logs. */
export const TABLE_PREFIX_LENGTH_MAX = 64;

/** Most jobs that gather into one insert. Keeps the insert's parameter well below the size that remote databases
 *  accept. */
export const COALESCED_JOBS_MAX = 1000;

/** Most characters of payloads that gather into one insert; a single call may have more. */
export const COALESCED_LENGTH_MAX = 500_000;

/** How long the log of a database file may stay, in bytes: four times what is moved at once. It is only longer while a
 *  connection reads an old state. */
export const LOG_BYTES_MAX = 67_108_864;
/** How far an inspection counts the jobs of each task and state, and the schedules of each state, unless it is asked to
 *  go on. Counting so many takes half a millisecond, and databases that bill count each as a row read. */
export const INSPECTED_COUNT_MAX = 10_000;

/** Rows that one statement of a list looks through where the filter takes some of them: at first, and after that. Ten
 *  thousand rows take up to 40 ms where names are searched, and a local database holds up the process meanwhile. */
export const SCANNED_ROWS_FIRST = 1000;
export const SCANNED_ROWS_MAX = 10_000;

/** Most statements that read one page. A filter that takes few of very many rows then gives a short page. */
export const SCANS_PER_PAGE_MAX = 10;

/** Key limiters that one statement of admission looks at. The others stay dirty, and follow in the next commits. */
export const LIMITERS_PER_STATEMENT_MAX = 500;

/** About how many blocked jobs one statement admits, and how many of one key at least if the limits allow them. Bounds
 *  the time under the write lock; the others follow in the next commits. */
export const ADMISSIONS_PER_STATEMENT = 1000;
export const ADMISSIONS_PER_KEY_MIN = 16;

/** Most jobs of a key of a fair task that are admitted and wait. More would make an urgent job of the key wait. */
export const FAIR_ADMITTED_MAX = 16;

/** More jobs than any key may run: where a limit is missing, so that the least of several can be taken. */
export const UNLIMITED = 1_000_000_000;

/** Most pauses that are listed at once: enough to see that something is wrong. */
export const PAUSES_MAX = 10_000;

/** Histories whose runs lie together, in the order of their fire times, so that the jobs that end together write few
 *  pages: a page that is written costs ten times as much as a row. With more histories, who reads one history passes
 *  more runs of others. */
export const HISTORIES_PER_PARTITION = 32;

/** The oldest rows of a partition among which a clean-up looks for those that are too many. Bounds its sort. */
export const OLDEST_ROWS_SEEN_MAX = 10_000;

/** When a partition is trimmed again, in milliseconds: one that is new or where a history may be half full, and any
 *  other whose rows are kept for a day or longer. */
export const TRIM_HOURLY_MS = 3_600_000;
export const TRIM_DAILY_MS = 86_400_000;

/** How long after the first step of an attempt, and then how often, a clean-up asks whether a job and its result are
 *  gone, so that its steps go too; in milliseconds. */
export const STEPS_CHECKED_EVERY_MS = 3_600_000;

/** Of how many jobs one clean-up asks so, so that the write lock stays short. */
export const STEPS_CHECKED_PER_CLEANUP_MAX = 1000;

/** Of how many jobs one clean-up removes the steps at most: 4 MB each. */
export const STEPS_REMOVED_PER_CLEANUP_MAX = 20;
