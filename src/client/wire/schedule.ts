import type * as v from "valibot";
import { once } from "../../core/once.ts";
import { SCHEDULE_FIELDS } from "../../records/fields/schedule.ts";
import type { ScheduleFacts } from "../../scheduler/views/schedule.ts";
import { recordSchema } from "./fields.ts";

/** What `Schedule.toJSON()` made, as the record that it was made of. */
export const scheduleSchema: () => v.GenericSchema<unknown, ScheduleFacts> = once(() => recordSchema(SCHEDULE_FIELDS));
