import type { AbortSignal } from "../core/abort-signal.ts";
import type { PlanFacts } from "./plan-report.ts";

/** What makes and applies plans: a scheduler of this process, or a router. */
export interface Planner {
  plan(declared: unknown, options: CheckedPlanOptions): Promise<PlanFacts>;
  apply(declared: unknown, options: CheckedPlanOptions, revision: string, by: string | undefined): Promise<void>;
}

export interface CheckedPlanOptions {
  readonly owner: string;
  readonly nextFires: number;
  readonly signal?: AbortSignal | undefined;
}
