import type { OverdueEnd, OverdueKind } from "./overdue.ts";
import type { JobOutcome } from "./policies.ts";
import type { SerializedError } from "./serialized-error.ts";

// Aliases and no interfaces: the compiler can then write out the type of an event that a program infers.
type TaskEventFacts = {
  readonly taskId: string;
};

type ScheduleEventFacts = TaskEventFacts & {
  readonly scheduleId: string;
};

type JobEventFacts = TaskEventFacts & {
  readonly jobId: string;
  /** The schedule that made the job, or null. */
  readonly scheduleId: string | null;
};

type SchedulerEventFacts = {
  /** Identity of the scheduler. */
  readonly schedulerId: string;
};

type PauseEventFacts = {
  /** Identity of a scheduler, or the name that the caller gave. */
  readonly by: string | null;
  readonly reason: string | null;
  /** When the pause ends by itself; null for never. */
  readonly untilMs: number | null;
};

type OverdueFacts = ScheduleEventFacts &
  SchedulerEventFacts & {
    readonly fireTimeMs: number;
    /** Whether the occurrence has not started, or has not ended, in time. */
    readonly kind: OverdueKind;
    /** When it should have: the fire time and `expectStartWithin` or `expectFinishWithin`. */
    readonly dueAtMs: number;
    /** The job of the occurrence, or the one that stands for it; null while there is none. */
    readonly jobId: string | null;
  };

/** The fields of each event, by its type. Fields that end in `Ms` are epoch milliseconds. */
interface EventFactsByType {
  taskAdded: TaskEventFacts;
  taskUpdated: TaskEventFacts;
  taskRemoved: TaskEventFacts;
  /** Somebody paused the task, or one concurrency key of the task; `concurrencyKey` is null for the whole task. */
  taskPaused: TaskEventFacts & PauseEventFacts & { readonly concurrencyKey: string | null };
  /** The task, or the key, goes on. `by` is null where the pause came to its end by itself. */
  taskUnpaused: TaskEventFacts & { readonly concurrencyKey: string | null; readonly by: string | null };
  /** A scheduler declared the task, and the store keeps the settings of a program with a higher version. `version` is
   *  the scheduler's own, or null when it has none. */
  taskOutdated: TaskEventFacts & SchedulerEventFacts & { readonly version: number | null };
  scheduleAdded: ScheduleEventFacts & { readonly nextFireTimeMs: number | null };
  scheduleUpdated: ScheduleEventFacts & { readonly nextFireTimeMs: number | null };
  /** Somebody or something paused the schedule, or gave the pause another end or reason: a caller, a trigger that
   *  failed (`scheduleFailed` comes before it). */
  schedulePaused: ScheduleEventFacts & PauseEventFacts;
  /** The schedule goes on. `by` is null where the pause came to its end by itself. */
  scheduleUnpaused: ScheduleEventFacts & { readonly by: string | null };
  /** A schedule was removed. `finished`: by the clean-up, because it had no fire time left. */
  scheduleRemoved: { readonly scheduleId: string; readonly finished: boolean };
  /** More than 10 jobs of the schedule are unfinished, because they take longer than the pauses between its fire times,
   *  or nobody runs them. Published once until the schedule has caught up, by each process. `unfinished` counts
   *  them up to 100. */
  scheduleBacklogged: ScheduleEventFacts & SchedulerEventFacts & { readonly unfinished: number };
  /** The schedule's trigger failed, and the schedule was paused. */
  scheduleFailed: ScheduleEventFacts & { readonly error: SerializedError };
  /** A scheduler declared the schedule (`conflictPolicy: "update"`), and the store keeps what a program with a higher
   *  version declared. `version` is the scheduler's own, or null when it has none. */
  scheduleOutdated: ScheduleEventFacts & SchedulerEventFacts & { readonly version: number | null };
  /** Fire times of a schedule made no job (`overlap`), or the waiting job of a fire time gave way to a newer one
   *  (`replaced`, and `jobId` names the job if there was one), because an earlier run was unfinished. Or a job waited
   *  until the next fire time came, and another one stands for it (`coalesced`, `jobId` likewise). Or `catchUp` left
   *  them out: `maxAge` (`tooOld`) or `maxCount` (`overCount`). Or a blackout did (`blackedOut`). `count` says how many
   *  fire times the event stands for (at least, where they are too many to count), and `fireTimeMs` is the last of
   *  them. */
  occurrenceSkipped: ScheduleEventFacts & {
    readonly fireTimeMs: number;
    readonly count: number;
    readonly reason: "overlap" | "replaced" | "coalesced" | "tooOld" | "overCount" | "blackedOut";
    readonly jobId: string | null;
  };
  /** An occurrence of a schedule has not started (`expectStartWithin`) or not ended (`expectFinishWithin`) in time.
   *  Published once for each occurrence and kind, by the scheduler of the store that found it first. A process that
   *  dies between the commit and the event leaves the event out: the overdue occurrence is in `health()` then. */
  occurrenceOverdue: OverdueFacts;
  /** What `occurrenceOverdue` told is over: the job `started`, or has `finished` with any outcome; the occurrence was
   *  `skipped`; or the schedule was `paused` or `removed` while there was no job. */
  occurrenceResolved: OverdueFacts & { readonly raisedAtMs: number; readonly reason: OverdueEnd };
  /** Somebody added a blackout, or replaced one. */
  blackoutAdded: { readonly blackoutId: string; readonly by: string | null; readonly reason: string | null };
  blackoutRemoved: { readonly blackoutId: string; readonly by: string | null };
  /** A scheduler cannot read the trigger of a due schedule, and leaves the schedule to schedulers that can. Published
   *  once for each schedule and process. */
  scheduleDeserializationFailed: ScheduleEventFacts & SchedulerEventFacts & { readonly error: SerializedError };
  /** A scheduler's runtime knows newer rules of time zones than the one that computed next fire times, and some of
   *  these have moved. `zones` tells the fingerprints (at most 100 zones), `schedules` the first 100 of the schedules,
   *  and `total` how many there are. */
  zoneRulesChanged: SchedulerEventFacts & {
    readonly zones: readonly { readonly zone: string; readonly former: string; readonly present: string }[];
    readonly schedules: readonly {
      readonly scheduleId: string;
      readonly formerFireTimeMs: number;
      /** Null when no fire time is left. */
      readonly nextFireTimeMs: number | null;
    }[];
    readonly total: number;
  };
  /** A job was added. `isLeased`: the same commit leased the job to a scheduler, so that no other scheduler has to look
   *  for it. */
  jobAdded: JobEventFacts & { readonly executor: string; readonly runAtMs: number; readonly isLeased: boolean };
  /** A later addition of its burst changed the job (`debounce`): its payload, its settings, and when it runs. */
  jobUpdated: JobEventFacts & { readonly runAtMs: number };
  /** The job was added, and is blocked: by a limit or a pause of its task or concurrency key (`"limit"`), or until its
   *  parents have ended. */
  jobBlocked: JobEventFacts & { readonly reason: "limit" | "parents"; readonly concurrencyKey: string | null };
  /** The job is no longer blocked. `isLeased`: the same commit leased the job to the scheduler, so that no other one
   *  has to look for it. */
  jobAdmitted: JobEventFacts &
    SchedulerEventFacts & { readonly isLeased: boolean; readonly concurrencyKey: string | null };
  /** The job is due and waits, and no scheduler has taken a job of its task and executor so far. The scheduler that
   *  says so has no handler for the task (`missing` is `"task"`), or no executor of this name (`"executor"`). Published
   *  once for each task, executor and process. `"worker"`: the scheduler that says so runs no jobs; or somebody waits
   *  for the job there, and nobody is alive who runs jobs. `"room"`: the job is blocked by the rate of its task, the
   *  limit of its key or a pause; published once for each task and process. */
  jobUnclaimed: JobEventFacts &
    SchedulerEventFacts & { readonly executor: string; readonly missing: "task" | "executor" | "worker" | "room" };
  /** An attempt begins. `attempt` is 1 for the first. `scheduledFireTimeMs` is null for a job that no fire time
   *  made. */
  jobAcquired: JobEventFacts &
    SchedulerEventFacts & { readonly attempt: number; readonly scheduledFireTimeMs: number | null };
  /** A handler reported its progress. `fraction` is 0 to 1. */
  jobProgressed: JobEventFacts & { readonly fraction: number; readonly note: string | null };
  /** The store has new lines of the log of a job that runs, see `TaskSettings.keepLogs`: `getJobLogs` reads them.
   *  `lines` is how many the attempt has logged, those that were dropped included. What it logs last comes with its
   *  end, without this event. */
  jobLogged: JobEventFacts & { readonly attempt: number; readonly lines: number };
  /** An attempt failed, or its payload could not be read here (`error`), or it was lost with its process (`error` is
   *  null). The job is back in the queue. */
  jobRetried: JobEventFacts & {
    readonly attempt: number;
    readonly runAtMs: number;
    readonly error: SerializedError | null;
  };
  /** A step of the job (`context.step`) is recorded as ended. `startedAtMs` is its beginning, in whichever attempt. */
  stepFinished: JobEventFacts & { readonly step: string; readonly startedAtMs: number };
  /** An attempt ended without a failure: the job sleeps in a step until `runAtMs`, or its handler threw `RetryAfter`
   *  (`step` is null). */
  jobSleeps: JobEventFacts & { readonly step: string | null; readonly runAtMs: number };
  /** Somebody asked to cancel a job that runs elsewhere. Its scheduler asks the store whether that is so. */
  jobCancelRequested: { readonly jobId: string };
  /** The job ended. `schedulerId` is null when no scheduler held it. */
  jobReleased: JobEventFacts & {
    readonly schedulerId: string | null;
    readonly outcome: JobOutcome;
    readonly error: SerializedError | null;
    readonly scheduledFireTimeMs: number | null;
    readonly startedAtMs: number | null;
  };
  schedulerStarted: SchedulerEventFacts;
  /** `pause()` was called, or the scheduler was started paused: then `reason` is null. Or, with a `reason`, its clock
   *  differs from the store's by more than a lease: it begins nothing until they agree, and `schedulerResumed`
   *  follows. */
  schedulerPaused: SchedulerEventFacts & { readonly reason: string | null };
  schedulerResumed: SchedulerEventFacts;
  schedulerStopped: SchedulerEventFacts;
}

/** The name of an event's type, such as `jobReleased`. */
export type EventType = keyof EventFactsByType;

/** All event types. */
export const EVENT_TYPES: readonly EventType[] = Object.freeze([
  "taskAdded",
  "taskUpdated",
  "taskRemoved",
  "taskPaused",
  "taskUnpaused",
  "taskOutdated",
  "scheduleAdded",
  "scheduleUpdated",
  "schedulePaused",
  "scheduleUnpaused",
  "scheduleRemoved",
  "scheduleBacklogged",
  "scheduleFailed",
  "scheduleOutdated",
  "occurrenceSkipped",
  "occurrenceOverdue",
  "occurrenceResolved",
  "blackoutAdded",
  "blackoutRemoved",
  "scheduleDeserializationFailed",
  "zoneRulesChanged",
  "jobAdded",
  "jobUpdated",
  "jobBlocked",
  "jobAdmitted",
  "jobUnclaimed",
  "jobAcquired",
  "jobProgressed",
  "jobLogged",
  "jobRetried",
  "stepFinished",
  "jobSleeps",
  "jobCancelRequested",
  "jobReleased",
  "schedulerStarted",
  "schedulerPaused",
  "schedulerResumed",
  "schedulerStopped",
]);

/** An event as brokers carry it: plain JSON, instants as epoch milliseconds in fields that end in `Ms`. */
export type EventRecord<T extends EventType = EventType> = {
  [K in T]: Readonly<EventFactsByType[K]> & { readonly type: K; readonly timestampMs: number };
}[T];
