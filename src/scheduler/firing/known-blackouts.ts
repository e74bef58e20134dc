import type { BlackoutRecord } from "../../records/blackout.ts";
import type { BlackoutList, LookedSchedule } from "../../stores/data-store.ts";
import { BlackoutWindows, isAbout, ScheduleBlackouts } from "../../triggers/blackout-windows.ts";

/** A blackout whose trigger cannot be read here: the schedules that it is about are left to other schedulers. */
interface Unreadable {
  readonly record: BlackoutRecord;
  readonly error: unknown;
}

/** The blackouts that a planner uses: those of the last version that it was told. */
export class KnownBlackouts {
  readonly version: number;
  readonly #windows: readonly BlackoutWindows[];
  readonly #unreadable: readonly Unreadable[];

  constructor({ version, items }: BlackoutList) {
    const windows: BlackoutWindows[] = [];
    const unreadable: Unreadable[] = [];
    for (const record of items) {
      try {
        windows.push(new BlackoutWindows(record));
      } catch (error) {
        unreadable.push({ record, error });
      }
    }
    this.version = version;
    this.#windows = windows;
    this.#unreadable = unreadable;
  }

  /** Those of a schedule; null for none. */
  of(schedule: Pick<LookedSchedule, "taskId" | "labels">): ScheduleBlackouts | null {
    if (this.#windows.length === 0) return null;
    const own = this.#windows.filter(({ record }) => isAbout(record, schedule));
    return own.length === 0 ? null : new ScheduleBlackouts(own);
  }

  /** Why the fire times of a schedule cannot be planned here; null when they can. */
  problemOf(schedule: Pick<LookedSchedule, "taskId" | "labels">): { readonly error: unknown } | null {
    return this.#unreadable.find(({ record }) => isAbout(record, schedule)) ?? null;
  }
}

export const NO_BLACKOUTS: KnownBlackouts = new KnownBlackouts({ version: 0, items: [] });
