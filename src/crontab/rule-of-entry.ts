import { CronSyntaxError, EscapementError } from "../core/errors.ts";
import type { CronDialect } from "../cron/spec.ts";
import { CronTrigger } from "../triggers/cron.ts";

/** The rule of an expression, or why there is none. */
export type ReadExpression =
  | { readonly trigger: CronTrigger; readonly error: null }
  | { readonly trigger: null; readonly error: ExpressionError };

/** What is wrong with an expression. */
interface ExpressionError {
  /** One line, without the expression and without the place in it. */
  readonly message: string;
  /** Where the wrong part begins in the expression, counted from 0, and how long it is. */
  readonly start: number;
  readonly length: number;
  /** What the part could be; null for no idea. */
  readonly suggestion: string | null;
}

/** Reads crontab text. Nothing throws. @param seed picks the values of `H` */
export function readExpression(
  expression: string,
  timeZone: string,
  seed: string,
  dialect?: CronDialect | undefined,
): ReadExpression {
  const prefix = /^\s*(?:CRON_)?TZ=(\S+)\s+/.exec(expression);
  const offset = prefix?.[0].length ?? 0;
  const rule = expression.slice(offset);
  try {
    const options = { timeZone: prefix?.[1] ?? timeZone, dialect };
    const hasHash = dialect === undefined && /(?<![a-z])H(?![a-z])/i.test(rule);
    return { trigger: new CronTrigger(rule, hasHash ? { ...options, seed } : options), error: null };
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error;
    return { trigger: null, error: expressionError(error, rule, offset, dialect) };
  }
}

function expressionError(
  error: EscapementError,
  rule: string,
  offset: number,
  dialect: CronDialect | undefined,
): ExpressionError {
  // A zone that nobody knows.
  if (!(error instanceof CronSyntaxError)) {
    return { message: plain(error.message), start: 0, length: 0, suggestion: null };
  }
  const { element, position, suggestion } = error;
  const isNever = error.field === "day" && error.message.includes("never comes");
  return {
    message: isNever ? neverText(element, suggestion) : messageOf(error, rule, dialect),
    start: offset + position,
    length: element.length,
    suggestion: suggestion ?? swapped(rule, dialect),
  };
}

/** The message without what a caret shows, and without the question that the suggestion is. */
function messageOf({ message, suggestion }: CronSyntaxError, rule: string, dialect: CronDialect | undefined): string {
  const text = plain(message).replace(/ \(position \d+ in .*?"\)(?=;|$)/, "");
  const swap = suggestion === null ? swapped(rule, dialect) : null;
  const [problem = "", ...advice] = text.split("; ");
  const rest = advice.filter((part) => !part.startsWith("did you mean"));
  if (swap !== null && rest.length > 0) return `${problem}; the order is minute hour day month weekday`;
  return [problem, ...rest].join("; ");
}

function neverText(day: string, suggestion: string | null): string {
  const advice = suggestion === "L" ? "; write L for the last day" : "";
  return `never fires: no month matches day ${day}${advice}`;
}

function plain(message: string): string {
  return message.replace(/^CronTrigger: |^CronTrigger, /, "").replace(/\s+/g, " ");
}

/** The same fields with minute and hour, or day and month, in the other order, if only that can be read. */
function swapped(rule: string, dialect: CronDialect | undefined): string | null {
  const fields = rule.trim().split(/\s+/);
  if (fields.length !== 5) return null;
  for (const [a, b] of [[0, 1] as const, [2, 3] as const]) {
    const other = [...fields];
    [other[a], other[b]] = [fields[b] ?? "", fields[a] ?? ""];
    try {
      return String(new CronTrigger(other.join(" "), { dialect })) === "" ? null : other.join(" ");
    } catch (error) {
      if (!(error instanceof EscapementError)) throw error;
    }
  }
  return null;
}
