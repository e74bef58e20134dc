import * as v from "valibot";
import { once } from "../../core/once.ts";
import { OCCURRENCE_VERDICTS } from "../../scheduler/options/occurrence-verdicts.ts";
import type { OccurrenceFacts } from "../../scheduler/views/occurrence.ts";
import { instant, number, oneOf, orNull, text, zoned } from "./values.ts";

/** What `Occurrence.toJSON()` made, as the facts that it was made of. */
export const occurrenceSchema: () => v.GenericSchema<unknown, OccurrenceFacts> = once(() =>
  v.pipe(
    v.object({
      scheduleId: text(),
      fireTime: zoned(),
      verdict: oneOf(OCCURRENCE_VERDICTS),
      into: orNull(instant()),
      run: v.nullable(
        v.object({
          jobId: text(),
          scheduledFireTime: instant(),
          createdAt: instant(),
          startedAt: orNull(instant()),
          finishedAt: orNull(instant()),
          attempts: number(),
        }),
      ),
    }),
    v.transform(({ fireTime: { at: fireTime, timeZone }, ...same }) => ({ ...same, fireTime, timeZone })),
  ),
);
