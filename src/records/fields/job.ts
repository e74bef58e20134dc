import { RETRY_FIELDS } from "./task.ts";

/** What a job shows. */
export const JOB_FIELDS = {
  id: { kind: "text" },
  taskId: { kind: "text" },
  scheduleId: { kind: "text", null: "none" },
  executor: { kind: "text" },
  payload: { kind: "value" },
  priority: { kind: "whole" },
  runAt: { kind: "instant" },
  createdAt: { kind: "instant" },
  scheduledFireTime: { kind: "instant", null: "none" },
  fireTime: { kind: "instant", null: "none" },
  startDeadline: { kind: "instant", null: "unlimited" },
  missedCount: { kind: "count", null: "none" },
  firstMissedTime: { kind: "instant", null: "none" },
  lastMissedTime: { kind: "instant", null: "none" },
  metadata: { kind: "metadata" },
  labels: { kind: "labels" },
  idempotencyKey: { kind: "text", null: "none" },
  concurrencyKey: { kind: "text", absent: "none" },
  after: { kind: "texts" },
  onParentFailure: { kind: "onParentFailure", absent: "none" },
  blockedBy: { kind: "blockedBy", absent: "none" },
  state: { kind: "state" },
  retry: { kind: "object", absent: "as the task says", fields: RETRY_FIELDS as typeof RETRY_FIELDS },
  failedAttempts: { kind: "count" },
  recoveries: { kind: "count" },
  acquiredBy: { kind: "text", null: "none" },
  acquiredUntil: { kind: "instant", null: "none" },
  cancelRequested: { kind: "flag" },
  retryOf: { kind: "text", absent: "none" },
  backfillId: { kind: "text", null: "none" },
  attemptHistory: { kind: "attempts" },
  sleepsIn: { kind: "text", null: "none" },
  snoozes: { kind: "count" },
  progress: { kind: "number", null: "unknown" },
  progressNote: { kind: "text", null: "none" },
} as const;

/** What a result shows. */
export const JOB_RESULT_FIELDS = {
  jobId: { kind: "text" },
  taskId: { kind: "text" },
  scheduleId: { kind: "text", null: "none" },
  scheduledFireTime: { kind: "instant", null: "none" },
  outcome: { kind: "outcome" },
  startedAt: { kind: "instant", null: "none" },
  finishedAt: { kind: "instant" },
  expiresAt: { kind: "instant" },
  attempts: { kind: "count" },
  attemptHistory: { kind: "attempts" },
  payload: { kind: "value" },
  metadata: { kind: "metadata" },
  labels: { kind: "labels" },
  concurrencyKey: { kind: "text", absent: "none" },
  progress: { kind: "number", null: "unknown" },
  progressNote: { kind: "text", null: "none" },
  retryOf: { kind: "text", absent: "none" },
  returnValue: { kind: "value" },
  error: { kind: "error", null: "none" },
} as const;

/** What an attempt shows. */
export const ATTEMPT_FIELDS = {
  number: { kind: "count" },
  startedAt: { kind: "instant", null: "none" },
  finishedAt: { kind: "instant" },
  error: { kind: "error", null: "none" },
} as const;

/** What decides about the addition of a job, and is no field of it. */
export const JOB_OPTIONS = {
  delay: { kind: "duration" },
  uniqueFor: { kind: "duration" },
  debounce: {
    kind: "object",
    fields: { key: { kind: "text" }, wait: { kind: "duration" }, maxWait: { kind: "duration" } },
  },
  throttle: { kind: "object", fields: { key: { kind: "text" }, per: { kind: "duration" } } },
} as const;
