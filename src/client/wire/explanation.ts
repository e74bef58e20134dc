import * as v from "valibot";
import { once } from "../../core/once.ts";
import {
  type Cause,
  causeWith,
  EXPLAINED_VERDICTS,
  type ExplainedVerdict,
  type ExplanationFacts,
} from "../../scheduler/views/explanation.ts";
import { occurrenceSchema } from "./occurrence.ts";
import { instant, instantMs, oneOf, orNull, text } from "./values.ts";

/** A cause of any kind, because a later router may know more of them. */
const cause = (): v.GenericSchema<unknown, Cause<number>> =>
  v.pipe(
    v.looseObject({ kind: text() }),
    v.transform((given) => causeWith(given as unknown as Cause<string>, instantMs) as Cause<number>),
    v.check((read) => !Object.values(read).some(Number.isNaN), "no instant, such as 2030-01-31T09:00:00Z"),
  );

/** What `Explanation.toJSON()` made, as the facts that it was made of. */
export const explanationSchema: () => v.GenericSchema<unknown, ExplanationFacts> = once(() =>
  v.object({
    scheduleId: text(),
    timeZone: text(),
    at: instant(),
    fireTime: orNull(instant()),
    verdict: oneOf(EXPLAINED_VERDICTS) as v.GenericSchema<unknown, ExplainedVerdict>,
    cause: orNull(cause()),
    occurrence: orNull(occurrenceSchema()),
    shiftedFrom: orNull(instant()),
    before: orNull(instant()),
    after: orNull(instant()),
    clockChanges: v.array(v.object({ timeZone: text(), at: instant(), from: text(), to: text() })),
    advice: orNull(text()),
    text: text(),
  }),
);
