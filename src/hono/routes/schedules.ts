import { plain, plainPage } from "../../scheduler/views/plain.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { shownJob } from "../show.ts";
import { triggerOf } from "../trigger-of.ts";
import { changeMany } from "./many-schedules.ts";

/** Everything about schedules, except their previews. */
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
> = {
  "GET /schedules": {
    scope: "read",
    query: schemas.scheduleQuery,
    handle: async ({ client, query }) => ({ status: 200, body: plainPage(await client.getSchedules(query)) }),
  },
  "POST /schedules": {
    scope: "write",
    body: schemas.newScheduleBody,
    handle: async ({ client, body: { taskId, trigger, ...options }, pathTo }) => {
      const schedule = await client.addSchedule(taskId, triggerOf(trigger, "POST /schedules"), options);
      return { status: 201, body: plain(schedule), headers: { location: pathTo("schedules", schedule.id) } };
    },
  },
  "POST /schedules/bulk": {
    scope: "write",
    body: schemas.scheduleBulkBody,
    handle: async ({ client, body }) => ({
      status: 200,
      body: { action: body.action, count: await changeMany(client, body) },
    }),
  },
  "GET /schedules/:id": {
    scope: "read",
    handle: async ({ client, params }) => ({ status: 200, body: plain(await client.getSchedule(params.id)) }),
  },
  "PUT /schedules/:id": {
    scope: "write",
    body: schemas.scheduleBody,
    handle: async ({ client, params: { id }, body: { taskId, trigger, ...options } }) => {
      // A schedule begins with POST, whose `conflictPolicy` says what it means when the id exists.
      await client.getSchedule(id);
      const settings = { ...options, id, conflictPolicy: "replace" as const };
      const schedule = await client.addSchedule(taskId, triggerOf(trigger, "PUT /schedules/:id"), settings);
      return { status: 200, body: plain(schedule) };
    },
  },
  "PATCH /schedules/:id": {
    scope: "write",
    body: schemas.scheduleChangesBody,
    handle: async ({ client, params, body: { trigger, ...changes } }) => {
      const rule = trigger === undefined ? {} : { trigger: triggerOf(trigger, "PATCH /schedules/:id") };
      return { status: 200, body: plain(await client.updateSchedule(params.id, { ...changes, ...rule })) };
    },
  },
  "DELETE /schedules/:id": {
    scope: "write",
    handle: async ({ client, params }) => {
      await client.removeSchedule(params.id);
      return { status: 204, body: null };
    },
  },
  "POST /schedules/:id/pause": {
    scope: "write",
    handle: async ({ client, params }) => ({ status: 200, body: plain(await client.pauseSchedule(params.id)) }),
  },
  "POST /schedules/:id/unpause": {
    scope: "write",
    body: schemas.unpauseBody,
    handle: async ({ client, params, body }) => ({
      status: 200,
      body: plain(await client.unpauseSchedule(params.id, body)),
    }),
  },
  "POST /schedules/:id/run": {
    scope: "write",
    handle: async ({ client, params, scope, pathTo }) => {
      const job = await client.runScheduleNow(params.id);
      return { status: 202, body: shownJob(job, scope), headers: { location: pathTo("jobs", job.id) } };
    },
  },
};
