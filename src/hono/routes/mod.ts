import type { Endpoints } from "../api.ts";
import type { Routes } from "../route.ts";
import { jobRoutes } from "./jobs.ts";
import { previewRoutes } from "./previews.ts";
import { resultRoutes } from "./results.ts";
import { scheduleRoutes } from "./schedules.ts";
import { stateRoutes } from "./state.ts";
import { taskRoutes } from "./tasks.ts";

/** Every route, by method and path. Of two that fit a request, the first counts. */
export const routes: Routes<keyof Endpoints> = {
  ...stateRoutes,
  ...taskRoutes,
  ...scheduleRoutes,
  ...previewRoutes,
  ...jobRoutes,
  ...resultRoutes,
};
