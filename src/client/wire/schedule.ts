import * as v from "valibot";
import { once } from "../../core/once.ts";
import { type CatchUp, RUN_OVERLAP_POLICIES } from "../../records/policies.ts";
import type { ScheduleFacts } from "../../scheduler/views/schedule.ts";
import { duration, flag, instant, metadata, number, oneOf, orNull, text, unlessNull, value } from "./values.ts";

const catchUp = (): v.GenericSchema<unknown, CatchUp> =>
  v.pipe(
    v.object({ maxAge: orNull(duration()), maxCount: orNull(number()), pace: orNull(duration()) }),
    v.transform(({ maxAge: maxAgeMs, maxCount, pace: paceMs }) => ({ maxAgeMs, maxCount, paceMs })),
  );

/** What `Schedule.toJSON()` made, as the record that it was made of. */
export const scheduleSchema: () => v.GenericSchema<unknown, ScheduleFacts> = once(() =>
  v.pipe(
    v.object({
      id: text(),
      name: orNull(text()),
      taskId: text(),
      trigger: v.unknown(),
      payload: value(),
      executor: text(),
      priority: number(),
      coalesce: oneOf(["latest", "earliest", "all"]),
      misfireGraceTime: orNull(duration()),
      maxJitter: duration(),
      catchUp: orNull(catchUp()),
      resultExpirationTime: duration(),
      overlap: oneOf(RUN_OVERLAP_POLICIES),
      concurrencyKey: orNull(text()),
      expectStartWithin: orNull(duration()),
      expectFinishWithin: orNull(duration()),
      skippedCount: number(),
      metadata: metadata(),
      paused: flag(),
      createdAt: instant(),
      nextFireTime: orNull(instant()),
      lastFireTime: orNull(instant()),
    }),
    v.transform(({ trigger, payload, misfireGraceTime, maxJitter, resultExpirationTime, concurrencyKey, ...rest }) => {
      const { expectStartWithin, expectFinishWithin, ...same } = rest;
      return {
        ...same,
        trigger: JSON.stringify(trigger),
        payload: payload ?? null,
        misfireGraceMs: misfireGraceTime,
        maxJitterMs: maxJitter,
        resultExpirationMs: resultExpirationTime,
        ...unlessNull("concurrencyKey", concurrencyKey),
        ...unlessNull("expectStartMs", expectStartWithin),
        ...unlessNull("expectFinishMs", expectFinishWithin),
      };
    }),
  ),
);
