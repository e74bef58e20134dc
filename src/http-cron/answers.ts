import type { TickReport } from "../scheduler/views/tick-report.ts";

/** What a tick did, as JSON. Its instant is ISO 8601 text. */
export function reportAnswer(report: TickReport): Response {
  const { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAtMs, exhausted, roundTrips } = report;
  const nextWakeAt = nextWakeAtMs === null ? null : new Date(nextWakeAtMs).toISOString();
  const body = { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAt, exhausted, roundTrips };
  return new Response(JSON.stringify(body), {
    headers: { "cache-control": "no-store", "content-type": "application/json" },
  });
}
