import { backfills } from "./backfills.ts";
import { fireTimes } from "./fire-times.ts";
import { jobSteps } from "./job-steps.ts";
import { notices } from "./notices.ts";
import type { World } from "./operators.ts";

/** What operators do to schedules, their jobs and notices. */
export const OPERATORS: World = {
  operations: [fireTimes, notices, backfills],
  hasSchedules: true,
  turns: { min: 8, max: 16 },
  leaseMs: 9000,
  skewMsMax: 900,
  healingMs: 14_000,
  hasTicks: false,
};

/** Jobs with steps, alone, because they have more to lose in a smaller world. */
export const STEPS: World = {
  operations: [jobSteps],
  hasSchedules: false,
  turns: { min: 3, max: 9 },
  leaseMs: 3000,
  skewMsMax: 300,
  healingMs: 8000,
  hasTicks: true,
};
