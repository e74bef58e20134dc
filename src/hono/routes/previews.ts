import { mapInTurns } from "../../core/in-turns.ts";
import { toEpochMs, zonedOf } from "../../core/temporal.ts";
import { checkTrigger } from "../../scheduler/options/check-options.ts";
import { PREVIEW_BODY_BYTES_MAX } from "../limits.ts";
import { previewOf } from "../preview.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";

/** Fire times to come. */
export const previewRoutes: Routes<"GET /schedules/:id/preview" | "POST /triggers/preview"> = {
  "GET /schedules/:id/preview": {
    scope: "read",
    query: schemas.previewQuery,
    handle: async ({ client, clock, params: { id }, query }) => {
      const { trigger } = await client.getSchedule(id);
      const fires = await client.previewSchedule(id, query);
      const times = fires.map(({ fireTime }) => msOf(fireTime));
      const blackouts = new Map(fires.map(({ fireTime, blackout }) => [msOf(fireTime), blackout]));
      const fromMs = query.from === undefined ? (times[0] ?? clock.now()) : toEpochMs(query.from, "from");
      return { status: 200, body: previewOf(trigger, times, fromMs, times.length < query.limit, blackouts) };
    },
  },
  "POST /triggers/preview": {
    scope: "read",
    bodyBytesMax: PREVIEW_BODY_BYTES_MAX,
    body: schemas.triggerPreviewBody,
    handle: async ({ clock, body: { trigger, limit, from, ...spreading } }) => {
      const rule = checkTrigger(trigger, "POST /triggers/preview", "UTC", spreading);
      const fromMs = from === undefined ? clock.now() : toEpochMs(from, "from");
      const times = await mapInTurns(rule.fireTimes({ from: zonedOf(fromMs, "UTC"), limit }), msOf);
      return { status: 200, body: previewOf(rule, times, fromMs, times.length < limit) };
    },
  },
};

function msOf({ epochMilliseconds }: { epochMilliseconds: number }): number {
  return epochMilliseconds;
}
