import { plain, plainPage } from "../../scheduler/views/plain.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";

/** What became of the fire times of a schedule, why, and who changed the schedule. */
export const occurrenceRoutes: Routes<
  "GET /schedules/:id/occurrences" | "GET /schedules/:id/explain" | "GET /schedules/:id/changes"
> = {
  "GET /schedules/:id/occurrences": {
    scope: "read",
    query: schemas.occurrenceQuery,
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: plainPage(await client.getOccurrences(params.id, query)),
    }),
  },
  "GET /schedules/:id/explain": {
    scope: "read",
    query: schemas.explainQuery,
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: plain(await client.explain(params.id, query.at)),
    }),
  },
  "GET /schedules/:id/changes": {
    scope: "read",
    query: schemas.changeQuery,
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: plainPage(await client.getScheduleChanges(params.id, query)),
    }),
  },
};
