import { RevisionConflictError } from "../../core/errors.ts";
import { instantTextOrNull, type Temporal } from "../../core/temporal.ts";
import type { ScheduleIncludeOptions, ScheduleOptions } from "../../scheduler/options/options.ts";
import type { Plain } from "../../scheduler/views/plain.ts";
import type { Schedule } from "../../scheduler/views/schedule.ts";
import type { ListedSchedule, PreviewAnswer } from "../api.ts";
import { KEY_KEPT, keyedScheduleId } from "../idempotency.ts";
import { revisionOf } from "../if-match.ts";
import { withLabels } from "../labels-of.ts";
import { numbersOf } from "../list-numbers.ts";
import { previewOf } from "../preview.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { type Show, shownPage } from "../show.ts";
import { changeMany } from "./many-schedules.ts";

/** Most tries of a PUT that others overtake. */
const PUT_TRIES_MAX = 10;

/** Everything about schedules, except their previews and their past. */
export const scheduleRoutes: Routes<
  | "GET /schedules"
  | "POST /schedules"
  | "POST /schedules/bulk"
  | "GET /schedules/:id"
  | "PUT /schedules/:id"
  | "PATCH /schedules/:id"
  | "DELETE /schedules/:id"
  | "POST /schedules/:id/pause"
  | "POST /schedules/:id/unpause"
  | "POST /schedules/:id/run"
  | "POST /schedules/:id/backfill"
> = {
  "GET /schedules": {
    scope: "read",
    query: schemas.scheduleQuery,
    handle: async ({ client, query: { include: words = [], ...query }, show }) => {
      const filter = withLabels(query, "GET /schedules");
      const extras = words.map((word) => word.split(":")).flatMap(([name, count]) => (count ? [[name, +count]] : []));
      const include: ScheduleIncludeOptions = {
        ...Object.fromEntries(extras),
        ...numbersOf(words),
        stats: words.includes("stats"),
      };
      const large = words.includes("payload") ? (["payload"] as const) : [];
      const { schedule: shown } = show.listed(large);
      const withNext = (schedule: Schedule): ListedSchedule => ({
        ...withFires(schedule, shown(schedule)),
        ...(words.includes("description") ? { description: describe(schedule) } : {}),
      });
      return { status: 200, body: await shownPage(await client.getSchedules({ ...filter, include }), withNext) };
    },
  },
  "POST /schedules": {
    scope: "write",
    body: schemas.newScheduleBody,
    handle: async ({ client, clock, body, requestKey, by, show, pathTo }) => {
      const { taskId, trigger, by: given, ...options } = body;
      const settings: ScheduleOptions = { ...options, ...by(given) };
      const key = options.id === undefined ? requestKey() : undefined;
      if (key !== undefined) {
        const { idempotencyKey, requestHash } = key;
        const id = await keyedScheduleId(client, idempotencyKey, clock.now());
        Object.assign(settings, { id, requestHash, conflictPolicy: "doNothing" });
      }
      const schedule = await client.addSchedule(taskId, trigger, settings);
      return { status: 201, body: show.schedule(schedule), headers: { location: pathTo("schedules", schedule.id) } };
    },
  },
  "POST /schedules/bulk": {
    scope: "write",
    body: schemas.scheduleBulkBody,
    handle: async ({ client, body, by, request: { signal } }) => ({
      status: 200,
      body: { action: body.action, ...(await changeMany(client, body, by(body.by), signal)) },
    }),
  },
  "GET /schedules/:id": {
    scope: "read",
    handle: async ({ client, params, show }) => {
      return shown(await client.getSchedule(params.id), show);
    },
  },
  "PUT /schedules/:id": {
    scope: "write",
    body: schemas.scheduleBody,
    handle: async ({ client, params: { id }, body, by, show, request }) => {
      const { taskId, trigger, by: given, ...others } = body;
      // What GET answers may be sent back.
      const { id: _id, skippedCount: _count, createdAt: _at, revision: _revision, ...withFailure } = others;
      const { lastFailure: _failure, ...withTimes } = withFailure;
      const { nextFireTime: _next, lastFireTime: _last, ...withPause } = withTimes;
      const { pausedUntil: _until, pauseReason: _reason, pausedBy: _who, ...settable } = withPause;
      const ifMatch = await revisionOf(request, client, id);
      const settings = { ...settable, ...by(given), id, conflictPolicy: "replace" as const };
      for (let tries = 1; ; tries++) {
        // A schedule begins with POST, whose `conflictPolicy` says what it means when the id exists.
        const { revision } = await client.getSchedule(id);
        try {
          const asked = { ...settings, ifRevision: ifMatch ?? revision };
          return shown(await client.addSchedule(taskId, trigger, asked), show);
        } catch (error) {
          const isOvertaken = error instanceof RevisionConflictError && ifMatch === undefined;
          if (!isOvertaken || tries === PUT_TRIES_MAX) throw error;
        }
      }
    },
  },
  "PATCH /schedules/:id": {
    scope: "write",
    body: schemas.scheduleChangesBody,
    handle: async ({ client, params, body: { by: given, ...changes }, by, show, request }) => {
      const options = { ...by(given), ifRevision: await revisionOf(request, client, params.id) };
      return shown(await client.updateSchedule(params.id, changes, options), show);
    },
  },
  "DELETE /schedules/:id": {
    scope: "write",
    query: schemas.callerNote,
    handle: async ({ client, params, query, by, request }) => {
      const ifRevision = await revisionOf(request, client, params.id);
      await client.removeSchedule(params.id, { ...by(query.by), ifRevision });
      return { status: 204, body: null };
    },
  },
  "POST /schedules/:id/pause": {
    scope: "write",
    body: schemas.pauseBody,
    handle: async ({ client, params, body, by, show }) =>
      shown(await client.pauseSchedule(params.id, { ...body, ...by(body.by) }), show),
  },
  "POST /schedules/:id/unpause": {
    scope: "write",
    body: schemas.unpauseBody,
    handle: async ({ client, params, body, by, show }) =>
      shown(await client.unpauseSchedule(params.id, { ...body, ...by(body.by) }), show),
  },
  "POST /schedules/:id/run": {
    scope: "write",
    body: schemas.runBody,
    handle: async ({ client, params, body, requestKey, show, pathTo }) => {
      const key = body.idempotencyKey === undefined ? requestKey() : undefined;
      const options = key === undefined ? body : { uniqueFor: KEY_KEPT, ...body, ...key };
      const job = await client.runScheduleNow(params.id, options);
      return { status: 202, body: show.job(job), headers: { location: pathTo("jobs", job.id) } };
    },
  },
  "POST /schedules/:id/backfill": {
    scope: "write",
    body: schemas.backfillBody,
    handle: async ({ client, params, body, requestKey, request: { signal } }) => {
      const { idempotencyKey = requestKey()?.idempotencyKey } = body;
      const report = await client.backfill(params.id, { ...body, idempotencyKey, signal });
      const { first, last, coalescedInto } = report;
      const instants = { first: textOf(first), last: textOf(last), coalescedInto: textOf(coalescedInto) };
      return { status: 200, body: { ...report, ...instants } };
    },
  },
};

/** A schedule with its next fire times, where they were asked for, as a preview has them. */
export function withFires(schedule: Schedule, { next, ...shown }: Plain<Schedule>): ListedSchedule {
  return next === undefined ? shown : { ...shown, next: nextOf(schedule) };
}

/** A trigger that cannot be read has none. */
function nextOf(schedule: Schedule): PreviewAnswer["items"] {
  const times = (schedule.next ?? []).map(({ fireTime }) => fireTime.epochMilliseconds);
  const [first] = times;
  return first === undefined ? [] : previewOf(schedule.trigger, times, first, false).items;
}

function describe(schedule: Schedule): string {
  try {
    return schedule.trigger.describe();
  } catch (error) {
    return `unreadable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function textOf(instant: Temporal.Instant | null): string | null {
  return instantTextOrNull(instant?.epochMilliseconds ?? null);
}

function shown(schedule: Schedule, show: Show): { status: 200; body: Plain<Schedule>; headers: { etag: string } } {
  return { status: 200, body: show.schedule(schedule), headers: { etag: `"${schedule.revision}"` } };
}
