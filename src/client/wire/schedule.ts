import * as v from "valibot";
import { once } from "../../core/once.ts";
import { SCHEDULE_FIELDS } from "../../records/fields/schedule.ts";
import type { PreviewedFireFacts } from "../../scheduler/views/previewed-fire.ts";
import type { ScheduleExtras, ScheduleFacts } from "../../scheduler/views/schedule.ts";
import { recordSchema } from "./fields.ts";
import { occurrenceSchema } from "./occurrence.ts";
import { statsSchema } from "./stats.ts";
import { instant, text } from "./values.ts";

/** What `Schedule.toJSON()` made, as the record that it was made of. */
export const scheduleSchema: () => v.GenericSchema<unknown, ScheduleFacts> = once(() => recordSchema(SCHEDULE_FIELDS));

/** A fire time to come, as a route makes it. */
export const previewedFireSchema: () => v.GenericSchema<
  unknown,
  Pick<PreviewedFireFacts, "fireTime" | "shiftedFrom" | "blackout">
> = once(() =>
  v.pipe(
    v.object({ at: instant(), shiftedFrom: v.nullable(instant()), blackout: v.nullable(text()) }),
    v.transform(({ at: fireTime, shiftedFrom, blackout }) => ({ fireTime, shiftedFrom, blackout })),
  ),
);

/** The same in a list, with what was asked for besides. */
export const listedScheduleSchema: () => v.GenericSchema<unknown, ScheduleFacts & ScheduleExtras> = once(() =>
  v.intersect([
    scheduleSchema(),
    v.object({
      next: v.exactOptional(v.array(previewedFireSchema())),
      runs: v.exactOptional(v.array(occurrenceSchema())),
      stats: v.exactOptional(statsSchema()),
    }),
  ]),
);
