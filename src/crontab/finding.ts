/** How bad something is: an `error` never runs, a `warning` is likely meant otherwise, a `note` is worth knowing. */
export type LintSeverity = "error" | "warning" | "note";

/** What a lint is about. */
export type LintRule =
  | "line"
  | "lineBreak"
  | "user"
  | "syntax"
  | "never"
  | "timeZone"
  | "dayOrWeekday"
  | "uneven"
  | "everyMinute"
  | "shortMonths"
  | "leapYears"
  | "clockChange"
  | "percent"
  | "sixFields"
  | "duplicate"
  | "herd"
  | "reboot";

/** Something about a line of a crontab, or about an expression. */
export interface LintFinding {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  readonly severity: LintSeverity;
  readonly rule: LintRule;
  /** The expression, or the text that is wrong. */
  readonly expression: string;
  readonly message: string;
  /** What the expression could be; null for no idea. */
  readonly suggestion: string | null;
}

/** What the lints of an expression say, without a place. */
export type Lint = Omit<LintFinding, "line" | "column" | "expression">;

export function warning(rule: LintRule, message: string, suggestion: string | null = null): Lint {
  return { severity: "warning", rule, message, suggestion };
}

export function note(rule: LintRule, message: string, suggestion: string | null = null): Lint {
  return { severity: "note", rule, message, suggestion };
}
