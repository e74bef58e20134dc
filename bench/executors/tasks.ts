import { defineTasks } from "escapement";

/** The module that our workers import: what piscina and the raw thread run too. */
export const tasks = defineTasks({ echo: { handler: (payload: unknown) => payload } });

/** What piscina calls. */
export default (payload: unknown): unknown => payload;
