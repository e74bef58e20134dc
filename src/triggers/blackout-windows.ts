import type { BlackoutRecord, MissedPolicy } from "../records/blackout.ts";
import { hasLabels, type Labels } from "../records/policies.ts";
import { BLACKOUT_STEPS_MAX } from "./limits.ts";
import { parseTrigger } from "./parse-trigger.ts";
import type { Trigger } from "./trigger.ts";
import { endOnClock } from "./wall-duration.ts";

// When fire times are blacked out. Pure, apart from answers that are remembered.

/** A time, in epoch milliseconds; `until` is not part of it. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

/** The windows of one blackout. */
export class BlackoutWindows {
  readonly record: BlackoutRecord;
  readonly #trigger: Trigger | null;
  /** The window that answered last, and the time without a window that did. */
  #inside: Window | null = null;
  #outside: Window | null = null;

  /** @throws {DeserializationError} when the trigger cannot be read here */
  constructor(record: BlackoutRecord) {
    this.record = record;
    this.#trigger = record.trigger === null ? null : parseTrigger(record.trigger);
  }

  get missed(): MissedPolicy {
    return this.record.missed;
  }

  /** The window that contains an instant; null for none. */
  at(instant: number): Window | null {
    const trigger = this.#trigger;
    if (trigger === null) {
      const { from, until } = this.record as { from: number; until: number };
      return from <= instant && instant < until ? { from, until } : null;
    }
    if (contains(this.#inside, instant)) return this.#inside;
    if (contains(this.#outside, instant)) return null;
    const from = trigger.previousMs(instant + 1);
    const window = from === null ? null : this.#windowFrom(trigger, from);
    if (contains(window, instant)) {
      this.#inside = window;
      return window;
    }
    const next = trigger.nextMs(instant) ?? Number.POSITIVE_INFINITY;
    this.#outside = { from: window?.until ?? Number.NEGATIVE_INFINITY, until: next };
    return null;
  }

  /** When the first window begins after an instant; infinite for never. */
  nextStart(after: number): number {
    const never = Number.POSITIVE_INFINITY;
    if (this.#trigger !== null) {
      if (contains(this.#outside, after)) return this.#outside?.until ?? never;
      return this.#trigger.nextMs(after) ?? never;
    }
    const { from } = this.record as { from: number };
    return from > after ? from : never;
  }

  #windowFrom(trigger: Trigger, from: number): Window {
    return { from, until: endOnClock(trigger, from, this.record.durationMs ?? 0) };
  }
}

function contains(window: Window | null, instant: number): boolean {
  return window !== null && window.from <= instant && instant < window.until;
}

/** Whether a blackout is about a schedule: one of its tasks, with all of its labels. */
export function isAbout(
  { taskIds, labels: wanted }: Pick<BlackoutRecord, "taskIds" | "labels">,
  { taskId, labels }: { readonly taskId: string; readonly labels?: Labels },
): boolean {
  return (taskIds === null || taskIds.includes(taskId)) && hasLabels(labels, wanted ?? undefined);
}

/** Windows that follow each other without a gap. `isWhole` is false where there are so many that the end was not found:
 *  then the windows go on. */
export interface Union extends Window {
  readonly isWhole: boolean;
}

/** The blackouts of one schedule. */
export class ScheduleBlackouts {
  readonly #all: readonly BlackoutWindows[];
  readonly #mayOwe: boolean;

  constructor(all: readonly BlackoutWindows[]) {
    this.#all = all;
    this.#mayOwe = all.some(({ missed }) => missed === "runOnce");
  }

  /** The blackouts that contain an instant. */
  at(instant: number): BlackoutWindows[] {
    return this.#all.filter((one) => one.at(instant) !== null);
  }

  /** The id of a blackout that contains an instant: one that makes up for nothing, if there is one. Null for none. */
  idAt(instant: number): string | null {
    const all = this.at(instant);
    return (all.find(({ missed }) => missed === "skip") ?? all[0])?.record.id ?? null;
  }

  /** When the first window begins after an instant; infinite for never. */
  nextStart(after: number): number {
    return Math.min(...this.#all.map((one) => one.nextStart(after)));
  }

  /** The windows around an instant; null for none. */
  around(instant: number): Union | null {
    let { from, until } = { from: instant, until: instant };
    let isWhole = false;
    for (let steps = 0; steps < BLACKOUT_STEPS_MAX && !isWhole; steps++) {
      const later = this.#furthest(until);
      isWhole = later === until;
      until = later;
    }
    if (until === instant) return null;
    for (let steps = 0; steps < BLACKOUT_STEPS_MAX; steps++) {
      let earlier = from;
      for (const one of this.#all) {
        earlier = Math.min(earlier, one.at(from)?.from ?? earlier, one.at(from - 1)?.from ?? earlier);
      }
      if (earlier === from) break;
      from = earlier;
    }
    return { from, until, isWhole };
  }

  #furthest(at: number): number {
    let until = at;
    for (const one of this.#all) until = Math.max(until, one.at(at)?.until ?? until);
    return until;
  }

  /**
   * Whether a fire time within the union is to be made up for when the union ends: all blackouts that contain it say
   * so.
   *
   * @param first the first fire time that is still to come to
   * @param since fire times before it may have been left out from then on, by blackouts that were there
   */
  owes(union: Union, first: number, since: number, nextFire: (after: number) => number | null): boolean {
    if (!this.#mayOwe) return false;
    const isMadeUpFor = (at: number): boolean => this.at(at).every(({ missed }) => missed === "runOnce");
    if (some(nextFire, Math.max(union.from, first), union.until, isMadeUpFor)) return true;
    const created = Math.min(...this.#all.map(({ record: { createdAt } }) => createdAt));
    const wasThere = (at: number): boolean => this.at(at).every(({ record: { createdAt } }) => createdAt <= at);
    const earliest = Math.max(union.from, since, created);
    return some(nextFire, earliest, Math.min(first, union.until), (at) => isMadeUpFor(at) && wasThere(at));
  }
}

/** Whether one of the fire times in [from, until) is such a one, as far as a search goes. */
function some(
  nextFire: (after: number) => number | null,
  from: number,
  until: number,
  isSuch: (at: number) => boolean,
): boolean {
  let at = from < until ? nextFire(from - 1) : null;
  for (let steps = 0; steps < BLACKOUT_STEPS_MAX && at !== null && at < until; steps++) {
    if (isSuch(at)) return true;
    at = nextFire(at);
  }
  return false;
}
