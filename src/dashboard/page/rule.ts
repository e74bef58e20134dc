/** A trigger as it is stored, or as somebody writes it. */
export type TriggerLike = Readonly<Record<string, unknown>>;

/** A rule as a row shows it. */
export interface Rule {
  /** In English: `At 02:30`. */
  readonly words: string;
  /** As it is written: `30 2 * * *`. */
  readonly code: string;
  /** Null for a rule without a zone. */
  readonly timeZone: string | null;
}

/** How a trigger reads. @param description what the server says of it, where it was asked */
export function ruleOf(trigger: TriggerLike, description?: string): Rule {
  const rule = shapeOf(trigger);
  // The zone stands beside the words.
  return description === undefined ? rule : { ...rule, words: description.replace(`, in ${rule.timeZone}`, "") };
}

function shapeOf(trigger: TriggerLike): Rule {
  const timeZone = textOrNull(trigger.timeZone);
  switch (trigger.type) {
    case "cron": {
      const code = String(trigger.expression);
      return { words: code, code, timeZone };
    }
    case "interval": {
      const ms = Number(trigger.milliseconds);
      return { words: `Every ${periodText(ms)}`, code: `every ${isoText(ms)}`, timeZone: null };
    }
    case "date":
      return { words: "Once", code: String(trigger.runTime), timeZone };
    case "calendarInterval":
      return { words: calendarWords(trigger), code: "calendar", timeZone };
    case "or":
    case "and":
      return combined(trigger);
    case "excluding": {
      const inner = ruleOf(Object(trigger.trigger));
      return { words: `${inner.words}, with exceptions`, code: `excluding(${inner.code})`, timeZone: inner.timeZone };
    }
    default:
      return { words: String(trigger.type), code: "", timeZone };
  }
}

const FIELDS = ["minute", "hour", "day", "month", "weekday"];

/** What each field of crontab text says: `minute 30, hour 2, any day, any month, weekday sun`. */
export function fieldWords(text: string): string {
  const words = text.trim().split(/\s+/);
  const names = words.length === 5 ? FIELDS : words.length === 6 ? ["second", ...FIELDS] : null;
  if (names === null) return "";
  return words
    .map((word, index) => (/^[*?]$/.test(word) ? `any ${names[index]}` : `${names[index]} ${word}`))
    .join(", ");
}

function combined({ type, triggers }: TriggerLike): Rule {
  const rules = (Array.isArray(triggers) ? triggers : []).map((one) => ruleOf(Object(one)));
  return {
    words: rules.map(({ words }) => words).join(type === "or" ? ", or: " : ", and: "),
    code: `${String(type)}(${rules.map(({ code }) => code).join("; ")})`,
    timeZone: rules.find((rule) => rule.timeZone !== null)?.timeZone ?? null,
  };
}

function calendarWords({ months = 0, days = 0, hour = 0, minute = 0 }: TriggerLike): string {
  const [count, unit] = Number(months) > 0 ? [Number(months), "month"] : [Number(days), "day"];
  const pad = (part: unknown) => String(part).padStart(2, "0");
  return `Every ${count === 1 ? unit : `${count} ${unit}s`} at ${pad(hour)}:${pad(minute)}`;
}

const UNITS = [
  [604_800_000, "week"],
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
  [1, "millisecond"],
] as const;

/** `20 seconds`, `minute`, `1 hour and 30 minutes`. */
function periodText(ms: number): string {
  let rest = ms;
  const parts: string[] = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size);
    if (count === 0 || (unit === "week" && ms % size !== 0)) continue;
    rest -= count * size;
    parts.push(`${count} ${unit}${count > 1 ? "s" : ""}`);
  }
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last.replace(/^1 /, "") : `${parts.join(", ")} and ${last}`;
}

/** An ISO 8601 duration: `PT20S`. */
function isoText(ms: number): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000];
  const parts = [hours > 0 ? `${hours}H` : "", minutes > 0 ? `${minutes}M` : "", seconds > 0 ? `${seconds}S` : ""];
  return `PT${parts.join("") || "0S"}`;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
