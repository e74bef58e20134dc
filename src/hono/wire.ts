import type { MissedPolicy } from "../records/blackout.ts";
import type { JSONValue } from "../records/fields/field.ts";
import type { ScheduleSettings } from "../records/fields/schedule.ts";
import type { ConflictPolicy, JobOutcome, Labels } from "../records/policies.ts";
import type { OccurrenceVerdict } from "../scheduler/options/occurrence-verdicts.ts";
import type { WireTrigger } from "../triggers/short-trigger.ts";

// The types of what requests carry. `schemas.ts` checks values against them.

/** What each list takes: the size of the page (1 to 1,000; default: 100), and the `cursor` of the page before. */
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** What lists are searched by: text that the id or another name of an item has somewhere. */
interface SearchQuery {
  readonly search?: string;
}

/** What is in lists only where it is asked for: the payload, and the returned value with the stacks of errors. */
export const LARGE_VALUES = ["payload", "result"] as const;
type LargeValue = (typeof LARGE_VALUES)[number];

/** The numbers of a list, which come where they are asked for. */
export const LIST_NUMBERS = ["total", "facets"] as const;

/** What a list of records with large values takes. */
interface IncludeQuery {
  /** The large values to show; several times, or with commas in between. Default: none. */
  readonly include?: readonly LargeValue[];
}

/** The same of a list that also has numbers. */
interface CountedQuery {
  /** The large values to show, `total`, how many items the list has, and `facets`, how many of them are in each state;
   *  several times, or with commas in between. Default: none. */
  readonly include?: readonly (LargeValue | (typeof LIST_NUMBERS)[number])[];
}

/** What each list of labelled records takes. */
export interface LabelQuery {
  /** A label as `name:value`; several times for records that have all of them, 16 at most. Default: all records. */
  readonly label?: readonly string[];
}

interface ScheduleFilterQuery extends SearchQuery, LabelQuery {
  readonly taskId?: string;
  readonly paused?: boolean;
  /** `ended` schedules have no fire time left; of the others, `paused` are those that are paused. */
  readonly state?: "active" | "paused" | "ended" | "failing";
}

export interface ScheduleQuery extends ScheduleFilterQuery, PageQuery {
  /** Schedules with these ids, in the order of ids; several times, because an id may have a comma. */
  readonly ids?: readonly string[];
  /** `payload`; `description`, the rule in words; `next:5`, the next fire times; `runs:24`, the last fire times with
   *  what became of each; `stats`, how the jobs of the last 7 days ended; `total` and `facets`, how many schedules the
   *  list has, and how many in each state. Several times, or with commas in between. Default: none of them. */
  readonly include?: readonly string[];
  /** Default: `"id"`. */
  readonly sort?: "id" | "nextFireTime";
}

interface JobFilterQuery {
  readonly taskId?: string;
  readonly scheduleId?: string;
}

export interface JobQuery extends SearchQuery, JobFilterQuery, LabelQuery, CountedQuery, PageQuery {
  readonly backfillId?: string;
  readonly state?: "queued" | "blocked" | "running";
  /** Jobs whose `runAt` is this instant or later. */
  readonly from?: string;
  /** Jobs whose `runAt` is before this instant. */
  readonly until?: string;
  /** Default: `"id"`. */
  readonly sort?: "id" | "runAt";
  /** Default: `"oldest"`. */
  readonly order?: "newest" | "oldest";
}

interface ResultFilterQuery extends JobFilterQuery, LabelQuery {
  readonly outcome?: JobOutcome;
  /** Jobs that ended at this instant or later. */
  readonly from?: string;
  /** Jobs that ended before this instant. */
  readonly until?: string;
}

export interface ResultQuery extends SearchQuery, ResultFilterQuery, IncludeQuery, PageQuery {
  /** Default: `"newest"`. */
  readonly order?: "newest" | "oldest";
}

type RunWord = "queued" | "blocked" | "running" | "ended";

interface RunFilterQuery extends SearchQuery, JobFilterQuery, LabelQuery {
  /** Several times, or with commas in between. Default: all. */
  readonly state?: readonly RunWord[];
  /** The same; unfinished jobs are left out. */
  readonly outcome?: readonly JobOutcome[];
  /** Text that the error has somewhere. */
  readonly error?: string;
  /** The idempotency key or the concurrency key, whole. */
  readonly key?: string;
  /** A duration, such as `PT5M` or `5m`. */
  readonly minRunTime?: string;
  readonly maxRunTime?: string;
  readonly minAttempts?: number;
  /** Jobs that ended at this instant or later; of unfinished ones, those whose `runAt` is. */
  readonly from?: string;
  /** The same before this instant. */
  readonly until?: string;
}

/** Jobs, ended or not. */
export interface RunQuery extends RunFilterQuery, CountedQuery, PageQuery {}

/** How jobs ended. */
export interface StatsQuery extends JobFilterQuery {
  /** Default: a day before `until`; of schedules, 7 days. Rounded down to a whole hour, or day. */
  readonly from?: string;
  /** Default: now. Rounded up likewise. */
  readonly until?: string;
  /** A duration of whole hours; of schedules, of whole days. Default: one of them. */
  readonly bucket?: string;
  /** Default: all together. */
  readonly by?: "task" | "schedule";
  /** Most tasks or schedules. Default: 100. */
  readonly limit: number;
}

/** Failures, in groups. */
export interface FailureQuery extends JobFilterQuery {
  /** What those of a group share; several times, or with commas in between. Default: both. */
  readonly groupBy?: readonly ("task" | "error")[];
  readonly from?: string;
  readonly until?: string;
  /** Most groups. Default: 100. */
  readonly limit: number;
}

export interface ResultWait {
  /** How long the answer may wait for the end of the job, in seconds: 1 to 30. Default: not at all. */
  readonly wait?: number;
}

export interface PreviewQuery {
  /** Most fire times. Default: 10. */
  readonly limit: number;
  readonly from?: string;
}

/** The fire times to come, as a calendar. */
export interface CalendarQuery {
  /** A token of the calendar; it may also be in the header `Authorization`, as that of the router. */
  readonly token?: string;
  /** From now on. Default: 30. */
  readonly days: number;
}

/** The load to come. */
export interface ForecastQuery {
  /** Default: now. */
  readonly from?: string;
  /** Default: a day after `from`. */
  readonly until?: string;
  /** A duration; there are at most 20,000 buckets. Default: a minute. */
  readonly bucket?: string;
}

/** Of the fire times until now. */
export interface OccurrenceQuery extends PageQuery {
  /** Fire times at this instant or later. */
  readonly from?: string;
  /** Fire times before this instant. */
  readonly until?: string;
  /** Only fire times of which this became; several times, or with commas in between. Default: all. */
  readonly verdict?: readonly OccurrenceVerdict[];
  /** Default: `"newest"`. */
  readonly order?: "newest" | "oldest";
}

export interface ExplainQuery {
  /** An instant; or, without an offset, what clocks in the zone of the rule show: `2027-03-28 02:30`, `2027-03-28`. */
  readonly at: string;
}

export interface ChangeQuery extends PageQuery {
  /** Default: `"newest"`. */
  readonly order?: "newest" | "oldest";
}

/** What changes something may say who asks for it. */
export interface CallerNote {
  /** A name for people, where the option `auth` of the router is `"none"`. Else the caller's own name counts, and this
   *  is refused. Default: the identity of the scheduler. */
  readonly by?: string;
}

export interface UnpauseBody extends CallerNote {
  /** `"now"` or an instant: fire times before it are dropped. */
  readonly resumeFrom?: string;
}

export interface PauseBody extends CallerNote {
  /** When the pause ends by itself: an instant in the future. Default: never. */
  readonly until?: string;
  /** Why it is paused, for people. */
  readonly reason?: string;
}

export interface TaskUnpauseBody extends CallerNote {
  /** The concurrency key. Default: the whole task. */
  readonly key?: string;
}

export interface TaskPauseBody extends PauseBody, TaskUnpauseBody {}

/** A blackout: `from` and `until`, or `trigger` and `duration`. */
export interface BlackoutBody extends CallerNote {
  readonly id: string;
  readonly from?: string;
  readonly until?: string;
  readonly trigger?: WireTrigger;
  readonly duration?: string;
  /** Only schedules that have all of these labels. */
  readonly labels?: Labels;
  /** Only schedules of these tasks. */
  readonly taskIds?: readonly string[];
  /** Default: `"skip"`. */
  readonly missed?: MissedPolicy;
  readonly reason?: string;
  /** Default: `"error"`. */
  readonly conflictPolicy?: ConflictPolicy;
}

export interface EventQuery {
  /** The types of the events, with commas between them. Default: all. */
  readonly types?: string;
  /** Only events of this task. Those that are of no task, such as `schedulerStarted`, are left out. */
  readonly taskId?: string;
  /** Only events of this schedule, its jobs included. */
  readonly scheduleId?: string;
}

/** What callers set of a schedule. */
type ScheduleSettingsBody = { readonly [N in keyof ScheduleSettings]?: SettingJSON<ScheduleSettings[N]> };
type SettingJSON<F> = JSONValue<F> extends infer T ? (F extends { kind: "object" } ? Partial<T> : T) : never;

/** A whole schedule: what is left out gets its default. */
interface ScheduleBody extends ScheduleSettingsBody, CallerNote {
  readonly taskId: string;
  readonly trigger: WireTrigger;
  readonly paused?: boolean;
  /** Whether the id picks when in its period an interval or a nickname fires. Default: false. */
  readonly spread?: boolean;
}

/** A schedule that replaces the stored one. What GET answers besides may be sent back, and changes nothing. */
export interface ReplacingScheduleBody extends ScheduleBody {
  readonly id?: unknown;
  readonly skippedCount?: unknown;
  readonly lastFailure?: unknown;
  readonly createdAt?: unknown;
  readonly nextFireTime?: unknown;
  readonly lastFireTime?: unknown;
  readonly revision?: unknown;
  readonly pausedUntil?: unknown;
  readonly pauseReason?: unknown;
  readonly pausedBy?: unknown;
}

export interface NewScheduleBody extends ScheduleBody {
  readonly id?: string;
  /** Default: `"error"`, so that an id that exists is a conflict. */
  readonly conflictPolicy: ConflictPolicy;
}

/** A schedule of a plan. */
export interface DeclaredBody extends Omit<ScheduleBody, "taskId" | "by"> {
  readonly id: string;
  readonly task: string;
  /** The id that the schedule had before. */
  readonly renamedFrom?: string;
}

/** What a plan is made of. */
export interface PlanBody {
  /** Whose schedules they are. Default of `nextFires`: 3. */
  readonly owner: string;
  readonly declared: readonly DeclaredBody[];
  readonly nextFires?: number;
}

/** A plan that is applied while it is the one with the `revision`. */
export interface ApplyBody extends Omit<PlanBody, "nextFires">, CallerNote {
  readonly revision: string;
}

/** What is left out stays as it is. */
export interface ScheduleChangesBody extends ScheduleSettingsBody, CallerNote {
  readonly trigger?: WireTrigger;
  readonly nextFireTime?: string;
}

/** What happens to many schedules: to those with the `ids`, to those that fit the `filter`, or to all. */
export interface ScheduleBulkBody extends PauseBody {
  readonly action: "pause" | "unpause" | "remove";
  readonly ids?: readonly string[];
  readonly filter?: ScheduleFilterQuery;
  /** Everything: without it, a filter that names nothing is refused. */
  readonly all?: boolean;
  /** Nothing happens unless so many schedules fit. Default: any number. */
  readonly expectedCount?: number;
  /** Of `unpause`: `"now"` or an instant. */
  readonly resumeFrom?: string;
}

/** What a run of a schedule takes. */
export interface RunBody {
  /** Default: the header `Idempotency-Key`. */
  readonly idempotencyKey?: string;
  /** How long the key stays taken. Default: 10 minutes for the key of the header, else until the job ends. */
  readonly uniqueFor?: string;
}

/** Which fire times a backfill makes up for. */
export interface BackfillBody {
  readonly from: string;
  readonly until: string;
  readonly order?: "newest" | "oldest";
  readonly pace?: string;
  readonly limit?: number;
  readonly includeRan?: boolean;
  readonly includeCoalesced?: boolean;
  readonly includeUnrecorded?: boolean;
  readonly dryRun?: boolean;
  /** Default: the header `Idempotency-Key`, else one for each combination of schedule and options. */
  readonly idempotencyKey?: string;
}

export interface NewJobBody
  extends RunBody,
    Pick<
      ScheduleSettingsBody,
      | "payload"
      | "executor"
      | "metadata"
      | "labels"
      | "resultExpirationTime"
      | "failureExpirationTime"
      | "concurrencyKey"
    > {
  readonly taskId: string;
  readonly runAt?: string;
  /** A duration from now, such as `"PT5M"` or `"5m"`; not together with `runAt`. */
  readonly delay?: string;
  readonly priority?: number;
  readonly debounce?: { readonly key: string; readonly wait: string; readonly maxWait?: string };
  readonly throttle?: { readonly key: string; readonly per: string };
  readonly startDeadline?: string;
  /** What is given goes over the `retry` of the task. */
  readonly retry?: {
    readonly maxAttempts?: number;
    readonly backoff?: {
      readonly initial?: string;
      readonly factor?: number;
      readonly max?: string;
      readonly jitter?: "full" | "none";
    };
  };
  /** The ids of the jobs that this job comes after. */
  readonly after?: readonly string[];
  readonly onParentFailure?: "cancel" | "run";
}

/** Jobs that are added in one commit, and one that comes after all of them. */
export interface JobBatch {
  readonly jobs: readonly NewJobBody[];
  readonly then?: NewJobBody;
}

/** How a job runs once more. */
export interface RetryBody {
  /** In the place of the old payload: then the new job is no retry of the old one. */
  readonly payload?: unknown;
  /** Whether the new job begins anew, without the recorded steps of the old one. Default: false. */
  readonly restart?: boolean;
}

/** That of `/runs`, or a group or a backfill. A `purge` takes only `taskId`, `scheduleId`, `label`, one `outcome`,
 *  `from` and `until`. */
export interface JobBulkFilter extends Omit<RunFilterQuery, "state" | "outcome"> {
  /** One, or several. */
  readonly state?: RunWord | readonly RunWord[];
  readonly outcome?: JobOutcome | readonly JobOutcome[];
  /** The `key` of a group of `/failures`; with `retry` alone. */
  readonly failureKey?: string;
  /** With `cancel` alone. */
  readonly backfillId?: string;
}

/** What happens to many jobs: `retry` and `purge` are about results, `cancel` is about unfinished jobs. */
export interface JobBulkBody {
  readonly action: "retry" | "cancel" | "purge";
  /** In the place of a filter. */
  readonly ids?: readonly string[];
  /** Nothing happens unless so many jobs or results fit. Default: any number. */
  readonly expectedCount?: number;
  readonly filter?: JobBulkFilter;
  /** Everything: without it, a filter that names nothing is refused. */
  readonly all?: boolean;
  /** With `purge` alone: removes nothing, and counts what it would remove. */
  readonly dryRun?: boolean;
}

export interface TriggerPreviewBody extends PreviewQuery {
  readonly trigger: WireTrigger;
  /** The id that the schedule is to have, which picks the values of `H`. */
  readonly id?: string;
  readonly spread?: boolean;
}

/** What a page signs in with: either of the two. */
export interface SessionBody {
  readonly token?: string;
  /** What a program made by `signInCode`. It counts once. */
  readonly code?: string;
}
