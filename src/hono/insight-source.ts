import type { AbortSignal } from "../core/abort-signal.ts";
import type { Logger } from "../core/logger.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import type { DeclaredBody } from "./wire.ts";

/** What the router needs of an `insight()`. */
export interface InsightSource {
  /** How often the schedules will fire. Instants and durations are text. */
  forecast(
    scheduler: SchedulerClient,
    options: { from?: string; until?: string; bucket?: string },
  ): Promise<{ toJSON(): Record<string, unknown> }>;
  /** What declared schedules would change. */
  plan(
    scheduler: SchedulerClient,
    declared: readonly DeclaredBody[],
    options: { owner: string; nextFires?: number; signal: AbortSignal },
  ): Promise<{ toJSON(): Record<string, unknown> }>;
  /** Changes it, unless the plan is another one than that with the revision. */
  apply(
    scheduler: SchedulerClient,
    declared: readonly DeclaredBody[],
    options: { owner: string; revision: string; by?: string | undefined; signal: AbortSignal },
  ): Promise<{ toJSON(): Record<string, unknown> }>;
  /** A calendar of the fire times of a range, in epoch milliseconds; null for a wrong token. What it leaves out is also
   *  logged. Without this method there is no such route. */
  calendar?(
    scheduler: SchedulerClient,
    token: string,
    range: { readonly from: number; readonly until: number },
    logger: Pick<Logger, "warn">,
  ): Promise<string | null>;
}
