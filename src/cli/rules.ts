import type { CronTrigger } from "../cron.ts";
import { readExpression } from "./engine.ts";
import { CliError } from "./failure.ts";

/** A trigger of the command line's crontab text. @throws {CliError} with a caret below what is wrong */
export function triggerOfText(text: string, timeZone: string): CronTrigger {
  const { trigger, error } = readExpression(text, timeZone, text);
  if (trigger !== null) return trigger;
  throw new CliError(error.message, { code: "cronSyntax", lines: caretLines(text, error) });
}

/** The text, and below it a caret under what is wrong, with what it could be. */
function caretLines(
  text: string,
  {
    start,
    length,
    suggestion,
  }: { readonly start: number; readonly length: number; readonly suggestion: string | null },
): string[] {
  const question = suggestion === null ? "" : `did you mean ${suggestion}?`;
  const isWhole = length >= text.trim().length || length === 0;
  if (text.length > 200) return question === "" ? [] : [`  ${question}`];
  if (isWhole && question === "") return [`  ${text}`];
  const carets =
    " ".repeat([...text.slice(0, start)].length) +
    "^".repeat(Math.max(1, [...text.slice(start, start + length)].length));
  return [`  ${text}`, `  ${carets}${question === "" ? "" : `  ${question}`}`];
}

/** The zone that a crontab is read in, if the file names none: that of this machine, as cron does. */
export function crontabZone(given: string | undefined): string {
  if (given !== undefined && given !== "local") return given;
  return new Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
}
