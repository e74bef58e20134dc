import { INSTANT_MS_MAX } from "../../../src/core/temporal.ts";
import { ClockHealing } from "../../../src/scheduler/driving/clock-healing.ts";
import type { ScheduleUpdateRequest } from "../../../src/stores/data-store.ts";
import { type Mutant, patched, scheduler } from "../mutant.ts";

/** A fault about clocks, and the first seed that finds it. */
export interface ClockMutant {
  readonly mutant: Mutant;
  readonly caughtBy: number;
}

export const CLOCK_MUTANTS: readonly ClockMutant[] = [
  {
    mutant: patched(
      "never takes back what a wrong clock has moved",
      ClockHealing.prototype,
      "beat",
      () => async () => {},
    ),
    caughtBy: 2,
  },
  {
    mutant: patched(
      "takes schedules back while a living scheduler disagrees",
      ClockHealing.prototype,
      "beat",
      (original) =>
        function (this: ClockHealing) {
          return original.call(this, false);
        },
    ),
    caughtBy: 10,
  },
  {
    mutant: scheduler("takes back the last fire time too, and with it what has run", (inner) => ({
      updateSchedules: (updates: readonly ScheduleUpdateRequest[], note) =>
        inner.updateSchedules(
          updates.map((update) => ({ ...update, changes: { ...update.changes, lastFireTime: null } })),
          note,
        ),
    })),
    caughtBy: 12,
  },
  {
    mutant: patched(
      "overlooks that schedulers were up in the future",
      ClockHealing.prototype,
      "uptimeAfter",
      () => () => INSTANT_MS_MAX,
    ),
    caughtBy: 6,
  },
];
