/** A trigger as it is stored, or as somebody writes it. */
type ShownTrigger = Readonly<Record<string, unknown>>;

/** A rule as a row shows it, beside the words that the server has for it. */
export interface ShownRule {
  /** As it is written: `30 2 * * *`. */
  readonly code: string;
  /** Null for a rule without a zone. */
  readonly timeZone: string | null;
}

export function ruleOf(trigger: unknown): ShownRule {
  const rule = Object(trigger) as ShownTrigger;
  const { type, trigger: inner, triggers = inner === undefined ? [] : [inner] } = rule;
  const parts = (Array.isArray(triggers) ? triggers : []).map(ruleOf);
  const [first] = parts;
  if (first !== undefined) {
    return { code: `${String(type)}(${parts.map(({ code }) => code).join("; ")})`, timeZone: first.timeZone };
  }
  const code = rule.expression ?? rule.runTime ?? (type === "interval" ? `every ${isoText(rule)}` : type);
  return { code: String(code), timeZone: typeof rule.timeZone === "string" ? rule.timeZone : null };
}

/** The words of the server, without the zone, which stands beside them. */
export function wordsOf(description: string | undefined, { code, timeZone }: ShownRule): string {
  return description?.replace(`, in ${timeZone}`, "") ?? code;
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

/** An ISO 8601 duration: `PT20S`. */
function isoText({ milliseconds }: ShownTrigger): string {
  const ms = Number(milliseconds);
  const parts = [
    [Math.floor(ms / 3_600_000), "H"],
    [Math.floor(ms / 60_000) % 60, "M"],
    [(ms % 60_000) / 1000, "S"],
  ] as const;
  return `PT${parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : "")).join("") || "0S"}`;
}

/** What is wrong with a rule, without its place, at which whoever types looks. */
export function placelessOf({ message }: Error): string {
  return message.replace(/ \(position \d+ in ".*"\)/s, "").replace("dayOf", "day of ");
}
