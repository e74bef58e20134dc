/** What statistics show of the jobs that ended in a time. */
export const STATS_FIELDS = {
  count: { kind: "count" },
  outcomes: {
    kind: "object",
    fields: {
      success: { kind: "count" },
      error: { kind: "count" },
      missedStartDeadline: { kind: "count" },
      deserializationFailed: { kind: "count" },
      cancelled: { kind: "count" },
      abandoned: { kind: "count" },
      skipped: { kind: "count" },
    },
  },
  runTime: {
    kind: "object",
    null: "none started",
    fields: { p50: { kind: "duration" }, p95: { kind: "duration" } },
  },
  lateness: {
    kind: "object",
    null: "unknown of all",
    fields: { p50: { kind: "duration" }, p95: { kind: "duration" } },
  },
} as const;
