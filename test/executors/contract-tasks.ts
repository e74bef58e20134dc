import { defineTasks } from "../../src/scheduler/tasks/defined-tasks.ts";
import { jobExecutorHandlers } from "../../src/testing/job-executor-handlers.ts";

/** The handlers of the contract, as the tasks of a module. */
export const tasks: object = defineTasks(
  Object.fromEntries(Object.entries(jobExecutorHandlers).map(([id, handler]) => [id, { handler }])),
);
