import type { Skip } from "../../records/ledger.ts";
import type { ScheduleBlackouts, Union } from "../../triggers/blackout-windows.ts";
import { BLACKOUT_STEPS_MAX } from "../../triggers/limits.ts";
import { Trigger } from "../../triggers/trigger.ts";
import type { TriggerJSON } from "../../triggers/trigger-json.ts";
import { lastingPace } from "./catch-up.ts";
import { countBetween, lastUntil, nextAfter } from "./fire-times.ts";
import { BLACKED_OUT_RANGES_MAX } from "./limits.ts";
import { type FirePlan, type FiringSchedule, type PlannedFire, planFires } from "./plan-fires.ts";

/** Cut unions after which a search gives up: the blackouts go on for ever, as far as can be seen. */
const CUT_UNIONS_MAX = 3;

/**
 * A rule as it fires with blackouts: without the fire times within them, and with their ends where one of these is to
 * be made up for (`runOnce`). The fire times begin with `first`, which need not be one of the rule.
 */
export class OpenTrigger extends Trigger {
  readonly #rule: Trigger;
  readonly #blackouts: ScheduleBlackouts;
  readonly #first: number;
  readonly #since: number;

  /** @param since when the schedule was added: a blackout may have left out fire times before `first` since then */
  constructor(rule: Trigger, blackouts: ScheduleBlackouts, first: number, since: number) {
    super();
    this.#rule = rule;
    this.#blackouts = blackouts;
    this.#first = first;
    this.#since = since;
  }

  override get timeZone(): string {
    return this.#rule.timeZone;
  }

  get rule(): Trigger {
    return this.#rule;
  }

  /** The next fire time without blackouts. */
  readonly nextOfRule = (afterMs: number): number | null =>
    afterMs < this.#first ? this.#first : nextAfter(this.#rule, afterMs);

  /** Whether the end of a union makes up for a fire time within it. */
  owes(union: Union): boolean {
    return union.isWhole && this.#blackouts.owes(union, this.#first, this.#since, this.#nextOrEarlier);
  }

  /** The next fire time without blackouts, among those before the first one too. */
  readonly #nextOrEarlier = (afterMs: number): number | null => {
    const next = nextAfter(this.#rule, afterMs);
    return afterMs < this.#first ? Math.min(next ?? this.#first, this.#first) : next;
  };

  nextMs(afterMs: number): number | null {
    let at = afterMs;
    let cut = 0;
    for (let steps = 0; steps < BLACKOUT_STEPS_MAX; steps++) {
      let union = this.#blackouts.around(at + 1);
      if (union === null) {
        const next = this.nextOfRule(at);
        union = next === null ? null : this.#blackouts.around(next);
        if (union === null) return next;
      }
      if (this.owes(union)) return union.until;
      if (!union.isWhole && ++cut === CUT_UNIONS_MAX) return null;
      at = union.until - 1;
    }
    return null;
  }

  previousMs(beforeMs: number): number | null {
    let at = beforeMs;
    for (let steps = 0; steps < BLACKOUT_STEPS_MAX; steps++) {
      const last = this.#previousOfRule(at);
      const union = last === null ? null : this.#blackouts.around(last);
      if (union === null) return last;
      if (union.until < beforeMs && this.owes(union)) return union.until;
      at = union.from;
    }
    return null;
  }

  #previousOfRule(beforeMs: number): number | null {
    const previous = lastUntil(this.#rule, beforeMs - 1);
    if (previous !== null && previous >= this.#first) return previous;
    return this.#first < beforeMs ? this.#first : null;
  }

  toJSON(): TriggerJSON {
    return this.#rule.toJSON();
  }

  describe(): string {
    return this.#rule.describe();
  }
}

/** The fire times of a union that are due, in one range. */
interface BlackedOut extends Skip {
  readonly verdict: "blackedOut";
}

/**
 * What {@link planFires} plans, with blackouts: a fire time within one makes no job, and the end of one may be a fire
 * time. A fire time is passed over when it is due, and no earlier, so that the next one fires again as soon as a
 * blackout is removed. Pure.
 */
export function planOpenFires(
  schedule: FiringSchedule & { readonly createdAt: number },
  trigger: Trigger,
  blackouts: ScheduleBlackouts,
  now: number,
  random: () => number,
  firesMax?: number,
): FirePlan & { readonly isNextOfRule: boolean } {
  const { nextFireTime, lastFireTime } = schedule;
  const isBehind = nextFireTime !== null && lastFireTime !== null && nextFireTime <= lastFireTime;
  const first = isBehind ? nextAfter(trigger, lastFireTime) : nextFireTime;
  if (first === null || first > now) {
    return { ...planFires(schedule, trigger, now, random, firesMax), isNextOfRule: true };
  }
  const open = new OpenTrigger(trigger, blackouts, first, schedule.createdAt);
  const start = open.nextMs(first - 1);
  const isNothingOpen = start === null || start > now;
  const plan: FirePlan = isNothingOpen
    ? { fires: [], nextFireTime: start, lastFireTime, isCut: false, ...lastingPace(schedule, now) }
    : planFires({ ...schedule, nextFireTime: start }, open, now, random, firesMax);
  const reach = plan.isCut && plan.nextFireTime !== null ? plan.nextFireTime - 1 : now;
  const ranges = blackedOutIn(open, blackouts, first, reach);
  const skips = [...(plan.skips ?? []).flatMap((skip) => without(ranges, skip, open)), ...ranges];
  const last = Math.max(
    plan.lastFireTime ?? Number.NEGATIVE_INFINITY,
    ranges.at(-1)?.until ?? Number.NEGATIVE_INFINITY,
  );
  const nextOfRule = plan.isCut ? plan.nextFireTime : open.nextOfRule(reach);
  const next = earliest(nextOfRule, plan.nextFireTime);
  return {
    ...plan,
    fires: plan.fires.map((fire) => standing(fire, schedule.createdAt, trigger, blackouts)),
    nextFireTime: next,
    lastFireTime: Number.isFinite(last) ? last : lastFireTime,
    ...(skips.length === 0 ? {} : { skips: skips.sort((a, b) => a.from - b.from) }),
    isNextOfRule: next === nextOfRule,
  };
}

function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** The fire times in [first, until] that are blacked out, in order; those of the last ones where they are very many are
 *  left out. */
function blackedOutIn(open: OpenTrigger, blackouts: ScheduleBlackouts, first: number, until: number): BlackedOut[] {
  const ranges: BlackedOut[] = [];
  for (let at: number | null = first; at !== null && at <= until && ranges.length < BLACKED_OUT_RANGES_MAX; ) {
    const union = blackouts.around(at);
    if (union === null) {
      const start = blackouts.nextStart(at);
      at = start > until ? null : open.nextOfRule(start - 1);
      continue;
    }
    const end = Math.min(union.until, until + 1);
    const count = countBetween(open.rule, at, end);
    const into = open.owes(union) ? union.until : null;
    ranges.push({
      from: at,
      until: Math.max(at, lastUntil(open.rule, end - 1) ?? at),
      verdict: "blackedOut",
      count,
      into,
    });
    at = open.nextOfRule(end - 1);
  }
  return ranges;
}

/** What is left of a skip outside of ranges, each part with at least one fire time. */
function without(ranges: readonly BlackedOut[], skip: Skip, open: OpenTrigger): Skip[] {
  const parts: Skip[] = [];
  const within = ranges.filter(({ from, until }) => from <= skip.until && until >= skip.from);
  if (within.length === 0) return [skip];
  let from = skip.from;
  for (const gap of [...within, { from: skip.until + 1, until: skip.until }]) {
    const first = open.nextMs(from - 1);
    if (first !== null && first < gap.from) {
      const count = skip.count === null ? null : countBetween(open, first, gap.from);
      parts.push({ ...skip, from: first, until: gap.from - 1, count });
    }
    from = gap.until + 1;
  }
  return parts;
}

/** A fire at the end of blackouts stands for what they left out, as far back as the schedule was there. */
function standing(fire: PlannedFire, createdAt: number, trigger: Trigger, blackouts: ScheduleBlackouts): PlannedFire {
  const { fireTime } = fire;
  const union = blackouts.around(fireTime - 1);
  if (fire.missedCount !== 0 || union === null || !union.isWhole || union.until !== fireTime) return fire;
  const nextOfRule = (after: number): number | null => nextAfter(trigger, after);
  const since = Math.max(union.from, createdAt);
  if (!blackouts.owes(union, since, since, nextOfRule)) return fire;
  const first = nextOfRule(since - 1);
  const last = lastUntil(trigger, fireTime - 1);
  if (first === null || last === null || first > last) return fire;
  const missedCount = countBetween(trigger, first, fireTime);
  return { ...fire, missedCount, firstMissedTime: first, lastMissedTime: last };
}
