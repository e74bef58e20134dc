import type { Endpoints } from "../api.ts";
import type { Routes } from "../route.ts";
import { blackoutRoutes } from "./blackouts.ts";
import { eventRoutes } from "./events.ts";
import { insightRoutes } from "./insight.ts";
import { jobRoutes } from "./jobs.ts";
import { occurrenceRoutes } from "./occurrences.ts";
import { previewRoutes } from "./previews.ts";
import { resultRoutes } from "./results.ts";
import { scheduleRoutes } from "./schedules.ts";
import { sessionRoutes } from "./session.ts";
import { stateRoutes } from "./state.ts";
import { taskRoutes } from "./tasks.ts";

/** Every route, by method and path. Of two that fit a request, the first counts. */
export const routes: Routes<keyof Endpoints> = {
  ...stateRoutes,
  ...eventRoutes,
  ...sessionRoutes,
  ...taskRoutes,
  ...blackoutRoutes,
  ...scheduleRoutes,
  ...previewRoutes,
  ...insightRoutes,
  ...occurrenceRoutes,
  ...jobRoutes,
  ...resultRoutes,
};
