import { durationOf, durationOrNull } from "../../core/duration.ts";
import { printAsJSON } from "../../core/inspect.ts";
import { type InstantLike, instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import { SCHEDULE_FIELDS } from "../../records/fields/schedule.ts";
import type { JobOutcome } from "../../records/policies.ts";
import {
  type CoalescePolicy,
  type Labels,
  type Metadata,
  NO_LABELS,
  type RunOverlapPolicy,
} from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { StatsFacts } from "../../records/stats.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import type {
  ChangeOptions,
  PauseOptions,
  RevisionOptions,
  RunNowOptions,
  ScheduleUpdate,
} from "../options/options.ts";
import type { Job } from "./job.ts";
import { jsonOf } from "./json-of.ts";
import { Occurrence, type OccurrenceFacts } from "./occurrence.ts";
import { PreviewedFire, type PreviewedFireFacts } from "./previewed-fire.ts";
import { Stats } from "./stats.ts";
import { cellText, type TableRow, timeText } from "./table.ts";

/** What the verbs of a {@link Schedule} need of the scheduler that made it. Every `SchedulerClient` has it. */
export interface ScheduleClient {
  getSchedule(id: string): Promise<Schedule>;
  updateSchedule(id: string, changes: ScheduleUpdate, options?: RevisionOptions): Promise<Schedule>;
  pauseSchedule(id: string, options?: PauseOptions): Promise<Schedule>;
  unpauseSchedule(
    id: string,
    options?: { resumeFrom?: "now" | InstantLike | undefined } & ChangeOptions,
  ): Promise<Schedule>;
  removeSchedule(id: string, options?: RevisionOptions): Promise<void>;
  runScheduleNow(id: string, options?: RunNowOptions): Promise<Job>;
  previewSchedule(id: string, options: { limit: number; from?: InstantLike | undefined }): Promise<PreviewedFire[]>;
}

/** What a {@link Schedule} shows of its record. */
export type ScheduleFacts = Omit<
  ScheduleRecord,
  "triggerRule" | "maxRecoveries" | "fence" | "declaration" | "version" | "paceUntil"
>;

/** What a list has of a schedule besides; times in epoch milliseconds. */
export interface ScheduleExtras {
  readonly next?: readonly Pick<PreviewedFireFacts, "fireTime" | "shiftedFrom" | "blackout">[];
  readonly runs?: readonly OccurrenceFacts[];
  readonly stats?: StatsFacts | undefined;
}

/** How a job of a schedule failed. */
export interface LastFailure {
  readonly jobId: string;
  /** Neither `success`, `skipped` nor `cancelled`. */
  readonly outcome: JobOutcome;
  /** With jitter; null for a job that no fire time made. */
  readonly scheduledFireTime: Temporal.Instant | null;
  readonly finishedAt: Temporal.Instant;
  /** How many attempts were made: those that failed, and those that were lost with their process. */
  readonly attempts: number;
  /** At most 1,000 characters of each; null where no handler threw it, as for a job that was lost or not started in
   *  time. */
  readonly error: { readonly name: string; readonly message: string; readonly code: string | null } | null;
}

/** Bounds of what a schedule makes up for, see `CatchUpOptions`. Null is unlimited. */
export interface ScheduleCatchUp {
  /** Fire times that are older make no job; null is unlimited. */
  readonly maxAge: Temporal.Duration | null;
  /** Most jobs for fire times that are due together, the newest ones; null is unlimited. */
  readonly maxCount: number | null;
  /** The time from one job that makes up for a fire time to the next; null for none. */
  readonly pace: Temporal.Duration | null;
}

/**
 * A schedule as it was when it was read, with what can be done to it. Its fields never change: verbs that change the
 * schedule return it as it is afterwards, and {@link refresh} reads it again.
 * @example
 * let schedule = await scheduler.getSchedule("report");
 * schedule = await schedule.pause();
 */
export class Schedule {
  readonly id: string;
  readonly taskId: string;
  readonly paused: boolean;
  readonly #record: ScheduleFacts;
  readonly #serializer: Serializer;
  readonly #client: ScheduleClient;
  readonly #extras: ScheduleExtras;

  static {
    printAsJSON(Schedule.prototype);
  }

  constructor(record: ScheduleFacts, serializer: Serializer, client: ScheduleClient, extras: ScheduleExtras = {}) {
    // Own properties, because `console.table` shows no others. The rest is made when it is read.
    this.id = record.id;
    this.taskId = record.taskId;
    this.paused = record.paused;
    this.#record = record;
    this.#serializer = serializer;
    this.#client = client;
    this.#extras = extras;
  }

  /** A name for people; null for none. */
  get name(): string | null {
    return this.#record.name;
  }
  /** The trigger, with its start. @throws {DeserializationError} when this library does not know the trigger's kind */
  get trigger(): Trigger {
    return parseTrigger(this.#record.trigger);
  }
  /** What the handler gets, deserialized; undefined when there is no payload. @throws {DeserializationError} when the
   *  stored text cannot be read */
  get payload(): unknown {
    return this.#record.payload === null ? undefined : this.#serializer.deserialize(this.#record.payload);
  }
  /** Name of the executor that runs the schedule's jobs. */
  get executor(): string {
    return this.#record.executor;
  }
  /** Jobs with a higher priority run first. */
  get priority(): number {
    return this.#record.priority;
  }
  /** What becomes of several fire times that are due at once. */
  get coalesce(): CoalescePolicy {
    return this.#record.coalesce;
  }
  /** How late a job may start; null is unlimited. */
  get misfireGraceTime(): Temporal.Duration | null {
    return durationOrNull(this.#record.misfireGraceMs);
  }
  /** Longest random delay of a fire; zero for none. */
  get maxJitter(): Temporal.Duration {
    return durationOf(this.#record.maxJitterMs);
  }
  /** Which missed fire times are made up for, and how fast; null for all, at once. */
  get catchUp(): ScheduleCatchUp | null {
    const { catchUp } = this.#record;
    if (catchUp === null) return null;
    const { maxAgeMs, maxCount, paceMs } = catchUp;
    return { maxAge: durationOrNull(maxAgeMs), maxCount, pace: durationOrNull(paceMs) };
  }
  /** How long results of the schedule's jobs are kept; zero keeps none. */
  get resultExpirationTime(): Temporal.Duration {
    return durationOf(this.#record.resultExpirationMs);
  }
  /** How long it is kept how a job failed; null is as the default says: 30 days, longer where
   *  {@link resultExpirationTime} is, and not at all where that is zero. */
  get failureExpirationTime(): Temporal.Duration | null {
    return durationOrNull(this.#record.failureExpirationMs);
  }
  /** What a fire does while an earlier run of the schedule is unfinished. */
  get overlap(): RunOverlapPolicy {
    return this.#record.overlap;
  }
  /** The concurrency key of the schedule's jobs; null for none. */
  get concurrencyKey(): string | null {
    return this.#record.concurrencyKey ?? null;
  }
  /** Within which time after a fire time its job is to start; null for no such expectation. */
  get expectStartWithin(): Temporal.Duration | null {
    return durationOrNull(this.#record.expectStartMs);
  }
  /** The same for its end. */
  get expectFinishWithin(): Temporal.Duration | null {
    return durationOrNull(this.#record.expectFinishMs);
  }
  /** After how many failed runs in a row the schedule is paused; null for never. */
  get pauseAfterFailures(): number | null {
    return this.#record.pauseAfterFailures ?? null;
  }
  /** When the pause ends by itself; null for a pause without an end, and for none. */
  get pausedUntil(): Temporal.Instant | null {
    return instantOrNull(this.#record.pausedUntil);
  }
  /** Why the schedule is paused; null for no reason, and for no pause. */
  get pauseReason(): string | null {
    return this.#record.pauseReason ?? null;
  }
  /** Who paused it: the identity of a scheduler, or the name that the caller gave; null for no pause, and for a
   *  schedule that was added as paused. */
  get pausedBy(): string | null {
    return this.#record.pausedBy ?? null;
  }
  /** How many fire times made no job, or lost their waiting job to a newer one, because of {@link overlap}. */
  get skippedCount(): number {
    return this.#record.skippedCount;
  }
  get metadata(): Metadata {
    return this.#record.metadata;
  }
  /** Empty for none. */
  get labels(): Labels {
    return this.#record.labels ?? NO_LABELS;
  }
  get createdAt(): Temporal.Instant {
    return instantOf(this.#record.createdAt);
  }
  /** The next fire time; null when the trigger has none left. */
  get nextFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.nextFireTime);
  }
  /** The last fire time that was processed; null before the first fire. */
  get lastFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.lastFireTime);
  }

  /** How a job of the schedule failed last, however long ago: it stays as long as the schedule, and a success does not
   *  remove it. Null for none. */
  get lastFailure(): LastFailure | null {
    const failure = this.#record.lastFailure;
    if (failure === undefined) return null;
    const { scheduledFireTime, finishedAt } = failure;
    return { ...failure, scheduledFireTime: instantOrNull(scheduledFireTime), finishedAt: instantOf(finishedAt) };
  }

  /** Tells whether the schedule was changed: every change raises it, and no fire does. See `ifRevision` of
   *  `updateSchedule`. */
  get revision(): number {
    return this.#record.revision;
  }

  /** Its fire times to come; empty when it has none left, or an unreadable trigger.
   *  Undefined unless a list was asked to `include` them. */
  get next(): PreviewedFire[] | undefined {
    const timeZone = this.#timeZone;
    return this.#extras.next?.map((facts) => new PreviewedFire({ ...facts, timeZone }));
  }
  /** Its last fire times until the last one that was processed, and what became of each, the newest first: those of its
   *  present rule of which the ledger knows. Undefined unless a list was asked to `include` them. */
  get runs(): Occurrence[] | undefined {
    return this.#extras.runs?.map((facts) => new Occurrence(facts));
  }
  /** How its jobs of the last 7 days ended (UTC, today included). Undefined unless a list was asked to `include` it. */
  get stats(): Stats | undefined {
    const { stats } = this.#extras;
    return stats === undefined ? undefined : new Stats(stats);
  }

  /** Pauses the schedule: it makes no jobs until it is unpaused, or until the end of the pause. Jobs that it made
   *  earlier still run. Idempotent: a pause of a paused schedule replaces its end and its reason.
   *  @param options.until when the pause ends by itself, see {@link PauseOptions}. Default: never
   *  @param options.reason why, for people. Default: none
   *  @param options.by who pauses it, see {@link ChangeOptions}
   *  @returns the schedule as it is now @throws {ScheduleLookupError} when the schedule was removed
   *  @throws {OptionsError} also for an end that has passed */
  pause(options: PauseOptions = {}): Promise<Schedule> {
    return this.#client.pauseSchedule(this.#record.id, options);
  }

  /**
   * Lets the schedule go on after a pause.
   * @param options.resumeFrom `"now"` or an instant: fire times before this instant are dropped. Default: the schedule
   *   keeps its next fire time, and fires at once if that fire time has passed.
   * @param options.by who unpauses it, see {@link ChangeOptions}
   * @returns the schedule as it is now
   * @throws {ScheduleLookupError} when the schedule was removed
   * @throws {OptionsError}
   */
  unpause(options: { resumeFrom?: "now" | InstantLike | undefined } & ChangeOptions = {}): Promise<Schedule> {
    return this.#client.unpauseSchedule(this.#record.id, options);
  }

  /** Removes the schedule; jobs that it made stay. @param options.by who removes it, see {@link ChangeOptions}
   *  @throws {ScheduleLookupError} when it was removed already */
  remove(options: RevisionOptions = {}): Promise<void> {
    return this.#client.removeSchedule(this.#record.id, options);
  }

  /**
   * Changes the schedule. Fields that are not given stay as they are.
   * @param options.by who changes it, see {@link ChangeOptions}
   * @returns the schedule as it is now
   * @throws {ScheduleLookupError} when the schedule was removed
   * @throws {OptionsError} @throws {PayloadError} @throws {SerializationError}
   * @example
   * await schedule.update({ trigger: new IntervalTrigger({ minutes: 1 }) });
   */
  update(changes: ScheduleUpdate, options: RevisionOptions = {}): Promise<Schedule> {
    return this.#client.updateSchedule(this.#record.id, changes, options);
  }

  /** Adds one extra job of the schedule, to be run now, even while the schedule is paused. The schedule's fire times
   *  stay as they are. @param options.idempotencyKey if an unfinished job of the task has this key, it is returned
   *  @param options.uniqueFor how long the key stays taken, even if the job has ended by then
   *  @throws {ScheduleLookupError} when the schedule was removed */
  runNow(options: RunNowOptions = {}): Promise<Job> {
    return this.#client.runScheduleNow(this.#record.id, options);
  }

  /**
   * The fire times to come of the schedule as it is now, in the trigger's time zone, even while the schedule is paused.
   * @param options.limit most fire times to return: 0 to 1,000
   * @param options.from show no fire time before this instant. Default: the schedule's next fire time
   * @throws {ScheduleLookupError} when the schedule was removed
   * @throws {OptionsError}
   */
  preview(options: { limit: number; from?: InstantLike | undefined }): Promise<PreviewedFire[]> {
    return this.#client.previewSchedule(this.#record.id, options);
  }

  /** The schedule as it is now. @throws {ScheduleLookupError} when the schedule was removed */
  refresh(): Promise<Schedule> {
    return this.#client.getSchedule(this.#record.id);
  }

  /** The schedule as one line of a table: `console.table(page.items.map((schedule) => schedule.toRow()))`. */
  toRow(): TableRow {
    return { id: this.id, ...this.#rule(), paused: this.paused, taskId: this.taskId };
  }

  #rule(): TableRow {
    const { nextFireTime } = this.#record;
    try {
      const { trigger } = this;
      return { trigger: cellText(trigger.describe()), nextFireTime: timeText(nextFireTime, trigger.timeZone) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { trigger: cellText(`unreadable: ${message}`), nextFireTime: timeText(nextFireTime) };
    }
  }

  toJSON(): Record<string, unknown> {
    const { next, runs, stats } = this;
    return {
      ...jsonOf<Omit<Schedule, keyof ScheduleExtras>>(SCHEDULE_FIELDS, this, this.#record),
      ...(next === undefined ? {} : { next: next.map((fire) => fire.toJSON()) }),
      ...(runs === undefined ? {} : { runs: runs.map((occurrence) => occurrence.toJSON()) }),
      ...(stats === undefined ? {} : { stats: stats.toJSON() }),
    };
  }

  get #timeZone(): string {
    try {
      return this.trigger.timeZone;
    } catch {
      return "UTC";
    }
  }
}
