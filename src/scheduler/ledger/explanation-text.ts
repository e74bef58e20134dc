import type { Sought } from "./asked.ts";
import { changesOnDayOf, effectOn, type ZoneChange } from "./clocks.ts";
import type { Rule } from "./rule.ts";
import { adviceText, causeText, type VerdictFacts, verdictText } from "./verdict-words.ts";
import { clockText, fullText, timeOfDay, wallTime } from "./words.ts";

/** What an explanation says, as English text. */
export interface TextFacts extends VerdictFacts {
  readonly rule: Rule | null;
  /** Whether nobody knows which rule held in the past, so that `rule` is that of now. */
  readonly isRuleOfNow: boolean;
  readonly sought: Sought;
  /** What clocks went over, or would have shown. */
  readonly skipped: number | null;
  /** The fire time on an excluded date that was moved to this one. */
  readonly shiftedFrom: number | null;
  readonly fireTime: number | null;
  /** Whether the rule has the fire time. Otherwise only the store has it. */
  readonly isOfRule: boolean;
  readonly before: number | null;
  readonly after: number | null;
}

/** A few lines: what clocks do, what the rule says, the verdict, the cause, what to do. */
export function explanationText(facts: TextFacts): string {
  const cause = causeText(facts);
  const advice = adviceText(facts);
  return [
    ...clockLines(facts),
    ...shiftLines(facts),
    ruleLine(facts),
    `Verdict: ${verdictText(facts)}`.trim(),
    ...(cause === null ? [] : [`Cause: ${cause}`]),
    ...(facts.fireTime === null ? [nearestLine(facts)] : []),
    ...(advice === null ? [] : [`Advice: ${advice}`]),
  ].join("\n");
}

function clockLines({ rule, sought, skipped, fireTime, timeZone }: TextFacts): string[] {
  const trigger = rule?.trigger ?? null;
  if (rule === null || trigger === null) return [];
  const changes = rule.ask(() => changesOnDayOf(trigger, sought.at), []);
  const gap = changes.find(({ timeZone: zone, shiftMs }) => zone === timeZone && shiftMs > 0);
  if (skipped !== null && gap !== undefined) {
    const lines = [`${wallTime(skipped)} does not exist that day: ${goText(gap)}.`];
    if (fireTime !== null) lines.push(`The rule fires at ${timeOfDay(fireTime, timeZone)} instead.`);
    return lines;
  }
  const { twice } = sought;
  const back = changes.find(({ timeZone: zone, shiftMs }) => zone === timeZone && shiftMs < 0);
  if (twice !== null && back !== undefined) {
    const [first, second] = twice;
    const which = fireTime !== null && fireTime >= second ? "second" : "first";
    return [
      `${timeOfDay(first, timeZone)} comes twice that day: ${goText(back)}. This is about the ${which} time.`,
      `The first is ${fullText(first, timeZone)}, the second ${fullText(second, timeZone)}.`,
    ];
  }
  const effect = fireTime === null ? null : rule.ask(() => effectOn(trigger, fireTime), null);
  if (effect !== null) {
    const moved = `It was moved from ${wallTime(effect.wall ?? 0)}, which does not exist that day: `;
    const repeated = `Clocks show that time twice that day, and this is the ${effect.kind} time: `;
    return [`${effect.kind === "moved" ? moved : repeated}${goText(effect.change)}.`];
  }
  return changes.map((change) => `That day, ${goText(change)}, in ${change.timeZone}.`);
}

function shiftLines({ sought, shiftedFrom, fireTime, timeZone }: TextFacts): string[] {
  if (shiftedFrom === null || fireTime === null) return [];
  const [from, to] = [clockText(shiftedFrom, timeZone), clockText(fireTime, timeZone)];
  const isAskedFor = sought.at === fireTime || sought.windows.some(([at, until]) => fireTime >= at && fireTime < until);
  if (isAskedFor) return [`It was moved from ${from}, which is on an excluded date.`];
  return [`${from} is on an excluded date. The rule fires at ${to} instead.`];
}

/** `clocks go from 02:00 to 03:00`. */
function goText({ atMs, shiftMs, offsetMs }: ZoneChange): string {
  const endMs = atMs + offsetMs;
  return `clocks go ${shiftMs < 0 ? "back " : ""}from ${wallTime(endMs - shiftMs)} to ${wallTime(endMs)}`;
}

function ruleLine({ rule, sought, fireTime, isOfRule, timeZone, isRuleOfNow, now }: TextFacts): string {
  const at = fullText(fireTime ?? sought.at, timeZone);
  if (rule === null) return `${at}.`;
  const words = isRuleOfNow && sought.at <= now ? `${rule.words} (the rule of now)` : rule.words;
  if (fireTime !== null && isOfRule) return `${at} is a fire time of: ${words}.`;
  return `${at} is no fire time of: ${words}.${fireTime === null ? "" : " It was one of another rule."}`;
}

function nearestLine({ before, after, timeZone }: TextFacts): string {
  if (before === null && after === null) return "There is no fire time near.";
  const parts = [
    ...(before === null ? [] : [`The fire time before is ${clockText(before, timeZone)}`]),
    ...(after === null
      ? []
      : [`${before === null ? "The fire time after" : "the one after"} is ${clockText(after, timeZone)}`]),
  ];
  return `${parts.join(", ")}.`;
}
