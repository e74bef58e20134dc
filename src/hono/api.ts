import type { Env, Hono } from "hono";
import type { Issue } from "../core/errors.ts";
import type { BackfillReport } from "../scheduler/commands/commands.ts";
import type { Blackout } from "../scheduler/views/blackout.ts";
import type { Explanation } from "../scheduler/views/explanation.ts";
import type { FailureGroup } from "../scheduler/views/failure-group.ts";
import type { Count, LiveScheduler, PausedTask, SchedulerHealth } from "../scheduler/views/health.ts";
import type { Job } from "../scheduler/views/job.ts";
import type { JobLog } from "../scheduler/views/job-log.ts";
import type { JobResult } from "../scheduler/views/job-result.ts";
import type { JobStep } from "../scheduler/views/job-step.ts";
import type { Occurrence } from "../scheduler/views/occurrence.ts";
import type { Page } from "../scheduler/views/page.ts";
import type { Plain, PlainPage } from "../scheduler/views/plain.ts";
import type { Run } from "../scheduler/views/run.ts";
import type { Schedule } from "../scheduler/views/schedule.ts";
import type { ScheduleChange } from "../scheduler/views/schedule-change.ts";
import type { Stats } from "../scheduler/views/stats.ts";
import type { TaskView } from "../scheduler/views/task-view.ts";
import type { TickReport } from "../scheduler/views/tick-report.ts";
import type { Scope } from "./auth/auth-options.ts";
import type {
  ApplyBody,
  BackfillBody,
  BlackoutBody,
  CalendarQuery,
  CallerNote,
  ChangeQuery,
  EventQuery,
  ExplainQuery,
  FailureQuery,
  ForecastQuery,
  JobBatch,
  JobBulkBody,
  JobQuery,
  LabelQuery,
  NewJobBody,
  NewScheduleBody,
  OccurrenceQuery,
  PauseBody,
  PlanBody,
  PreviewQuery,
  ReplacingScheduleBody,
  ResultQuery,
  ResultWait,
  RetryBody,
  RunBody,
  RunQuery,
  ScheduleBulkBody,
  ScheduleChangesBody,
  ScheduleQuery,
  SessionBody,
  StatsQuery,
  TaskPauseBody,
  TaskUnpauseBody,
  TriggerPreviewBody,
  UnpauseBody,
} from "./wire.ts";

/** What a route takes and answers. `answers` has the body of each status; null is none. */
export interface Endpoint {
  readonly param?: string;
  readonly query?: object;
  readonly body?: unknown;
  readonly answers: { readonly [status: number]: unknown };
}

/** One fire time of a preview. */
interface PreviewedFireAnswer {
  /** When it fires: an instant. */
  readonly at: string;
  /** The same in the trigger's time zone, with its offset: `2027-03-28T03:00:00+02:00`. */
  readonly local: string;
  /** What a change of the clocks does to it: it is `moved` out of a gap, or its time of day comes twice, and this is
   *  the `first` or the `second`. Null for nothing. */
  readonly clockChange: "moved" | "first" | "second" | null;
  /** The fire time on an excluded date that was moved here: an instant. Null for one that was not moved. */
  readonly shiftedFrom: string | null;
  /** The id of a blackout within which the fire time makes no job; null for none. */
  readonly blackout: string | null;
}

/** The fire times to come. */
export interface PreviewAnswer {
  /** The rule in words. */
  readonly description: string;
  readonly timeZone: string;
  readonly items: readonly PreviewedFireAnswer[];
  /** Times of day that do not exist because of a gap, and for which nothing fires: `2027-03-28T02:30:00`. */
  readonly skipped: readonly string[];
}

/** A schedule in a list, with what was asked for besides. */
export interface ListedSchedule extends Omit<Plain<Schedule>, "next" | "runs" | "stats"> {
  /** The rule in words; why it cannot be read, for a rule of a newer version. */
  readonly description?: string;
  readonly next?: PreviewAnswer["items"];
  readonly runs?: Plain<Schedule>["runs"];
  readonly stats?: Plain<Schedule>["stats"];
}

/** Failures in groups, those with the most first. */
interface Failures {
  readonly items: readonly Plain<FailureGroup>[];
  /** How many failures were looked at, the newest ones. */
  readonly seen: Count;
}

/** How the jobs of a time ended, and how long they took. */
type PlainStats = Plain<Stats>;

/** The same, by parts of the time. */
interface PlainSeries {
  /** The task or the schedule; null without `by`. */
  readonly id: string | null;
  readonly total: PlainStats;
  readonly buckets: readonly ({ readonly from: string } & PlainStats)[];
}

/** How jobs ended. */
export interface StatsAnswer {
  readonly from: string;
  readonly until: string;
  readonly bucket: string;
  readonly items: readonly PlainSeries[];
  /** Whether the store keeps statistics. */
  readonly isKept: boolean;
}

/** A part of a forecast. */
interface ForecastBucketAnswer {
  readonly from: string;
  readonly fires: number;
  /** How many jobs run on average, as far as run times are known. */
  readonly expectedRunning: number;
}

/** How often the active schedules will fire. */
export interface ForecastAnswer {
  readonly from: string;
  readonly until: string;
  readonly bucket: string;
  readonly total: number;
  readonly buckets: readonly ForecastBucketAnswer[];
  /** The bucket with the most fires; null when nothing fires. */
  readonly busiest: ForecastBucketAnswer | null;
  /** One near it with fewer fires; null for none. */
  readonly emptier: ForecastBucketAnswer | null;
  readonly text: string;
}

/** A schedule of a plan. */
interface PlannedScheduleAnswer {
  readonly id: string;
  readonly taskId: string;
  /** The id that it has before the plan; null where it keeps its id. */
  readonly renamedFrom: string | null;
  /** The names of the options that change. */
  readonly options: readonly string[];
  /** Next fire times, before the plan and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** What a plan does, or did. */
export interface PlanAnswer {
  readonly owner: string;
  readonly revision: string;
  readonly added: readonly PlannedScheduleAnswer[];
  readonly changed: readonly PlannedScheduleAnswer[];
  readonly removed: readonly PlannedScheduleAnswer[];
  readonly unchanged: readonly string[];
  /** Minutes in which many schedules fire, and more than before. */
  readonly herds: readonly { readonly from: string; readonly before: number; readonly after: number }[];
  readonly text: string;
}

/** How everything is, on one page. */
export interface OverviewAnswer {
  readonly checkedAt: string;
  readonly isStoreReached: boolean;
  readonly counts: {
    /** Unfinished jobs by state. */
    readonly queued: Count;
    readonly blocked: Count;
    readonly running: number;
    readonly schedulers: number;
    readonly pausedTasks: number;
  };
  readonly oldestDueJob: Plain<SchedulerHealth>["oldestDueJob"];
  readonly oldestDueSchedule: Plain<SchedulerHealth>["oldestDueSchedule"];
  readonly pausedTasks: readonly Plain<PausedTask>[];
  readonly unhandledTasks: readonly string[];
  readonly backloggedSchedules: Plain<SchedulerHealth>["backloggedSchedules"];
  /** At most 100, and how many there are. */
  readonly overdueOccurrences: Plain<SchedulerHealth>["overdueOccurrences"];
  readonly overdueCount: Count;
  /** The schedulers that are alive. */
  readonly schedulers: readonly Plain<LiveScheduler>[];
  /** How all jobs of the last day ended, hour by hour. Null while the store is not reached; then all lists that follow
   *  are empty. */
  readonly stats: StatsAnswer | null;
  /** Runs that are under way, at most 50, then those that ended in the last hour, the newest first, at most 200. */
  readonly runs: readonly OverviewRun[];
  /** The next fire time of the 100 active schedules that fire next. */
  readonly coming: readonly { readonly scheduleId: string; readonly taskId: string; readonly fireTime: string }[];
  /** The first 10 of these, whole, each with its next fire time as a preview has it. */
  readonly nextFires: readonly ListedSchedule[];
  /** The last 10 results whose outcome is `error`. */
  readonly failures: readonly Plain<JobResult>[];
  /** The failures of the last day, those of one task and one error together: the 10 largest groups. */
  readonly failureGroups: readonly Plain<FailureGroup>[];
  /** 10 schedules with `pauseAfterFailures` whose last run failed, paused or not. */
  readonly failingSchedules: readonly Plain<Schedule>[];
  /** Those that are not over. */
  readonly blackouts: readonly Plain<Blackout>[];
}

/** A run in short. */
export interface OverviewRun
  extends Pick<
    Plain<Run>,
    | ("id" | "taskId" | "scheduleId" | "state" | "outcome" | "startedAt" | "finishedAt" | "lateness" | "runTime")
    | ("progress" | "progressNote")
  > {
  /** Its fire time; of a job that no fire time made, from when on it may run, as far as that is known. */
  readonly dueAt: string;
}

/** What a change of many did. */
export interface ManyReport {
  /** How many it was done to. */
  readonly count: number;
  /** How many were passed over. */
  readonly skipped: number;
  /** Why: of the first 100 that were passed over. */
  readonly refusals: readonly { readonly id: string; readonly code: string; readonly detail: string }[];
}

/** What `POST /jobs/bulk` did. */
export interface JobBulkReport extends ManyReport {
  readonly action: JobBulkBody["action"];
}

/** What `POST /schedules/bulk` did. */
interface ScheduleBulkReport extends ManyReport {
  readonly action: ScheduleBulkBody["action"];
}

/** What a tick did. */
type PlainTickReport = Omit<Plain<TickReport>, "nextWakeAtMs">;

/** Who asks, and what that caller may do. */
interface SessionAnswer {
  readonly scope: Scope;
  /** The name of the caller; null for none. */
  readonly name: string | null;
  /** When the session of a cookie ends: an instant. Null for who asks without one. */
  readonly expiresAt: string | null;
}

/** The statuses of problems. */
type ProblemStatus = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 415 | 422 | 429 | 500 | 503;

/** What a router answers when not all is well: a problem after RFC 9457. */
export interface Problem {
  readonly type: string;
  /** The status in words. */
  readonly title: string;
  /** The status of the answer. */
  readonly status: ProblemStatus;
  /** What went wrong: the code of the library's error, or a word such as `"unauthorized"`. Match this. */
  readonly code: string;
  /** A sentence for people. */
  readonly detail?: string;
  /** What is wrong with the request, by path. */
  readonly issues?: readonly Issue[];
  /** The id of what there is not, is there already, or was changed. */
  readonly id?: string;
  /** Of crontab text (`cronSyntax`): the field that the problem is in, such as `minute`; null for the whole text. */
  readonly field?: string | null;
  /** The same: the element as it was written, its zero-based place in the text, and a likely correction. */
  readonly element?: string;
  /** Of crontab text: where in the text, from zero. */
  readonly position?: number;
  /** Of crontab text: what was likely meant; null where nobody can tell. */
  readonly suggestion?: string | null;
}

/** Every route, by method and path: what it takes, and what it answers when all is well. */
export interface Endpoints {
  "GET /health/live": { answers: { 200: { status: "live" } } };
  "GET /health/ready": { answers: { 200: { status: "ready" } } };
  "GET /health": { answers: { 200: Plain<SchedulerHealth> } };
  "GET /overview": { answers: { 200: OverviewAnswer } };
  "GET /schedulers": { answers: { 200: PlainPage<LiveScheduler> } };
  /** Server-Sent Events. */
  "GET /events": { query: EventQuery; answers: { 200: Response } };
  /** Text for Prometheus, with the option `metrics` alone. */
  "GET /metrics": { query: LabelQuery; answers: { 200: Response } };
  "POST /cleanup": { answers: { 204: null } };
  "POST /tick": { answers: { 200: PlainTickReport } };
  "GET /session": { answers: { 200: SessionAnswer } };
  "POST /session": { body: SessionBody; answers: { 204: null } };
  "DELETE /session": { answers: { 204: null } };
  "GET /openapi.json": { answers: { 200: { readonly openapi: string } } };

  "GET /tasks": { query: LabelQuery; answers: { 200: PlainPage<TaskView> } };
  "GET /tasks/:id": { param: "id"; answers: { 200: Plain<TaskView> } };
  "DELETE /tasks/:id": { param: "id"; answers: { 204: null } };
  "POST /tasks/:id/pause": { param: "id"; body: TaskPauseBody; answers: { 200: Plain<TaskView> } };
  "POST /tasks/:id/unpause": { param: "id"; body: TaskUnpauseBody; answers: { 200: Plain<TaskView> } };

  "GET /blackouts": { answers: { 200: PlainPage<Blackout> } };
  "POST /blackouts": { body: BlackoutBody; answers: { 201: Plain<Blackout> } };
  "DELETE /blackouts/:id": { param: "id"; query: CallerNote; answers: { 204: null } };

  "GET /schedules": { query: ScheduleQuery; answers: { 200: Page<ListedSchedule> } };
  "POST /schedules": { body: NewScheduleBody; answers: { 201: Plain<Schedule> } };
  "POST /schedules/bulk": { body: ScheduleBulkBody; answers: { 200: ScheduleBulkReport } };
  "GET /schedules/:id": { param: "id"; answers: { 200: Plain<Schedule> } };
  "PUT /schedules/:id": { param: "id"; body: ReplacingScheduleBody; answers: { 200: Plain<Schedule> } };
  "PATCH /schedules/:id": { param: "id"; body: ScheduleChangesBody; answers: { 200: Plain<Schedule> } };
  "DELETE /schedules/:id": { param: "id"; query: CallerNote; answers: { 204: null } };
  "POST /schedules/:id/pause": { param: "id"; body: PauseBody; answers: { 200: Plain<Schedule> } };
  "POST /schedules/:id/unpause": { param: "id"; body: UnpauseBody; answers: { 200: Plain<Schedule> } };
  "POST /schedules/:id/run": { param: "id"; body: RunBody; answers: { 202: Plain<Job> } };
  "POST /schedules/:id/backfill": { param: "id"; body: BackfillBody; answers: { 200: Plain<BackfillReport> } };
  "GET /schedules/:id/preview": { param: "id"; query: PreviewQuery; answers: { 200: PreviewAnswer } };
  "GET /schedules/:id/occurrences": { param: "id"; query: OccurrenceQuery; answers: { 200: PlainPage<Occurrence> } };
  "GET /schedules/:id/explain": { param: "id"; query: ExplainQuery; answers: { 200: Plain<Explanation> } };
  "GET /schedules/:id/changes": { param: "id"; query: ChangeQuery; answers: { 200: PlainPage<ScheduleChange> } };
  /** With the option `dashboard` or `insight` alone. */
  "GET /forecast": { query: ForecastQuery; answers: { 200: ForecastAnswer } };
  /** With the option `dashboard` or `insight` alone, as the next one. */
  "POST /plan": { body: PlanBody; answers: { 200: PlanAnswer } };
  "POST /apply": { body: ApplyBody; answers: { 200: PlanAnswer } };
  /** With an `insight` that has a calendar alone. */
  "GET /calendar.ics": { query: CalendarQuery; answers: { 200: Response } };
  "POST /triggers/preview": { body: TriggerPreviewBody; answers: { 200: PreviewAnswer } };

  "GET /jobs": { query: JobQuery; answers: { 200: PlainPage<Job> } };
  "POST /jobs": { body: NewJobBody; answers: { 202: Plain<Job> } };
  "POST /jobs/batch": {
    body: JobBatch;
    answers: { 202: { readonly items: readonly Plain<Job>[]; readonly then: Plain<Job> | null } };
  };
  "POST /jobs/bulk": { body: JobBulkBody; answers: { 200: JobBulkReport } };
  "GET /jobs/:id": { param: "id"; answers: { 200: Plain<Job> & { readonly steps: readonly Plain<JobStep>[] } } };
  "POST /jobs/:id/cancel": {
    param: "id";
    answers: { 202: { readonly id: string; readonly cancellation: "delivered" | "asked" } };
  };
  "POST /jobs/:id/retry": { param: "id"; body: RetryBody; answers: { 202: Plain<Job> } };
  "GET /jobs/:id/logs": { param: "id"; answers: { 200: PlainPage<JobLog> } };
  "GET /jobs/:id/result": {
    param: "id";
    query: ResultWait;
    answers: { 200: Plain<JobResult>; 202: Plain<Job> };
  };
  "GET /failures": { query: FailureQuery; answers: { 200: Failures } };
  "GET /stats": { query: StatsQuery; answers: { 200: StatsAnswer } };
  "GET /runs": { query: RunQuery; answers: { 200: PlainPage<Run> } };
  "GET /runs/:id": { param: "id"; answers: { 200: Plain<Run> } };
  "GET /results": { query: ResultQuery; answers: { 200: PlainPage<JobResult> } };
}

type PathOf<Key> = Key extends `${string} ${infer Path}` ? Path : never;

/** The input of a route: an object also where a route takes nothing, because Hono's client has no method else. */
type InputOf<E extends Endpoint> = (E extends { param: infer Name extends string }
  ? { param: Record<Name, string> }
  : Record<never, never>) &
  (E extends { query: infer Query } ? QueryOf<Query> : Record<never, never>) &
  (E extends { body: infer Body } ? JsonOf<Optional<Body>> : Record<never, never>);

/** The words of a query. Only an explanation needs one. */
type QueryOf<Query> = Query extends ExplainQuery
  ? { query: { [Name in keyof Query]: string } }
  : {
      query?: {
        [Name in keyof Query]?: Query[Name] extends readonly unknown[] | undefined ? string | string[] : string;
      };
    };

/** A body that may be empty may be left out. */
type JsonOf<Body> = Record<never, never> extends Body ? { json?: Body } : { json: Body };

/** The bodies with what has a default left out. */
type Optional<Body> = Body extends { conflictPolicy: unknown }
  ? Omit<Body, "conflictPolicy"> & Partial<Pick<Body, "conflictPolicy">>
  : Body extends { limit: unknown }
    ? Omit<Body, "limit"> & Partial<Pick<Body, "limit">>
    : Body;

/** A route answers what it has, or a problem. */
type AnswersOf<E extends Endpoint> =
  | {
      [Status in keyof E["answers"]]: {
        input: InputOf<E>;
        output: E["answers"][Status] extends Response
          ? string
          : E["answers"][Status] extends null
            ? Record<never, never>
            : E["answers"][Status];
        outputFormat: E["answers"][Status] extends Response ? "text" : "json";
        status: Status;
      };
    }[keyof E["answers"]]
  | { input: InputOf<E>; output: Problem; outputFormat: "json"; status: ProblemStatus };

/** {@link Endpoints} in the form that Hono's client reads. */
export type ApiSchema = {
  [Path in PathOf<keyof Endpoints>]: {
    [Key in keyof Endpoints as Key extends `${infer Method} ${Path}` ? `$${Lowercase<Method>}` : never]: AnswersOf<
      Endpoints[Key]
    >;
  };
};

/**
 * The type of the router, for Hono's own client.
 * @example
 * const client = hc<Api>("https://example.org/scheduler");
 * const answer = await client.schedules.$get({ query: { limit: "10" } });
 * if (!answer.ok) throw new Error((await answer.json()).detail);
 * const { items } = await answer.json();
 */
export type Api = Hono<Env, ApiSchema, "/">;
