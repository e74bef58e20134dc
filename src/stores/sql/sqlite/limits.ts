// Bounds of the stores on SQLite's SQL, with units and reasons.

/** How long after the last sign of a change in a file SQLite is asked for the version each time, in milliseconds,
 *  because a file system may show two changes as one when they are some milliseconds apart. And the longest time
 *  without a question, because some file systems show a change late or not at all. */
export const CHANGE_SIGN_MS = 400;
export const VERSION_UNASKED_MS_MAX = 1000;

/** How long it may take until a store knows that its file was deleted or replaced, in milliseconds. A look at the file
 *  costs some microseconds. */
export const FILE_CHECK_MS = 100;

/** Longest synchronous wait of a local database for a lock, in milliseconds. Such a wait stops the event loop, so
 *  longer waits are made of asynchronous retries. */
export const SYNCHRONOUS_BUSY_WAIT_MS = 10;

/** WAL pages (4 KiB each) after which SQLite moves them into the database file. This is four times SQLite's default,
 *  because a busy queue rewrites the same pages over and over, and each move costs two fsyncs. */
export const WAL_CHECKPOINT_PAGES = 4000;

/** Most combinations of task, executor and priority in which an inspection looks for the oldest job. Each costs some
 *  microseconds, so that hostile priorities cost a tenth of a second at most. */
export const INSPECTED_QUEUES_MAX = 10_000;

/** A task with fewer unfinished jobs is listed by reading all of them; of other tasks, the list of all jobs is looked
 *  through. Not more than `SCANNED_ROWS_FIRST`, so that one statement reads all. */
export const FEW_JOBS_MAX = 1000;
