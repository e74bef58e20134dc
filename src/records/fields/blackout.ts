/** What a blackout shows. */
export const BLACKOUT_FIELDS = {
  id: { kind: "text" },
  from: { kind: "instant", null: "it recurs" },
  until: { kind: "instant", null: "it recurs" },
  trigger: { kind: "trigger", null: "it does not recur" },
  duration: { kind: "duration", null: "it does not recur" },
  labels: { kind: "labels", null: "any" },
  taskIds: { kind: "texts", null: "all" },
  missed: { kind: "missed" },
  reason: { kind: "text", null: "none" },
  by: { kind: "text", null: "unknown" },
  createdAt: { kind: "instant" },
} as const;
