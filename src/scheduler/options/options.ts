import type { AbortSignal } from "../../core/abort-signal.ts";
import type { Duration } from "../../core/duration.ts";
import type { InstantLike } from "../../core/temporal.ts";
import type { MissedPolicy } from "../../records/blackout.ts";
import type {
  CoalescePolicy,
  ConflictPolicy,
  JobOutcome,
  Labels,
  Metadata,
  ParentFailurePolicy,
  RunOverlapPolicy,
} from "../../records/policies.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import type { OccurrenceVerdict } from "./occurrence-verdicts.ts";

/** Settings of a task. The most explicit setting counts: first that of the call, then that of the task, then that of
 *  the scheduler's `taskDefaults`, then what the store has of a program that declared the task before. So the defaults
 *  are those of new tasks, and who wants one of them back gives its value. Metadata is merged key by key. `P` is the
 *  payload that the handler gets. */
export interface TaskSettings<P = never> {
  /** Name of the executor that runs the task's jobs. Default: `"inline"`. */
  executor?: string | undefined;
  /** Most jobs of the task that run at once, counted over all schedulers of the store; null is unlimited. Default: 1;
   *  with `maxRunningPerKey` null, because one job in all would leave nothing to that limit. */
  maxRunningJobs?: number | null | undefined;
  /**
   * Tells the concurrency key of a job from its payload, for example the tenant: text of 1 to 256 characters. Null or
   * undefined: the job has no key. It is called where jobs and schedules are added, with the payload that the handler
   * will get, and what it returns is stored with the job; so a program that adds jobs has to know the task, not only
   * its id (see `defineTasks`). What it throws rejects the call as an `OptionsError`. Default: jobs have no key, unless
   * they are added with one (`addJob(task, { concurrencyKey })`). In TypeScript, give its parameter a type where the
   * task has no `schema`: TypeScript does not take that type from a handler that has a second parameter.
   * @example
   * const settings = { concurrencyKey: ({ tenant }: Sync) => tenant, maxRunningPerKey: 2 };
   */
  concurrencyKey?: KeyOf<P> | undefined;
  /** Most jobs of one concurrency key that run at once, counted over all schedulers of the store: 1 to 1,000,000; null
   *  is unlimited. Jobs without a key do not count; a call is refused where nothing tells the key of its job, neither
   *  the task nor the call itself. Default: null. */
  maxRunningPerKey?: number | null | undefined;
  /** How many attempts may start in a time, for example `{ limit: 14, per: "1s" }`: for each concurrency key, and for
   *  the jobs without a key together; null is unlimited. Default: null. */
  rateLimit?: RateLimitOptions | null | undefined;
  /** Whether the concurrency keys take turns, so that many jobs of one key do not delay those of the others. The jobs
   *  without a key are one more key; where nothing tells the key of a job, a warning says so, once. A higher priority
   *  still comes first. Default: false. */
  fair?: boolean | undefined;
  /** How late a job of a schedule may start, for example `{ minutes: 5 }`; a job that is later ends as
   *  `missedStartDeadline`. Null is unlimited. Default: null. */
  misfireGraceTime?: Duration | null | undefined;
  /** How many attempts a failing job gets (default: 1, which is no retry), and the pauses between the attempts. */
  retry?: RetryOptions | undefined;
  /** How many times a job that was lost with its process, or that `stop()` aborted, goes back to the queue; then it
   *  ends as `abandoned`. 0 means that a job is started at most once, unless its handler fails and `retry` allows more.
   *  Jobs that were lost start one after the other, the next one after a few seconds, because one of them may be what
   *  ended their process. Default: 3. */
  maxRecoveries?: number | undefined;
  /** How many attempts of a job may end with a `RetryAfter`, which counts as no failure: 0 to 1,000,000. From then on
   *  it counts as one. Default: 100. */
  maxSnoozes?: number | undefined;
  /** Longest run of one attempt, for example `{ seconds: 30 }`; null is unlimited. Default: null. */
  timeout?: Duration | null | undefined;
  /** How long a handler that ignores its `signal` keeps the place of its job, after a timeout or a cancellation:
   *  until then neither the next attempt of the job begins, nor another job in its place. Then the job goes on without
   *  the handler, which cannot be ended, and an error in the log says so. What runs in a thread or in another process
   *  is ended after 5 s. Null is the `leaseDuration` of the scheduler, which is 1 minute unless it is set. Default:
   *  null. */
  abandonAfter?: Duration | null | undefined;
  /** How long results are kept; zero keeps none. Default: 24 hours. */
  resultExpirationTime?: Duration | undefined;
  /** How long it is kept how a job failed, with the error and the payload: every outcome but `success`, `skipped` and
   *  `cancelled`. Null is as the default says: 30 days, longer where `resultExpirationTime` is, and not at all where
   *  that is zero. Default: null. */
  failureExpirationTime?: Duration | null | undefined;
  /** What a fire of the task's schedules does while an earlier run of the same schedule is unfinished: `"queue"`,
   *  `"skip"`, `"replaceQueued"` or `"cancelRunning"`, see {@link RunOverlapPolicy}. Default: `"queue"`. */
  overlap?: RunOverlapPolicy | undefined;
  /** After how many failed runs in a row a schedule of the task is paused, unless the schedule says something else: 1
   *  to 1,000; null for never. See `ScheduleOptions.pauseAfterFailures`. Default: null. */
  pauseAfterFailures?: number | null | undefined;
  /** JSON data that the task's schedules and jobs inherit, at most 100 levels deep, without the key `__proto__`.
   *  Default: `{}`. */
  metadata?: Metadata | undefined;
  /** Keeps what handlers log by `context.logger` with the job, of each attempt the last `lines` (1 to 10,000; default:
   *  1,000) and `bytes` (1,000 to 262,144; default: 65,536), whatever the scheduler's `logLevel` is; null for nothing.
   *  `getJobLogs` reads it. It goes with the job's result, or with the job where no result is kept. Default: null.
   *  @example
   *  scheduler.task("import", { keepLogs: { lines: 200 } }, (_, { logger }) => logger.info("begins")); */
  keepLogs?: { lines?: number | undefined; bytes?: number | undefined } | null | undefined;
  /** Names and values by which the task, its schedules and jobs are found: at most 16, of names of 1 to 64 letters,
   *  digits and `_ . / -`, and values of 1 to 256 characters. Schedules and jobs inherit them, label by label. Default:
   *  none.
   *  @example
   *  scheduler.task("invoice", { labels: { team: "billing" } }, invoice);
   *  await scheduler.getJobs({ labels: { team: "billing" } }); */
  labels?: Labels | undefined;
}

/** It is written as a method, so that `TaskSettings` without a type of the payload fit every task. */
type KeyOf<P> = { keyOf(payload: P): string | null | undefined }["keyOf"];

/**
 * How often, and after which pauses, a job runs again whose handler failed.
 * @example
 * const retry: RetryOptions = { maxAttempts: 5, backoff: { initial: { seconds: 2 }, max: { minutes: 10 } } };
 */
export interface RetryOptions {
  /** Attempts in all, the first included. Default: 1. */
  maxAttempts?: number | undefined;
  /** The pauses between attempts. Default: 1 s, doubled each time, at most 1 h, each of a random length up to that. */
  backoff?:
    | {
        /** Pause before the second attempt. Default: 1 s. */
        initial?: Duration | undefined;
        /** Each pause is the pause before, multiplied by this factor; at least 1. Default: 2. */
        factor?: number | undefined;
        /** Longest pause. Default: 1 h. */
        max?: Duration | undefined;
        /** `"full"` (default) waits a random time between zero and the pause; `"none"` waits the pause itself. */
        jitter?: "full" | "none" | undefined;
      }
    | undefined;
}

/**
 * How many attempts may start in a time, over all schedulers of the store. Retries count too.
 * @example
 * const rateLimit: RateLimitOptions = { limit: 14, per: "1s" };
 */
export interface RateLimitOptions {
  /** Attempts in the time `per`: 1 to 1,000,000. They start `per / limit` apart. */
  limit: number;
  /** For example `"1s"` or `{ minutes: 1 }`; longer than zero. */
  per: Duration;
  /** How many attempts may start at once after a pause: 1 to 1,000,000. So no time of the length `per` has more than
   *  `limit + burst - 1` starts. Default: a twentieth of `limit`, at least 1. With 1, a scheduler starts one job at a
   *  time, which is exact, and too slow for a limit of some hundreds a second. */
  burst?: number | undefined;
}

/**
 * One job for a burst of additions: the last of them counts.
 * @example
 * const debounce: DebounceOptions = { key: "customer 7", wait: "5s", maxWait: "1m" };
 */
interface DebounceOptions {
  /** Which additions of the task belong together: text of 1 to 256 characters. */
  key: string;
  /** Pause between the last addition and the job's run; longer than zero. */
  wait: Duration;
  /** Longest time between the first addition and the run, at least `wait`. Default: unlimited, so that a burst that
   *  never ends puts the job off for ever. */
  maxWait?: Duration | undefined;
}

/**
 * One addition in a time: the first one counts.
 * @example
 * const throttle: ThrottleOptions = { key: "customer 7", per: "1m" };
 */
interface ThrottleOptions {
  /** Which additions of the task belong together: text of 1 to 256 characters. */
  key: string;
  /** How long the first addition stands for the others, counted from that addition; longer than zero. */
  per: Duration;
}

/** Who changes something, for `getScheduleChanges` and `explain`. */
export interface ChangeOptions {
  /** A name for people: text of 1 to 200 characters, for example `"ada@example.org"`. Default: the identity of the
   *  scheduler. */
  by?: string | undefined;
}

/**
 * When a blackout is, and which schedules it is about: `from` and `until`, or `trigger` and `duration`.
 * @example
 * const weekly: BlackoutOptions = { trigger: "0 2 * * sun", duration: "2h", reason: "maintenance" };
 * const once: BlackoutOptions = { from: "2030-12-24T12:00:00Z", until: "2031-01-02T06:00:00Z", missed: "runOnce" };
 */
export interface BlackoutOptions extends ChangeOptions {
  /** When it begins. Goes together with `until`. */
  from?: InstantLike | undefined;
  /** When it ends: the first instant that is not part of it, later than `from`. */
  until?: InstantLike | undefined;
  /** A trigger, `{ every: "1w" }`, or crontab text in the time zone of the scheduler: each of its fire times begins the
   *  blackout. Goes together with `duration`. Default: none, for a blackout `from` one instant `until` another. */
  trigger?: TriggerLike | undefined;
  /** How long it lasts each time, longer than zero, on the clock of the trigger's time zone: two hours from 02:00 end
   *  at 04:00, also on days on which clocks change. Default: none. */
  duration?: Duration | undefined;
  /** Only schedules that have all of these labels, each with this value: 1 to 16. Default: all schedules. */
  labels?: Labels | undefined;
  /** Only schedules of these tasks: 1 to 1,000 ids. With `labels`, both must fit. Default: all tasks. */
  taskIds?: readonly string[] | undefined;
  /** `"skip"`: the fire times within it make no job. `"runOnce"`: they make one job for all of them at its end.
   *  Default: `"skip"`. */
  missed?: MissedPolicy | undefined;
  /** Why it is there: text of 1 to 500 characters, for people. Default: none. */
  reason?: string | undefined;
  /** What happens when a blackout has the id. `"update"` and `"replace"` replace one that says something else,
   *  `"doNothing"` keeps it, and `"error"` rejects with `ConflictingIdError`. Default: `"update"`. */
  conflictPolicy?: ConflictPolicy | undefined;
}

/** How long something is paused, and why. */
export interface PauseOptions extends ChangeOptions {
  /** When the pause ends by itself: an instant in the future. Then the schedule or the task goes on as after
   *  `unpauseSchedule(id)` or `unpauseTask(id)`, once over all schedulers of the store; with `tick()`, in the first
   *  tick from then on. Default: never. */
  until?: InstantLike | undefined;
  /** Why it is paused: text of 1 to 500 characters, for people. It is shown until the pause ends. Default: none. */
  reason?: string | undefined;
}

/** What a change of a schedule depends on. */
export interface RevisionOptions extends ChangeOptions {
  /** The `revision` of the schedule that the change is made for: if it has another one, because somebody changed it
   *  since, the call rejects with `RevisionConflictError`. Default: any. */
  ifRevision?: number | undefined;
}

/**
 * Bounds of what a schedule makes up for after a pause, an outage, or the return of a backup.
 * @example
 * await scheduler.addSchedule("sync", "0 * * * *", {
 *   coalesce: "all",
 *   catchUp: { maxAge: "1d", maxCount: 100, pace: "10s" },
 * });
 */
export interface CatchUpOptions {
  /** Due fire times that are older than this, when a scheduler comes to them, make no job, whatever `coalesce` is. It
   *  should be longer than a scheduler may be late: with `tick()`, longer than the time between ticks. Default: null,
   *  any age. */
  maxAge?: Duration | null | undefined;
  /** With `coalesce: "all"`: the most fire times that make jobs of those that are due together, the newest ones; 1 to
   *  10,000. Without effect where `coalesce` makes one job. Default: null, all of them. */
  maxCount?: number | null | undefined;
  /** With `coalesce: "all"` and `overlap: "queue"`: of the jobs of fire times that are due together, the first runs at
   *  once, and each next one this long after the one before, over all processes. Their `misfireGraceTime` counts from
   *  then. A fire time that is due alone runs at once, and waits for none of them. Default: null, all run at once. */
  pace?: Duration | null | undefined;
}

/** Options of a schedule. */
export interface ScheduleOptions<P = unknown> extends RevisionOptions {
  /** Choose an id to find the schedule again, or to add the same schedule at every start. Default: a new UUID. */
  id?: string | undefined;
  /** A name for people, at most 256 characters, which need not be unique. Default: null. */
  name?: string | null | undefined;
  /** What the handler gets. Default: undefined. */
  payload?: P | undefined;
  /** What becomes of several fire times that are due at once: `"latest"` or `"earliest"` make one job, for that fire
   *  time; `"all"` makes a job for each. Default: `"latest"`. */
  coalesce?: CoalescePolicy | undefined;
  /** How late a job may start; null is unlimited. Default: the task's `misfireGraceTime`. */
  misfireGraceTime?: Duration | null | undefined;
  /** Each fire is delayed by a random time of at most this length, which never reaches the next fire time. Default:
   *  zero, no delay. */
  maxJitter?: Duration | undefined;
  /**
   * What happens when a schedule with this id exists. Default: `"update"`.
   * - `"update"` applies what the program changed since it last added the schedule: task, trigger, payload and
   *   settings. The schedule stays paused if it is, and keeps its history; if the trigger is the same rule, its next
   *   fire time too. A schedule that had ended fires again if its trigger is a new rule. As long as the program adds
   *   the schedule as before, nothing changes, so that changes by `updateSchedule` survive restarts. A program with a
   *   lower `version` than the last one changes nothing.
   * - `"doNothing"` keeps the stored schedule, and logs a warning if the program asks for a different one.
   * - `"replace"` does what `"update"` does, at every call, and whatever the versions are.
   * - `"error"` rejects with `ConflictingIdError`.
   */
  conflictPolicy?: ConflictPolicy | undefined;
  /** Whether the id picks when in its period the schedule fires, so that schedules with one rule do not fire at one
   *  instant: for an `IntervalTrigger`, and for nicknames such as `@daily`. In other crontab text write `H` for a value
   *  that the id picks: `"H 3 * * *"`. Default: false. */
  spread?: boolean | undefined;
  /** A hash of the request that adds the schedule: the call rejects if another one added the schedule of this id.
   *  @internal */
  requestHash?: string | undefined;
  /** Add the schedule paused. If it is given, a schedule that is updated or replaced gets it too. Default: a new
   *  schedule is not paused. */
  paused?: boolean | undefined;
  /** What a fire does while an earlier run of the schedule is unfinished: `"queue"`, `"skip"`, `"replaceQueued"` or
   *  `"cancelRunning"`, see {@link RunOverlapPolicy}. Default: the task's `overlap`. */
  overlap?: RunOverlapPolicy | undefined;
  /** After how many failed runs in a row the schedule is paused, with a reason: 1 to 1,000; null for never. Runs of
   *  fire times count, in the order in which they end; those of `runScheduleNow` and `retryJob` do not. A run that
   *  succeeds begins the count anew, and so does the end of a pause; a run that was skipped or cancelled says nothing.
   *  Default: the task's, which is null. */
  pauseAfterFailures?: number | null | undefined;
  /** The concurrency key of the schedule's jobs: text of 1 to 256 characters; null for none. It is stored with the
   *  schedule. Default: what the task's `concurrencyKey` tells from the payload. */
  concurrencyKey?: string | null | undefined;
  /** Within which time after a fire time its job is to start, longer than zero; null for no such expectation. If the
   *  job has not, whoever looks into the store publishes `occurrenceOverdue`, once. Only for stores that keep a ledger.
   *  Default: null. */
  expectStartWithin?: Duration | null | undefined;
  /** The same for the end of the job, at least `expectStartWithin`. Default: null. */
  expectFinishWithin?: Duration | null | undefined;
  /** JSON data. It is merged over the task's metadata, key by key. Default: the task's. */
  metadata?: Metadata | undefined;
  /** Names and values by which the schedule and its jobs are found, merged over the task's labels, label by label: at
   *  most 16 together. A change is about the jobs to come; jobs that exist keep theirs. Default: the task's. */
  labels?: Labels | undefined;
  /** Name of the executor that runs the jobs. Default: the task's. */
  executor?: string | undefined;
  /** Jobs with a higher priority run first. Default: 0. */
  priority?: number | undefined;
  /** How long results of the schedule's jobs are kept; zero keeps none. Default: the task's. */
  resultExpirationTime?: Duration | undefined;
  /** How long it is kept how a job failed, with the error and the payload: every outcome but `success`, `skipped` and
   *  `cancelled`. Null is as the default says: 30 days, longer where `resultExpirationTime` is, and not at all where
   *  that is zero. Default: the task's. */
  failureExpirationTime?: Duration | null | undefined;
  /** Which missed fire times are made up for, and how fast; null for all, at once. What is left out makes no job, now
   *  or later. In `updateSchedule`, what is given replaces the whole object. Default: null. */
  catchUp?: CatchUpOptions | null | undefined;
}

/** Settings that the schedules of a scheduler inherit, unless they say otherwise: see {@link ScheduleOptions}. */
export type ScheduleDefaults = Pick<
  ScheduleOptions,
  "coalesce" | "maxJitter" | "catchUp" | "priority" | "conflictPolicy"
>;

/** What `updateSchedule` changes. Fields that are not given stay as they are. */
export interface ScheduleUpdate<P = unknown>
  extends Omit<
    ScheduleOptions<P>,
    "id" | "conflictPolicy" | "paused" | "spread" | keyof RevisionOptions | "requestHash"
  > {
  /** A trigger, `{ every: "5m" }`, or crontab text in the time zone of the scheduler. A trigger with a new rule counts
   *  from now. A trigger with the same rule as before leaves the fire times as they are. */
  trigger?: TriggerLike | undefined;
  /** The concurrency key of the jobs to come; null for none. Default: with a new payload, what the task's
   *  `concurrencyKey` tells from it, where this program knows that function; else it stays as it is. */
  concurrencyKey?: string | null | undefined;
  /** The schedule fires at this instant next, whatever its trigger says, and from then on as the trigger says. An
   *  instant that is past is due at once. It must be later than the last fire time. */
  nextFireTime?: InstantLike | undefined;
}

/** A job that another one comes after: a `Job`, a `JobResult`, or the id of a job. */
type ParentJob =
  | string
  | { readonly id: string; readonly taskId: string; readonly runAt: unknown }
  | { readonly jobId: string; readonly taskId: string; readonly outcome: JobOutcome };

/** Options of a job. */
export interface JobOptions<P = unknown> {
  /** What the handler gets. Default: undefined. */
  payload?: P | undefined;
  /** The job does not start before this instant, for example `"2030-01-31T09:00:00Z"`. Default: now. */
  runAt?: InstantLike | undefined;
  /** The job does not start before this time has passed since its addition, for example `"5m"`, by the clock of the
   *  scheduler that adds it. Not together with `runAt` or `debounce`. Default: zero. */
  delay?: Duration | undefined;
  /** Jobs with a higher priority run first. Default: 0. */
  priority?: number | undefined;
  /** A key that only one unfinished job of the task may have. Adding another job of the task with this key returns the
   *  existing job. Default: none. */
  idempotencyKey?: string | undefined;
  /** Keeps the `idempotencyKey` taken for this long after the addition, even if the job has ended by then: additions
   *  with this key and `uniqueFor` add nothing, and return the job that has the key. An addition without `uniqueFor`
   *  respects unfinished jobs only. Default: the key is free when the job ends. */
  uniqueFor?: Duration | undefined;
  /** A hash of the request that adds the job: the call rejects if the `idempotencyKey` stands for another request.
   *  @internal */
  requestHash?: string | undefined;
  /**
   * Adds one job for a burst of additions with the same key: it runs `wait` after the last one. Until a scheduler takes
   * the job, every further addition replaces its payload, metadata, priority and all other options, and puts it off; it
   * returns that job, and publishes `jobUpdated` instead of `jobAdded`. Not together with `runAt`, `delay`,
   * `idempotencyKey`, `throttle` or `after`. Default: every addition adds a job.
   */
  debounce?: DebounceOptions | undefined;
  /** Adds a job, unless one was added with the same key in the time `per` before: then that job is returned, whether or
   *  not it has ended. Not together with `debounce` or `uniqueFor`. Default: every addition adds a job. */
  throttle?: ThrottleOptions | undefined;
  /** The concurrency key of the job, by which limits of the task count: text of 1 to 256 characters; null for none.
   *  Default: what the task's `concurrencyKey` tells from the payload. */
  concurrencyKey?: string | null | undefined;
  /** JSON data. It is merged over the task's metadata, key by key. Default: the task's. */
  metadata?: Metadata | undefined;
  /** Names and values by which the job and its result are found, merged over the task's labels, label by label: at most
   *  16 together. Default: the task's. */
  labels?: Labels | undefined;
  /** Name of the executor that runs the job. Default: the task's. */
  executor?: string | undefined;
  /** How long the result is kept; zero keeps none. Default: the task's. */
  resultExpirationTime?: Duration | undefined;
  /** How long it is kept how the job failed, with the error and the payload: every outcome but `success`, `skipped` and
   *  `cancelled`. Null is as the default says: 30 days, longer where `resultExpirationTime` is, and not at all where
   *  that is zero. Default: the task's. */
  failureExpirationTime?: Duration | null | undefined;
  /** The job does not start after this instant: it then ends as `missedStartDeadline`, whatever it waits for. A job
   *  that runs again, because it failed or is known to have started before its process was lost, was in time. Default:
   *  none. */
  startDeadline?: InstantLike | undefined;
  /** How often the job runs again if its handler fails, and after which pauses: what is given goes over the task's
   *  `retry`. It is stored with the job. Default: the task's. */
  retry?: RetryOptions | undefined;
  /** The job is blocked until all of these jobs have ended: 1 to 1,000 jobs, each unfinished or with a result that is
   *  kept. With `runAt` or `delay`, it waits for both. Its handler reads their results by `getParentResults()`. The
   *  store must know the jobs: else the call rejects with `StoreRefusedError`. Default: none.
   *  @example
   *  const load = await scheduler.addJob("load");
   *  await scheduler.addJob("report", { after: [load] }); */
  after?: readonly ParentJob[] | undefined;
  /** What becomes of the job when one of the jobs in `after` does not succeed (it failed, was cancelled, abandoned or
   *  too late): `"cancel"` cancels it at once, and the jobs that come after it by the same rule; `"run"` runs it all
   *  the same when the others have ended too. Default: `"cancel"`. */
  onParentFailure?: ParentFailurePolicy | undefined;
}

/** Options of `addBatch`. */
export interface BatchOptions<Then> {
  /** The job that comes after all others of the batch. Its `after` may name more jobs: 1,000 in all. */
  readonly then: Then;
}

/** Options of `runScheduleNow`. */
export interface RunNowOptions extends Pick<JobOptions, "idempotencyKey" | "uniqueFor"> {
  /** @internal */
  requestHash?: string | undefined;
}

/** Options of `backfill`, which explains them. */
export interface BackfillOptions {
  /** Fire times at this instant or later, for example `"2030-01-31T09:00:00Z"`. */
  from: InstantLike;
  /** Fire times before this instant, which is not in the future. */
  until: InstantLike;
  /** `"newest"` adds the job of the last fire time first. Default: `"oldest"`. */
  order?: "oldest" | "newest" | undefined;
  /** How long after one job the next one may start, at least 1 ms. Default: all may start at once, as far as limits of
   *  the task let them. */
  pace?: Duration | undefined;
  /** Most jobs to add. Default: unlimited. */
  limit?: number | undefined;
  /** Whether fire times that ran run once more, and those that were coalesced into one that ran. Default: false. */
  includeRan?: boolean | undefined;
  /** Whether fire times run that were coalesced into one that ran, or lay within a blackout that was made up for.
   *  Default: false. */
  includeCoalesced?: boolean | undefined;
  /** Whether fire times run of which the store does not know whether they ran. Default: false, which refuses them. */
  includeUnrecorded?: boolean | undefined;
  /** Adds nothing, and answers what would be added. Default: false. */
  dryRun?: boolean | undefined;
  /** Calls with one key are one backfill, for 30 days: the key of another one runs the same range once more. Default:
   *  one for each combination of schedule and options. */
  idempotencyKey?: string | undefined;
  /** Ends the call between two commits; it rejects with the signal's reason. The same call goes on. */
  signal?: AbortSignal | undefined;
}

/** Options of `runJob`. */
export interface RunJobOptions<P = unknown> extends JobOptions<P> {
  /** Ends the wait; the job goes on. */
  signal?: AbortSignal | undefined;
}

/** Options of `tick`, which explains them. */
export interface TickOptions {
  /** Default: 0. */
  stay?: Duration | "whileRunning" | undefined;
  /** Default: 30 s. */
  maxDuration?: Duration | undefined;
  /** Default: unlimited. */
  maxJobs?: number | undefined;
  /** Default: unlimited. */
  maxRoundTrips?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What lists and calls about many take: what has all of these labels. */
interface LabelFilterOptions {
  /** Names and values, 1 to 16. What is named first is looked up; the others are compared. Default: all.
   *  @example
   *  await scheduler.cancelJobs({ labels: { team: "billing" } }); */
  labels?: Labels | undefined;
}

/** Filter of `getTasks`. */
export interface TaskFilterOptions extends LabelFilterOptions {}

/** What to count of a list besides, which `Page.total` and `Page.facets` show. Counting stops at 1,000. A loop over the
 *  items shows neither. */
export interface ListIncludeOptions {
  /** How many items all pages have: one read more. Default: false. */
  total?: boolean | undefined;
  /** How many items are in each state, whatever states the filter names: 3 or 4 reads more. Default: false. */
  facets?: boolean | undefined;
}

/** What a list of schedules has of each besides the schedule. `limit` times `next`, and `limit` times `runs`, may be
 *  10,000 at most. */
export interface ScheduleIncludeOptions extends ListIncludeOptions {
  /** How many of its fire times to come: `Schedule.next`. Default: none are read. */
  next?: number | undefined;
  /** How many of its last fire times, with what became of each: `Schedule.runs`. Default: none are read. */
  runs?: number | undefined;
  /** How its jobs of the last 7 days ended, and how long they took: `Schedule.stats`. Default: false. */
  stats?: boolean | undefined;
}

/** Filter and order of `getSchedules`; a page has at most `limit` items (default 100, at most 1,000). */
export interface ScheduleFilterOptions extends LabelFilterOptions {
  /** Schedules with these ids, at most 1,000, in the order of ids. Not together with another `sort`. */
  ids?: readonly string[] | undefined;
  taskId?: string | undefined;
  /** True for paused schedules only, false for schedules that are not paused. Default: both. */
  paused?: boolean | undefined;
  /** `"ended"` for schedules that have no fire time left; of the others, `"paused"` for those that are paused, and
   *  `"active"` for those that are not. `"failing"` for those with `pauseAfterFailures` whose last run failed, paused
   *  or not. Default: all. */
  state?: "active" | "paused" | "ended" | "failing" | undefined;
  /** Schedules whose id or name has this text somewhere: 1 to 256 characters. For the letters A to Z, case does not
   *  matter. Default: all. */
  search?: string | undefined;
  /** `"nextFireTime"` begins with the schedule that fires first; schedules that have no fire time left come last. One
   *  that fires between two pages may come again, with its new time. Default: `"id"`. */
  sort?: "id" | "nextFireTime" | undefined;
  /** What to read of each schedule besides, and to count: `total`, and `facets` by `state`. Default: nothing. */
  include?: ScheduleIncludeOptions | undefined;
  limit?: number | undefined;
  /** The `cursor` of the page before. Default: null, for the first page. */
  cursor?: string | null | undefined;
}

/** Filter and order of `getOccurrences`; a page has at most `limit` items (default 100, at most 1,000). */
export interface OccurrenceFilterOptions {
  /** Fire times at this instant or later, for example `"2030-01-31T09:00:00Z"`. Default: from the first that the
   *  ledger has. */
  from?: InstantLike | undefined;
  /** Fire times before this instant. Default: until now, which is also the latest possible. */
  until?: InstantLike | undefined;
  /** Only fire times of which this became. Default: all. */
  verdict?: OccurrenceVerdict | readonly OccurrenceVerdict[] | undefined;
  /** `"newest"` begins with the last fire time, `"oldest"` with the first. Default: `"newest"`. */
  order?: "newest" | "oldest" | undefined;
  limit?: number | undefined;
  /** The `cursor` of the page before. Default: null, for the first page. */
  cursor?: string | null | undefined;
}

/** Order of `getScheduleChanges`; a page has at most `limit` items (default 100, at most 1,000). */
export interface ScheduleChangeFilterOptions {
  /** `"newest"` begins with the last change. Default: `"newest"`. */
  order?: "newest" | "oldest" | undefined;
  limit?: number | undefined;
  /** The `cursor` of the page before. Default: null, for the first page. */
  cursor?: string | null | undefined;
}

/** Options of `printSchedules`. */
export interface PrintOptions {
  /** Gets the lines, one after the other. Default: `console.log`. */
  write?: ((line: string) => void) | undefined;
  taskId?: string | undefined;
  /** True for paused schedules only, false for schedules that are not paused. Default: both. */
  paused?: boolean | undefined;
  /** Most schedules to print; 1 to 1,000. Default: 100. */
  limit?: number | undefined;
}

/** Filter and order of `getJobs`; a page has at most `limit` items (default 100, at most 1,000). */
export interface JobFilterOptions extends LabelFilterOptions {
  taskId?: string | undefined;
  scheduleId?: string | undefined;
  /** The jobs that this `backfill` added, and those that repeat them. */
  backfillId?: string | undefined;
  /** As `Job.state` says. Default: all. */
  state?: "queued" | "blocked" | "running" | undefined;
  /** Jobs whose `runAt` is this instant or later, for example `"2030-01-31T09:00:00Z"`. */
  from?: InstantLike | undefined;
  /** Jobs whose `runAt` is before this instant. */
  until?: InstantLike | undefined;
  /** Jobs of which the id, task, schedule, idempotency key or concurrency key has this text somewhere: 1 to 256
   *  characters. For the letters A to Z, case does not matter. Default: all. */
  search?: string | undefined;
  /** `"runAt"` begins with the job that is due first; those of one instant come in the order of addition. A job whose
   *  `runAt` changes between two pages may come again. It is refused while more than 10,000 of the jobs (of the
   *  `taskId`, if one is given) are due, run or wait for others, unless a `scheduleId`, a `backfillId` or the state
   *  `"running"` is given. Default: `"id"`, which is the order of addition. */
  sort?: "id" | "runAt" | undefined;
  /** `"newest"` is the opposite order: it begins with the job that was added last, or with the latest `runAt`. Default:
   *  `"oldest"`. */
  order?: "oldest" | "newest" | undefined;
  /** What to count: `total`, and `facets` by `state`. Default: nothing. */
  include?: ListIncludeOptions | undefined;
  limit?: number | undefined;
  cursor?: string | null | undefined;
}

/** Which results. Fields that are not given do not matter. */
interface JobResultSelectionOptions extends LabelFilterOptions {
  taskId?: string | undefined;
  scheduleId?: string | undefined;
  outcome?: JobOutcome | undefined;
  /** Jobs that ended at this instant or later, for example `"2030-01-31T09:00:00Z"`. */
  from?: InstantLike | undefined;
  /** Jobs that ended before this instant. */
  until?: InstantLike | undefined;
}

/** Filter of `getJobResults`; a page has at most `limit` items (default 100, at most 1,000). */
export interface JobResultFilterOptions extends JobResultSelectionOptions {
  /** `"newest"` begins with the job that ended last, `"oldest"` with the one that ended first. Default: `"newest"`. */
  order?: "newest" | "oldest" | undefined;
  /** Results of which the job's id, task, schedule, idempotency key or concurrency key, or the name or message of the
   *  error, has this text somewhere: 1 to 256 characters. For the letters A to Z, case does not matter. Default:
   *  all. */
  search?: string | undefined;
  limit?: number | undefined;
  cursor?: string | null | undefined;
}

/** Filter of `getRuns`; a page has at most `limit` items (default 100, at most 1,000). Fields that are not given do not
 *  matter. */
export interface RunFilterOptions extends LabelFilterOptions {
  taskId?: string | undefined;
  scheduleId?: string | undefined;
  /** One or several, as `Run.state` says. Default: all. */
  state?: RunState | readonly RunState[] | undefined;
  /** Jobs that ended so, one or several outcomes. Default: all, unfinished jobs included. */
  outcome?: JobOutcome | readonly JobOutcome[] | undefined;
  /** Jobs whose error has this text somewhere, in its name or its message: 1 to 256 characters. For the letters A to Z,
   *  case does not matter. */
  error?: string | undefined;
  /** Jobs with this idempotency key or concurrency key, whole. */
  key?: string | undefined;
  /** Jobs that have ended and whose last attempt took at least so long. */
  minRunTime?: Duration | undefined;
  /** Jobs that have ended and whose last attempt took at most so long. */
  maxRunTime?: Duration | undefined;
  /** Jobs with at least so many attempts, as `Run.attempts` counts them. */
  minAttempts?: number | undefined;
  /** Jobs that ended at this instant or later, for example `"2030-01-31T09:00:00Z"`; of unfinished jobs, those whose
   *  `runAt` is. */
  from?: InstantLike | undefined;
  /** The same before this instant. */
  until?: InstantLike | undefined;
  /** Jobs of which the id, task, schedule, idempotency key or concurrency key has this text somewhere, or the error:
   *  1 to 256 characters. For the letters A to Z, case does not matter. */
  search?: string | undefined;
  /** What to count: `total`, and `facets` by `state`, those that ended by `outcome`. Default: nothing. */
  include?: ListIncludeOptions | undefined;
  limit?: number | undefined;
  /** The `cursor` of the page before. Default: null, for the first page. */
  cursor?: string | null | undefined;
}

type RunState = "queued" | "blocked" | "running" | "ended";

/** Options of `getFailures`. Fields that are not given do not matter. */
export interface FailureOptions {
  /** What the failures of a group share: one, or both. Default: both. */
  groupBy?: "task" | "error" | readonly ("task" | "error")[] | undefined;
  taskId?: string | undefined;
  scheduleId?: string | undefined;
  /** Jobs that ended at this instant or later, for example `"2030-01-31T09:00:00Z"`. */
  from?: InstantLike | undefined;
  /** Jobs that ended before this instant. */
  until?: InstantLike | undefined;
  /** Most groups: 1 to 1,000. Default: 100. */
  limit?: number | undefined;
}

/** Options of `getStats`. */
export interface StatsOptions {
  /** Default: a day before `until`; of schedules, 7 days. It is rounded down to a whole hour; of schedules, to a whole
   *  day (UTC). */
  from?: InstantLike | undefined;
  /** It is rounded up likewise. Default: now. */
  until?: InstantLike | undefined;
  /** How long a bucket is: whole hours; of schedules, whole days. Default: an hour; of schedules, a day. */
  bucket?: Duration | undefined;
  /** One list of buckets for each task, or for each schedule. Default: one for all. */
  by?: "task" | "schedule" | undefined;
  /** The jobs of this task alone. */
  taskId?: string | undefined;
  /** The jobs of this schedule alone. Not together with `taskId`. */
  scheduleId?: string | undefined;
  /** With `by`: most tasks or schedules, those of which the most jobs ended; 1 to 1,000. Default: 100. */
  limit?: number | undefined;
}

/** A filter of what a call writes or removes. Undefined is refused, because a variable that is not set would select
 *  everything. */
type Exact<Filter> = { [Name in keyof Filter]: Exclude<Filter[Name], undefined> };

/** What calls about many schedules, jobs and results take besides a filter. */
interface BulkOptions {
  /** True for everything. Without it, a filter that names nothing is refused, because it would mean everything. */
  all?: boolean;
  /** Ends the call between two steps; it rejects with the signal's reason. What was done stays done. */
  signal?: AbortSignal;
}

/** Which schedules `pauseSchedules`, `unpauseSchedules` and `removeSchedules` are about. */
export interface BulkScheduleOptions extends BulkOptions, Exact<LabelFilterOptions> {
  /** The schedules with these ids, at most 10,000, in the place of a filter. Default: the filter decides. */
  ids?: readonly string[];
  taskId?: string;
  /** True for paused schedules only, false for schedules that are not paused. Default: both. */
  paused?: boolean;
}

/** Which results `removeJobResults` is about: the filter of `getRuns`, of what has ended. */
export interface BulkResultOptions
  extends Exact<Omit<RunFilterOptions, "state" | "include" | "limit" | "cursor">>,
    BulkOptions {
  /** The results of the jobs with these ids, at most 10,000, in the place of a filter. Default: the filter decides. */
  ids?: readonly string[];
  /** Removes nothing, and counts what it would remove. Default: false. */
  dryRun?: boolean;
}

/** Which jobs `retryJobs` is about. */
export interface RetryJobsOptions extends Exact<JobResultSelectionOptions>, BulkOptions {
  /** Failures with one error: the `key` of a group of `getFailures`. Default: any error. */
  failureKey?: string;
  /** The jobs with these ids, at most 10,000, in the place of a filter. Default: the filter decides. */
  ids?: readonly string[];
}

/** Which jobs `cancelJobs` is about. */
export interface BulkJobOptions extends BulkOptions, Exact<LabelFilterOptions> {
  /** The jobs with these ids, at most 10,000, in the place of a filter. Default: the filter decides. */
  ids?: readonly string[];
  taskId?: string;
  scheduleId?: string;
  /** The jobs of this `backfill`, which adds no more of them. Default: any. */
  backfillId?: string;
}
