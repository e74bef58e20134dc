import * as v from "valibot";
import { durationMs, objectOf, wholeNumber } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, shown } from "../../core/option-errors.ts";
import type { LedgerLimits } from "../contract/ledger-types.ts";
import { LEDGER_AGE_MS_DEFAULT, LEDGER_AGE_MS_MIN, LEDGER_COUNT_DEFAULT, LEDGER_COUNT_MAX } from "./limits.ts";

/**
 * How much a store remembers of what became of the fire times of its schedules.
 * @example
 * const ledger: LedgerOptions = { maxCount: 1000, maxAge: { days: 30 } };
 */
export interface LedgerOptions {
  /** Most entries of one schedule, from 1 to 1,000,000. The oldest are removed. Default: 5,000. */
  readonly maxCount?: number | undefined;
  /** How long an entry is kept after its fire time; at least one minute. Default: 90 days. */
  readonly maxAge?: Duration | undefined;
}

/** What `true` stands for. */
export const LEDGER_DEFAULT: LedgerLimits = Object.freeze({
  countMax: LEDGER_COUNT_DEFAULT,
  ageMsMax: LEDGER_AGE_MS_DEFAULT,
});

const settings = once(() =>
  v.pipe(
    objectOf({
      maxCount: v.optional(wholeNumber(1, LEDGER_COUNT_MAX), LEDGER_COUNT_DEFAULT),
      maxAge: v.optional(durationMs(LEDGER_AGE_MS_MIN), { milliseconds: LEDGER_AGE_MS_DEFAULT }),
    }),
    v.transform(({ maxCount, maxAgeMs }): LedgerLimits => ({ countMax: maxCount, ageMsMax: maxAgeMs })),
  ),
);

/** The schema of another value than an object of options. */
const choice: () => v.GenericSchema<unknown, LedgerLimits | null> = once(() =>
  v.pipe(
    v.unknown(),
    v.check(
      (value) => typeof value === "boolean",
      ({ input }) => mustBe("true, false or an object such as { maxCount, maxAge }", input, "", adviceOn(input)),
    ),
    v.transform((value) => (value === true ? LEDGER_DEFAULT : null)),
  ),
);

/** The schema of a store's option `ledger`. The checked value is null for a store that is to remember nothing.
 *  @internal */
export const ledgerOption: () => v.OptionalSchema<v.GenericSchema<unknown, LedgerLimits | null>, true> = once(() =>
  v.optional(
    {
      ...v.lazy((value): v.GenericSchema<unknown, LedgerLimits | null> => (isPlain(value) ? settings() : choice())),
      // For the names of the options within.
      ...{ entries: settings().entries },
    },
    true,
  ),
);

function adviceOn(value: unknown): string | null {
  if (typeof value === "number") return `write { maxCount: ${value} }`;
  if (value === null) return "write false for no ledger";
  return typeof value === "string" ? `write { maxAge: ${shown(value)} }` : null;
}
