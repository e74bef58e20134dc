import { MaxIterationsReachedError } from "../core/errors.ts";
import { optionError } from "../core/option-errors.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import { dstText } from "../cron/describe.ts";
import type { DstPolicy, GapPolicy, OverlapPolicy } from "../cron/spec.ts";
import { wallAt, wallTimes } from "../cron/wall-clock.ts";
import { registerTrigger } from "../triggers/codec.ts";
import { FIRE_TIME_MS_MAX, QUESTION_STEPS_MAX } from "../triggers/limits.ts";
import { checkOptions, dstPolicy, optional, resolveTimeZone, text } from "../triggers/options.ts";
import { type StepShare, withinBudget } from "../triggers/step-budget.ts";
import { checkMs, Trigger } from "../triggers/trigger.ts";
import type { TriggerJSON } from "../triggers/trigger-json.ts";
import { isoOf } from "../triggers/words.ts";
import { describeRule } from "./describe-rule.ts";
import { ElapsedRecurrence } from "./elapsed-recurrence.ts";
import { parseRuleText } from "./parse-rule.ts";
import { Exhausted, isShort, Recurrence } from "./recurrence.ts";
import type { RuleText, TextTime } from "./rule.ts";

/** Options of an {@link RRuleTrigger}. */
export interface RRuleOptions {
  /** The time zone of a text that names none: an IANA name, or `"local"`. Default: `"UTC"`. */
  readonly timeZone?: string | undefined;
  /** What happens when clocks change. Default: `"auto"`. Then a rule that repeats every hour, minute or second without
   *  `BYHOUR` goes by elapsed time (`skip`, `both`): so does its `INTERVAL`. Any other goes by the clock of the wall
   *  (`advance`, `first`).
   *  RFC 5545 itself leaves times out that do not exist: `{ gap: "skip" }`. */
  readonly dst?: DstPolicy | undefined;
}

const rules = { timeZone: optional(text), dst: optional(dstPolicy, "auto") };

const TAG = "rrule";
const DAY = 86_400;
/** What a look at the clock of a wall takes from the budget of a question. */
const STEPS_A_LOOK = 3;

/**
 * A rule of iCalendar (RFC 5545): `DTSTART`, `RRULE`, `RDATE` and `EXDATE`, a line each.
 *
 * `DTSTART` is the anchor of the rule and the first possible fire time; it fires only if the rule has it, as in
 * python-dateutil. A schedule begins with the first fire time that is not past when it is added.
 *
 * Programs that read schedules with such a trigger from a store must import this class, or call `registerRRule()`.
 *
 * @example
 * const text = "DTSTART;TZID=Europe/Berlin:20300101T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,FR";
 * await scheduler.addSchedule("report", new RRuleTrigger(text), { id: "report" });
 */
export class RRuleTrigger extends Trigger {
  readonly #text: string;
  readonly #parsed: RuleText;
  readonly #timeZone: string;
  readonly #givenZone: string | undefined;
  readonly #gap: GapPolicy;
  readonly #overlap: OverlapPolicy;
  readonly #isAuto: boolean;
  readonly #recurrence: Recurrence | null;
  /** Of a rule that goes by elapsed time. */
  readonly #elapsed: ElapsedRecurrence | null;
  /** The dates of `RDATE`, in order, and those of `EXDATE`, as instants. */
  readonly #added: readonly number[];
  readonly #excluded: ReadonlySet<number>;
  readonly #untilMs: number;
  /** The last time of a rule with `COUNT`, on the clock that the rule goes by; undefined until somebody asks. */
  #last: number | undefined;

  static {
    registerRRule();
  }

  /** @throws {OptionsError} for text that is wrong or too long, and for unknown or invalid options */
  constructor(ruleText: string, options: RRuleOptions = {}) {
    super();
    const { timeZone, dst } = checkOptions(rules, options, "RRuleTrigger");
    const parsed = parseRuleText(ruleText);
    this.#text = ruleText
      .replaceAll(/\r?\n[ \t]/g, "")
      .split(/\r?\n|\r/)
      .map((line) => line.trim())
      .filter(Boolean)
      .join("\n");
    this.#parsed = parsed;
    const { start, rule, added, excluded } = parsed;
    if (timeZone !== undefined && start.timeZone !== null) {
      throw optionError("RRuleTrigger", "timeZone", "is for a text that names no time zone; this one does");
    }
    this.#givenZone = timeZone === undefined ? undefined : resolveTimeZone(timeZone);
    this.#timeZone = start.timeZone ?? this.#givenZone ?? "UTC";
    const isElapsed = rule !== null && isShort(rule) && rule.hours.length === 0;
    const auto = isElapsed
      ? ({ gap: "skip", overlap: "both" } as const)
      : ({ gap: "advance", overlap: "first" } as const);
    const { gap = auto.gap, overlap = auto.overlap } = dst === "auto" ? auto : dst;
    this.#gap = gap;
    this.#overlap = overlap;
    this.#isAuto = gap === auto.gap && overlap === auto.overlap;
    this.#recurrence = rule === null ? null : new Recurrence(rule, start.wall);
    const goesByTime = isElapsed && this.#isAuto && this.#recurrence !== null;
    this.#elapsed = goesByTime ? new ElapsedRecurrence(this.#recurrence, start.wall, this.#timeZone) : null;
    this.#added = [...new Set(added.flatMap((time) => this.#instantsOf(time)))].sort((a, b) => a - b);
    this.#excluded = new Set(excluded.flatMap((time) => this.#instantsOf(time)));
    this.#untilMs = rule?.until ? this.#untilOf(rule.until) : Number.POSITIVE_INFINITY;
  }

  override get timeZone(): string {
    return this.#timeZone;
  }

  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return this.#search(afterMs, (atMs, share) => {
      const byRule = this.#nextByRule(atMs, share);
      const added = this.#added.find((time) => time > atMs);
      return least(byRule, added);
    });
  }

  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return this.#search(Math.min(beforeMs, FIRE_TIME_MS_MAX + 1), (atMs, share) => {
      const byRule = this.#previousByRule(atMs, share);
      const added = this.#added.findLast((time) => time < atMs);
      return byRule === null ? (added ?? null) : Math.max(byRule, added ?? byRule);
    });
  }

  /** What {@link toString} gives makes an equal trigger, with the same options. */
  override toString(): string {
    return this.#text;
  }

  describe(): string {
    return describeRule(this.#parsed, this.#timeZone, this.#isAuto ? "" : dstText(this.#gap, this.#overlap));
  }

  toJSON(): TriggerJSON {
    const dst = this.#isAuto ? undefined : { gap: this.#gap, overlap: this.#overlap };
    return withoutUndefined({ type: TAG, version: 1, text: this.#text, timeZone: this.#givenZone, dst });
  }

  /** The first answer that is not excluded. */
  #search(fromMs: number, answer: (atMs: number, share: StepShare) => number | null): number | null {
    return withinBudget((share) => {
      try {
        for (let atMs: number | null = fromMs; ; ) {
          atMs = answer(atMs, share);
          if (atMs === null || atMs > FIRE_TIME_MS_MAX) return null;
          if (!this.#excluded.has(atMs)) return atMs;
        }
      } catch (error) {
        if (!(error instanceof Exhausted)) throw error;
        throw new MaxIterationsReachedError(
          `the fire times of the rule near ${isoOf(fromMs)} were not found within the ${QUESTION_STEPS_MAX} steps of ` +
            "one question; perhaps it never fires, or its COUNT is too large to be counted: give it UNTIL",
        );
      }
    });
  }

  #nextByRule(afterMs: number, share: StepShare): number | null {
    const recurrence = this.#recurrence;
    if (recurrence === null || afterMs >= FIRE_TIME_MS_MAX) return null;
    if (this.#elapsed !== null) {
      const first = this.#elapsed.first(Math.floor(afterMs / 1000) + 1, this.#lastElapsed(share), share);
      return first === null ? null : first * 1000;
    }
    const shift = this.#shiftNear(afterMs);
    const last = this.#lastOf(share);
    let found: number | null = null;
    let wall = Math.floor(wallAt(afterMs, this.#timeZone) / 1000) - shift;
    for (;;) {
      const next = recurrence.from(wall, share);
      if (next === null || next > last) break;
      if (found !== null && next > wallAt(found, this.#timeZone) / 1000 + shift) break;
      for (const at of this.#timesOf(next, share)) if (at > afterMs && (found === null || at < found)) found = at;
      if (found !== null && shift === 0 && this.#shiftNear(found) === 0) break;
      wall = next + 1;
    }
    return found === null || found > this.#untilMs ? null : found;
  }

  #previousByRule(beforeMs: number, share: StepShare): number | null {
    const recurrence = this.#recurrence;
    if (recurrence === null) return null;
    const limitMs = Math.min(beforeMs, this.#untilMs + 1);
    if (this.#elapsed !== null) {
      const last = this.#elapsed.last(Math.min(Math.ceil(limitMs / 1000) - 1, this.#lastElapsed(share)), share);
      return last === null ? null : last * 1000;
    }
    const shift = this.#shiftNear(limitMs);
    const last = this.#lastOf(share);
    let found: number | null = null;
    let wall = Math.min(Math.ceil(wallAt(limitMs, this.#timeZone) / 1000) + shift, last);
    for (;;) {
      const previous = recurrence.until(wall, share);
      if (previous === null) break;
      if (found !== null && previous < wallAt(found, this.#timeZone) / 1000 - shift) break;
      for (const at of this.#timesOf(previous, share)) if (at < limitMs && (found === null || at > found)) found = at;
      if (found !== null && shift === 0 && this.#shiftNear(found) === 0) break;
      wall = previous - 1;
    }
    return found;
  }

  #lastElapsed(share: StepShare): number {
    return Math.min(this.#lastOf(share), Math.floor(this.#untilMs / 1000));
  }

  /** How far clocks change near an instant, in seconds: so far apart the order of times may be another one. */
  #shiftNear(atMs: number): number {
    if (this.#timeZone === "UTC") return 0;
    const offsetAt = (ms: number): number => wallAt(ms, this.#timeZone) - ms;
    const far = Math.abs(offsetAt(atMs + DAY * 1000) - offsetAt(atMs - DAY * 1000));
    if (far === 0) return 0;
    return offsetAt(atMs + 2 * far) === offsetAt(atMs - 2 * far) ? 0 : far / 1000;
  }

  #timesOf(wall: number, share: StepShare | null): readonly number[] {
    if (share?.take(STEPS_A_LOOK) === false) throw new Exhausted();
    const day = Math.floor(wall / DAY);
    return wallTimes(day, wall - day * DAY, this.#timeZone, this.#gap, this.#overlap);
  }

  /** The last time that `COUNT` leaves. Times that a clock change leaves out do not count. */
  #lastOf(share: StepShare): number {
    const count = this.#parsed.rule?.count ?? null;
    if (count === null || this.#recurrence === null) return Number.POSITIVE_INFINITY;
    if (this.#last !== undefined) return this.#last;
    const [elapsed, recurrence] = [this.#elapsed, this.#recurrence];
    let last = Number.NEGATIVE_INFINITY;
    for (let left = count, time: number | null = elapsed?.start ?? this.#parsed.start.wall; left > 0; ) {
      time = elapsed === null ? recurrence.from(time, share) : elapsed.first(time, Number.POSITIVE_INFINITY, share);
      if (time === null) break;
      if (elapsed !== null || this.#timesOf(time, share).length > 0) left--;
      last = time++;
    }
    this.#last = last;
    return last;
  }

  #instantsOf({ wall, timeZone }: TextTime): readonly number[] {
    if (timeZone === null || timeZone === this.#timeZone) return this.#timesOf(wall, null);
    const day = Math.floor(wall / DAY);
    return wallTimes(day, wall - day * DAY, timeZone, this.#gap, this.#overlap);
  }

  #untilOf({ wall, timeZone, isDate }: TextTime): number {
    const day = Math.floor(wall / DAY);
    const end = isDate ? DAY - 1 : wall - day * DAY;
    return wallTimes(day, end, timeZone ?? this.#timeZone, "advance", "second")[0] ?? Number.POSITIVE_INFINITY;
  }
}

function least(a: number | null, b: number | undefined): number | null {
  if (a === null) return b ?? null;
  return b === undefined ? a : Math.min(a, b);
}

/**
 * Lets schedules with an {@link RRuleTrigger} be read from a store. Importing the class does it, too; a bundler leaves
 * out an import of which nothing is used.
 * @example
 * registerRRule();
 * await scheduler.runUntilStopped();
 */
export function registerRRule(): void {
  registerTrigger(TAG, {
    version: 1,
    // What is no text, and what are no options, the constructor refuses.
    fromJSON: ({ type: _type, version: _version, text: ruleText, ...options }) => {
      return new RRuleTrigger(ruleText as string, options as RRuleOptions);
    },
  });
}
