import type { CronDialect } from "../cron/spec.ts";
import { clockChanges } from "../triggers/clock-changes.ts";
import type { CronTrigger } from "../triggers/cron.ts";
import { clockMarks } from "./clock-marks.ts";
import { type Lint, type LintFinding, note, warning } from "./finding.ts";
import { fieldLints } from "./lint-fields.ts";
import type { Crontab } from "./parse-crontab.ts";
import { readExpression } from "./rule-of-entry.ts";

/** How a crontab is looked at. */
export interface LintOptions {
  /** The zone of lines for which the crontab names none. */
  readonly timeZone: string;
  /** Whose rules the lines follow. Default: our own dialect. */
  readonly dialect?: CronDialect | undefined;
  /** Changes of the clocks are looked for from here on, for a year. */
  readonly nowMs: number;
}

const YEAR_MS = 366 * 86_400_000;
const DAY_MS = 86_400_000;
/** So many lines that fire in one minute are a herd. */
const HERD_MIN = 5;
/** Most fire times of one line in a day that count for herds, and most of all rules together. */
const FIRES_MAX = 1441;
const FIRES_OF_ALL_MAX = 1_000_000;

/** Looks through a crontab, in steps: one a line, and one a rule. Findings come by line. */
export function* lintSteps(crontab: Crontab, options: LintOptions): Generator<void, LintFinding[]> {
  const findings: LintFinding[] = crontab.problems.map(({ text, ...problem }) => {
    return { ...problem, expression: text, suggestion: null };
  });
  const seen = new Map<string, number>();
  const rules: { line: number; column: number; expression: string; trigger: CronTrigger }[] = [];
  for (const { line, column, expression, command, user, input, timeZone, id } of crontab.entries) {
    const place = { line, column, expression };
    const zone = timeZone ?? options.timeZone;
    for (const lint of lintExpression(expression, { ...options, timeZone: zone }, id))
      findings.push({ ...place, ...lint });
    for (const lint of commandLints(command, input)) findings.push({ ...place, ...lint });
    const key = JSON.stringify([expression, zone, user, command, input]);
    const before = seen.get(key);
    if (before === undefined) seen.set(key, line);
    else findings.push({ ...place, ...warning("duplicate", `is line ${before} once more, so the command runs twice`) });
    const { trigger } =
      expression === "@reboot" ? { trigger: null } : readExpression(expression, zone, id, options.dialect);
    if (trigger !== null) rules.push({ ...place, trigger });
    yield;
  }
  const herd = yield* herdOf(rules, options.nowMs);
  if (herd !== null) findings.push(herd);
  return findings.sort((a, b) => a.line - b.line);
}

/** Looks at one expression. @param seed picks the values of `H` */
export function lintExpression(expression: string, options: LintOptions, seed = "lint"): Lint[] {
  if (expression.trim().toLowerCase() === "@reboot") {
    return [note("reboot", "has no fire times: it runs once, when the program that runs the crontab starts")];
  }
  const { timeZone, dialect } = options;
  const { trigger, error } = readExpression(expression, timeZone, seed, dialect);
  if (error !== null) {
    const { message, suggestion } = error;
    const isNever = message.startsWith("never fires") || message.includes("never comes");
    const rule = isNever ? "never" : message.startsWith("timeZone") ? "timeZone" : "syntax";
    const question = suggestion === null || isNever ? "" : `; did you mean ${suggestion}?`;
    return [{ severity: "error", rule, message: `${message}${question}`, suggestion }];
  }
  // OCPS takes such a rule.
  if (trigger.nextMs(-1) === null) {
    return [{ severity: "error", rule: "never", message: "never fires: no date matches", suggestion: null }];
  }
  const fields = expression.replace(/^\s*(?:CRON_)?TZ=\S+\s+/, "").trim();
  return [...fieldLints(fields, dialect), ...clockLints(trigger, options)];
}

function commandLints(command: string, input: string | null): Lint[] {
  const found: Lint[] = [];
  if (input !== null) found.push(warning("percent", "has a %, which ends the command; write \\% for a percent sign"));
  if (/^[*?]|^(?:\d+|[*?])\s/.test(command)) {
    found.push(warning("sixFields", `has a sixth field, which is a part of the command; a crontab has five`));
  }
  return found;
}

/** What changes of the clocks do to a rule that names a time of day, within a year: each kind once. */
function clockLints(trigger: CronTrigger, { nowMs }: LintOptions): Lint[] {
  const { timeZone } = trigger;
  const found: Lint[] = [];
  const isElapsed = trigger.nextMs(nowMs) !== null && isEveryHour(trigger);
  if (isElapsed) return [];
  const kinds = new Set<string>();
  for (const change of clockChanges(timeZone, nowMs, nowMs + YEAR_MS)) {
    const { atMs, shiftMs } = change;
    if (atMs < nowMs || atMs > nowMs + YEAR_MS) continue;
    const margin = Math.abs(shiftMs);
    const times = [...trigger.expand({ from: iso(atMs - margin), until: iso(atMs + 2 * margin), limit: 500 })];
    const { marks, skipped } = clockMarks(
      trigger,
      [...times, ...next(trigger, atMs + 2 * margin)],
      atMs - margin,
      false,
    );
    for (const [at, mark] of marks) {
      if (kinds.has(mark.kind)) continue;
      kinds.add(mark.kind);
      if (mark.kind === "moved")
        found.push(clockNote(timeZone, `moves to ${wallTime(at, change)} on ${dayText(atMs)}`));
      else if (mark.kind === "first" && times.includes(at + margin)) {
        kinds.add("second");
        found.push(warning("clockChange", `in ${timeZone}: runs twice on ${dayText(atMs)}, when clocks go back`));
      }
    }
    if (skipped.length > 0 && !kinds.has("skipped")) {
      kinds.add("skipped");
      const message = `in ${timeZone}: does not run at ${clockText(skipped[0] ?? 0)} on ${dayText(atMs)}`;
      found.push(warning("clockChange", message));
    }
  }
  return found;
}

function clockNote(timeZone: string, text: string): Lint {
  return note("clockChange", `in ${timeZone}: ${text}`);
}

/** Whether a rule goes on through every hour, so that a change of the clocks loses or doubles nothing. */
function isEveryHour(trigger: CronTrigger): boolean {
  return (
    String(trigger)
      .split(" ")
      .at(String(trigger).split(" ").length === 5 ? 1 : 2) === "*"
  );
}

function next(trigger: CronTrigger, afterMs: number): number[] {
  const at = trigger.nextMs(afterMs);
  return at === null ? [] : [at];
}

/** The minute in which most lines fire within a day, if that is a herd. */
function* herdOf(
  rules: readonly { line: number; column: number; expression: string; trigger: CronTrigger }[],
  nowMs: number,
): Generator<void, LintFinding | null> {
  // Lines with one rule fire together: each rule is looked at once.
  const linesOfRule = new Map<string, { trigger: CronTrigger; lines: number[] }>();
  for (const { line, trigger } of rules) {
    const key = `${trigger.timeZone} ${trigger}`;
    const same = linesOfRule.get(key);
    if (same === undefined) linesOfRule.set(key, { trigger, lines: [line] });
    else same.lines.push(line);
  }
  const counts = new Map<number, number>();
  const looked: { minutes: ReadonlySet<number>; lines: readonly number[] }[] = [];
  let fires = 0;
  for (const { trigger, lines } of linesOfRule.values()) {
    const times = trigger.expand({ from: iso(nowMs), until: iso(nowMs + DAY_MS - 1), limit: FIRES_MAX });
    const minutes = new Set([...times].map((at) => Math.floor(at / 60_000)));
    for (const minute of minutes) counts.set(minute, (counts.get(minute) ?? 0) + lines.length);
    looked.push({ minutes, lines });
    fires += minutes.size;
    if (fires > FIRES_OF_ALL_MAX) break;
    yield;
  }
  let busiest: [number, number] | null = null;
  for (const entry of counts) if (entry[1] > (busiest?.[1] ?? HERD_MIN - 1)) busiest = entry;
  if (busiest === null) return null;
  const [minute] = busiest;
  const together = looked.flatMap(({ minutes, lines }) => (minutes.has(minute) ? lines : [])).sort((a, b) => a - b);
  const first = rules.find(({ line }) => line === together[0]);
  if (first === undefined) return null;
  const listed = together.slice(0, 6).join(", ");
  const lineTexts = `${listed}${together.length > 6 ? ", ..." : ""}`;
  const at = iso(minute * 60_000).slice(11, 16);
  const message = `herd: ${together.length} lines fire at ${at} UTC (lines ${lineTexts}); spread their minutes`;
  const { line, column, expression } = first;
  return { line, column, expression, severity: "note", rule: "herd", message, suggestion: null };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** What clocks show at an instant after a change. */
function wallTime(atMs: number, { offsetMs }: { readonly offsetMs: number }): string {
  return clockText(atMs + offsetMs);
}

function clockText(wallMs: number): string {
  return iso(wallMs).slice(11, 16);
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function dayText(atMs: number): string {
  const date = new Date(atMs);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
