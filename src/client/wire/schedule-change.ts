import * as v from "valibot";
import { once } from "../../core/once.ts";
import { SCHEDULE_CHANGE_KINDS } from "../../records/ledger.ts";
import type { ScheduleChangeFacts, SnapshotFacts } from "../../scheduler/views/schedule-change.ts";
import { flag, instant, number, oneOf, orNull, text } from "./values.ts";

const snapshot = (): v.GenericSchema<unknown, SnapshotFacts> =>
  v.object({
    rule: text(),
    timeZone: text(),
    paused: flag(),
    pausedUntil: orNull(instant()),
    pauseReason: orNull(text()),
    nextFireTimes: v.array(instant()),
  });

/** What `ScheduleChange.toJSON()` made, as the facts that it was made of. */
export const scheduleChangeSchema: () => v.GenericSchema<unknown, ScheduleChangeFacts> = once(() =>
  v.object({
    seq: number(),
    scheduleId: text(),
    at: instant(),
    by: orNull(text()),
    kind: oneOf(SCHEDULE_CHANGE_KINDS),
    changed: v.array(text()),
    before: orNull(snapshot()),
    after: orNull(snapshot()),
  }),
);
