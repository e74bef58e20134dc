import type * as v from "valibot";
import { once } from "../../core/once.ts";
import { TASK_FIELDS } from "../../records/fields/task.ts";
import type { TaskRecord } from "../../records/task.ts";
import { recordSchema } from "./fields.ts";

/** What `TaskView.toJSON()` made, as the record that it was made of. */
export const taskSchema: () => v.GenericSchema<unknown, TaskRecord> = once(() => recordSchema(TASK_FIELDS));
