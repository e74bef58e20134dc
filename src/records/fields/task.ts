/** How often, and after which pauses, a failed job runs again. */
export const RETRY_FIELDS = {
  maxAttempts: { kind: "count" },
  backoff: {
    kind: "object",
    fields: {
      initial: { kind: "duration" },
      factor: { kind: "number" },
      max: { kind: "duration" },
      jitter: { kind: "jitter" },
    },
  },
} as const;

/** What a task shows. */
export const TASK_FIELDS = {
  id: { kind: "text" },
  executor: { kind: "text" },
  maxRunningJobs: { kind: "count", null: "unlimited" },
  maxRunningPerKey: { kind: "count", absent: "unlimited" },
  rateLimit: {
    kind: "object",
    absent: "unlimited",
    fields: { limit: { kind: "count" }, per: { kind: "duration" }, burst: { kind: "count" } },
  },
  fair: { kind: "flag" },
  pauseAfterFailures: { kind: "count", absent: "never" },
  isPaused: { kind: "flag", record: "paused" },
  pausedUntil: { kind: "instant", absent: "none" },
  pauseReason: { kind: "text", absent: "none" },
  pausedBy: { kind: "text", absent: "none" },
  misfireGraceTime: { kind: "duration", null: "unlimited" },
  maxRecoveries: { kind: "count" },
  maxSnoozes: { kind: "count" },
  timeout: { kind: "duration", null: "unlimited" },
  abandonAfter: { kind: "duration", absent: "none" },
  resultExpirationTime: { kind: "duration" },
  failureExpirationTime: { kind: "duration", absent: "none" },
  retry: { kind: "object", fields: RETRY_FIELDS as typeof RETRY_FIELDS },
  overlap: { kind: "overlap" },
  keepLogs: {
    kind: "object",
    absent: "none",
    fields: { lines: { kind: "count" }, bytes: { kind: "count" } },
  },
  metadata: { kind: "metadata" },
  labels: { kind: "labels" },
} as const;
