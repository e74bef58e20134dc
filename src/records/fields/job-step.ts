/** What a step of a job shows. */
export const JOB_STEP_FIELDS = {
  name: { kind: "text" },
  state: { kind: "stepState" },
  startedAt: { kind: "instant" },
  endedAt: { kind: "instant", null: "not yet" },
  wakeAt: { kind: "instant", null: "none" },
  attempts: { kind: "count" },
  version: { kind: "whole", null: "none" },
  value: { kind: "value" },
  cursor: { kind: "value" },
} as const;
