import { bearerOf } from "../../core/bearer.ts";
import type { Clock } from "../../core/clock.ts";
import { DearAnswers } from "../../core/in-turns.ts";
import { instantText } from "../../core/temporal.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { ForecastAnswer, PlanAnswer } from "../api.ts";
import type { InsightSource } from "../insight-source.ts";
import { Refusal } from "../refusal.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";

const forecasts = new WeakMap<SchedulerClient, DearAnswers<ForecastAnswer>>();

function forecastsOf(client: SchedulerClient, clock: Clock): DearAnswers<ForecastAnswer> {
  const known = forecasts.get(client) ?? new DearAnswers<ForecastAnswer>(clock);
  forecasts.set(client, known);
  return known;
}

// The routes are there with an insight alone. What it answers has the fields of these types.

/** What schedules would do, and schedules as code. */
export const insightRoutes: Routes<"GET /forecast" | "POST /plan" | "POST /apply" | "GET /calendar.ics"> = {
  "GET /forecast": {
    scope: "read",
    query: schemas.forecastQuery,
    handle: async ({ client, clock, insight, query }) => {
      const body = await forecastsOf(client, clock).of(JSON.stringify(query), async () => {
        const found = await (insight as InsightSource).forecast(client, { from: instantText(clock.now()), ...query });
        return found.toJSON() as unknown as ForecastAnswer;
      });
      return { status: 200, body };
    },
  },
  "POST /plan": {
    scope: "read",
    body: schemas.planBody,
    handle: async ({ client, insight, body: { declared, ...options }, request: { signal } }) => {
      const found = await (insight as InsightSource).plan(client, declared, { ...options, signal });
      return { status: 200, body: found.toJSON() as unknown as PlanAnswer };
    },
  },
  "POST /apply": {
    scope: "write",
    body: schemas.applyBody,
    handle: async ({ client, insight, body: { declared, by: given, ...options }, by, request: { signal } }) => {
      const found = await (insight as InsightSource).apply(client, declared, { ...options, ...by(given), signal });
      return { status: 200, body: found.toJSON() as unknown as PlanAnswer };
    },
  },
  "GET /calendar.ics": {
    // Programs send no headers of their own, so that it has tokens of its own.
    scope: "none",
    query: schemas.calendarQuery,
    handle: async ({ client, clock, insight, logger, query: { token, days }, request }) => {
      const from = clock.now();
      const range = { from, until: from + days * 86_400_000 };
      const text = await insight?.calendar?.(client, token ?? bearerOf(request) ?? "", range, logger);
      if (typeof text !== "string") throw new Refusal(401, "unauthorized", WRONG_TOKEN);
      return new Response(text, {
        headers: { "content-type": "text/calendar; charset=utf-8", "cache-control": "no-store" },
      });
    },
  },
};

const WRONG_TOKEN = "the token is none of the calendar's; write `/calendar.ics?token=TOKEN`";
