import { textHash } from "../core/text-hash.ts";

/** How a line of a crontab is read. */
export interface CrontabOptions {
  /** Whether lines name a user before the command, as in `/etc/crontab`. Default: they do not; a crontab that has a
   *  user's name in that place in each line is refused. */
  readonly system?: boolean | undefined;
}

/** A line of a crontab that runs a command. */
export interface CrontabEntry {
  /** Counted from 1. */
  readonly line: number;
  /** Where its expression begins, counted from 1. */
  readonly column: number;
  /** Its five fields or its nickname, with single spaces; `@reboot` too. */
  readonly expression: string;
  /** A name that stays the same while the command does: `backup-1f3c9a02`. */
  readonly id: string;
  /** What the shell runs: the text up to the first `%`, of which `\%` are `%`. */
  readonly command: string;
  /** What the command reads from its standard input: the text after the first `%`; null for nothing. */
  readonly input: string | null;
  /** Whom it runs as; null where the crontab names nobody. */
  readonly user: string | null;
  /** The value of the last `CRON_TZ` above it; null for none, or an empty one. */
  readonly timeZone: string | null;
  /** The variables that are set above it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Something that is wrong with a line, whatever its expression is. */
interface CrontabProblem {
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning";
  readonly rule: "line" | "lineBreak" | "user";
  /** The text that it is about. */
  readonly text: string;
  readonly message: string;
}

/** A crontab that was read. */
export interface Crontab {
  readonly entries: readonly CrontabEntry[];
  readonly problems: readonly CrontabProblem[];
}

const ASSIGNMENT = /^\s*("[^"]+"|'[^']+'|[^\s=#"'][^\s=]*)\s*=\s*(.*)$/;
const FIELDS = 5;

/** Reads a crontab as crontab(5) describes it. Nothing throws: what cannot be read is a problem. Expressions are not
 *  looked into. */
export function parseCrontab(text: string, { system }: CrontabOptions = {}): Crontab {
  const problems: CrontabProblem[] = [];
  const lines = text.replace(/^\ufeff/, "").split("\n");
  noteLineBreaks(text, lines, problems);
  const rows = lines.map((line, index) => ({ line: line.replace(/\r$/, ""), number: index + 1 })).filter(isRow);
  const isSystem = system === true;
  if (system === undefined) {
    const isWhole = noteUsers(rows, problems);
    if (isWhole) return { entries: [], problems };
  }
  const assigned: [string, string][] = [];
  let timeZone: string | null = null;
  const entries: CrontabEntry[] = [];
  const uses = new Map<string, number>();
  for (const { line, number } of rows) {
    const assignment = ASSIGNMENT.exec(line);
    if (assignment !== null) {
      const [, name = "", value = ""] = assignment;
      const [variable, text] = [unquoted(name), unquoted(value.trimEnd())];
      assigned.push([variable, text]);
      if (variable === "CRON_TZ") timeZone = text.trim() || null;
      continue;
    }
    const row = splitRow(line, isSystem);
    const column = line.length - line.trimStart().length + 1;
    if (row.command === "") {
      problems.push(noCommand(line.trim(), number, column, isSystem));
      continue;
    }
    const { command, input } = splitCommand(row.command);
    const key = `${slugOf(command)}-${textHash(`${row.user ?? ""}\n${row.command}`).slice(0, 8)}`;
    const assignedCount = assigned.length;
    const count = (uses.get(key) ?? 0) + 1;
    uses.set(key, count);
    entries.push({
      ...{ line: number, column, expression: row.expression, command, input, user: row.user },
      id: count === 1 ? key : `${key}-${count}`,
      timeZone,
      // Each line with all variables above it would be the square of the text.
      get env() {
        return Object.fromEntries(assigned.slice(0, assignedCount));
      },
    });
  }
  return { entries, problems };
}

function isRow({ line }: { readonly line: string }): boolean {
  return !/^\s*(#|$)/.test(line);
}

function noteLineBreaks(text: string, lines: readonly string[], problems: CrontabProblem[]): void {
  const about = { column: 1, severity: "warning", rule: "lineBreak" } as const;
  const returned = lines.findIndex((line) => line.endsWith("\r") && isRow({ line }));
  if (returned !== -1) {
    const message = "ends with a carriage return, which cron hands to the command; save the file with Unix line breaks";
    problems.push({ ...about, line: returned + 1, text: "", message });
  }
  if (text !== "" && !text.endsWith("\n") && isRow({ line: lines.at(-1) ?? "" })) {
    problems.push({
      ...about,
      line: lines.length,
      text: "",
      message: "has no line break at its end, so cron ignores it",
    });
  }
}

interface CrontabRow {
  readonly expression: string;
  readonly user: string | null;
  readonly command: string;
}

function splitRow(line: string, isSystem: boolean): CrontabRow {
  const rest = line.trimStart();
  const count = (rest.startsWith("@") ? 1 : FIELDS) + (isSystem ? 1 : 0);
  const match = new RegExp(`^((?:\\S+\\s+){${count - 1}}\\S+)\\s+(\\S.*)$`, "s").exec(rest);
  const words = (match?.[1] ?? rest).split(/\s+/);
  const user = isSystem ? (words.pop() ?? null) : null;
  return { expression: words.join(" "), user, command: (match?.[2] ?? "").trimEnd() };
}

function noCommand(text: string, line: number, column: number, isSystem: boolean): CrontabProblem {
  const takes = isSystem
    ? "five fields (or a nickname), a user and a command"
    : "five fields (or a nickname) and a command";
  return { line, column, severity: "error", rule: "line", text, message: `is no line of a crontab: it takes ${takes}` };
}

/** A `%` ends the command; what follows is its input, in which each further `%` is a line break. `\%` is a `%`. */
function splitCommand(text: string): { command: string; input: string | null } {
  const parts = text.split(/(?<!\\)%/).map((part) => part.replaceAll("\\%", "%"));
  const [command = "", ...input] = parts;
  return { command: command.trimEnd(), input: input.length === 0 ? null : `${input.join("\n")}\n` };
}

function unquoted(text: string): string {
  return /^(["']).*\1$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}

const SHELL_WORDS = ["cd", "test", "exec", "env", "sudo", "nice", "flock", "root", "if", "then", "command"];

/** A short name that tells a reader which command it is: that of the first program or script of it. */
export function slugOf(command: string): string {
  const words = command
    .split(/[\s;&|()<>"'`]+/)
    .filter((word) => /^[\w./@:+-]+$/.test(word) && !/^-|^[.\d/]+$/.test(word));
  const files = words.filter((word) => !SHELL_WORDS.includes(word) && !word.startsWith("/dev/"));
  const name = (files[0] ?? "command").split("/").filter(Boolean).at(-1) ?? "command";
  const slug = name
    .toLowerCase()
    .replace(/\.(sh|py|rb|pl|js|ts|php|mjs)$/, "")
    .replace(/[^a-z0-9]+/g, "-");
  return slug.replace(/^-+|-+$/g, "").slice(0, 40) || "command";
}

/** Users whom Debian has everywhere, and those for whom packages have lines in `/etc/cron.d`: a list, because what a
 *  line means must not depend on the users of this machine. */
const USERS = new Set(
  (
    "root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody _apt " +
    "postgres mysql git www apache nginx redis munin nagios logcheck amavis debian-spamd smmsp clamav postfix"
  ).split(" "),
);

/** Notes the lines in which a user's name comes before more words: of a user's crontab the name of a program, of a
 *  system's one whom the line runs as. @returns whether all are such lines, which is one problem that is an error */
function noteUsers(
  rows: readonly { readonly line: string; readonly number: number }[],
  problems: CrontabProblem[],
): boolean {
  const lines = rows.filter(({ line }) => ASSIGNMENT.exec(line) === null);
  const found = lines.flatMap(({ line, number }) => {
    const { user, command } = splitRow(line, true);
    if (command === "" || !USERS.has(user ?? "")) return [];
    return { line: number, column: line.length - line.trimStart().length + 1, rule: "user" as const, text: user ?? "" };
  });
  const [first] = found;
  if (first === undefined) return false;
  const isWhole = found.length === lines.length;
  if (isWhole) {
    const message =
      "is the name of a user, as what follows the fields is in each line: the crontab may be a system's, or a user's " +
      "that runs programs of these names; say which by --system or --user";
    problems.push({ ...first, severity: "error", message });
  } else {
    const message =
      "is the name of a user, and is run as a command; --system reads it as whom the line runs as, and --user says " +
      "that it is none";
    problems.push(...found.map((one) => ({ ...one, severity: "warning" as const, message })));
  }
  return isWhole;
}
