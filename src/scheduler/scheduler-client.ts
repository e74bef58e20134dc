import type { AbortSignal } from "../core/abort-signal.ts";
import { tellCallers } from "../core/caller-lines.ts";
import type { Logger } from "../core/logger.ts";
import { listOf, optionError, takes } from "../core/option-errors.ts";
import { type InstantLike, instantOrNull, type Temporal } from "../core/temporal.ts";
import type { EventType } from "../records/events.ts";
import type { JobOutcome } from "../records/policies.ts";
import type { TriggerLike } from "../triggers/short-trigger.ts";
import type { BackfillReport, Commands, SkippedJobs, SkippedSchedules } from "./commands/commands.ts";
import { printSchedules } from "./commands/print-schedules.ts";
import type { EventFilter, EventsOptions, SubscribeOptions, Subscription } from "./events/event-hub.ts";
import type { SchedulerEvent } from "./events/scheduler-event.ts";
import {
  checkBackfillOptions,
  checkBatchOptions,
  checkBlackout,
  checkBulkJobs,
  checkBulkResults,
  checkBulkSchedules,
  checkChangeOptions,
  checkEventsOptions,
  checkFailureOptions,
  checkId,
  checkJobFilter,
  checkJobOptions,
  checkJobResultFilter,
  checkNextEventOptions,
  checkOccurrenceFilter,
  checkPauseOptions,
  checkPreviewOptions,
  checkPrintOptions,
  checkResultOptions,
  checkRetryJob,
  checkRetryJobs,
  checkRevisionOptions,
  checkRunFilter,
  checkRunJobOptions,
  checkRunNowOptions,
  checkScheduleChangeFilter,
  checkScheduleChanges,
  checkScheduleFilter,
  checkStatsOptions,
  checkSubscribeOptions,
  checkTaskFilter,
  checkTaskPause,
  checkTaskUnpause,
  checkThenJob,
  checkUnpauseOptions,
} from "./options/check-options.ts";
import { tellJobAdded } from "./options/job-added.ts";
import { BULK_ADD_MAX, PARENTS_MAX } from "./options/limits.ts";
import type {
  BackfillOptions,
  BatchOptions,
  BlackoutOptions,
  BulkJobOptions,
  BulkResultOptions,
  BulkScheduleOptions,
  ChangeOptions,
  FailureOptions,
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  OccurrenceFilterOptions,
  PauseOptions,
  PrintOptions,
  RetryJobsOptions,
  RevisionOptions,
  RunFilterOptions,
  RunJobOptions,
  RunNowOptions,
  ScheduleChangeFilterOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleUpdate,
  StatsOptions,
  TaskFilterOptions,
} from "./options/options.ts";
import type { OptionsWithPayload, RequiredPayload } from "./options/payload-argument.ts";
import { questionOf } from "./options/question.ts";
import type { Steps } from "./steps/step-types.ts";
import type { Blackout } from "./views/blackout.ts";
import type { Explanation } from "./views/explanation.ts";
import type { FailureReport } from "./views/failure-group.ts";
import type { SchedulerHealth } from "./views/health.ts";
import type { Cancellation, Job } from "./views/job.ts";
import type { JobLog } from "./views/job-log.ts";
import type { JobResult } from "./views/job-result.ts";
import type { JobStep } from "./views/job-step.ts";
import type { Occurrence } from "./views/occurrence.ts";
import { type Listing, listingOf } from "./views/page.ts";
import type { PreparedJob } from "./views/prepared-job.ts";
import type { PreviewedFire } from "./views/previewed-fire.ts";
import type { Run } from "./views/run.ts";
import type { Schedule } from "./views/schedule.ts";
import type { ScheduleChange } from "./views/schedule-change.ts";
import type { StatsReport } from "./views/stats.ts";
import type { TaskView } from "./views/task-view.ts";

/**
 * What handlers, routers and tools may do with a scheduler: everything except starting and stopping it, and registering
 * handlers. A {@link Scheduler} is a `SchedulerClient`, and so is what `connect` of `escapement/client` returns, which
 * reaches a scheduler over HTTP.
 *
 * Besides the errors that each method names, every method that reads or writes the store may reject with
 * `StoreUnavailableError`. One that writes rejects with `StoreRefusedError` when the store will never take what it was
 * given.
 *
 * @example
 * async function pauseAll(client: SchedulerClient): Promise<number> {
 *   return (await client.pauseSchedules({ all: true })).paused; // of a scheduler here, or behind HTTP
 * }
 */
export abstract class SchedulerClient {
  /** The scheduler's name in leases and events. */
  abstract readonly identity: string;

  // ---- tasks

  /** Every task that the store knows, with its settings, ordered by id; with `labels`, those that have all of them.
   *  @throws {OptionsError} for labels that are none @throws {StoreUnavailableError} */
  async getTasks(filter: TaskFilterOptions = {}): Promise<TaskView[]> {
    return commandsOf(this).tasks.all(checkTaskFilter(filter, "getTasks()"));
  }

  /** A task that the store knows, with its settings. @throws {TaskLookupError} @throws {StoreUnavailableError} */
  async getTask(id: string): Promise<TaskView> {
    return commandsOf(this).tasks.get(checkId(id, "task id"));
  }

  /**
   * Removes a task from this scheduler and from the store.
   * @throws {TaskLookupError} when there is no task with this id
   * @throws {ConflictingIdError} while schedules or unfinished jobs refer to the task
   */
  async removeTask(id: string): Promise<void> {
    await commandsOf(this).tasks.remove(checkId(id, "task id"));
  }

  /**
   * Pauses a task, or one concurrency key of a task: no scheduler of the store starts its jobs until it is unpaused.
   * Jobs that run go on, jobs may be added, and schedules fire. Idempotent. The pause of a key is one of its own: it
   * lasts when the whole task is paused and unpaused. Publishes `taskPaused`.
   * @param id the id of the task
   * @param options.key the concurrency key, of which there need be no job. Default: the whole task
   * @param options.until when the pause ends by itself, see {@link PauseOptions}. Default: never
   * @param options.reason why, for people. A pause of what is paused replaces its end and its reason
   * @param options.by who asks for it, see {@link ChangeOptions}
   * @returns the task as it is now
   * @throws {TaskLookupError} when there is no task with this id
   * @throws {OptionsError} also for a key that is given and undefined, because it would pause the whole task, and for
   *   an end that has passed
   * @example
   * await scheduler.pauseTask("sync", { key: "tenant 7", until: "2030-01-31T09:00:00Z", reason: "their migration" });
   */
  async pauseTask(id: string, options: { key?: string } & PauseOptions = {}): Promise<TaskView> {
    return commandsOf(this).tasks.setPaused(checkId(id, "task id"), checkTaskPause(options, "pauseTask()"), true);
  }

  /**
   * Lets a paused task, or a paused concurrency key of a task, go on. What came due in the meantime is due now.
   * Idempotent. Publishes `taskUnpaused`.
   * @param options.key the concurrency key. Default: the whole task, whose paused keys stay paused
   * @param options.by who asks for it, see {@link ChangeOptions}
   * @returns the task as it is now
   * @throws {TaskLookupError} when there is no task with this id
   * @throws {OptionsError}
   */
  async unpauseTask(id: string, options: { key?: string } & ChangeOptions = {}): Promise<TaskView> {
    return commandsOf(this).tasks.setPaused(checkId(id, "task id"), checkTaskUnpause(options, "unpauseTask()"), false);
  }

  // ---- schedules

  /**
   * Adds a schedule. A trigger without a start counts from now: an `IntervalTrigger` fires at once, unless its
   * `firstRun` says otherwise. If the id exists, `conflictPolicy` decides: by default, what changed since the program
   * last added the schedule is applied.
   *
   * A schedule that has no fire time left stays in the store until a clean-up removes the schedule. From then on its id
   * is free: a schedule that is added under this id starts anew, and a `DateTrigger` whose time is past fires once
   * more. For example, a program may add a `DateTrigger` schedule at every start. After the date has passed, the
   * program should no longer add this schedule. Or choose `cleanupInterval: null`, which keeps ended schedules (and
   * expired results too).
   * @param task a task, its id, or a function with a name, which becomes a task of that name
   * @param trigger a trigger, or crontab text such as `"0 9 * * mon-fri"`, where 0 is Sunday. Text is read in the time
   *   zone that this scheduler has as its option `timeZone`: UTC unless given. The zone is stored with the schedule.
   *   `{ cron, timeZone }`, `{ every: "5m" }`, `{ at, timeZone }` and the JSON of a trigger are taken too
   * @returns the schedule as it is stored: where nothing changed, the schedule that had the id before
   * @throws {OptionsError} for an invalid trigger or invalid options
   * @throws {CronSyntaxError} for crontab text that cannot be understood
   * @throws {TaskLookupError} when neither this scheduler nor the store knows the task
   * @throws {PayloadError} when the task's schema rejects the payload
   * @throws {SerializationError} when the payload cannot be stored without loss
   * @throws {ConflictingIdError} when the id exists and `conflictPolicy` is `"error"`
   * @example
   * await scheduler.addSchedule(report, new IntervalTrigger({ minutes: 5 }), { id: "every five minutes" });
   */
  async addSchedule<P>(
    task: Task<P> | string | NamedFunction<P>,
    trigger: TriggerLike,
    ...[options = {}]: OptionsWithPayload<ScheduleOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<Schedule> {
    return commandsOf(this).schedules.add(task, trigger, options);
  }

  /** The schedule as it is now. @throws {ScheduleLookupError} when there is no schedule with this id */
  async getSchedule(id: string): Promise<Schedule> {
    return commandsOf(this).schedules.get(checkId(id, "schedule id"));
  }

  /**
   * Schedules, ordered by id or by their next fire time: a page when awaited (default: the first 100 schedules), all of
   * them in `for await`. See {@link Listing}. A cursor stays good while schedules come and go. A page looks through
   * about 90,000 schedules at most: where a filter takes few of very many, a page may be short or empty, and yet have a
   * cursor.
   * @throws {OptionsError}
   * @example
   * for await (const schedule of scheduler.getSchedules({ taskId: "report" })) await schedule.pause();
   * const { items } = await scheduler.getSchedules({ state: "active", sort: "nextFireTime", limit: 5 });
   * const { total, facets } = await scheduler.getSchedules({ limit: 1, include: { total: true, facets: true } });
   */
  getSchedules(filter: ScheduleFilterOptions = {}): Listing<Schedule> {
    return listingOf(filter, async (one) =>
      commandsOf(this).schedules.page(checkScheduleFilter(one, "getSchedules()")),
    );
  }

  /**
   * Changes a schedule. Fields that are not given stay as they are. A new trigger counts from now; a trigger that is
   * the same rule as before leaves the fire times as they are.
   * @param options.by who changes it, see {@link ChangeOptions}
   * @param options.ifRevision the `revision` that it must have, see {@link RevisionOptions}
   * @throws {ScheduleLookupError} @throws {RevisionConflictError} @throws {OptionsError} @throws {PayloadError}
   * @throws {SerializationError}
   * @example
   * await scheduler.updateSchedule("report", { priority: 10, misfireGraceTime: { minutes: 5 } });
   */
  async updateSchedule(id: string, changes: ScheduleUpdate, options: RevisionOptions = {}): Promise<Schedule> {
    const note = checkRevisionOptions(options, "updateSchedule()");
    const checked = checkScheduleChanges(changes, "updateSchedule()");
    return commandsOf(this).schedules.update(checkId(id, "schedule id"), checked, note);
  }

  /** Removes a schedule; jobs that the schedule made stay. @param options.by who removes it, see {@link ChangeOptions}
   *  @param options.ifRevision the `revision` that it must have, see {@link RevisionOptions}
   *  @throws {ScheduleLookupError} @throws {RevisionConflictError} @throws {OptionsError} */
  async removeSchedule(id: string, options: RevisionOptions = {}): Promise<void> {
    await commandsOf(this).schedules.remove(
      checkId(id, "schedule id"),
      checkRevisionOptions(options, "removeSchedule()"),
    );
  }

  /**
   * Removes the schedules that fit all that the filter gives, in commits of 1,000. Jobs that they made stay. Safe to
   * repeat.
   * @param filter.ids the schedules with these ids, in the place of a filter
   * @param filter.all every schedule; without it, a filter that names nothing is refused
   * @param filter.signal ends the call between two commits; what was done stays done
   * @param options.by who removes them, see {@link ChangeOptions}
   * @returns how many schedules were removed, how many were `skipped` because there are none, and the first 100 of
   *   these (`refusals`)
   * @throws {OptionsError} @throws the signal's reason
   * @example
   * const { removed } = await scheduler.removeSchedules({ taskId: "report", paused: true });
   */
  async removeSchedules(
    filter: BulkScheduleOptions,
    options: ChangeOptions = {},
  ): Promise<{ removed: number } & SkippedSchedules> {
    const where = "removeSchedules()";
    const { count: removed, ...skipped } = await commandsOf(this).schedules.changeMany(
      checkBulkSchedules(filter, where),
      { action: "remove", ...checkChangeOptions(options, where) },
    );
    return { removed, ...skipped };
  }

  /**
   * Pauses a schedule: it makes no jobs until it is unpaused, or until the end of the pause. Jobs that it made earlier
   * still run. Idempotent: a pause of a paused schedule replaces its end and its reason. Publishes `schedulePaused`.
   * @param options.until when the pause ends by itself, see {@link PauseOptions}. What was missed is due then, as after
   *   `unpauseSchedule(id)`. Default: never
   * @param options.reason why, for people. Default: none
   * @param options.by who pauses it, see {@link ChangeOptions}
   * @returns the schedule as it is now
   * @throws {ScheduleLookupError} @throws {OptionsError} also for an end that has passed
   * @example
   * await scheduler.pauseSchedule("report", { until: "2030-01-31T09:00:00Z", reason: "the source is migrated" });
   */
  async pauseSchedule(id: string, options: PauseOptions = {}): Promise<Schedule> {
    return commandsOf(this).schedules.pause(checkId(id, "schedule id"), checkPauseOptions(options, "pauseSchedule()"));
  }

  /**
   * Lets a paused schedule go on.
   * Publishes `scheduleUnpaused`.
   * @param options.resumeFrom `"now"` or an instant: fire times before this instant are dropped. Default: the schedule
   *   keeps its next fire time, and fires at once if that fire time has passed.
   * @param options.by who unpauses it, see {@link ChangeOptions}
   * @returns the schedule as it is now
   * @throws {ScheduleLookupError} @throws {OptionsError}
   * @example
   * await scheduler.unpauseSchedule("report", { resumeFrom: "now" });
   */
  async unpauseSchedule(
    id: string,
    options: { resumeFrom?: "now" | InstantLike | undefined } & ChangeOptions = {},
  ): Promise<Schedule> {
    return commandsOf(this).schedules.unpause(
      checkId(id, "schedule id"),
      checkUnpauseOptions(options, "unpauseSchedule()"),
    );
  }

  /** Pauses the schedules that fit, as {@link pauseSchedule} does, in commits of 1,000. The parameters and the answer
   *  are those of {@link removeSchedules}. Safe to repeat. @throws {OptionsError} @throws the signal's reason */
  async pauseSchedules(
    filter: BulkScheduleOptions,
    options: PauseOptions = {},
  ): Promise<{ paused: number } & SkippedSchedules> {
    const where = "pauseSchedules()";
    const { count: paused, ...skipped } = await commandsOf(this).schedules.changeMany(
      checkBulkSchedules(filter, where),
      { action: "pause", ...checkPauseOptions(options, where) },
    );
    return { paused, ...skipped };
  }

  /** Lets the paused schedules that fit go on, as {@link unpauseSchedule} does, in commits of 1,000. The filter and the
   *  answer are those of {@link removeSchedules}; a schedule whose trigger cannot tell its next fire time is skipped
   *  too. Safe to repeat. @throws {OptionsError} @throws the signal's reason */
  async unpauseSchedules(
    filter: BulkScheduleOptions,
    options: { resumeFrom?: "now" | InstantLike | undefined } & ChangeOptions = {},
  ): Promise<{ unpaused: number } & SkippedSchedules> {
    const where = "unpauseSchedules()";
    const { count: unpaused, ...skipped } = await commandsOf(this).schedules.changeMany(
      checkBulkSchedules(filter, where),
      { action: "unpause", ...checkUnpauseOptions(options, where) },
    );
    return { unpaused, ...skipped };
  }

  /**
   * Adds one extra job of the schedule, to be run now, even while the schedule is paused. The schedule's fire times
   * stay as they are.
   * @param options.idempotencyKey if an unfinished job of the task has this key, no job is added. Default: none
   * @param options.uniqueFor how long the key stays taken, even if the job has ended by then. Default: until it ends
   * @returns the new job, or the one that has the key
   * @throws {ScheduleLookupError} @throws {OptionsError}
   */
  async runScheduleNow(id: string, options: RunNowOptions = {}): Promise<Job> {
    return commandsOf(this).schedules.runNow(
      checkId(id, "schedule id"),
      checkRunNowOptions(options, "runScheduleNow()"),
    );
  }

  /**
   * Adds jobs for past fire times of the schedule as it is now that have no run by the ledger: of each fire time in the
   * range, unless a job of it has begun or is unfinished, or it was coalesced into one that has. Each job has its own
   * `scheduledFireTime`, keeps to the limits of the task, and comes behind other jobs of its priority. As one of
   * {@link runScheduleNow}, it has nothing to do with `overlap` and `misfireGraceTime`. Its end replaces the entry of
   * the ledger. `getJobs({ backfillId })` lists the jobs, `cancelJobs({ backfillId })` cancels them and what is still
   * to be added.
   *
   * The jobs come in commits of at most 500, with how far the backfill has come. The same call is the same backfill for
   * 30 days: however often it is repeated, interrupted or made by several programs, it adds no job twice, and answers
   * the same. Safe to repeat.
   * @param options.from fire times at this instant or later
   * @param options.until fire times before this instant. Those that the schedule has still to process, from its
   *   `nextFireTime` on, are left to it; of a paused schedule, they are refused
   * @param options.order which jobs are added first. Default: `"oldest"`
   * @param options.pace how long after one job the next one may start. Default: at once
   * @param options.limit most jobs to add. Default: unlimited
   * @param options.includeRan whether fire times that ran run once more. Default: false
   * @param options.includeCoalesced whether fire times run that were coalesced into one that ran. Default: false
   * @param options.includeUnrecorded whether fire times run of which nobody knows whether they ran: those before the
   *   ledger begins. Default: false, which refuses them
   * @param options.dryRun adds nothing, and answers what would be added. Default: false
   * @param options.idempotencyKey tells this backfill from others of the same options. Default: none
   * @param options.signal ends the call between two commits; the same call goes on
   * @returns how many jobs were added, the first and the last of their fire times, what was left out and why, and the
   *   id of the backfill: null where nothing was added
   * @throws {ScheduleLookupError} @throws {OptionsError} @throws {TaskLookupError} @throws {BrokenTriggerError}
   * @throws the signal's reason
   * @example
   * const january = { from: "2030-01-01T00:00:00Z", until: "2030-02-01T00:00:00Z" };
   * const { count, backfillId } = await scheduler.backfill("report", { ...january, pace: "10s" });
   */
  async backfill(scheduleId: string, options: BackfillOptions): Promise<BackfillReport> {
    const { first, last, coalescedInto, ...facts } = await commandsOf(this).schedules.backfill(
      checkId(scheduleId, "schedule id"),
      checkBackfillOptions(options, "backfill()"),
    );
    const instants = { first: instantOrNull(first), last: instantOrNull(last) };
    return { ...facts, ...instants, coalescedInto: instantOrNull(coalescedInto) };
  }

  /**
   * The schedule's fire times to come, in the trigger's time zone, even while the schedule is paused; with
   * `shiftedFrom` for those that were moved from an excluded date. Empty when the schedule has no fire time left.
   * @param options.limit most fire times to return: 0 to 1,000
   * @param options.from show no fire time before this instant. Default: the schedule's next fire time, which is also
   *   the earliest possible
   * @throws {ScheduleLookupError} @throws {OptionsError}
   * @example
   * const nextThree = await scheduler.previewSchedule("report", { limit: 3 });
   * console.log(nextThree.map(String).join(", "));
   */
  async previewSchedule(
    id: string,
    options: { limit: number; from?: InstantLike | undefined },
  ): Promise<PreviewedFire[]> {
    return commandsOf(this).schedules.preview(
      checkId(id, "schedule id"),
      checkPreviewOptions(options, "previewSchedule()"),
    );
  }

  // ---- blackouts

  /**
   * Adds a blackout: a time, once or recurring, in which fire times make no job. It is about fire times alone: jobs
   * that exist already, their retries, `addJob` and `runScheduleNow` go on. A fire time within [from, until) makes no
   * job; with `missed: "runOnce"`, one job for all of them runs at its end. Every scheduler of the store obeys it at
   * once. A store takes 1,000 blackouts; one that does not recur is removed by the clean-up 30 days after its end.
   * Publishes `blackoutAdded`.
   * @param id text of 1 to 256 characters
   * @param options when it is, and which schedules it is about, see {@link BlackoutOptions}. Crontab text is read in
   *   the time zone that this scheduler has as its option `timeZone`
   * @returns the blackout as it is stored
   * @throws {OptionsError} @throws {CronSyntaxError}
   * @throws {ConflictingIdError} with `conflictPolicy: "error"`, when the id is in use
   * @throws {StoreRefusedError} when there are 1,000 blackouts
   * @example
   * const sundays = CronTrigger.fromCrontab("0 2 * * sun", { timeZone: "Europe/Berlin" });
   * await scheduler.addBlackout("maintenance", { trigger: sundays, duration: "2h", missed: "runOnce" });
   */
  async addBlackout(id: string, options: BlackoutOptions): Promise<Blackout> {
    return commandsOf(this).blackouts.add(checkId(id, "blackout id"), checkBlackout(options, "addBlackout()"));
  }

  /** All blackouts, by id, those that are over included until the clean-up removes them. */
  async getBlackouts(): Promise<Blackout[]> {
    return commandsOf(this).blackouts.all();
  }

  /**
   * Removes a blackout: fire times fire again from now on. Those that nobody has processed yet are no longer blacked
   * out, and what `missed: "runOnce"` owes runs with the next fire time, or when the blackout would have ended.
   * Publishes `blackoutRemoved`.
   * @param options.by who removes it, see {@link ChangeOptions}
   * @returns whether there was such a blackout
   * @throws {OptionsError}
   */
  async removeBlackout(id: string, options: ChangeOptions = {}): Promise<boolean> {
    const note = checkChangeOptions(options, "removeBlackout()");
    return commandsOf(this).blackouts.remove(checkId(id, "blackout id"), note);
  }

  // ---- why

  /**
   * Why a schedule did or did not run at an instant, or will not: the verdict on that fire time, its cause, its job,
   * the fire times around it, what the clocks of the rule's zone did that day, what to change, and all of it as English
   * text. The rule that held then counts, also when the schedule has been changed or removed since. It costs at most 8
   * reads.
   *
   * Where the ledger of the store has nothing, because it is off, began later, or has removed the entry, the verdict is
   * `unrecorded`.
   * @param at an instant; or text without an offset (`"2027-03-28 02:30"`, `"2027-03-28"`), a
   *   `Temporal.PlainDateTime` or a `Temporal.PlainDate`: what clocks in the zone of the rule show (UTC where it has
   *   none). Where they show it twice, the first time is meant. Less precise text means the first fire time in that
   *   minute or on that day
   * @throws {ScheduleLookupError} when there is no schedule with this id, and the ledger knows of none
   * @throws {OptionsError}
   * @example
   * const { verdict, cause, text } = await scheduler.explain("report", "2030-01-31 09:00");
   */
  async explain(
    scheduleId: string,
    at: InstantLike | Temporal.PlainDateTime | Temporal.PlainDate,
  ): Promise<Explanation> {
    return commandsOf(this).ledger.explain(checkId(scheduleId, "schedule id"), questionOf(at, "explain()"));
  }

  /**
   * The fire times of a schedule until now, and what became of each: a page when awaited (default: the newest 100), all
   * of them in `for await`. See {@link Listing}. Fire times that the ledger does not have are left out, as those before
   * its start. A cursor stays good while fire times come and go. Where a filter takes few of very many, a page may be
   * short or empty, and yet have a cursor. A page costs at most 8 reads, however many fire times lie in between.
   * @throws {ScheduleLookupError} when there is no schedule with this id, and the ledger knows of none
   * @throws {OptionsError}
   * @example
   * const { items } = await scheduler.getOccurrences("report", { verdict: ["misfired", "overlapSkipped"], limit: 10 });
   */
  getOccurrences(scheduleId: string, filter: OccurrenceFilterOptions = {}): Listing<Occurrence> {
    return listingOf(filter, async (one) =>
      commandsOf(this).ledger.occurrences(
        checkId(scheduleId, "schedule id"),
        checkOccurrenceFilter(one, "getOccurrences()"),
      ),
    );
  }

  /**
   * The changes of a schedule, the newest first: who made it (see {@link ChangeOptions}), when, and what it was before
   * and after. A page when awaited, all of them in `for await`. See {@link Listing}. The newest 100 are kept, for a
   * while also those of a removed schedule. Empty where the store keeps no ledger.
   * @throws {ScheduleLookupError} when there is no schedule with this id, and the ledger knows of none
   * @throws {OptionsError}
   * @example
   * for await (const { at, by, kind } of scheduler.getScheduleChanges("report")) console.log(String(at), by, kind);
   */
  getScheduleChanges(scheduleId: string, filter: ScheduleChangeFilterOptions = {}): Listing<ScheduleChange> {
    return listingOf(filter, async (one) =>
      commandsOf(this).ledger.changes(
        checkId(scheduleId, "schedule id"),
        checkScheduleChangeFilter(one, "getScheduleChanges()"),
      ),
    );
  }

  /**
   * Prints schedules as a table: id, rule, next fire time (in the zone of the rule), whether paused, and task.
   * @param options.write gets each line. Default: `console.log`
   * @param options.limit most schedules to print: 1 to 1,000. Default: 100
   * @throws {OptionsError}
   * @example
   * await scheduler.printSchedules({ taskId: "report" });
   */
  async printSchedules(options: PrintOptions = {}): Promise<void> {
    await printSchedules(this, checkPrintOptions(options, "printSchedules()"));
  }

  // ---- jobs and results

  /**
   * Adds a job. The first worker of the store that takes the job runs it.
   * @returns the new job; or the job that stands for it: the unfinished job of the task that has the same
   *   `idempotencyKey`, the job that `debounce` changed, or the one that `throttle` or `uniqueFor` let in before, even
   *   if it has ended (`job.state`)
   * @throws {OptionsError} @throws {TaskLookupError} @throws {PayloadError} @throws {SerializationError}
   * @example
   * const job = await scheduler.addJob(report, { runAt: "2030-01-31T09:00:00Z", idempotencyKey: "january" });
   */
  addJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    ...[options = {}]: OptionsWithPayload<JobOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<Job<Awaited<R>>> {
    // Not async, because each promise costs an addition time.
    try {
      const added = commandsOf(this).jobs.add(task, checkJobOptions(options, "addJob()"));
      return added as Promise<Job<Awaited<R>>>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Adds many jobs (at most 10,000) in one commit: all or none. In a database, what is larger than one request may
   *  be (some megabytes; 16 on a file) takes several commits, one after the other; if one of these fails, the error
   *  says how many are added. Returns the jobs in the same order. Rejects with the same errors as {@link addJob}.
   *  @example
   *  await scheduler.addJobs(["Ada", "Alan"].map((name) => ({ task: "greet", payload: { name } }))); */
  async addJobs<const Tasks extends readonly unknown[]>(jobs: JobsOf<Tasks>): Promise<AddedJobs<Tasks>> {
    const where = "addJobs()";
    const list = listOf(jobs, where, "", BULK_ADD_MAX);
    if (list === null) throw optionError(where, "", takes(`a list of at most ${BULK_ADD_MAX} jobs`, jobs));
    return (await commandsOf(this).jobs.addMany(list)) as AddedJobs<Tasks>;
  }

  /**
   * Adds jobs, and one that comes after all of them, in one commit: all or none. The last one runs when the others have
   * ended; if one of them does not succeed, `onParentFailure` of the last one decides. It reads their results by
   * `getParentResults()`.
   * @param jobs 1 to 1,000 jobs, as {@link addJobs} takes them
   * @param options.then the last job: a task with the options of its job. Its `after` may name more jobs
   * @returns the jobs in the same order, and the last one
   * @throws {OptionsError} @throws {TaskLookupError} @throws {PayloadError} @throws {SerializationError}
   * @throws {StoreRefusedError} when the store does not know a job in an `after`
   * @example
   * const parts = ["north", "south"].map((region) => ({ task: "count", payload: { region } }));
   * const { then: report } = await scheduler.addBatch(parts, { then: { task: "report", onParentFailure: "run" } });
   */
  async addBatch<const Tasks extends readonly unknown[], const Last = Task | string>(
    jobs: JobsOf<Tasks>,
    options: BatchOptions<NewJob<Last>>,
  ): Promise<AddedBatch<Tasks, Last>> {
    const where = "addBatch()";
    const list = listOf(jobs, where, "", PARENTS_MAX);
    if (list === null || list.length === 0) {
      throw optionError(where, "", takes(`a list of 1 to ${PARENTS_MAX} jobs`, jobs));
    }
    const then = checkThenJob(checkBatchOptions(options, where).then, `${where}, then`);
    return (await commandsOf(this).jobs.addBatch(list, then)) as AddedBatch<Tasks, Last>;
  }

  /**
   * Adds a job and waits for the value that its handler returns. The result is kept for at least a minute, even if
   * `resultExpirationTime` is shorter. With the `idempotencyKey` of a job that keeps no result it waits for the end of
   * that job, whose value is then undefined. A handler that awaits another job of its own task waits forever, unless
   * the task's `maxRunningJobs` leaves room for that job. When all jobs that a scheduler may run at once
   * (`maxConcurrentJobs`) wait for other jobs, the scheduler runs one more and logs a warning, once. It knows of waits
   * of handlers that run in its own thread, where the runtime has `AsyncLocalStorage` (see `currentJob`).
   * @param options.signal ends the wait; the job goes on
   * @throws what the handler threw, with its name, message, stack and cause; or `JobCancelledError`,
   *   `JobDeadlineMissedError`, `JobTimeoutError`, `JobAbandonedError`, `DeserializationError`; or what {@link addJob}
   *   throws; or the signal's reason
   * @throws {SchedulerStateError} when this scheduler stops before the job ends
   * @example
   * const sum = await scheduler.runJob(add, { payload: [1, 2] });
   */
  async runJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    ...[options = {}]: OptionsWithPayload<RunJobOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<Awaited<R>> {
    const { signal, ...checked } = checkRunJobOptions(options, "runJob()");
    signal?.throwIfAborted();
    const onAdded = (jobId: string): void => tellJobAdded(options, jobId);
    const result = await commandsOf(this).jobs.run(task, checked, { signal, onAdded });
    return result.unwrap() as Awaited<R>;
  }

  /** A job. One that has ended is read from its result while the result is kept: its `state` is `"ended"`.
   *  @throws {JobLookupError} when there is neither a job with this id nor a result of it */
  async getJob(id: string): Promise<Job> {
    return commandsOf(this).jobs.get(checkId(id, "job id"));
  }

  /**
   * Unfinished jobs, ordered by id, which is the order of addition, or by `runAt`: a page when awaited (default: the
   * first 100 jobs), all of them in `for await`. See {@link Listing}. A cursor stays good while jobs come and go. A
   * page looks through about 90,000 jobs at most: where a filter takes few of very many, a page may be short or empty,
   * and yet have a cursor.
   * @throws {OptionsError}
   * @example
   * const { items, cursor } = await scheduler.getJobs({ state: "blocked", search: "tenant 7", order: "newest" });
   * const next = await scheduler.getJobs({ sort: "runAt", limit: 5 });
   */
  getJobs(filter: JobFilterOptions = {}): Listing<Job> {
    return listingOf(filter, async (one) => commandsOf(this).jobs.page(checkJobFilter(one, "getJobs()")));
  }

  /**
   * How a job ended. Null while the job is unfinished, when its result has expired, or when there is no such job.
   * Reading a result does not delete it.
   * @param options.wait wait until the job has ended. Of a job whose result is not kept, all but the value is then
   *   known, if it ends during the wait. Default: false
   * @param options.signal ends the wait; the call rejects with the signal's reason
   * @throws {JobLookupError} with `wait`, when there is neither a job nor a result
   * @throws {SchedulerStateError} with `wait`, when this scheduler stops before the job ends
   * @example
   * const result = await scheduler.getJobResult(job.id, { wait: true, signal: AbortSignal.timeout(60_000) });
   */
  async getJobResult(
    id: string,
    options: { wait?: boolean | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<JobResult | null> {
    return commandsOf(this).jobs.result(checkId(id, "job id"), checkResultOptions(options, "getJobResult()"));
  }

  /**
   * What is kept of the log of a job, attempt by attempt, the first one first: of its last 20 leases. Its task says by
   * `keepLogs` how much is kept; without that setting there is nothing. Lines of an attempt that runs come with the
   * extensions of its lease, and the others with its end.
   * @throws {JobLookupError} for a job that never existed, or whose result is not kept any more
   * @example
   * for (const { attempt, lines } of await scheduler.getJobLogs(job.id)) {
   *   for (const { at, level, message } of lines) console.log(attempt, `${at}`, level, message);
   * }
   */
  async getJobLogs(jobId: string): Promise<JobLog[]> {
    return commandsOf(this).jobs.logs(checkId(jobId, "job id"));
  }

  /**
   * Results, the newest first, by the end of the job: a page when awaited (default: the last 100 results), all of them
   * in `for await`. See {@link Listing}. A cursor stays good while results come and go. Where a filter takes few of
   * very many, a page may be short or empty, and yet have a cursor.
   * @throws {OptionsError}
   * @example
   * const failures = await scheduler.getJobResults({ outcome: "error", from: "2030-01-31T00:00:00Z" });
   */
  getJobResults(filter: JobResultFilterOptions = {}): Listing<JobResult> {
    return listingOf(filter, async (one) =>
      commandsOf(this).jobs.resultPage(checkJobResultFilter(one, "getJobResults()")),
    );
  }

  /** A run: the job with this id, ended or not, in the form in which {@link getRuns} lists it.
   *  @throws {JobLookupError} when there is neither a job with this id nor a result of it */
  async getRun(id: string): Promise<Run> {
    return commandsOf(this).runs.get(checkId(id, "job id"));
  }

  /**
   * Jobs that are unfinished and jobs that have ended, as one list: a page when awaited (default: the first 100), all
   * of them in `for await`. See {@link Listing}. Unfinished jobs come first, those that were added last before the
   * others; then come those that have ended, the newest first, by their end. Where some of the states `"running"`,
   * `"blocked"` and `"queued"` are asked for, they come in this order. A cursor stays good while jobs come and go: a
   * job that ends between two pages may come twice, and none is left out. Where a filter takes few of very many, a page
   * may be short or empty, and yet have a cursor.
   * @throws {OptionsError}
   * @example
   * const { items } = await scheduler.getRuns({ outcome: ["error", "abandoned"], error: "timed out", minAttempts: 2 });
   * for await (const run of scheduler.getRuns({ state: ["running", "ended"] })) console.log(run.id, run.state);
   */
  getRuns(filter: RunFilterOptions = {}): Listing<Run> {
    return listingOf(filter, async (one) => commandsOf(this).runs.page(checkRunFilter(one, "getRuns()")));
  }

  /**
   * The recorded steps of a job (`context.step`), by their beginning: of an unfinished job, or of one whose result is
   * kept. Also `job.steps()`.
   * @throws {JobLookupError} when there is neither such a job nor its result
   * @example
   * for (const { name, state } of await scheduler.getJobSteps(id)) console.log(name, state);
   */
  async getJobSteps(id: string): Promise<JobStep[]> {
    return commandsOf(this).jobs.steps(checkId(id, "job id"));
  }

  /**
   * Failures in groups: of one task, with one error, or both. Messages count as one where they differ in numbers and
   * ids alone. The newest 5,000 failures are looked through, in one read; `seen` says whether there may be more.
   * Cancelled jobs are no failures.
   * @returns the groups with the most failures first
   * @throws {OptionsError}
   * @example
   * const { groups } = await scheduler.getFailures({ from: "2030-01-31T00:00:00Z" });
   * for (const { taskId, key, count, message } of groups) console.log(taskId, key, count, message);
   */
  async getFailures(options: FailureOptions = {}): Promise<FailureReport> {
    return commandsOf(this).runs.failures(checkFailureOptions(options, "getFailures()"));
  }

  /**
   * How many jobs ended in each hour, in which way, how long they ran and how late they started. The store counts jobs
   * as they end, so that an answer costs as much whatever ran, and keeps the counts for 30 days: of all jobs together
   * and of tasks by the hour, of schedules by the day. Stores with `ledger: false` keep none.
   * @throws {OptionsError} also for more than 20,000 buckets in all, and where more than 200,000 counts are in the way
   * @example
   * const { items } = await scheduler.getStats({ from: "2030-01-31T00:00:00Z", bucket: { hours: 6 }, by: "task" });
   * for (const { id, total } of items) console.log(id, total.count, `${total.runTime?.p95}`);
   */
  async getStats(options: StatsOptions = {}): Promise<StatsReport> {
    return commandsOf(this).runs.stats(checkStatsOptions(options, "getStats()"));
  }

  /**
   * Cancels a job: a queued job ends, and the `signal` of a running job is aborted, in whichever process it runs.
   * @returns whether that has come about, is asked of another process, or comes too late: see {@link Cancellation}
   */
  async cancelJob(id: string): Promise<Cancellation> {
    return commandsOf(this).jobs.cancel(checkId(id, "job id"));
  }

  /**
   * Runs a job that has ended once more: adds a new job with the same task, payload, metadata, priority, executor,
   * `maxRecoveries`, schedule, fire time and concurrency key, which runs now, without a deadline. The new job has
   * `retryOf`, and an id that follows from that of the old one (`id~1`, then `id~2`), so that a job is retried once
   * while the result of the new job is kept; while the new job is unfinished, it is returned again. Handlers see the
   * same `idempotencyKey` as before; an unfinished job that has this key is returned instead of a new one. The new job
   * goes on where the recorded steps of the old one ended (`context.step`).
   * @param options.restart begin anew, without the recorded steps. Default: false
   * @throws {JobLookupError} when there is no result of this job, or when the result has no payload that could be
   *   passed on
   * @throws {ConflictingIdError} when the job has not ended, or when it was retried and the new job has ended (`id`
   *   names the job to retry instead)
   * @throws {TaskLookupError} when neither this scheduler nor the store knows the task
   * @example
   * const { items } = await scheduler.getJobResults({ outcome: "error", limit: 1 });
   * for (const { jobId } of items) await scheduler.retryJob(jobId);
   */
  async retryJob(id: string, options: { restart?: boolean | undefined } = {}): Promise<Job> {
    return commandsOf(this).bulk.retry(checkId(id, "job id"), checkRetryJob(options, "retryJob()"));
  }

  /**
   * Retries the jobs of all results that fit, as {@link retryJob} does, in commits of 1,000. It takes the results that
   * there are when it begins, so that it ends even if the jobs fail again. Safe to repeat: no job is retried twice.
   * @param filter.ids the jobs with these ids, in the place of a filter
   * @param filter.outcome default: every outcome except `success` and `cancelled`
   * @param filter.failureKey the `key` of a group of {@link getFailures}
   * @param filter.all retry everything; without it, a filter that names nothing is refused
   * @param filter.signal ends the call between two commits; what was done stays done
   * @returns how many jobs were retried, how many were `skipped`, and why of the first 100 (`refusals`): they have no
   *   result, were retried before, their payload was not kept, an unfinished job has their idempotency key, or their
   *   concurrency key cannot be told
   * @throws {OptionsError} @throws the signal's reason
   * @example
   * const { retried } = await scheduler.retryJobs({ taskId: "mail", from: "2030-01-31T00:00:00Z" });
   */
  async retryJobs(filter: RetryJobsOptions): Promise<{ retried: number } & SkippedJobs> {
    return commandsOf(this).bulk.retryMany(checkRetryJobs(filter, "retryJobs()"));
  }

  /**
   * Cancels all jobs that fit and were there when the call began, as {@link cancelJob} does, in commits of 1,000. Safe
   * to repeat.
   * @param filter.ids the jobs with these ids, in the place of a filter
   * @param filter.all cancel everything; without it, a filter that names nothing is refused
   * @param filter.signal ends the call between two commits; what was done stays done
   * @returns how many jobs were cancelled, or asked to end where they run, how many were `skipped` because they had
   *   ended, and the first 100 of these (`refusals`)
   * @throws {OptionsError} @throws the signal's reason
   * @example
   * const { cancelled } = await scheduler.cancelJobs({ scheduleId: "report" });
   */
  async cancelJobs(filter: BulkJobOptions): Promise<{ cancelled: number } & SkippedJobs> {
    return commandsOf(this).bulk.cancelMany(checkBulkJobs(filter, "cancelJobs()"));
  }

  /**
   * Removes all results that fit and were there when the call began, in steps of 1,000. Safe to repeat.
   * @param filter.ids the results of the jobs with these ids; ids without a result are passed over
   * @param filter.dryRun removes nothing, and counts what it would remove. Default: false
   * @param filter.all remove everything; without it, a filter that names nothing is refused
   * @param filter.signal ends the call between two steps; what was done stays done
   * @returns how many results were removed: at least so many, if an answer of the store was lost
   * @throws {OptionsError} @throws the signal's reason
   * @example
   * const { removed } = await scheduler.removeJobResults({ outcome: ["error", "abandoned"], error: "timed out" });
   */
  async removeJobResults(filter: BulkResultOptions): Promise<{ removed: number }> {
    return commandsOf(this).bulk.removeResults(checkBulkResults(filter, "removeJobResults()"));
  }

  // ---- events

  /**
   * Calls a listener for each event of the given types (null: all types), until the listener is unsubscribed. While the
   * scheduler is stopped there are no events; the listener hears of the next run. An error that the listener throws, or
   * that its promise rejects with, is logged.
   * @param options.once call the listener for the first event only. Default: false
   * @param options.onGap called when events may have been missed, because the broker was without its connection
   * @param options.onStop called when the scheduler stops, after its last event
   * @throws {OptionsError} for an unknown type
   * @example
   * using subscription = scheduler.subscribe("jobReleased", ({ jobId, outcome }) => console.log(jobId, outcome));
   */
  subscribe<T extends EventType>(
    types: EventFilter<T>,
    listener: (event: SchedulerEvent<T>) => unknown,
    options: SubscribeOptions = {},
  ): Subscription {
    return commandsOf(this).listen().subscribe(types, listener, checkSubscribeOptions(options, "subscribe()"));
  }

  /** The next event of the given types (null: any type). Rejects with the signal's reason when the signal is aborted,
   *  and with an `AbortError` when the scheduler stops. */
  async nextEvent<T extends EventType>(
    types: EventFilter<T>,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<SchedulerEvent<T>> {
    return commandsOf(this).listen().nextEvent(types, checkNextEventOptions(options, "nextEvent()"));
  }

  /** Events as they come, from this call on. A reader that is 10,000 events behind loses the oldest events
   *  (`onDropped`).
   *  @example
   *  for await (const { jobId } of scheduler.events("jobReleased")) console.log(jobId); */
  events<T extends EventType>(
    types: EventFilter<T> = null,
    options: EventsOptions = {},
  ): AsyncIterableIterator<SchedulerEvent<T>> {
    return commandsOf(this).listen().events(types, checkEventsOptions(options, "events()"));
  }

  /**
   * How the store and the schedulers on it are: whether the store answers, how late the oldest due job and schedule
   * are, the backlog of each task, what is paused, the living schedulers, what nobody runs, and what piles up. It costs
   * three reads, and one more for each task with a large backlog, 10 at most. Never rejects: an outage is one of the
   * facts, and so is a store that has not answered within 5 s.
   * @example
   * const { isStoreReached, oldestDueJob } = await scheduler.health();
   * const isWell = isStoreReached && (oldestDueJob?.lateMs ?? 0) < 60_000;
   */
  async health(): Promise<SchedulerHealth> {
    return commandsOf(this).health();
  }

  /** Removes expired results, and schedules that have no fire time and no unfinished job left. A scheduler that was
   *  started does this by itself, every `cleanupInterval`, and `tick()` when results have expired. */
  async cleanup(): Promise<void> {
    await commandsOf(this).cleanup();
  }
}

/** The commands of each client. They are no field of the class, because with a private field no other object could be
 *  a `SchedulerClient`. */
const commands = new WeakMap<SchedulerClient, Commands>();

/** Says what carries out the methods of a client. @internal */
export function giveCommands(client: SchedulerClient, carriedOut: Commands): void {
  tellCallers(SchedulerClient);
  commands.set(client, carriedOut);
}

function commandsOf(client: SchedulerClient): Commands {
  return commands.get(client) as Commands;
}

/** A {@link SchedulerClient} in the process that has the store open: a {@link Scheduler}, and what handlers get. */
export interface LocalSchedulerClient extends SchedulerClient {
  /**
   * Prepares a job that the application's own transaction adds, so that the application's rows and the job are
   * committed together or not at all. The transaction must write to the database of the store, and nothing is added
   * before it is committed. See {@link PreparedJob}.
   * @throws {OptionsError} @throws {TaskLookupError} @throws {PayloadError} @throws {SerializationError}
   * @throws {StoreRefusedError} when the store is in no database that the application can reach (`MemoryDataStore`)
   * @example
   * const { statements, committed } = await scheduler.prepareJob(mail, { payload: { to: "ada@example.org" } });
   * await client.batch([{ sql: "INSERT INTO users VALUES (?)", args: ["Ada"] }, ...statements], "write");
   * await committed();
   */
  prepareJob<P, R = unknown>(
    task: Task<P, R> | string | NamedFunction<P, R>,
    ...options: OptionsWithPayload<JobOptions<NoInfer<P>>, NoInfer<P>>
  ): Promise<PreparedJob<Awaited<R>>>;
}

/** A task as `Scheduler.task` returns it: pass the task to `addSchedule`, `addJob` and `runJob`. `P` is the type of its
 *  payload, `R` the type of the value that its handler returns. */
export interface Task<P = unknown, R = unknown> {
  readonly id: string;
  /** Carries types only; it has no value at run time. */
  readonly "~types"?: { readonly payload: P; readonly result: R };
}

/** A function with a name: the name is the task's id. */
export type NamedFunction<P = never, R = unknown> = TaskHandler<P, R>;

/** One entry of {@link Scheduler.addSchedules}: a task, a trigger or crontab text, and options of the schedule. `T` is
 *  the type of what stands for the task: a {@link Task}, text (its id) or a function with a name. */
export type NewSchedule<T = Task | string> = {
  readonly task: T;
  readonly trigger: TriggerLike;
} & ScheduleOptions<PayloadOf<T>> &
  RequiredPayload<PayloadOf<T>>;

/** The list that `addSchedules` takes, with an entry for each of `Tasks`. */
export type SchedulesOf<Tasks extends readonly unknown[]> = {
  readonly [Index in keyof Tasks]: NewSchedule<Tasks[Index]>;
};

/** One entry of {@link SchedulerClient.addJobs}: a task with the options of its job. `T` is the type of what stands for
 *  the task: a {@link Task}, text (its id) or a function with a name. */
export type NewJob<T = Task | string> = { readonly task: T } & JobOptions<PayloadOf<T>> & RequiredPayload<PayloadOf<T>>;

/** The list that `addJobs` takes, with an entry for each of `Tasks`. */
export type JobsOf<Tasks extends readonly unknown[]> = { readonly [Index in keyof Tasks]: NewJob<Tasks[Index]> };

/** What `addJobs` returns: a job for each of `Tasks`. */
export type AddedJobs<Tasks extends readonly unknown[]> = {
  -readonly [Index in keyof Tasks]: Job<ResultOf<Tasks[Index]>>;
};

/** What `addBatch` returns: a job for each of `Tasks`, and the one that comes after them. */
export interface AddedBatch<Tasks extends readonly unknown[], Last> {
  /** The jobs, in the order of the call. */
  readonly jobs: AddedJobs<Tasks>;
  /** The job that comes after them. */
  readonly then: Job<ResultOf<Last>>;
}

/** The type of the payload that a task (or its id, or a named function) takes. */
export type PayloadOf<T> = T extends string
  ? unknown
  : T extends (...given: infer Given) => unknown
    ? Given extends readonly [infer P, ...unknown[]]
      ? P
      : unknown
    : T extends Task<infer P>
      ? P
      : unknown;

/** The type of the value that the handler of a task (or of an id, or a named function) returns. */
export type ResultOf<T> = T extends (...given: never) => infer R
  ? Awaited<R>
  : T extends Task<unknown, infer R>
    ? Awaited<R>
    : unknown;

/** Runs a task's jobs: a handler gets the payload and the context, and returns the result or a promise of it. */
export type TaskHandler<P = unknown, R = unknown> = (payload: P, context: JobContext) => R | Promise<R>;

/** How a run of a schedule ended. */
export interface LastRun {
  readonly outcome: JobOutcome;
  readonly finishedAt: Temporal.Instant;
}

/** What a handler knows about the attempt that it makes. */
export interface JobContext {
  /** The job as it was when this attempt began. */
  readonly job: Job;
  /** The number of this attempt: 1 for the first. Earlier attempts count if they failed or were lost with their
   *  process. */
  readonly attempt: number;
  /** A number that grows with every acquisition of the job. Pass it to systems that refuse writers with an older
   *  number. */
  readonly fence: number;
  /** The key that the job was added with, or the job's id. It is the same in every attempt. */
  readonly idempotencyKey: string;
  /** Aborted when the attempt is to end early. `signal.reason` says why: `JobTimeoutError`, `JobCancelledError`,
   *  `LeaseLostError` or `SchedulerStateError` (the scheduler stops). For example, pass it to `fetch`. */
  readonly signal: AbortSignal;
  /** Records parts of the job as they end, so that a later attempt goes on where the last one was; and lets the job
   *  sleep without a place, a lease or a worker. See {@link Steps}. */
  readonly step: Steps;
  /** The scheduler that runs the attempt. For example, add the next job with it. */
  readonly scheduler: LocalSchedulerClient;
  /** The logger of the scheduler. Its lines name the task and the job: as bindings (`taskId`, `jobId`, `scheduleId`,
   *  `schedulerId`, `attempt`, `fence` and `scheduledFireTime`) where the scheduler's logger is structured, else as
   *  text in front. */
  readonly logger: Logger;
  /**
   * The results of the jobs that this job comes after (`after` of `addJob`, or `addBatch`), in the order of `after`,
   * each job once. Null for one whose result is gone: it was not kept (`resultExpirationTime`), has expired or was
   * removed. Empty for a job that comes after none. With `onParentFailure: "run"`, look at `outcome`; `unwrap()` throws
   * what the parent threw. A job that `retryJob` repeats has the parents of the first one.
   * @throws {StoreUnavailableError}
   * @example
   * scheduler.task("report", async (_payload, { getParentResults }) => {
   *   const sums = (await getParentResults()).map((result) => result?.returnValue);
   *   console.log(sums);
   * });
   */
  readonly getParentResults: () => Promise<(JobResult | null)[]>;
  /**
   * How the last run of the job's schedule ended: the job of the latest fire time that has ended, as the ledger has it.
   * Without a ledger, or where it has none, it is the job of the schedule that ended last, while its result is kept.
   * Null for none, and for a job without a schedule. The store is read when this is called.
   * @throws {StoreUnavailableError}
   * @example
   * scheduler.task("import", async (_payload, { getLastRun }) => {
   *   const last = await getLastRun();
   *   if (last?.outcome === "success") throw new SkipRun(`done at ${last.finishedAt}`);
   * });
   */
  readonly getLastRun: () => Promise<LastRun | null>;
  /**
   * Since when data is due: the fire time before all those that the job stands for (also those that were coalesced
   * into it), by the rule that its schedule has now, in the time zone of the rule. Null for the first fire time of a
   * rule that has a start, for a job without a schedule, and where the schedule was removed. For a job that no fire
   * time made (`runScheduleNow`), the last fire time before it was added. The store is read when this is read, and the
   * promise may reject with a `StoreUnavailableError`.
   * @example
   * scheduler.task("import", async (_payload, context) => {
   *   const since = await context.previousFireTime;
   *   console.log(`orders since ${since}`);
   * });
   */
  readonly previousFireTime: Promise<Temporal.ZonedDateTime | null>;
  /** Publishes a `jobProgressed` event. For example, `progress(0.5, "half of the pages")`. @param fraction how much of
   *  the work is done, 0 to 1. What is a little outside counts as 0 or 1; what is divided by 0 is left out, with a
   *  warning @throws {OptionsError} for any other fraction, such as 50, and for a note that is no text */
  readonly progress: (fraction: number, note?: string) => void;
}
