import type { JobRecord } from "../../records/job.ts";
import { type JobResultRecord, keptJobOf } from "../../records/job-result.ts";
import type { AuditRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import type {
  CommitReport,
  CommitRequest,
  DataStore,
  JobCancellation,
  JobCapacity,
  JobQueue,
  JobRelease,
  LeaseExtension,
  LeaseExtensionReport,
  LookReport,
  LookRequest,
  PlannedJob,
  ScheduleAddition,
  ScheduleChanges,
  SchedulePlan,
  ScheduleWindow,
  View,
} from "../../stores/data-store.ts";
import { present } from "./assert.ts";

// Makers of records: a case names only the fields that it is about. Numbered ids sort in the order of their numbers.

/** The instant at which the cases begin. */
export const T0 = 1_800_000_000_000;

/** How long the leases of {@link take} last. */
export const LEASE_MS = 60_000;

export const QUEUE: JobQueue = { executor: "inline", taskId: "task" };

export function makeTask(fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: "task",
    executor: "inline",
    maxRunningJobs: null,
    misfireGraceMs: null,
    maxRecoveries: 3,
    timeoutMs: null,
    resultExpirationMs: 86_400_000,
    retry: { maxAttempts: 1, backoff: { initialMs: 1000, factor: 2, maxMs: 3_600_000, jitter: "full" } },
    overlap: "queue",
    metadata: {},
    ...fields,
  };
}

export function makeSchedule(fields: Partial<ScheduleRecord> = {}): ScheduleRecord {
  return {
    id: "schedule",
    name: null,
    taskId: "task",
    trigger: '{"type":"interval","start":1}',
    triggerRule: '{"type":"interval"}',
    payload: null,
    executor: "inline",
    priority: 0,
    coalesce: "latest",
    misfireGraceMs: null,
    maxJitterMs: 0,
    catchUp: null,
    resultExpirationMs: 86_400_000,
    maxRecoveries: 3,
    overlap: "queue",
    metadata: {},
    paused: false,
    createdAt: T0,
    nextFireTime: T0,
    lastFireTime: null,
    paceUntil: null,
    fence: 0,
    revision: T0,
    skippedCount: 0,
    ...fields,
  };
}

export function makeJob(fields: Partial<JobRecord> = {}): JobRecord {
  return {
    id: "job",
    taskId: "task",
    scheduleId: null,
    executor: "inline",
    payload: null,
    priority: 0,
    runAt: T0,
    createdAt: T0,
    fireTime: null,
    scheduledFireTime: null,
    startDeadline: null,
    missedCount: null,
    firstMissedTime: null,
    lastMissedTime: null,
    resultExpirationMs: 86_400_000,
    maxRecoveries: 3,
    metadata: {},
    idempotencyKey: null,
    failedAttempts: 0,
    recoveries: 0,
    startedFence: 0,
    cancelRequested: false,
    acquiredBy: null,
    acquiredUntil: null,
    fence: 0,
    ...fields,
  };
}

/** `count` jobs with ids that sort in the order of addition. */
export function makeJobs(count: number, fields: Partial<JobRecord> = {}): JobRecord[] {
  return Array.from({ length: count }, (_, index) => makeJob({ id: numbered("job", index), ...fields }));
}

export function numbered(prefix: string, index: number): string {
  return `${prefix}-${String(index).padStart(5, "0")}`;
}

/** What a result keeps of its job. */
/** @param hasFailed whether the result also keeps how long it would be kept otherwise */
export function keptFacts(
  job: JobRecord,
  hasFailed = false,
): Pick<JobResultRecord, "job" | "attemptHistory" | "progress" | "retryOf"> {
  const { attemptHistory, progress, retryOf, resultExpirationMs } = job;
  return {
    job: { ...keptJobOf(job), ...(hasFailed ? { resultExpirationMs } : {}) },
    ...(attemptHistory === undefined ? {} : { attemptHistory }),
    ...(progress === undefined ? {} : { progress }),
    ...(retryOf === undefined ? {} : { retryOf }),
  };
}

export function makeResult(job: JobRecord, fields: Partial<JobResultRecord> = {}): JobResultRecord {
  return {
    jobId: job.id,
    taskId: job.taskId,
    scheduleId: job.scheduleId,
    scheduledFireTime: job.scheduledFireTime,
    outcome: "success",
    startedAt: T0,
    finishedAt: T0 + 5,
    attempts: 1,
    returnValue: '"done"',
    error: null,
    expiresAt: T0 + 86_400_000,
    ...keptFacts(job),
    ...fields,
  };
}

/** The release of a job that succeeded. */
export function finish(job: JobRecord, fields: Partial<JobResultRecord> = {}): JobRelease {
  return { jobId: job.id, fence: job.fence, kind: "finish", result: makeResult(job, fields) };
}

/** What looks and commits may vary. */
interface ViewFields {
  readonly now?: number;
  readonly by?: string;
  readonly limit?: number;
  readonly queues?: readonly JobQueue[];
  /** By executor. */
  readonly bounds?: Readonly<Record<string, number>>;
  /** Null for a view without jobs. */
  readonly jobs?: null;
  /** Left out for a view without schedules. Otherwise the fields that differ from a window of all schedules that are
   *  due now. */
  readonly schedules?: Partial<ScheduleWindow>;
}

/** What {@link look} may vary. */
export interface LookFields extends ViewFields {
  readonly uptimeAfter?: number;
  readonly tasks?: LookRequest["tasks"];
  readonly asksForExpired?: boolean;
  readonly expiredForMs?: number;
  readonly zoneRules?: LookRequest["zoneRules"];
  readonly declared?: LookRequest["declared"];
}

/** What {@link commit} may vary. */
export interface CommitFields extends ViewFields, Partial<Omit<CommitRequest, keyof View>> {}

let commits = 0;

/** The id of the next commit of a scheduler, which has only one instance. Compared as text, the ids grow. */
function newCommitId(by = "scheduler-a"): string {
  return `${instanceIdOf(by)}${String(++commits).padStart(9, "0")}`;
}

function instanceIdOf(by = "scheduler-a"): string {
  return `${by} 1#`;
}

/** Looks at ready jobs, and at due schedules if `fields` has a window. */
export function look(store: DataStore, fields: LookFields = {}): Promise<LookReport> {
  const { tasks = null, asksForExpired = false, expiredForMs = 0, zoneRules, declared, uptimeAfter } = fields;
  const asked = { ...(zoneRules === undefined ? {} : { zoneRules }), ...(declared === undefined ? {} : { declared }) };
  const uptime = uptimeAfter === undefined ? {} : { uptimeAfter };
  return store.look({ ...viewOf(fields), tasks, asksForExpired, expiredForMs, ...asked, ...uptime });
}

/** A commit that acquires up to a hundred jobs. */
export function commit(store: DataStore, fields: CommitFields = {}): Promise<CommitReport> {
  const view = viewOf(fields);
  return store.commit({
    ...view,
    commitId: fields.commitId ?? newCommitId(view.schedulerId),
    isRepetition: fields.isRepetition ?? false,
    until: fields.until ?? view.now + LEASE_MS,
    releases: fields.releases ?? [],
    additions: fields.additions ?? [],
    recover: fields.recover ?? false,
    plans: fields.plans ?? [],
    ...(fields.endsMissed === undefined ? {} : { endsMissed: fields.endsMissed }),
    ...(fields.blackouts === undefined ? {} : { blackouts: fields.blackouts }),
    ...(fields.endsPauses === undefined ? {} : { endsPauses: fields.endsPauses }),
    ...(fields.overdue === undefined ? {} : { overdue: fields.overdue }),
    ...(fields.heartbeat === undefined ? {} : { heartbeat: fields.heartbeat }),
    ...(fields.leaseEnds === undefined ? {} : { leaseEnds: fields.leaseEnds }),
  });
}

/** A commit that recovers and acquires. */
export function take(store: DataStore, fields: CommitFields = {}): Promise<CommitReport> {
  return commit(store, { recover: true, ...fields });
}

/** A commit that recovers and acquires nothing. */
export function release(
  store: DataStore,
  releases: readonly JobRelease[],
  fields: CommitFields = {},
): Promise<CommitReport> {
  return commit(store, { recover: true, jobs: null, releases, ...fields });
}

/** A commit with plans alone. */
export function commitPlans(
  store: DataStore,
  plans: readonly SchedulePlan[],
  fields: CommitFields = {},
): Promise<CommitReport> {
  return commit(store, { jobs: null, plans, ...fields });
}

function viewOf(fields: ViewFields): View {
  const now = fields.now ?? T0;
  return {
    now,
    schedulerId: fields.by ?? "scheduler-a",
    jobs: fields.jobs === null ? null : capacityOf(fields),
    schedules:
      fields.schedules === undefined
        ? null
        : { dueBy: now, limit: 100, bytesMax: 1_000_000, after: null, ...fields.schedules },
  };
}

function capacityOf({ queues = [QUEUE], limit = 100, bounds }: ViewFields): JobCapacity {
  return bounds === undefined ? { queues, limit } : { queues, limit, bounds: new Map(Object.entries(bounds)) };
}

/** Extends the leases of these jobs, as a scheduler does that runs no other jobs. */
export function extend(
  store: DataStore,
  jobs: LeaseExtension["jobs"],
  fields: Partial<LeaseExtension> = {},
): Promise<LeaseExtensionReport> {
  const schedulerId = fields.schedulerId ?? "scheduler-a";
  return store.extendLeases({
    now: T0,
    schedulerId,
    instanceId: instanceIdOf(schedulerId),
    // Greater than the ids of all commits, as text.
    settledCommitId: `${instanceIdOf(schedulerId)}~`,
    until: T0 + 90_000,
    jobs,
    aliveUntil: null,
    ...fields,
  });
}

/** One fire of a schedule, without delay. */
export function fireOf(scheduleId: string, fireTime: number, fields: Partial<PlannedJob> = {}): PlannedJob {
  return {
    jobId: `job of ${scheduleId}`,
    createdAt: fireTime,
    fireTime,
    scheduledFireTime: fireTime,
    runAt: fireTime,
    startDeadline: null,
    missedCount: null,
    firstMissedTime: null,
    lastMissedTime: null,
    ...fields,
  };
}

/** The plan of a schedule that fires once now, and again a second later. */
export function planOf(
  schedule: Pick<ScheduleRecord, "id" | "fence" | "nextFireTime">,
  fields: Partial<SchedulePlan> = {},
): SchedulePlan {
  const expected = present(schedule.nextFireTime, "a fire time to plan");
  return {
    scheduleId: schedule.id,
    fence: schedule.fence,
    expected,
    fires: [fireOf(schedule.id, expected)],
    nextFireTime: expected + 1000,
    lastFireTime: expected,
    paused: false,
    isPreferred: true,
    ...fields,
  };
}

/** The job that a schedule's fire becomes. */
export function jobOf(schedule: ScheduleRecord, fire: PlannedJob, fields: Partial<JobRecord> = {}): JobRecord {
  const { jobId: id, ...planned } = fire;
  const { taskId, executor, payload, priority, resultExpirationMs, maxRecoveries, metadata } = schedule;
  const copied = { taskId, executor, payload, priority, resultExpirationMs, maxRecoveries, metadata };
  return makeJob({ id, scheduleId: schedule.id, ...planned, ...copied, ...fields });
}

/** Adds one job and acquires it. */
export async function leasedJob(
  store: DataStore,
  fields: Partial<JobRecord> = {},
  stepFields: CommitFields = {},
): Promise<JobRecord> {
  await store.addJobs([makeJob(fields)]);
  const { acquired } = await take(store, stepFields);
  return present(acquired[0], "the job that was just added is acquired");
}

/** Leaves the result of a job, as one does that a job may repeat. */
export async function endedJob(store: DataStore, fields: Partial<JobRecord> = {}): Promise<void> {
  const job = makeJob({ id: "first", ...fields });
  await store.addJobs([job]);
  await cancel(store, job.id, T0);
}

/** Cancels one job. `ended` are the children that ended with it; absent for none. */
export async function cancel(
  store: DataStore,
  id: string,
  now: number,
): Promise<JobCancellation & { readonly ended?: readonly JobResultRecord[] }> {
  const { jobs, ended } = await store.cancelJobs([id], now);
  const job = present(jobs[0], "the answer of a cancellation");
  return ended.length === 0 ? job : { ...job, ended };
}

export function add(...schedules: readonly ScheduleRecord[]): ScheduleAddition[] {
  return schedules.map((schedule) => ({ schedule, conflictPolicy: "doNothing" }));
}

/** Adds schedules, and returns them as a planner sees them. */
export async function lookedAt(store: DataStore, ...schedules: readonly ScheduleRecord[]): Promise<LookReport["due"]> {
  await store.addSchedules(add(...schedules));
  return (await look(store, { schedules: {} })).due;
}

/** The ids of the unfinished jobs, in their order. */
export async function jobIds(store: DataStore): Promise<string[]> {
  return idsOf((await store.getJobs({ limit: 1000, cursor: null })).items);
}

/** The ids of records, in their order. */
export function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map((record) => record.id);
}

/** Changes one schedule. */
export async function updateSchedule(
  store: DataStore,
  id: string,
  changes: ScheduleChanges,
  expectedFence?: number,
  note?: AuditRecord,
): Promise<ScheduleRecord | null> {
  const update = { id, changes, ...(expectedFence === undefined ? {} : { expectedFence }) };
  return (await store.updateSchedules([update], note))[0] ?? null;
}

/** Removes one schedule. */
export async function removeSchedule(
  store: DataStore,
  id: string,
  note?: AuditRecord,
  expectedFence?: number,
): Promise<boolean> {
  const removal = { id, ...(expectedFence === undefined ? {} : { expectedFence }) };
  return (await store.removeSchedules([removal], note))[0] === true;
}
