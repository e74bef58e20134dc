import type { ScheduleChangeRecord, ScheduleState } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { Rule } from "./rule.ts";

/** A time in which one rule held. Instants in epoch milliseconds; `until` is not part of it. */
export interface RulePeriod {
  readonly from: number;
  readonly until: number;
  /** Null while there was no schedule. */
  readonly rule: Rule | null;
  readonly state: PeriodState | null;
  /** Nothing fires before this instant, which is a fire time itself, whatever the rule says. Null: nothing fires. */
  readonly first: number | null;
  /** The change by which it began; null for none that is known. */
  readonly change: ScheduleChangeRecord | null;
  /** Whether the rule was changed in this time by somebody who told nobody, such as a process whose store has no
   *  ledger: then `rule` is that of now, and nobody knows since when. */
  readonly isGuess: boolean;
}

/** What a period knows of its schedule. */
export type PeriodState = Pick<ScheduleState, "taskId" | "settings">;

/** Whether a schedule came from another store: it was made before it was added here. */
export function isOfOtherStore(oldest: ScheduleChangeRecord | undefined, schedule: ScheduleRecord | null): boolean {
  return oldest?.kind === "added" && schedule !== null && schedule.createdAt < oldest.at;
}

/** Which rule of a schedule held when, and the fire times of all of them. */
export class RuleHistory {
  readonly periods: readonly RulePeriod[];
  readonly changes: readonly ScheduleChangeRecord[];
  readonly #schedule: ScheduleRecord | null;
  readonly #now: number;
  readonly #rules = new Map<string, Rule>();
  /** Since when the schedule was in another store, from which it came; null for one that was added here. */
  readonly #elsewhereFrom: number | null;

  /**
   * @param changes those that are known, the oldest first
   * @param schedule as it is now; null when it was removed
   * @param elsewhereFrom since when it was in another store, see {@link isOfOtherStore}; null for one that was not
   */
  constructor(
    changes: readonly ScheduleChangeRecord[],
    schedule: ScheduleRecord | null,
    now: number,
    elsewhereFrom: number | null = null,
  ) {
    this.changes = changes;
    this.#schedule = schedule;
    this.#now = now;
    this.#elsewhereFrom = elsewhereFrom;
    this.periods = this.#periods();
  }

  /** The period of an instant. */
  periodAt(at: number): RulePeriod {
    const period = this.periods.find(({ from, until }) => at >= from && at < until);
    // Periods cover all instants.
    return period ?? (this.periods[0] as RulePeriod);
  }

  /** The period of an instant, or where there was no schedule then, the nearest one that has one: a later one first. */
  ruleNear(at: number): RulePeriod {
    const place = this.periods.indexOf(this.periodAt(at));
    const [later, earlier] = [this.periods.slice(place), this.periods.slice(0, place).reverse()];
    return [...later, ...earlier].find(({ rule }) => rule !== null) ?? this.periodAt(at);
  }

  /** The first fire time after an instant, of whichever rule held then; null for none. */
  next(after: number): number | null {
    for (const period of this.periods) {
      if (period.until <= after + 1) continue;
      const found = this.#nextIn(period, Math.max(after, period.from - 1));
      if (found !== null) return found;
    }
    return null;
  }

  /** The last fire time before an instant; null for none. */
  previous(before: number): number | null {
    for (const period of [...this.periods].reverse()) {
      if (period.from >= before) continue;
      const found = this.#previousIn(period, Math.min(before, period.until));
      if (found !== null) return found;
    }
    return null;
  }

  /** The fire times in [from, until], computed when the loop asks for them. */
  *fireTimes(from: number, until: number, order: "oldest" | "newest"): Generator<number, void, undefined> {
    if (order === "oldest") {
      for (let at = this.next(from - 1); at !== null && at <= until; at = this.next(at)) yield at;
    } else {
      for (let at = this.previous(until + 1); at !== null && at >= from; at = this.previous(at)) yield at;
    }
  }

  #nextIn({ rule, first, until }: RulePeriod, after: number): number | null {
    if (rule === null || first === null) return null;
    const found = after < first && Number.isFinite(first) ? first : rule.next(after);
    const next = found !== null && found <= this.#now ? found : this.#coming(found, after);
    return next === null || next >= until ? null : next;
  }

  /** Between now and the next fire time of the schedule, which a caller may have chosen, nothing fires. */
  #coming(found: number | null, after: number): number | null {
    if (this.#schedule === null) return found;
    const { nextFireTime } = this.#schedule;
    if (nextFireTime === null) return null;
    return nextFireTime > Math.max(after, this.#now) ? nextFireTime : found;
  }

  #previousIn({ rule, first, from }: RulePeriod, before: number): number | null {
    if (rule === null || first === null) return null;
    let last = before;
    if (before > this.#now + 1 && this.#schedule !== null) {
      const { nextFireTime } = this.#schedule;
      const isPassed = nextFireTime === null || nextFireTime >= before;
      if (isPassed) last = this.#now + 1;
      else if (nextFireTime > Math.max(rule.previous(before) ?? this.#now, this.#now)) return nextFireTime;
    }
    const found = rule.previous(last);
    if (found !== null && found >= Math.max(first, from)) return found;
    return Number.isFinite(first) && first >= from && first < last ? first : null;
  }

  #periods(): RulePeriod[] {
    const { changes } = this;
    const periods: RulePeriod[] = [];
    let until = Number.POSITIVE_INFINITY;
    // The last change counts that holds from an instant on or earlier.
    for (const change of [...changes].reverse()) {
      if (change.effectiveFrom >= until) continue;
      const { effectiveFrom: from, after } = change;
      if (until === Number.POSITIVE_INFINITY && this.#isChangedUnseen()) {
        const first = Number.NEGATIVE_INFINITY;
        periods.unshift({ from, until, ...this.#of(this.#schedule), first, change: null, isGuess: true });
      } else {
        const first = after?.nextFireTime ?? null;
        periods.unshift({ from, until, ...this.#of(after), first, change, isGuess: false });
      }
      until = from;
    }
    const oldest = changes[0];
    if (this.#elsewhereFrom !== null && oldest?.after && this.#elsewhereFrom < until) {
      // Its changes stayed behind in the other store. Where there were none, its rule is that with which it came.
      const isGuess = this.#schedule?.revision !== this.#schedule?.createdAt;
      const [from, first] = [this.#elsewhereFrom, Number.NEGATIVE_INFINITY];
      periods.unshift({ from, until, ...this.#of(oldest.after), first, change: null, isGuess });
      until = from;
    }
    const known = oldest === undefined ? this.#schedule : oldest.before;
    const first = known === null ? null : Number.NEGATIVE_INFINITY;
    periods.unshift({ from: Number.NEGATIVE_INFINITY, until, ...this.#of(known), first, change: null, isGuess: false });
    return periods;
  }

  /** Whether the rule of the schedule is another than the last one that the changes tell of. */
  #isChangedUnseen(): boolean {
    const last = this.changes.at(-1);
    return this.#schedule !== null && last !== undefined && last.after?.trigger !== this.#schedule.trigger;
  }

  #of(state: (PeriodState & Pick<ScheduleState, "trigger">) | ScheduleRecord | null): {
    rule: Rule | null;
    state: PeriodState | null;
  } {
    if (state === null) return { rule: null, state: null };
    const rule = this.#rules.get(state.trigger) ?? new Rule(state.trigger);
    this.#rules.set(state.trigger, rule);
    const settings = "settings" in state ? state.settings : { ...state };
    return { rule, state: { taskId: state.taskId, settings } };
  }
}
