import type { EventType } from "../../records/events.ts";
import type { Routes } from "../route.ts";
import { eventQuery, eventTypesOf } from "../schemas.ts";

/** What happens, as it happens. */
export const eventRoutes: Routes<"GET /events"> = {
  "GET /events": {
    scope: "read",
    query: eventQuery,
    handle: async ({ streams, client, request, query: { types: text, ...ids } }) => {
      // The query was checked.
      const types = text === undefined ? undefined : new Set(eventTypesOf(text) as EventType[]);
      return streams.answer(client, request, { types, ...ids });
    },
  },
};
