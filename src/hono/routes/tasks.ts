import { plain } from "../../scheduler/views/plain.ts";
import { withLabels } from "../labels-of.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { wholePage } from "../show.ts";

/** The tasks that the store knows. */
export const taskRoutes: Routes<
  "GET /tasks" | "GET /tasks/:id" | "DELETE /tasks/:id" | "POST /tasks/:id/pause" | "POST /tasks/:id/unpause"
> = {
  "GET /tasks": {
    scope: "read",
    query: schemas.taskQuery,
    handle: async ({ client, query }) => ({
      status: 200,
      body: wholePage((await client.getTasks(withLabels(query, "GET /tasks"))).map(plain)),
    }),
  },
  "GET /tasks/:id": {
    scope: "read",
    handle: async ({ client, params }) => ({ status: 200, body: plain(await client.getTask(params.id)) }),
  },
  "DELETE /tasks/:id": {
    scope: "write",
    handle: async ({ client, params }) => {
      await client.removeTask(params.id);
      return { status: 204, body: null };
    },
  },
  "POST /tasks/:id/pause": {
    scope: "write",
    body: schemas.taskPauseBody,
    handle: async ({ client, params, body, by }) => ({
      status: 200,
      body: plain(await client.pauseTask(params.id, { ...body, ...by(body.by) })),
    }),
  },
  "POST /tasks/:id/unpause": {
    scope: "write",
    body: schemas.taskUnpauseBody,
    handle: async ({ client, params, body, by }) => ({
      status: 200,
      body: plain(await client.unpauseTask(params.id, { ...body, ...by(body.by) })),
    }),
  },
};
