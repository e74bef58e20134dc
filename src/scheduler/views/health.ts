import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, instantText, type Temporal } from "../../core/temporal.ts";
import type { OverdueKind } from "../../records/overdue.ts";
import type { SchedulerRecord, SchedulerRole } from "../../records/scheduler.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import type { StoreInspection, StoreWarning, TaskBacklog, TaskPause } from "../../stores/data-store.ts";

/** What a look at the store found out; times in epoch milliseconds. */
export interface StoreFacts {
  readonly inspection: Omit<StoreInspection, "storeNow" | "warnings">;
  readonly schedulers: readonly Omit<SchedulerRecord, "instanceId">[];
  readonly backloggedSchedules: readonly BackloggedSchedule[];
  /** Everything that is paused, by task, then key. */
  readonly pauses: readonly TaskPause[];
  /** How long the store took to answer. */
  readonly latencyMs: number;
  readonly clockSkewMs: number | null;
  readonly storeWarnings: readonly StoreWarning[];
}

/** What a scheduler knows about itself. */
export interface SchedulerFacts {
  readonly eventsShared: boolean;
  readonly versions: { readonly package: string; readonly schema: number | null };
}

/** An occurrence that is overdue, by what its schedule expects. */
export interface OverdueOccurrence {
  readonly scheduleId: string;
  readonly taskId: string;
  readonly fireTime: Temporal.Instant;
  /** What it has not done in time: to start, or to end. */
  readonly kind: OverdueKind;
  /** When it should have. */
  readonly dueAt: Temporal.Instant;
  /** When a scheduler found it overdue. */
  readonly raisedAt: Temporal.Instant;
  /** Its job, or the one that stands for it; null while there is none. */
  readonly jobId: string | null;
}

/** A schedule of which more than 10 jobs are unfinished. */
export interface BackloggedSchedule {
  readonly scheduleId: string;
  readonly taskId: string;
  /** How many of its jobs are unfinished, among the oldest 100 of its task. */
  readonly unfinished: Count;
}

/** How many there are. */
export interface Count {
  /** The number; a lower bound where it `isCapped`. */
  readonly count: number;
  /** Whether the count stopped there: there are as many or more. */
  readonly isCapped: boolean;
}

/** The unfinished jobs of a task. */
export interface TaskWork {
  readonly taskId: string;
  /** Jobs that are not under a lease, blocked ones included. Stores on SQLite stop counting at 10,000 of a task. */
  readonly waiting: Count;
  /** How many of the waiting jobs are blocked by a limit, a pause or their parents. The jobs of a paused task that has
   *  no limits are not blocked: they wait, and `pausedTasks` has the task. */
  readonly blocked: Count;
  /** Jobs under a lease. */
  readonly running: number;
}

/** A task that is paused, or one concurrency key of a task. */
export interface PausedTask {
  readonly taskId: string;
  /** Null for the whole task. */
  readonly key: string | null;
  /** When the pause ends by itself; null for never. */
  readonly until: Temporal.Instant | null;
  readonly reason: string | null;
  /** Who paused it: the identity of a scheduler, or the name that the caller gave. */
  readonly by: string | null;
}

/** A job that is due and waits. */
export interface DueJob {
  readonly id: string;
  readonly taskId: string;
  readonly runAt: Temporal.Instant;
  readonly lateMs: number;
}

/** A schedule that is due and has not fired. */
export interface DueSchedule {
  readonly id: string;
  readonly taskId: string;
  readonly nextFireTime: Temporal.Instant;
  readonly lateMs: number;
}

/** A scheduler that is alive. */
export interface LiveScheduler {
  readonly identity: string;
  readonly role: SchedulerRole;
  /** Whether it was started; false for one that ticks. */
  readonly isResident: boolean;
  /** The tasks for which it has handlers, and the executors that it has. */
  readonly tasks: readonly string[];
  readonly executors: readonly string[];
  /** Until when it counts as alive, unless it says so again. */
  readonly aliveUntil: Temporal.Instant;
}

/**
 * How a scheduler's store and the schedulers on it are, as of one moment. Instants are made when somebody reads them.
 * Everything is JSON, too: `Response.json(await scheduler.health())`.
 *
 * @example
 * const { isStoreReached, oldestDueJob, unhandledTasks } = await scheduler.health();
 */
export class SchedulerHealth {
  /** Identity of the scheduler that looked. */
  readonly identity: string;
  readonly #checkedAt: number;
  readonly #store: StoreFacts | null;
  readonly #about: SchedulerFacts | null;
  /** Why the store could not be reached; null when it was reached. */
  readonly storeError: SerializedError | null;

  static {
    printAsJSON(SchedulerHealth.prototype);
  }

  constructor(
    identity: string,
    checkedAt: number,
    store: StoreFacts | null,
    storeError: SerializedError | null,
    about: SchedulerFacts | null,
  ) {
    this.identity = identity;
    this.#checkedAt = checkedAt;
    this.#store = store;
    this.storeError = storeError;
    this.#about = about;
  }

  /** When the store was asked. */
  get checkedAt(): Temporal.Instant {
    return instantOf(this.#checkedAt);
  }
  /** Whether the store answered, and takes writes: also false while the last write has failed and none succeeds. If
   *  not, the lists are empty and the other facts null. */
  get isStoreReached(): boolean {
    return this.#store !== null;
  }
  /** Whether the event broker reaches other processes: if not, `subscribe` and streams of events have what happens in
   *  this one alone. Null when the scheduler is behind a router that cannot be reached. */
  get eventsShared(): boolean | null {
    return this.#about?.eventsShared ?? null;
  }
  /** The versions of this package, and of the schema that it gives the store (null for a store without one). Null when
   *  the scheduler is behind a router that cannot be reached. */
  get versions(): SchedulerFacts["versions"] | null {
    return this.#about?.versions ?? null;
  }
  /** How long the store took to answer, in milliseconds. */
  get latencyMs(): number | null {
    return this.#store?.latencyMs ?? null;
  }
  /** How far the store's own clock is ahead of the scheduler's, in milliseconds; null for a store without a clock. Half
   *  of the latency is its precision. */
  get clockSkewMs(): number | null {
    return this.#store?.clockSkewMs ?? null;
  }
  /** What somebody should do something about, although the store works: clocks that differ by more than a second, and
   *  what PostgreSQL suffers from. A warning is also logged when it is new. */
  get storeWarnings(): readonly StoreWarning[] {
    return this.#store?.storeWarnings ?? [];
  }
  /** The job that has been due for the longest time and waits; null when no job is due. Jobs that a limit,
   *  a rate or a pause holds count, and those that wait for their parents do not. */
  get oldestDueJob(): DueJob | null {
    const job = this.#store?.inspection.oldestDueJob ?? null;
    return job === null ? null : this.#dueJob(job, instantOf);
  }
  /** The schedule that has been due for the longest time; null when none is due. */
  get oldestDueSchedule(): DueSchedule | null {
    const schedule = this.#store?.inspection.oldestDueSchedule ?? null;
    return schedule === null ? null : this.#dueSchedule(schedule, instantOf);
  }
  /** The tasks that have unfinished jobs, with the numbers of those that wait, are blocked, and run, by id. */
  get backlog(): readonly TaskWork[] {
    return (this.#store?.inspection.tasks ?? []).map(workOf);
  }
  /** The tasks and the concurrency keys that are paused, by task, then key (the task itself first); at most 10,000. */
  get pausedTasks(): readonly PausedTask[] {
    return this.#pauses(instantOf);
  }
  /** The schedulers that are alive on the store, by identity. */
  get schedulers(): readonly LiveScheduler[] {
    return this.#schedulers(instantOf);
  }
  /** Ids of the tasks that have jobs waiting, and that no living scheduler runs. */
  get unhandledTasks(): readonly string[] {
    const workers = (this.#store?.schedulers ?? []).filter(({ role }) => role !== "scheduler");
    const handled = new Set(workers.flatMap(({ tasks }) => tasks));
    return this.backlog
      .filter(({ taskId, waiting }) => waiting.count > 0 && !handled.has(taskId))
      .map(({ taskId }) => taskId);
  }
  /** The schedules whose jobs pile up, the largest backlog first. At most 10 tasks are looked at. */
  get backloggedSchedules(): readonly BackloggedSchedule[] {
    return this.#store?.backloggedSchedules ?? [];
  }

  /** The occurrences that are overdue (`expectStartWithin`, `expectFinishWithin`), the one first that was due first; at
   *  most 100. */
  get overdueOccurrences(): readonly OverdueOccurrence[] {
    return this.#overdue(instantOf);
  }
  /** How many occurrences are overdue. Stores on SQLite stop counting at 10,000. */
  get overdueCount(): Count {
    const { count = 0, isCapped = false } = this.#store?.inspection.overdue ?? {};
    return { count, isCapped };
  }

  toJSON(): Record<string, unknown> {
    const { oldestDueJob = null, oldestDueSchedule = null } = this.#store?.inspection ?? {};
    return {
      identity: this.identity,
      checkedAt: instantText(this.#checkedAt),
      isStoreReached: this.isStoreReached,
      storeError: this.storeError,
      eventsShared: this.eventsShared,
      versions: this.versions,
      latencyMs: this.latencyMs,
      clockSkewMs: this.clockSkewMs,
      storeWarnings: this.storeWarnings,
      oldestDueJob: oldestDueJob === null ? null : this.#dueJob(oldestDueJob, instantText),
      oldestDueSchedule: oldestDueSchedule === null ? null : this.#dueSchedule(oldestDueSchedule, instantText),
      backlog: this.backlog,
      pausedTasks: this.#pauses(instantText),
      schedulers: this.#schedulers(instantText),
      unhandledTasks: this.unhandledTasks,
      backloggedSchedules: this.backloggedSchedules,
      overdueOccurrences: this.#overdue(instantText),
      overdueCount: this.overdueCount,
    };
  }

  #pauses<T>(at: (epochMs: number) => T): (Omit<PausedTask, "until"> & { until: T | null })[] {
    return (this.#store?.pauses ?? []).map(({ taskId, key, pausedUntil, pauseReason = null, pausedBy = null }) => ({
      ...{ taskId, key, until: pausedUntil === undefined ? null : at(pausedUntil) },
      ...{ reason: pauseReason, by: pausedBy },
    }));
  }

  #dueJob<T>({ id, taskId, runAt }: DueJobFacts, at: (epochMs: number) => T): Omit<DueJob, "runAt"> & { runAt: T } {
    return { id, taskId, runAt: at(runAt), lateMs: this.#checkedAt - runAt };
  }

  #dueSchedule<T>(
    { id, taskId, nextFireTime }: DueScheduleFacts,
    at: (epochMs: number) => T,
  ): Omit<DueSchedule, "nextFireTime"> & { nextFireTime: T } {
    return { id, taskId, nextFireTime: at(nextFireTime), lateMs: this.#checkedAt - nextFireTime };
  }

  #overdue<T>(
    at: (epochMs: number) => T,
  ): (Omit<OverdueOccurrence, "fireTime" | "dueAt" | "raisedAt"> & { fireTime: T; dueAt: T; raisedAt: T })[] {
    return (this.#store?.inspection.overdue?.open ?? []).map(({ fireTime, dueAt, raisedAt, ...facts }) => ({
      ...{ scheduleId: facts.scheduleId, taskId: facts.taskId, fireTime: at(fireTime), kind: facts.kind },
      ...{ dueAt: at(dueAt), raisedAt: at(raisedAt), jobId: facts.jobId },
    }));
  }

  #schedulers<T>(at: (epochMs: number) => T): (Omit<LiveScheduler, "aliveUntil"> & { aliveUntil: T })[] {
    return (this.#store?.schedulers ?? []).map(({ identity, role, isResident, tasks, executors, aliveUntil }) => ({
      identity,
      role,
      isResident,
      tasks,
      executors,
      aliveUntil: at(aliveUntil),
    }));
  }
}

type DueJobFacts = NonNullable<StoreInspection["oldestDueJob"]>;
type DueScheduleFacts = NonNullable<StoreInspection["oldestDueSchedule"]>;

function workOf({ taskId, waiting, blocked = 0, running, ...counted }: TaskBacklog): TaskWork {
  const { isQueuedCapped = false, isBlockedCapped = false } = counted;
  return {
    taskId,
    waiting: { count: waiting, isCapped: isQueuedCapped || isBlockedCapped },
    blocked: { count: blocked, isCapped: isBlockedCapped },
    running,
  };
}
