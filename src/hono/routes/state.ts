import { hasMethods } from "../../core/check.ts";
import { instantTextOrNull } from "../../core/temporal.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { TickReport } from "../../scheduler/views/tick-report.ts";
import { withLabels } from "../labels-of.ts";
import { isReady } from "../readiness.ts";
import { Refusal } from "../refusal.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { wholePage } from "../show.ts";
import { overviewOf, shownHealth } from "./overview.ts";

/** How the store and its schedulers are, and what keeps them going. */
export const stateRoutes: Routes<
  | "GET /health/live"
  | "GET /health/ready"
  | "GET /health"
  | "GET /overview"
  | "GET /schedulers"
  | "POST /cleanup"
  | "POST /tick"
  | "GET /metrics"
  | "GET /openapi.json"
> = {
  "GET /health/live": {
    scope: "none",
    handle: async () => ({ status: 200, body: { status: "live" } }),
  },
  "GET /health/ready": {
    scope: "none",
    handle: async ({ client, clock }) => {
      const isStoreReached = await isReady(client, clock);
      if (!isStoreReached) throw new Refusal(503, "storeUnavailable", "the store cannot be reached; try again");
      return { status: 200, body: { status: "ready" } };
    },
  },
  "GET /health": {
    scope: "read",
    handle: async ({ client }) => ({ status: 200, body: shownHealth(await client.health()) }),
  },
  "GET /overview": {
    scope: "read",
    handle: async ({ client, clock, show }) => ({ status: 200, body: await overviewOf(client, clock.now(), show) }),
  },
  "GET /schedulers": {
    scope: "read",
    handle: async ({ client }) => ({ status: 200, body: wholePage(shownHealth(await client.health()).schedulers) }),
  },
  "POST /cleanup": {
    scope: "write",
    handle: async ({ client }) => {
      await client.cleanup();
      return { status: 204, body: null };
    },
  },
  "GET /metrics": {
    scope: "read",
    query: schemas.taskQuery,
    handle: async ({ metrics, authFailures, query }) => {
      const filter = withLabels(query, "GET /metrics");
      const headers = { "cache-control": "no-store", "content-type": metrics?.contentType ?? "" };
      return new Response(`${await metrics?.text(filter)}${failuresText(authFailures)}`, { headers });
    },
  },
  "GET /openapi.json": {
    scope: "read",
    handle: async () => {
      const { openApiDocument } = await import("../openapi/document.ts");
      return { status: 200, body: JSON.parse(openApiDocument) };
    },
  },
  "POST /tick": {
    scope: "write",
    handle: async ({ client }) => {
      if (!ticks(client)) throw new Refusal(404, "notFound", "the scheduler of this router does no ticks");
      const { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAtMs, exhausted, roundTrips } =
        await client.tick();
      const nextWakeAt = instantTextOrNull(nextWakeAtMs);
      return {
        status: 200,
        body: { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAt, exhausted, roundTrips },
      };
    },
  },
};

function failuresText(count: number | undefined): string {
  if (count === undefined) return "";
  const name = "escapement_http_auth_failures_total";
  return `# HELP ${name} Requests to the router with a wrong token.\n# TYPE ${name} counter\n${name} ${count}\n`;
}

function ticks(client: SchedulerClient): client is SchedulerClient & { tick(): Promise<TickReport> } {
  return hasMethods(client, ["tick"]);
}
