import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import type {
  DataStore,
  JobQueue,
  JobRelease,
  ScheduleAcquisitionReport,
  ScheduleAddition,
  TurnReport,
} from "../../stores/data-store.ts";
import { present } from "./assert.ts";

// Records that name only what a case is about. Ids sort as they are counted.

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
    retry: { attemptsMax: 1, initialMs: 1000, factor: 2, maxMs: 3_600_000, jitter: "full" },
    metadata: {},
    ...fields,
  };
}

export function makeSchedule(fields: Partial<ScheduleRecord> = {}): ScheduleRecord {
  return {
    id: "schedule",
    taskId: "task",
    trigger: '{"type":"interval","start":1}',
    triggerRule: '{"type":"interval"}',
    payload: null,
    executor: "inline",
    priority: 0,
    coalesce: "latest",
    misfireGraceMs: null,
    maxJitterMs: 0,
    maxCatchUp: null,
    resultExpirationMs: 86_400_000,
    maxRecoveries: 3,
    metadata: {},
    paused: false,
    createdAt: T0,
    nextFireTime: T0,
    lastFireTime: null,
    acquiredBy: null,
    acquiredUntil: null,
    fence: 0,
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
    ...fields,
  };
}

/** The release of a job that succeeded. */
export function finish(job: JobRecord, fields: Partial<JobResultRecord> = {}): JobRelease {
  return { jobId: job.id, fence: job.fence, kind: "finish", result: makeResult(job, fields) };
}

/** What {@link take} and {@link release} may vary. */
export interface TurnFields {
  readonly now?: number;
  readonly by?: string;
  readonly limit?: number;
  readonly acquisitionId?: string;
  readonly until?: number;
  readonly queues?: readonly JobQueue[];
  readonly releases?: readonly JobRelease[];
}

let acquisitions = 0;

/** A turn that acquires. */
export function take(store: DataStore, fields: TurnFields = {}): Promise<TurnReport> {
  const now = fields.now ?? T0;
  return store.turn({
    now,
    schedulerId: fields.by ?? "scheduler-a",
    releases: fields.releases ?? [],
    acquisition: {
      acquisitionId: fields.acquisitionId ?? `acquisition-${++acquisitions}`,
      until: fields.until ?? now + LEASE_MS,
      limit: fields.limit ?? 100,
      queues: fields.queues ?? [QUEUE],
    },
  });
}

/** A turn that acquires nothing. */
export function release(
  store: DataStore,
  releases: readonly JobRelease[],
  fields: TurnFields = {},
): Promise<TurnReport> {
  return store.turn({
    now: fields.now ?? T0,
    schedulerId: fields.by ?? "scheduler-a",
    releases,
    acquisition: null,
  });
}

/** Adds one job and acquires it. */
export async function leasedJob(
  store: DataStore,
  fields: Partial<JobRecord> = {},
  turn: TurnFields = {},
): Promise<JobRecord> {
  await store.addJobs([makeJob(fields)]);
  const { acquired } = await take(store, turn);
  return present(acquired[0], "the job that was just added is acquired");
}

export function add(...schedules: readonly ScheduleRecord[]): ScheduleAddition[] {
  return schedules.map((schedule) => ({ schedule, conflictPolicy: "doNothing" }));
}

/** What {@link takeSchedules} may vary. */
export interface ScheduleTakeFields {
  readonly now?: number;
  readonly by?: string;
  readonly limit?: number;
  readonly acquisitionId?: string;
  readonly until?: number;
}

export function takeSchedules(store: DataStore, fields: ScheduleTakeFields = {}): Promise<ScheduleAcquisitionReport> {
  const now = fields.now ?? T0;
  return store.acquireSchedules({
    now,
    schedulerId: fields.by ?? "scheduler-a",
    acquisitionId: fields.acquisitionId ?? `acquisition-${++acquisitions}`,
    until: fields.until ?? now + LEASE_MS,
    limit: fields.limit ?? 100,
  });
}

/** The ids of records, in their order. */
export function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map((record) => record.id);
}
