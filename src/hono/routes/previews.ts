import { toEpochMs, zonedOf } from "../../core/temporal.ts";
import { CronTrigger } from "../../triggers/cron.ts";
import { previewOf } from "../preview.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { triggerOf } from "../trigger-of.ts";

/** Largest body of a preview, in bytes. A trigger may hold others, and what they cost grows faster than their text. */
const PREVIEW_BYTES_MAX = 16_384;

/** Fire times to come. */
export const previewRoutes: Routes<"GET /schedules/:id/preview" | "POST /triggers/preview"> = {
  "GET /schedules/:id/preview": {
    scope: "read",
    query: schemas.previewQuery,
    handle: async ({ client, clock, params: { id }, query }) => {
      const { trigger } = await client.getSchedule(id);
      const times = (await client.previewSchedule(id, query)).map(msOf);
      const fromMs = query.from === undefined ? (times[0] ?? clock.now()) : toEpochMs(query.from, "from");
      return { status: 200, body: previewOf(trigger, times, fromMs, times.length < query.limit) };
    },
  },
  "POST /triggers/preview": {
    scope: "read",
    bodyBytesMax: PREVIEW_BYTES_MAX,
    body: schemas.triggerPreviewBody,
    handle: async ({ clock, body: { trigger: wire, limit, from } }) => {
      const given = triggerOf(wire, "POST /triggers/preview");
      const rule = typeof given === "string" ? CronTrigger.fromCrontab(given, { timeZone: "UTC" }) : given;
      const fromMs = from === undefined ? clock.now() : toEpochMs(from, "from");
      const times = [...rule.fireTimes({ from: zonedOf(fromMs, "UTC"), limit })].map(msOf);
      return { status: 200, body: previewOf(rule, times, fromMs, times.length < limit) };
    },
  },
};

function msOf({ epochMilliseconds }: { epochMilliseconds: number }): number {
  return epochMilliseconds;
}
