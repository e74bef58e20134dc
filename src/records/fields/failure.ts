/** What a group of failures shows. */
export const FAILURE_GROUP_FIELDS = {
  taskId: { kind: "text", null: "of several tasks" },
  key: { kind: "text", null: "of several errors" },
  outcome: { kind: "outcome", null: "of several errors" },
  name: { kind: "text", null: "none, or of several errors" },
  pattern: { kind: "text", null: "none, or of several errors" },
  message: { kind: "text", null: "none" },
  count: { kind: "count" },
  firstAt: { kind: "instant" },
  lastAt: { kind: "instant" },
  jobIds: { kind: "texts" },
  scheduleIds: { kind: "texts" },
} as const;
