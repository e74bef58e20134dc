/** Most jobs or schedules that one call may add. A larger list would hold the store's write lock for seconds. */
export const BULK_ADD_MAX = 10_000;

/** Largest page of `getSchedules`, `getJobs` and `getJobResults`, and its default. A page is read at once, and a local
 *  database holds up the process meanwhile. */
export const PAGE_SIZE_MAX = 1000;
export const PAGE_SIZE_DEFAULT = 100;

/** Most schedules, and most results, that one commit of the clean-up removes, so that the store's write lock stays
 *  short. */
export const CLEANUP_BATCH = 1000;

/** Most parents of one job (`after`). Each is a row, all of which are written and looked up with the job. */
export const PARENTS_MAX = 1000;

/** Largest `limit` and `burst` of a `rateLimit`, and largest `maxRunningPerKey`. More is no limit, and stores count
 *  with whole numbers that have room for the products of these. */
export const FLOW_LIMIT_MAX = 1_000_000;

/** Largest `catchUp.maxCount`. To find the first fire time to make up for costs one step per missed fire time. */
export const CATCH_UP_MAX = 10_000;

/** Most failures in a row after which a schedule may be paused. Who allows more wants no pause. */
export const PAUSE_AFTER_FAILURES_MAX = 1000;

/** Most tasks of one blackout, because every plan of a fire compares its task with them. A blackout without tasks is
 *  for all. */
export const BLACKOUT_TASKS_MAX = 1000;

/** Longest name of who changes something, in UTF-16 units. It stands in every change that the ledger keeps. */
export const BY_LENGTH_MAX = 200;

/** Most fire times that one preview lists. Each costs a search of the trigger, which may hold up the event loop. */
export const PREVIEW_LENGTH_MAX = 1000;

/** Most fire times that a page of schedules has with its schedules. Each costs some microseconds, and a search by key
 *  or three. */
export const INCLUDED_MAX = 10_000;

/** Most lines and bytes that a task may keep of the log of an attempt, and how many it keeps unless it says so. A row
 *  has the log of an attempt, and is written anew with each extension of its lease. */
export const JOB_LOG_LINES_MAX = 10_000;
export const JOB_LOG_BYTES_MAX = 262_144;
export const JOB_LOG_LINES_DEFAULT = 1000;
export const JOB_LOG_BYTES_DEFAULT = 65_536;

/** Most labels of a task, schedule or job. Each is a row of an index, so that a commit of 1,000 jobs writes 16,000 rows
 *  at most. */
export const LABELS_MAX = 16;

/** Longest name and value of a label, in UTF-16 units. Both are keys of an index. */
export const LABEL_NAME_LENGTH_MAX = 64;
export const LABEL_VALUE_LENGTH_MAX = 256;

/** Deepest nesting of metadata. SQLite refuses JSON of more than 1,000 levels, and stores put metadata into JSON of
 *  their own. */
export const METADATA_DEPTH_MAX = 100;

/** How often attempts of a job may end with a `RetryAfter`, if its task says nothing else: a job that polls what never
 *  comes would go on for ever. */
export const SNOOZES_MAX_DEFAULT = 100;
