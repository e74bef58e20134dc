import { printAsJSON } from "../../core/inspect.ts";
import {
  instantOf,
  instantOrNull,
  instantText,
  instantTextOrNull,
  type Temporal,
  zonedOf,
} from "../../core/temporal.ts";
import type { ScheduleChangeKind, ScheduleChangeRecord } from "../../records/ledger.ts";

/** What a {@link ScheduleChange} shows; times in epoch milliseconds. */
export interface ScheduleChangeFacts extends Pick<ScheduleChangeRecord, "seq" | "scheduleId" | "at" | "by" | "kind"> {
  readonly changed: readonly string[];
  readonly before: SnapshotFacts | null;
  readonly after: SnapshotFacts | null;
}

/** What a {@link ScheduleSnapshot} shows; times in epoch milliseconds. */
export interface SnapshotFacts {
  readonly rule: string;
  readonly timeZone: string;
  readonly paused: boolean;
  readonly pausedUntil: number | null;
  readonly pauseReason: string | null;
  readonly nextFireTimes: readonly number[];
}

/** What a schedule was before or after a change. */
export interface ScheduleSnapshot {
  /** The trigger in words. */
  readonly rule: string;
  /** The time zone of the trigger. */
  readonly timeZone: string;
  readonly paused: boolean;
  /** When the pause was to end by itself; null for never, and for no pause. */
  readonly pausedUntil: Temporal.Instant | null;
  /** Why it was paused; null for no reason, and for no pause. */
  readonly pauseReason: string | null;
  /** The next three fire times as they were seen then, also while it is paused; none for a schedule that has ended. */
  readonly nextFireTimes: readonly Temporal.ZonedDateTime[];
}

/**
 * A change of a schedule: who, when and what. It never changes itself.
 *
 * @example
 * const { items } = await scheduler.getScheduleChanges("report");
 * for (const { at, by, kind, changed } of items) console.log(`${at} ${by}: ${kind} ${changed}`);
 */
export class ScheduleChange {
  /** Grows with each change in the store. */
  readonly seq: number;
  readonly scheduleId: string;
  /** The identity of a scheduler, or the name that the caller gave; null for what happens by itself: the clean-up, and
   *  the end of a pause. */
  readonly by: string | null;
  /** `paused` (also with another end or reason than before) and `unpaused` where nothing else changed; `failed` for a
   *  schedule that was paused because its trigger failed. */
  readonly kind: ScheduleChangeKind;
  /** The names of the options that changed, as `updateSchedule` has them; empty for the other kinds. */
  readonly changed: readonly string[];
  readonly #facts: ScheduleChangeFacts;

  static {
    printAsJSON(ScheduleChange.prototype);
  }

  constructor(facts: ScheduleChangeFacts) {
    this.seq = facts.seq;
    this.scheduleId = facts.scheduleId;
    this.by = facts.by;
    this.kind = facts.kind;
    this.changed = Object.freeze([...facts.changed]);
    this.#facts = facts;
    Object.freeze(this);
  }

  get at(): Temporal.Instant {
    return instantOf(this.#facts.at);
  }
  /** Null for `added`. */
  get before(): ScheduleSnapshot | null {
    return snapshotOf(this.#facts.before);
  }
  /** Null for `removed`. */
  get after(): ScheduleSnapshot | null {
    return snapshotOf(this.#facts.after);
  }

  toJSON(): Record<string, unknown> {
    const { seq, scheduleId, at, by, kind, changed, before, after } = this.#facts;
    return {
      ...{ seq, scheduleId, at: instantText(at), by, kind, changed },
      before: snapshotAsJSON(before),
      after: snapshotAsJSON(after),
    };
  }
}

function snapshotOf(facts: SnapshotFacts | null): ScheduleSnapshot | null {
  if (facts === null) return null;
  const { rule, timeZone, paused, pauseReason } = facts;
  const nextFireTimes = facts.nextFireTimes.map((ms) => zonedOf(ms, timeZone));
  const pausedUntil = instantOrNull(facts.pausedUntil);
  return Object.freeze({ rule, timeZone, paused, pausedUntil, pauseReason, nextFireTimes });
}

function snapshotAsJSON(facts: SnapshotFacts | null): unknown {
  if (facts === null) return null;
  const { rule, timeZone, paused, pauseReason } = facts;
  const pausedUntil = instantTextOrNull(facts.pausedUntil);
  return { rule, timeZone, paused, pausedUntil, pauseReason, nextFireTimes: facts.nextFireTimes.map(instantText) };
}
