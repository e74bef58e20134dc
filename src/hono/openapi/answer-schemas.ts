import * as v from "valibot";
import { MISSED_POLICIES } from "../../records/blackout.ts";
import { BLACKOUT_FIELDS } from "../../records/fields/blackout.ts";
import { FAILURE_GROUP_FIELDS } from "../../records/fields/failure.ts";
import {
  type Field,
  type Fields,
  isNullable,
  isWord,
  type Kinds,
  type PlainKinds,
  WORDS,
} from "../../records/fields/field.ts";
import { ATTEMPT_FIELDS, JOB_FIELDS, JOB_RESULT_FIELDS } from "../../records/fields/job.ts";
import { JOB_STEP_FIELDS } from "../../records/fields/job-step.ts";
import { RUN_FIELDS } from "../../records/fields/run.ts";
import { SCHEDULE_FIELDS } from "../../records/fields/schedule.ts";
import { STATS_FIELDS } from "../../records/fields/stats.ts";
import { TASK_FIELDS } from "../../records/fields/task.ts";
import { JOB_LOG_LEVELS } from "../../records/job-log.ts";
import { SCHEDULE_CHANGE_KINDS } from "../../records/ledger.ts";
import { OVERDUE_KINDS } from "../../records/overdue.ts";
import { JOB_OUTCOMES } from "../../records/policies.ts";
import { OCCURRENCE_VERDICTS } from "../../scheduler/options/occurrence-verdicts.ts";
import { EXPLAINED_VERDICTS } from "../../scheduler/views/explanation.ts";

// What answers carry. No running router needs these schemas: the document is made of them when it is built, and tests
// hold every answer against them.

export const instant: v.GenericSchema = v.pipe(v.string(), v.isoTimestamp());
export const duration: v.GenericSchema = v.pipe(v.string(), v.regex(/^PT(\d|\.)[\dHMS.]*$/));
const instantOrNull = v.nullable(instant);
const textOrNull = v.nullable(v.string());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** A count that may stop at a bound. */
const bounded = v.strictObject({ count, isCapped: v.boolean() });
/** What a change of many did. */
const many = {
  count,
  skipped: count,
  refusals: v.array(v.strictObject({ id: v.string(), code: v.string(), detail: v.string() })),
};
const whole = v.pipe(v.number(), v.integer());
export const metadata: v.GenericSchema = v.record(v.string(), v.unknown());
export const labels: v.GenericSchema = v.record(v.string(), v.string());

const storedTrigger: v.GenericSchema = v.looseObject({
  type: v.string(),
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

/** An error that a handler threw. Callers with the scope `read` see no `stack` and no `properties`. */
const error: v.GenericSchema = v.strictObject({
  name: v.string(),
  message: v.string(),
  stack: v.exactOptional(v.string()),
  code: v.exactOptional(v.string()),
  cause: v.exactOptional(v.lazy(() => error)),
  properties: v.exactOptional(v.record(v.string(), v.unknown())),
  errors: v.exactOptional(v.array(v.lazy(() => error))),
});

/** What a view's `toJSON()` makes of these fields. */
const answerOf = (fields: Fields): v.GenericSchema => v.strictObject(entriesOf(fields));

function entriesOf(fields: Fields): v.ObjectEntries {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, answerField(field)]));
}

function answerField(field: Field): v.GenericSchema {
  const schema = field.kind === "object" ? answerOf(field.fields) : answerKind(field.kind);
  return isNullable(field) ? v.nullable(schema) : schema;
}

function answerKind(kind: keyof Kinds): v.GenericSchema {
  if (kind === "attempts") return v.array(attempt);
  return isWord(kind) ? v.picklist(WORDS[kind]) : PLAIN[kind];
}

const PLAIN: Readonly<Record<Exclude<keyof PlainKinds, "attempts">, v.GenericSchema>> = {
  text: v.string(),
  texts: v.array(v.string()),
  flag: v.boolean(),
  number: v.number(),
  ...{ whole, count, instant, duration, metadata, labels, error },
  value: v.exactOptional(v.unknown()),
  trigger: storedTrigger,
};

const attempt = answerOf(ATTEMPT_FIELDS);
const schedule = answerOf(SCHEDULE_FIELDS);
const job = answerOf(JOB_FIELDS);
const jobResult = answerOf(JOB_RESULT_FIELDS);
const jobStep = answerOf(JOB_STEP_FIELDS);
const run = answerOf(RUN_FIELDS);
const failureGroup = answerOf(FAILURE_GROUP_FIELDS);
const stats = answerOf(STATS_FIELDS);
const task = answerOf(TASK_FIELDS);
const blackout = answerOf(BLACKOUT_FIELDS);

const statsAnswer: v.GenericSchema = v.strictObject({
  ...{ from: instant, until: instant, bucket: duration, isKept: v.boolean() },
  items: v.array(
    v.strictObject({
      ...{ id: textOrNull, total: stats },
      buckets: v.array(v.strictObject({ from: instant, ...entriesOf(STATS_FIELDS) })),
    }),
  ),
});

const jobLog: v.GenericSchema = v.strictObject({
  attempt: count,
  dropped: count,
  lines: v.array(
    v.strictObject({
      at: instant,
      level: v.picklist(JOB_LOG_LEVELS),
      message: v.string(),
      fields: v.nullable(metadata),
    }),
  ),
});

const scheduler: v.GenericSchema = v.strictObject({
  identity: v.string(),
  role: v.picklist(["both", "scheduler", "worker"]),
  isResident: v.boolean(),
  tasks: v.array(v.string()),
  executors: v.array(v.string()),
  aliveUntil: instant,
});

const oldestDueJob = v.nullable(
  v.strictObject({ id: v.string(), taskId: v.string(), runAt: instant, lateMs: v.number() }),
);
const oldestDueSchedule = v.nullable(
  v.strictObject({ id: v.string(), taskId: v.string(), nextFireTime: instant, lateMs: v.number() }),
);
const pausedTasks = v.array(
  v.strictObject({ taskId: v.string(), key: textOrNull, until: instantOrNull, reason: textOrNull, by: textOrNull }),
);
const backloggedSchedules = v.array(
  v.strictObject({ scheduleId: v.string(), taskId: v.string(), unfinished: bounded }),
);

const overdueOccurrences = v.array(
  v.strictObject({
    scheduleId: v.string(),
    taskId: v.string(),
    fireTime: instant,
    kind: v.picklist(OVERDUE_KINDS),
    dueAt: instant,
    raisedAt: instant,
    jobId: textOrNull,
  }),
);

const health: v.GenericSchema = v.strictObject({
  identity: v.string(),
  checkedAt: instant,
  isStoreReached: v.boolean(),
  storeError: v.nullable(error),
  eventsShared: v.nullable(v.boolean()),
  versions: v.nullable(v.strictObject({ package: v.string(), schema: v.nullable(whole) })),
  latencyMs: v.nullable(v.number()),
  clockSkewMs: v.nullable(v.number()),
  storeWarnings: v.array(v.strictObject({ code: v.string(), message: v.string() })),
  oldestDueJob,
  oldestDueSchedule,
  backlog: v.array(v.strictObject({ taskId: v.string(), waiting: bounded, blocked: bounded, running: count })),
  pausedTasks,
  schedulers: v.array(scheduler),
  unhandledTasks: v.array(v.string()),
  backloggedSchedules,
  overdueOccurrences,
  overdueCount: bounded,
});

const previewedFire: v.GenericSchema = v.strictObject({
  at: instant,
  local: v.string(),
  clockChange: v.nullable(v.picklist(["moved", "first", "second"])),
  shiftedFrom: instantOrNull,
  blackout: textOrNull,
});

const overview: v.GenericSchema = v.strictObject({
  checkedAt: instant,
  isStoreReached: v.boolean(),
  counts: v.strictObject({ queued: bounded, blocked: bounded, running: count, schedulers: count, pausedTasks: count }),
  oldestDueJob,
  oldestDueSchedule,
  pausedTasks,
  unhandledTasks: v.array(v.string()),
  backloggedSchedules,
  overdueOccurrences,
  overdueCount: bounded,
  schedulers: v.array(scheduler),
  stats: v.nullable(statsAnswer),
  runs: v.array(
    v.strictObject({
      ...{ id: v.string(), taskId: v.string(), scheduleId: textOrNull },
      ...{ state: v.picklist(WORDS.state), outcome: v.nullable(v.picklist(JOB_OUTCOMES)), dueAt: instant },
      ...{ startedAt: instantOrNull, finishedAt: instantOrNull },
      ...{ lateness: v.nullable(duration), runTime: v.nullable(duration) },
      ...{ progress: v.nullable(v.number()), progressNote: textOrNull },
    }),
  ),
  coming: v.array(v.strictObject({ scheduleId: v.string(), taskId: v.string(), fireTime: instant })),
  nextFires: v.array(v.strictObject({ ...entriesOf(SCHEDULE_FIELDS), next: v.exactOptional(v.array(previewedFire)) })),
  failures: v.array(jobResult),
  failureGroups: v.array(failureGroup),
  failingSchedules: v.array(schedule),
  blackouts: v.array(blackout),
});

const preview: v.GenericSchema = v.strictObject({
  description: v.string(),
  timeZone: v.string(),
  items: v.array(previewedFire),
  skipped: v.array(v.string()),
});

const occurrence: v.GenericSchema = v.strictObject({
  scheduleId: v.string(),
  timeZone: v.string(),
  fireTime: instant,
  verdict: v.picklist(OCCURRENCE_VERDICTS),
  into: instantOrNull,
  run: v.nullable(
    v.strictObject({
      jobId: v.string(),
      scheduledFireTime: instant,
      createdAt: instant,
      startedAt: instantOrNull,
      finishedAt: instantOrNull,
      lateness: v.nullable(duration),
      runTime: v.nullable(duration),
      attempts: count,
    }),
  ),
});

const pause = { by: textOrNull, at: instantOrNull, reason: textOrNull, until: instantOrNull };
const change = { by: textOrNull, at: instant };
const of = <Kind extends string, Facts extends v.ObjectEntries>(kind: Kind, facts: Facts) =>
  v.strictObject({ kind: v.literal(kind), ...facts });

const cause: v.GenericSchema = v.variant("kind", [
  of("nobodyUp", { lacks: v.picklist(["scheduler", "worker"]), from: instantOrNull, until: instantOrNull }),
  of("clockAhead", { at: instant }),
  of("noHandler", { taskId: v.string() }),
  of("noSlot", { taskId: v.string() }),
  of("blocked", { concurrencyKey: textOrNull }),
  of("taskPaused", { key: textOrNull, ...pause }),
  of("schedulePaused", pause),
  of("blackout", {
    ...{ id: textOrNull, reason: textOrNull, by: textOrNull, until: instantOrNull },
    missed: v.nullable(v.picklist(MISSED_POLICIES)),
  }),
  of("triggerFailed", { at: instantOrNull }),
  of("added", change),
  of("changed", change),
  of("removed", change),
  of("unfinishedRun", { fireTime: instantOrNull, jobId: textOrNull }),
  of("policy", { option: v.picklist(["coalesce", "catchUp.maxAge", "catchUp.maxCount", "catchUp.pace", "overlap"]) }),
  of("error", { name: textOrNull, message: textOrNull, code: textOrNull }),
  of("declined", { reason: textOrNull }),
  of("sleeps", { step: textOrNull, until: instant }),
  of("backfill", { backfillId: v.string() }),
  of("retried", { attempts: count }),
  of("lost", { attempts: count, message: textOrNull }),
  of("bounds", { bound: v.picklist(["start", "end"]), at: instantOrNull }),
  of("ledger", { reason: v.picklist(["notKept", "removed", "unknown"]) }),
]);

const explanation: v.GenericSchema = v.strictObject({
  scheduleId: v.string(),
  timeZone: v.string(),
  at: instant,
  fireTime: instantOrNull,
  verdict: v.picklist(EXPLAINED_VERDICTS),
  cause: v.nullable(cause),
  occurrence: v.nullable(occurrence),
  shiftedFrom: instantOrNull,
  before: instantOrNull,
  after: instantOrNull,
  clockChanges: v.array(v.strictObject({ timeZone: v.string(), at: instant, from: v.string(), to: v.string() })),
  advice: textOrNull,
  text: v.string(),
});

const snapshot: v.GenericSchema = v.strictObject({
  rule: v.string(),
  timeZone: v.string(),
  paused: v.boolean(),
  pausedUntil: instantOrNull,
  pauseReason: textOrNull,
  nextFireTimes: v.array(instant),
});

const scheduleChange: v.GenericSchema = v.strictObject({
  seq: count,
  scheduleId: v.string(),
  at: instant,
  by: textOrNull,
  kind: v.picklist(SCHEDULE_CHANGE_KINDS),
  changed: v.array(v.string()),
  before: v.nullable(snapshot),
  after: v.nullable(snapshot),
});

const tickReport: v.GenericSchema = v.strictObject({
  schedulesProcessed: count,
  jobsAdded: count,
  jobsRun: count,
  outcomes: v.record(v.picklist(JOB_OUTCOMES), count),
  nextWakeAt: instantOrNull,
  exhausted: v.boolean(),
  roundTrips: count,
});

/** A schedule in a list, with what was asked for besides. */
const listedSchedule = v.strictObject({
  ...entriesOf(SCHEDULE_FIELDS),
  description: v.exactOptional(v.string()),
  next: v.exactOptional(v.array(previewedFire)),
  runs: v.exactOptional(v.array(occurrence)),
  stats: v.exactOptional(stats),
});

const forecastBucket = v.strictObject({ from: instant, fires: count, expectedRunning: v.number() });

const forecast: v.GenericSchema = v.strictObject({
  from: instant,
  until: instant,
  bucket: duration,
  total: count,
  buckets: v.array(forecastBucket),
  busiest: v.nullable(forecastBucket),
  emptier: v.nullable(forecastBucket),
  text: v.string(),
});

const planned = v.array(
  v.strictObject({
    ...{ id: v.string(), taskId: v.string(), renamedFrom: textOrNull, options: v.array(v.string()) },
    ...{ before: v.array(instant), after: v.array(instant) },
  }),
);

const plan: v.GenericSchema = v.strictObject({
  ...{ owner: v.string(), revision: v.string() },
  ...{ added: planned, changed: planned, removed: planned },
  unchanged: v.array(v.string()),
  herds: v.array(v.strictObject({ from: instant, before: count, after: count })),
  text: v.string(),
});

/** What went wrong, after RFC 9457. */
const problem: v.GenericSchema = v.looseObject({
  type: v.string(),
  title: v.string(),
  status: whole,
  code: v.string(),
  detail: v.exactOptional(v.string()),
  issues: v.exactOptional(
    v.array(v.strictObject({ path: v.string(), message: v.string(), suggestion: v.exactOptional(v.string()) })),
  ),
  id: v.exactOptional(v.string()),
  field: v.exactOptional(textOrNull),
  element: v.exactOptional(v.string()),
  position: v.exactOptional(count),
  suggestion: v.exactOptional(textOrNull),
});

const pageOf = (item: v.GenericSchema): v.GenericSchema => v.strictObject({ items: v.array(item), cursor: textOrNull });

const countedPageOf = (item: v.GenericSchema): v.GenericSchema =>
  v.strictObject({
    ...{ items: v.array(item), cursor: textOrNull },
    total: v.exactOptional(bounded),
    facets: v.exactOptional(v.record(v.string(), bounded)),
  });

/** The name of a schema of an answer. */
export type AnswerName =
  | "Live"
  | "Ready"
  | "SerializedError"
  | "Attempt"
  | "Schedule"
  | "SchedulePage"
  | "ScheduleBulkReport"
  | "BackfillReport"
  | "Job"
  | "JobPage"
  | "JobBatchReport"
  | "JobBulkReport"
  | "JobCancellation"
  | "JobStep"
  | "JobWithSteps"
  | "JobResult"
  | "JobResultPage"
  | "Failures"
  | "FailureGroup"
  | "Stats"
  | "StatsReport"
  | "Run"
  | "RunPage"
  | "Task"
  | "TaskPage"
  | "Blackout"
  | "BlackoutPage"
  | "JobLogPage"
  | "Scheduler"
  | "SchedulerPage"
  | "Health"
  | "Overview"
  | "Preview"
  | "Forecast"
  | "Plan"
  | "Occurrence"
  | "OccurrencePage"
  | "Cause"
  | "Explanation"
  | "ScheduleSnapshot"
  | "ScheduleChange"
  | "ScheduleChangePage"
  | "TickReport"
  | "Session"
  | "OpenApi"
  | "Problem";

/** The schemas of answers, by the name that the document gives them. */
export const answerSchemas: Readonly<Record<AnswerName, v.GenericSchema>> = {
  Live: v.strictObject({ status: v.literal("live") }),
  Ready: v.strictObject({ status: v.literal("ready") }),
  SerializedError: error,
  Attempt: attempt,
  Schedule: schedule,
  SchedulePage: countedPageOf(listedSchedule),
  ScheduleBulkReport: v.strictObject({
    action: v.picklist(["pause", "unpause", "remove"]),
    ...many,
  }),
  BackfillReport: v.strictObject({
    count: whole,
    first: instantOrNull,
    last: instantOrNull,
    ran: whole,
    coalesced: whole,
    coalescedInto: instantOrNull,
    backfillId: textOrNull,
  }),
  Job: job,
  JobPage: countedPageOf(job),
  JobBatchReport: v.strictObject({ items: v.array(job), then: v.nullable(job) }),
  JobBulkReport: v.strictObject({
    action: v.picklist(["retry", "cancel", "purge"]),
    ...many,
  }),
  JobCancellation: v.strictObject({ id: v.string(), cancellation: v.picklist(["delivered", "asked"]) }),
  JobStep: jobStep,
  JobWithSteps: v.strictObject({ ...entriesOf(JOB_FIELDS), steps: v.array(jobStep) }),
  JobResult: jobResult,
  JobResultPage: pageOf(jobResult),
  Failures: v.strictObject({ items: v.array(failureGroup), seen: bounded }),
  FailureGroup: failureGroup,
  Stats: stats,
  StatsReport: statsAnswer,
  Run: run,
  RunPage: countedPageOf(run),
  Task: task,
  TaskPage: pageOf(task),
  Blackout: blackout,
  BlackoutPage: pageOf(blackout),
  JobLogPage: pageOf(jobLog),
  Scheduler: scheduler,
  SchedulerPage: pageOf(scheduler),
  Health: health,
  Overview: overview,
  Preview: preview,
  Forecast: forecast,
  Plan: plan,
  Occurrence: occurrence,
  OccurrencePage: pageOf(occurrence),
  Cause: cause,
  Explanation: explanation,
  ScheduleSnapshot: snapshot,
  ScheduleChange: scheduleChange,
  ScheduleChangePage: pageOf(scheduleChange),
  TickReport: tickReport,
  Session: v.strictObject({
    scope: v.picklist(["read", "write"]),
    name: textOrNull,
    expiresAt: instantOrNull,
  }),
  OpenApi: v.looseObject({ openapi: v.string() }),
  Problem: problem,
};
