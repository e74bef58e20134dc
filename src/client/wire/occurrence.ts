import * as v from "valibot";
import { once } from "../../core/once.ts";
import { OCCURRENCE_VERDICTS } from "../../scheduler/options/occurrence-verdicts.ts";
import type { OccurrenceFacts } from "../../scheduler/views/occurrence.ts";
import { instant, number, oneOf, orNull, text } from "./values.ts";

/** What `Occurrence.toJSON()` made, as the facts that it was made of. */
export const occurrenceSchema: () => v.GenericSchema<unknown, OccurrenceFacts> = once(() =>
  v.object({
    scheduleId: text(),
    timeZone: text(),
    fireTime: instant(),
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
);
