/** How long outcomes wait while handlers of a burst of fires begin, in milliseconds: longer than a thousand take. */
export const BURST_MS_MAX = 200;

/** Most jobs of additions that share a commit with other work, and most UTF-16 units of their payloads. A larger
 *  addition is a write of its own, so that it does not hold up the commit. */
export const COMMIT_ADDITIONS_MAX = 200;
export const COMMIT_ADDITION_LENGTH_MAX = 100_000;

/** Shortest and longest time for which the other schedulers leave a fire to the schedule's preferred scheduler, in
 *  milliseconds. A preferred scheduler commits within a few milliseconds. */
export const PREFERRED_WAIT_MS_MIN = 50;
export const PREFERRED_WAIT_MS_MAX = 100;

/** How long after its fire time a schedule counts as fresh, in milliseconds. Every second page of due schedules has
 *  only fresh ones, so that schedules with much to catch up do not hold them up. */
export const FRESH_MS = 10_000;

/** Most commits, and most milliseconds, after which a loop yields to the event loop, so that timers and messages have
 *  their turn. */
export const COMMITS_PER_TURN_MAX = 16;
export const TURN_MS_MAX = 10;

/** Most jobs that a scheduler takes in the first commit of a burst while others are alive, which may take some too.
 *  Each commit that leaves jobs lets the next one take twice as many, so that others that hear of the burst get their
 *  share, and a long burst costs a few commits more. */
export const SHARE_FIRST = 4;

/** How long a scheduler that leaves jobs of a burst to others waits before its next commit, in milliseconds: about as
 *  long as it takes another to hear of them, to look and to commit. The commits of a long burst that wait are few. */
export const SHARE_WAIT_MS = 10;

/** The same at the deadline of a tick, in milliseconds. Shorter, because the platform may end the program soon. */
export const TICK_GRACE_MS = 1000;

/** Longest wait of a tick or a stop for events to be sent, in milliseconds: a server that hangs never takes them. */
export const TICK_FLUSH_MS = 2000;

/** How long a scheduler waits for its broker to open, in milliseconds, before it works without: a broker only makes
 *  wake-ups faster, so that a server that hangs must not keep jobs from running. */
export const BROKER_OPEN_MS = 5000;

/** Pauses before a job is recovered that was recovered just before, in milliseconds: from the first to the longest,
 *  doubling. Schedulers whose clocks differ by more than a lease would hand the job round without a pause. */
export const RECOVERY_PAUSE_MS_MIN = 50;
export const RECOVERY_PAUSE_MS_MAX = 1000;

/** First and longest pause between tries while the store is unavailable, in milliseconds. The pause doubles with each
 *  failure in a row, and the real wait is random between zero and the pause (full jitter). */
export const OUTAGE_PAUSE_MS_MIN = 100;
export const OUTAGE_PAUSE_MS_MAX = 10_000;

/** Most commits of one clean-up, so that the clean-up ends even while others keep adding. */
export const CLEANUP_COMMITS_MAX = 1000;

/** How often a sleeping loop asks a store whether other processes have changed something, in milliseconds. This is also
 *  the shortest time between two looks for that reason, so that a busy store costs 25 looks a second at most. */
export const CHANGE_POLL_MS = 40;

/** Longest sleep of a loop on a store to which no other process writes, in milliseconds. Schedulers of this process
 *  that share the store but no event broker notice each other's changes with this delay at most. */
export const IDLE_MS_UNSHARED = 60_000;

/** How long a stop may take beyond its drain and the grace of handlers, in milliseconds, to record outcomes and to
 *  close: some round trips, but not the time-outs of a store that hangs. */
export const STOP_SETTLE_MS = 2000;

/** Failures to record the last outcomes when a scheduler stops, after which the scheduler gives up. Jobs whose outcomes
 *  are not recorded by then are recovered when their leases end. */
export const STOP_FLUSH_TRIES = 5;

/** Most texts of zone rules that a scheduler compares at a time, because each zone of them that it has not seen yet
 *  costs up to some milliseconds. */
export const ZONE_TEXTS_MAX = 50;

/** Most schedules whose next fire time is computed anew at a time, so that a change of zone rules does not hold up the
 *  loop. */
export const ZONED_SCHEDULES_MAX = 200;

/** Most schedules that are read at a time to find those that a wrong clock has moved, so that the search does not hold
 *  up the loop. */
export const HEALED_PAGE_MAX = 200;

/** A resident scheduler compares the zone rules again after this time, because a process of an earlier release may have
 *  planned with others until it ended. */
export const ZONE_CHECK_MS = 3_600_000;
