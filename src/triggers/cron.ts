import { CronSyntaxError } from "../core/errors.ts";
import { optionError } from "../core/option-errors.ts";
import { type InstantLike, toEpochMs } from "../core/temporal.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import { cronText, shortYears } from "../cron/canonical-text.ts";
import type { CompiledCron } from "../cron/compiled-cron.ts";
import { describeCron, isAutoDst } from "../cron/describe.ts";
import { checkCrontab, impossibleDate } from "../cron/expression.ts";
import type { CronFields } from "../cron/fields.ts";
import { CRON_CANONICAL_LENGTH_MAX } from "../cron/limits.ts";
import { type CronSettings, isSurelyPossible, parseCrontab, parseFields } from "../cron/parse.ts";
import { sharedCron } from "../cron/shared-crons.ts";
import type { CronDialect, DstPolicy, ParsedCron } from "../cron/spec.ts";
import { quote } from "../cron/syntax.ts";
import { type FireTimesOptions, rangeOf } from "./fire-time-range.ts";
import { FIRE_TIME_MS_MAX } from "./limits.ts";
import {
  type Checked,
  checkOptions,
  checkOrder,
  dstPolicy,
  instantMs,
  oneOf,
  optional,
  resolveTimeZone,
  text,
  timeZoneAdvice,
  trueOrFalse,
} from "./options.ts";
import { hasHash, spreadNickname, withoutHashes } from "./seeded-crontab.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { boundsText, isoIn, isoOf } from "./words.ts";

/** What applies to a {@link CronTrigger} besides its fields. */
export interface CronOptions {
  /** IANA name, or `"local"` for the host's. Default: `"UTC"`, and not the zone of the host. */
  readonly timeZone?: string | undefined;
  /** Earliest fire time, inclusive. Default: none. */
  readonly startTime?: InstantLike | undefined;
  /** Latest fire time, inclusive. Default: none. */
  readonly endTime?: InstantLike | undefined;
  /** What fire times do when clocks change. Default: `"auto"`. */
  readonly dst?: DstPolicy | undefined;
  /** `"or"`: where day and weekday are both restricted (neither starts with `*` or `?`) either suffices, as in
   *  crontab(5). Default: `"or"` for crontab text, `"and"` for fields. */
  readonly dayMatch?: "and" | "or" | undefined;
  /** Picks the value of each `H` in crontab text, as in Jenkins: any text, for example the id of the schedule, which
   *  `schedule` and `addSchedule` give. Equal seeds give equal values, everywhere and in every release. Default:
   *  none, and `H` is refused. */
  readonly seed?: string | undefined;
  /** Whether the seed also picks the time of a nickname: `@daily` is then `H H * * *`. Default: false. */
  readonly spread?: boolean | undefined;
  /**
   * Reads crontab text as others do: `"ocps"` (the [Open Cron Pattern
   * Specification](https://github.com/open-source-cron/ocps), 1.0 to 1.4), `"quartz"` ([Quartz](
   * https://www.quartz-scheduler.org/documentation/quartz-2.3.0/tutorials/crontrigger.html): the second first, 1 is
   * Sunday, `?` in one of the two day fields) or `"vixie"` ([Vixie cron](https://github.com/vixie/cron) and cronie:
   * five fields). What the other has not, is refused. The trigger has canonical text of our own dialect, and keeps no
   * other, except for a rule that our own cannot say: one of OCPS that never fires, or years without a short text. Goes
   * together with neither `dayMatch` nor `seed`. Default: our own dialect.
   */
  readonly dialect?: CronDialect | undefined;
}

const rules = {
  timeZone: optional(text, "UTC"),
  startTime: optional(instantMs, Number.NEGATIVE_INFINITY),
  endTime: optional(instantMs, FIRE_TIME_MS_MAX),
  dst: optional(dstPolicy, "auto"),
  dayMatch: optional(oneOf(["and", "or"])),
  seed: optional(text),
  spread: optional(trueOrFalse, false),
  dialect: optional(oneOf(["ocps", "quartz", "vixie"])),
};

const NO_OPTIONS: CronOptions = Object.freeze({});
const UNSET: Checked<typeof rules> = checkOptions(rules, NO_OPTIONS, "CronTrigger");

/** Fire times of one {@link CronTrigger.expand} when no limit is given. */
const EXPAND_LIMIT = 1000;

/** What a {@link CronTrigger} consists of. For CronBatch alone. */
export let partsOf: (trigger: CronTrigger) => { compiled: CompiledCron; floorMs: number; endMs: number };

/**
 * Fires when a clock on the wall shows a time that all fields match.
 *
 * Fields take a number or text in the cron dialect. Unset fields below the least significant one that is set take
 * their minimum, the others every value. The weekdays 0 and 7 are Sunday, as in crontab; in APScheduler 0 is Monday, so
 * that names (`mon`) are safer. The time zone is UTC unless `timeZone` says otherwise.
 *
 * @example
 * new CronTrigger({ hour: 9, dayOfWeek: "mon-fri" }, { timeZone: "Europe/Berlin" });
 * new CronTrigger({ day: "2nd fri, last sun", hour: "8-18/2" });
 * CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
 */
export class CronTrigger extends Trigger {
  static {
    partsOf = (trigger) => ({
      compiled: trigger.#compiled ?? trigger.#compile(),
      floorMs: trigger.#floorMs,
      endMs: trigger.#endMs,
    });
  }

  readonly #spec: ParsedCron;
  /** The dialect of {@link written}, where our own cannot say the same. */
  readonly #dialect: CronDialect | undefined;
  /** The crontab text as it was written, if a seed picked values in it, or if only its own dialect can say it. */
  readonly written: string | null;
  /** Compiled at the first question, because many triggers are only checked, stored or shown. Equal triggers share
   *  it. */
  #compiled: CompiledCron | null = null;
  /** Nothing fires at or before the floor, nor after the end. Both are plain numbers, so that a question only
   *  compares. */
  readonly #floorMs: number;
  readonly #endMs: number;

  /**
   * @param fields the fields, or crontab text as {@link CronTrigger.fromCrontab} takes it
   * @param written the text of which a seed made these fields: it is shown, and decides nothing
   * @throws {CronSyntaxError} when a field cannot be understood, none is set, or no date can ever match
   * @throws {OptionsError} for unknown or invalid options, or an end before the start
   */
  constructor(fields: CronFields | string, options: CronOptions = NO_OPTIONS, written: string | null = null) {
    super();
    const isText = typeof fields === "string";
    // Checking costs more than parsing does, so what cannot be wrong is not checked.
    const checked = isTimeZoneAlone(options)
      ? { ...UNSET, timeZone: options.timeZone ?? UNSET.timeZone }
      : checkOptions(rules, options, "CronTrigger", timeZoneAdvice);
    const { startTime: startMs, endTime: endMs } = checked;
    checkOrder("CronTrigger", startMs, FIRE_TIME_MS_MAX, ["startTime", "the end of the year 9999"]);
    checkOrder("CronTrigger", startMs, endMs, ["startTime", "endTime"]);
    const { dialect } = checked;
    if (dialect !== undefined && (!isText || checked.dayMatch !== undefined)) {
      throw optionError("CronTrigger", "dialect", "is for crontab text, which says what dayMatch would say");
    }
    const settings: CronSettings = {
      timeZone: resolveTimeZone(checked.timeZone),
      dst: checked.dst,
      dayMatch: checked.dayMatch ?? (isText ? "or" : "and"),
      dialect,
    };
    const rule = seeded(fields, checked);
    this.#spec =
      typeof rule === "string" ? parseCrontab(rule, settings, CRON_CANONICAL_LENGTH_MAX) : parseFields(rule, settings);
    const isNever = !isSurelyPossible(this.#spec) && !(this.#compiled ?? this.#compile()).canEverMatch;
    if (isNever && dialect !== "ocps") throw madeOf(impossibleDate(rule), rule === fields ? written : String(fields));
    // Years without a short text are kept as they were written.
    const { years } = this.#spec;
    const isForeign = isNever || (dialect !== undefined && years !== null && shortYears(years) === null);
    this.#dialect = isForeign ? dialect : undefined;
    this.written = rule === fields && this.#dialect === undefined ? written : String(fields);
    this.#floorMs = startMs - 1;
    this.#endMs = Math.min(endMs, FIRE_TIME_MS_MAX);
  }

  /**
   * The trigger of a crontab line.
   *
   * @param text 5 fields (minute hour day month weekday), 6 (seconds first) or 7 (and year last), or a nickname such as
   *   `@daily`. Where both day and weekday are restricted, either suffices; a `+` before the weekday asks for both. A
   *   last word `week=10-20` restricts the ISO week. `2nd fri` has a space, so it is written `fri#2` here. The weekdays
   *   0 and 7 are Sunday (in APScheduler 0 is Monday), and the time zone is UTC unless `timeZone` says otherwise. With
   *   a `seed`, `H` is a value that the seed picks, as in Jenkins: `H H * * *`, `H/15 * * * *`, `H(0-29) 2-5 * * *`.
   *   With a `dialect`, the text is read as others do
   * @throws {CronSyntaxError} with the field, the element, its position and often a suggestion
   * @throws {OptionsError} for unknown or invalid options
   * @example
   * CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }).next();
   * CronTrigger.fromCrontab("H H * * *", { seed: "backup" }).describe(); // At 17:38, in UTC (H H * * *)
   * CronTrigger.fromCrontab("0 0 12 ? * 2#1", { dialect: "quartz" }); // the first Monday
   */
  static fromCrontab(text: string, options: CronOptions = NO_OPTIONS): CronTrigger {
    return new CronTrigger(checkCrontab(text), options);
  }

  #compile(): CompiledCron {
    this.#compiled = sharedCron(this.#spec);
    return this.#compiled;
  }

  override get timeZone(): string {
    return this.#spec.timeZone;
  }

  override get startMs(): number | null {
    return this.#floorMs === Number.NEGATIVE_INFINITY ? null : this.#floorMs + 1;
  }

  /** The options that, with the text of `toString`, make an equal trigger. */
  get options(): CronOptions {
    const { timeZone, gap, overlap } = this.#spec;
    const { startMs } = this;
    return {
      timeZone,
      ...(this.#dialect === undefined ? {} : { dialect: this.#dialect }),
      dst: isAutoDst(this.#spec) ? "auto" : { gap, overlap },
      ...(startMs === null ? {} : { startTime: isoOf(startMs) }),
      ...(this.#endMs === FIRE_TIME_MS_MAX ? {} : { endTime: isoOf(this.#endMs) }),
    };
  }

  nextMs(afterMs: number): number | null {
    // Cheaper than a call: only a finite number minus itself is 0.
    if (typeof afterMs !== "number" || afterMs - afterMs !== 0) checkMs(afterMs, "afterMs");
    const atMs = (this.#compiled ?? this.#compile()).nextMs(afterMs < this.#floorMs ? this.#floorMs : afterMs);
    return atMs !== null && atMs > this.#endMs ? null : atMs;
  }

  previousMs(beforeMs: number): number | null {
    if (typeof beforeMs !== "number" || beforeMs - beforeMs !== 0) checkMs(beforeMs, "beforeMs");
    const atMs = (this.#compiled ?? this.#compile()).previousMs(beforeMs > this.#endMs ? this.#endMs + 1 : beforeMs);
    return atMs !== null && atMs <= this.#floorMs ? null : atMs;
  }

  /** Whether the trigger fires in the second that the instant lies in, because clocks on the wall show whole
   *  seconds. So `matches(new Date())` is true throughout the second of a fire time. */
  override matches(at: InstantLike): boolean {
    return this.matchesMs(toEpochMs(at, "at"));
  }

  /** {@link matches} for epoch milliseconds. */
  override matchesMs(atMs: number): boolean {
    checkMs(atMs, "atMs");
    const secondMs = Math.floor(atMs / 1000) * 1000;
    return secondMs > this.#floorMs && secondMs <= this.#endMs && (this.#compiled ?? this.#compile()).matches(secondMs);
  }

  /**
   * Many fire times at once, in epoch milliseconds and in order: some hundred times faster than one by one.
   *
   * @param options as for {@link Trigger.fireTimes}; `limit` is 1,000 by default
   */
  expand(options: FireTimesOptions = {}): Float64Array {
    const { fromMs, untilMs, limit } = rangeOf(options, EXPAND_LIMIT, "expand()");
    return (this.#compiled ?? this.#compile()).expand(
      Math.max(fromMs, this.#floorMs + 1),
      Math.min(untilMs, this.#endMs),
      limit,
    );
  }

  /** How many fire times lie from one instant to another, both included. */
  count(from: InstantLike, until: InstantLike): number {
    const { fromMs, untilMs } = rangeOf({ from, until }, 0, "count()");
    return (this.#compiled ?? this.#compile()).count(
      Math.max(fromMs, this.#floorMs + 1),
      Math.min(untilMs, this.#endMs),
    );
  }

  /** Canonical crontab text of the fields: equal for all spellings of a rule that fires. With {@link options} it makes
   *  an equal trigger: `CronTrigger.fromCrontab(String(trigger), trigger.options)`. */
  override toString(): string {
    return this.#dialect === undefined ? cronText(this.#spec) : (this.written ?? "");
  }

  describe(): string {
    const from = this.startMs === null ? null : isoIn(this.startMs, this.timeZone);
    const until = this.#endMs === FIRE_TIME_MS_MAX ? null : isoIn(this.#endMs, this.timeZone);
    return describeCron(this.#spec) + boundsText(from, until) + (this.written === null ? "" : ` (${this.written})`);
  }

  toJSON(): TriggerJSON {
    const { timeZone, dialect, dst, startTime, endTime } = this.options;
    return withoutUndefined({
      type: "cron",
      version: 1,
      expression: this.toString(),
      written: this.written ?? undefined,
      timeZone,
      dialect,
      dst: dst === "auto" ? undefined : dst,
      startTime,
      endTime,
    });
  }
}

/** Fields or text in which the seed has picked the value of each `H`. */
function seeded(fields: CronFields | string, { seed, spread, dialect }: Checked<typeof rules>): CronFields | string {
  if (seed === undefined && !spread) return fields;
  if (typeof fields !== "string" || dialect !== undefined) {
    throw optionError("CronTrigger", "seed", "is for crontab text of our own dialect, which may have an H");
  }
  if (seed === undefined) throw optionError("CronTrigger", "spread", "goes together with a seed, which picks the time");
  const text = spread ? (spreadNickname(fields) ?? fields) : fields;
  if (hasHash(text)) return withoutHashes(text, seed);
  if (!spread) return fields;
  throw optionError("CronTrigger", "spread", "is for nicknames such as @daily; in other text write H for a value");
}

/** An error about text that a seed made, which names the text as it was written, too. */
function madeOf(error: CronSyntaxError, written: string | null): CronSyntaxError {
  if (written === null) return error;
  const { field, element, position, suggestion } = error;
  return new CronSyntaxError(`${error.message}; it comes of ${quote(written)}`, {
    ...{ field, element, position, suggestion },
  });
}

function isTimeZoneAlone(options: CronOptions): boolean {
  if (options === NO_OPTIONS) return true;
  for (const name in options) if (name !== "timeZone" || typeof options.timeZone !== "string") return false;
  return typeof options === "object" && options !== null;
}
