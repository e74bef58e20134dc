import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { nearest } from "../core/suggest.ts";
import type { CronDialect, CronTrigger } from "../cron.ts";
import { type CommandCall, textOption } from "./command.ts";
import { readExpression } from "./engine.ts";
import { CliError } from "./failure.ts";

/** A trigger of the command line's crontab text. @throws {CliError} with a caret below what is wrong */
export function triggerOfText(text: string, timeZone: string, dialect?: CronDialect | undefined): CronTrigger {
  const { trigger, error } = readExpression(text, timeZone, text, dialect);
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

const DIALECTS = ["ocps", "quartz", "vixie"] as const satisfies readonly CronDialect[];

/** The dialect that `--dialect` names. @throws {CliError} for another */
export function dialectOption(call: CommandCall): CronDialect | undefined {
  const given = textOption(call, "dialect");
  const dialect = DIALECTS.find((name) => name === given);
  if (dialect !== undefined || given === undefined) return dialect;
  const near = nearest(given, DIALECTS);
  const question = near === null ? "" : `; did you mean ${near}?`;
  throw new CliError(`--dialect is one of ${DIALECTS.join(", ")}; got ${JSON.stringify(given)}${question}`);
}

/** The zone that a crontab is read in, if the file names none: that of this machine, as cron does. */
export function crontabZone(given: string | undefined): string {
  if (given !== undefined && given !== "local") return given;
  return new Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
}

/** Whether the lines of a crontab name a user: by `--system` and `--user`, or by the path of a system's crontab.
 *  @returns undefined for a file that says neither. @throws {CliError} for both */
export function systemOption({ options, io }: Pick<CommandCall, "options" | "io">, path: string): boolean | undefined {
  const [isSystem, isUser] = [options.system === true, options.user === true];
  if (isSystem && isUser) throw new CliError("--system and --user exclude each other");
  if (isSystem || isUser) return isSystem;
  const whole = resolve(io.cwd, path);
  // Cron reads what stands there, also a link to elsewhere; and a link from elsewhere is the same file.
  return [whole, realPath(whole)].some((one) => /^(\/private)?\/etc\/(crontab$|cron\.d\/)/.test(one))
    ? true
    : undefined;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is told when it is read.
    return path;
  }
}
