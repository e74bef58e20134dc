import { plain } from "../../scheduler/views/plain.ts";
import { Refusal } from "../refusal.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { wholePage } from "../show.ts";

/** Times in which fire times make no job. */
export const blackoutRoutes: Routes<"GET /blackouts" | "POST /blackouts" | "DELETE /blackouts/:id"> = {
  "GET /blackouts": {
    scope: "read",
    handle: async ({ client }) => ({ status: 200, body: wholePage((await client.getBlackouts()).map(plain)) }),
  },
  "POST /blackouts": {
    scope: "write",
    body: schemas.blackoutBody,
    handle: async ({ client, body, by, pathTo }) => {
      const { id, by: given, ...others } = body;
      const blackout = await client.addBlackout(id, { ...others, ...by(given) });
      return { status: 201, body: plain(blackout), headers: { location: pathTo("blackouts", blackout.id) } };
    },
  },
  "DELETE /blackouts/:id": {
    scope: "write",
    query: schemas.callerNote,
    handle: async ({ client, params: { id }, query, by }) => {
      if (await client.removeBlackout(id, by(query.by))) return { status: 204, body: null };
      throw new Refusal(404, "blackoutNotFound", `there is no blackout "${id}"`);
    },
  },
};
