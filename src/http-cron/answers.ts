import type { TickReport } from "../scheduler/driving/tick.ts";

const TITLES = {
  401: "Unauthorized",
  405: "Method Not Allowed",
  409: "Conflict",
  500: "Internal Server Error",
} as const;

/** What a tick did, as JSON. Its instant is ISO 8601 text. */
export function reportAnswer(report: TickReport): Response {
  const { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAtMs, exhausted, roundTrips } = report;
  const nextWakeAt = nextWakeAtMs === null ? null : new Date(nextWakeAtMs).toISOString();
  const body = { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAt, exhausted, roundTrips };
  return json(200, body, { "content-type": "application/json" });
}

/** A problem after RFC 9457. @param code the code of the error; nothing else of it is shown */
export function problemAnswer(
  status: keyof typeof TITLES,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { type: "about:blank", title: TITLES[status], status, code };
  return json(status, body, { "content-type": "application/problem+json", ...headers });
}

function json(status: number, body: object, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(body), { status, headers: { "cache-control": "no-store", ...headers } });
}
