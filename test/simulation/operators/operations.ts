import { backfills } from "./backfills.ts";
import { fireTimes } from "./fire-times.ts";
import { jobSteps } from "./job-steps.ts";
import { notices } from "./notices.ts";
import type { OperationMaker } from "./operators.ts";

/** All that operators do. The place of one decides what the others draw, so that a new one comes last. */
export const OPERATIONS: readonly OperationMaker[] = [fireTimes, notices, jobSteps, backfills];
