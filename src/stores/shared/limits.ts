/** How long a store remembers a backfill after its last change: a repetition of the call may come late. */
export const BACKFILL_KEPT_MS: number = 30 * 86_400_000;

/** Most jobs that one commit ends because they have missed their `startDeadline`. */
export const MISSED_PER_COMMIT_MAX = 100;

/** Most waiting jobs of its schedule that one plan removes, and most running jobs that it cancels, because of its
 *  schedule's `overlap`. There is one at most, unless the schedule queued its jobs before. */
export const OVERLAP_JOBS_PER_PLAN_MAX = 100;

/** Size of the records after which such a page ends, in bytes: payloads of a page with 1,000 records could have a
 *  gigabyte. The first record is on the page whatever its size. */
export const PAGE_BYTES_MAX = 4_000_000;

/** Most jobs that a page of `getJobs` in the order of `runAt` sorts, besides those that are not due yet, which an index
 *  has in this order. An index of all jobs would make every addition dearer. */
export const SORTED_JOBS_MAX = 10_000;

/** How long a store at least remembers the id of a job whose result is not kept, in milliseconds, so that a repeated
 *  addition does not run the job again. No repetition comes later than that. And how many such ids a store in memory
 *  remembers at least: when more jobs end in that time, it forgets the oldest ids earlier. */
export const TOMBSTONE_MS = 600_000;
export const TOMBSTONES_MAX = 2000;

/** How far the clocks of hosts may differ before a stored instant counts as written by a wrong clock, in milliseconds.
 *  A call may also arrive half a minute after the present that it tells. A store keeps the full bucket of a rate whose
 *  key has no jobs for as long, because a clock that is ahead finds buckets full before they are. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** How much a store remembers of a schedule's fire times: entries of one schedule, and for how many milliseconds. An
 *  entry takes some 80 bytes in a database, and some 150 in memory. */
export const LEDGER_COUNT_DEFAULT = 5000;
export const LEDGER_COUNT_MAX = 1_000_000;
export const LEDGER_AGE_MS_DEFAULT = 7_776_000_000;
export const LEDGER_AGE_MS_MIN = 60_000;

/** How long counts of jobs that ended are kept, in milliseconds, unless the ledger keeps its entries for a shorter
 *  time; and most of them that one question looks through, because each costs about a microsecond. */
export const STATS_AGE_MS_MAX = 2_592_000_000;
export const STATS_COUNTS_SEEN_MAX = 200_000;
/** Most counts that a store in memory keeps: they take some 20 MB. */
export const STATS_MEMORY_COUNTS_MAX = 300_000;
/** Most buckets of statistics, of all tasks or schedules together, because an answer has all of them in memory. */
export const STATS_BUCKETS_MAX = 20_000;

/** Most entries that a store looks through for one page of them. A filter that takes few of very many then gives a
 *  short page, and does not hold up the process. */
export const LEDGER_SCAN_MAX = 10_000;

/** Changes of one schedule or task that a store remembers, the newest ones, because a program may change a schedule
 *  every minute for years. */
export const CHANGES_KEPT_MAX = 100;

/** How long the row of a resident scheduler that no longer counts as alive is kept, in milliseconds: for those who look
 *  why it does not, and because the clock by which it does not may be ahead. Rows of schedulers that tick go with the
 *  next clean-up, because each tick may leave one. */
export const DEAD_SCHEDULER_MS = 86_400_000;

/** Most heartbeats of other schedulers in one answer of a store. Each tick may leave a row, so that there may be
 *  many. */
export const HEARTBEATS_MAX = 1000;

/** Most uptimes of schedulers in one answer of a store, the last ones: programs that are started and ended all day
 *  leave very many. */
export const UPTIMES_PER_ANSWER_MAX = 1000;

/** Longest time between the ticks of a scheduler that count as one uptime, in milliseconds: platforms end a tick within
 *  15 minutes, and few call them more rarely. */
export const TICK_GAP_MS_MAX = 900_000;

/** Most pauses of schedules, of tasks and of keys that one commit ends. The next commit ends the others. */
export const PAUSES_ENDED_PER_COMMIT_MAX = 100;

/** Most blackouts of a store. Whoever plans a fire compares it with each. */
export const BLACKOUTS_MAX = 1000;

/** How long a blackout that does not recur is kept after its end, because fire times within it may be planned late. */
export const BLACKOUT_KEPT_MS = 2_592_000_000;

/** Most occurrences without a job, and most jobs, that one commit raises as overdue. Each costs some 20
 *  microseconds. */
export const OVERDUE_RAISED_PER_COMMIT_MAX = 100;

/** How many open overdue occurrences a commit looks at, to resolve those that are over. Other commits look at the
 *  others. */
export const OVERDUE_CHECKED_PER_COMMIT_MAX = 500;

/** Most open overdue occurrences that are counted, and most that `health()` lists. After an outage nearly every
 *  schedule has one, and whoever asks for health wants a short answer. */
export const OVERDUE_COUNTED_MAX = 10_000;
export const OVERDUE_SHOWN_MAX = 100;

/** How long a store keeps a resolved overdue occurrence, in milliseconds, so that a repetition of the commit whose
 *  answer was lost can report it. */
export const RESOLVED_OVERDUE_KEPT_MS = 600_000;

/** Most attempts of a job whose logs are kept, the last ones, so that a job that fails for days stays small. */
export const JOB_LOGS_MAX = 20;

/** Most schedules that one commit plans, and most jobs that the plans of one commit make. A store's lock stays short
 *  with them. Even with the longest ids, each parameter of a commit stays below 500 KB. */
export const PLANS_PER_COMMIT_MAX = 200;
export const FIRES_PER_COMMIT_MAX = 1000;
