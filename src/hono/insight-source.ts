import type { SchedulerClient } from "../scheduler/scheduler-client.ts";

/** What the router needs of an `insight()`. */
export interface InsightSource {
  /** How often the schedules will fire. Instants and durations are text. */
  forecast(
    scheduler: SchedulerClient,
    options: { from?: string; until?: string; bucket?: string },
  ): Promise<{ toJSON(): Record<string, unknown> }>;
}
