import { backfills } from "./backfills.ts";
import { blackouts } from "./blackouts.ts";
import { changes } from "./changes.ts";
import { fireTimes } from "./fire-times.ts";
import { jobSteps } from "./job-steps.ts";
import { notices } from "./notices.ts";
import type { World } from "./operators.ts";
import { pauses } from "./pauses.ts";

/** What operators do to schedules, their jobs and notices. */
export const OPERATORS: World = {
  operations: [fireTimes, notices, backfills, blackouts, pauses, changes],
  hasSchedules: true,
  turns: { min: 3, max: 7 },
  leaseMs: 5000,
  skewMsMax: 900,
  healingMs: 6000,
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
