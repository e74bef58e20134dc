// Bounds of the stores on SQLite's SQL, with units and reasons.

/** Longest synchronous wait of a local database for a lock. It stops the event loop, so the rest of the waiting is
 *  done by asynchronous retries. */
export const SYNCHRONOUS_BUSY_WAIT_MS = 10;

/** Longest time that an operation is repeated while others hold the database's lock. */
export const BUSY_RETRY_MS_MAX = 20_000;

/** Tries of an operation whose connection fails at once. With the pauses below they span two seconds on average and
 *  four at most; longer outages are the scheduler's business, which comes back with its next turn. */
export const CONNECTION_TRIES_MAX = 10;

/** Time after which an operation whose connection fails is not tried again: where each failure takes a whole timeout,
 *  the tries alone would take minutes. */
export const CONNECTION_RETRY_MS_MAX = 30_000;

/** First and longest pause between two tries; each is drawn from the whole range below it (full jitter). */
export const RETRY_PAUSE_MS_FIRST = 20;
export const RETRY_PAUSE_MS_MAX = 1000;

/** Longest pause between two tries to get the lock of a local database. */
export const LOCAL_RETRY_PAUSE_MS_MAX = 100;

/** Longest wait for the answer of a remote database, by default. */
export const REMOTE_TIMEOUT_MS_DEFAULT = 10_000;

/** Operations after which the event loop gets a turn. A local database answers within microtasks, so without it a loop
 *  of awaited calls would hold up everything else; and libSQL's native client frees memory only in between, so it would
 *  grow by gigabytes. */
export const OPERATIONS_PER_YIELD = 64;

/** Delayed jobs that become ready in one turn. Bounds the time under the write lock when very many are due at once; the
 *  rest follows in the next turns. */
export const PROMOTIONS_PER_TURN_MAX = 5000;

/** Delayed jobs that are due among which a look, which cannot make them ready, searches for those of its queues. Where
 *  there are more, it says that there are such, and the step that follows makes them ready. */
export const DUE_DELAYED_SEEN_MAX = 1000;

/** Lost leases that one step takes back: bounds its time under the write lock, and its answer. Nothing is leased while
 *  there are more, so that the next step comes at once. */
export const RECOVERIES_PER_STEP_MAX = 1000;

/** Leases that one scheduler gives up at once: more than it ever holds. */
export const SURRENDERS_MAX = 1_000_000;

/** Largest JSON parameter of rows, in bytes, and most bytes of jobs that one step leases, about. Databases of clouds
 *  take and send one or two megabytes at once. The first row counts whatever its size. */
export const PARAMETER_BYTES_MAX = 500_000;
export const ACQUIRED_BYTES_MAX = 1_000_000;

/** Most plans of one step, and most jobs that they make. With the longest ids their parameters stay below
 *  `PARAMETER_BYTES_MAX`. */
export const PLANS_PER_STEP_MAX = 200;
export const FIRES_PER_STEP_MAX = 1000;

/** How long the stamp of an addition stays at least, in milliseconds: longer than any repetition of it may be late. */
export const STAMP_MS = 600_000;

/** Most jobs of one batch that get a stamp each. More share one, because a row for each would cost as much as a
 *  result. */
export const STAMPED_BY_JOB_MAX = 16;

/** Stamps that one step of the clean-up removes. Small rows, and many: a busy store makes a hundred a second. */
export const STAMPS_PER_CLEANUP_MAX = 100_000;

/** How long it is known of a scheduler that it no longer lives, in milliseconds. Its identity may come back till then
 *  without making a new row. */
export const DEAD_SCHEDULER_MS = 86_400_000;

/** Before any fire time. */
export const FAR_PAST_MS = -9_000_000_000_000_000;

/** Most queues for which an acquisition has one exactly limited sub-select each. More would cost more to prepare than
 *  the general form costs to run. */
export const ACQUISITION_ARMS_MAX = 4;

/** Later than any lease. */
export const FAR_FUTURE_MS = 9_000_000_000_000_000;

/** Longest table prefix. SQLite has no limit; names end up in logs. */
export const TABLE_PREFIX_LENGTH_MAX = 64;

/** Most jobs that gather into one insert. Keeps its parameter well below what remote databases accept. */
export const COALESCED_JOBS_MAX = 1000;

/** WAL pages (4 KiB each) after which SQLite moves them into the database file. Four times its default: a busy queue
 *  rewrites the same pages over and over, and each move costs two fsyncs. */
export const WAL_CHECKPOINT_PAGES = 4000;
