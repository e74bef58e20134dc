import { isErrorLike } from "./error-like.ts";
import { builtinModule, isBun } from "./host.ts";
import { fromLogTape, fromPino, type LogTapeLike, type PinoLike } from "./log-adapters.ts";
import { guardedLogger, type Logger } from "./logger.ts";
import { oneLine } from "./text.ts";

/** Levels of the log, from the most talkative to none at all. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** How much a scheduler tells its logger: lines of this level and of those behind it in the list. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts that every line of a logger carries. */
type LogBindings = Readonly<Record<string, unknown>>;

/** The logger of a scheduler: guarded, and silent below its level. */
export interface LeveledLogger extends Logger {
  /** Whether lines of the level `debug` are shown. Who makes many of them asks first. */
  readonly showsDebug: boolean;
  /** The same of the level `info`. */
  readonly showsInfo: boolean;
  /** A logger whose lines carry these facts: as bindings, where the given logger has a method `child` (pino, winston),
   *  else as the text in front of each line. An empty text leaves the lines as they are. */
  child(bindings: LogBindings, prefix: string): Logger;
}

const silent = (): void => {};

/** The logger that a scheduler uses: the given one at every level, or `console` from `info` on. A level that is given
 *  counts for both. `console` may be given, too. */
export function leveledLogger(given: Logger = console, level?: LogLevel): LeveledLogger {
  return given === console ? atLevel(literalConsole, level ?? "info") : atLevel(adaptedLogger(given), level ?? "debug");
}

/** Loggers of pino and of LogTape have the methods of a `Logger`, and drop an error that comes after the message. So
 *  they get their adapter here, where the caller did not give it to them. */
export function adaptedLogger(logger: Logger): Logger {
  if (hasMethods(logger, ["bindings", "isLevelEnabled", "child"])) return fromPino(logger as unknown as PinoLike);
  if (hasMethods(logger, ["getChild", "getSibling", "with"])) return fromLogTape(logger as unknown as LogTapeLike);
  return logger;
}

function hasMethods(logger: Logger, names: readonly string[]): boolean {
  return names.every((name) => typeof Reflect.get(logger, name) === "function");
}

/** The console, which takes the first text of several arguments as a format: a line of ours has ids in it, and a "%c"
 *  there would swallow the error. A handler's own text stays a format. */
const literalConsole: Logger = {
  debug: (...line) => writeLine("debug", line),
  info: (...line) => writeLine("info", line),
  warn: (...line) => writeLine("warn", line),
  error: (...line) => writeLine("error", line),
};

function writeLine(level: keyof Logger, given: readonly unknown[]): void {
  const line = isBun() ? given.map(errorText) : given;
  const [message] = line;
  const isOurs = line.length > 1 && typeof message === "string" && message.startsWith("escapement: ");
  if (isOurs && message.includes("%")) console[level]("%s", ...line);
  else console[level](...line);
}

/** An error as text, because the console of Bun prints lines of source around it, and of an `AggregateError` its
 *  errors alone. */
function errorText(value: unknown): unknown {
  if (!isErrorLike(value)) return value;
  return (builtinModule("node:util") as { inspect(value: unknown): string }).inspect(value);
}

function atLevel(logger: Logger, level: LogLevel): LeveledLogger {
  const guarded = guardedLogger(logger);
  const shows = (name: keyof Logger): boolean => LOG_LEVELS.indexOf(name) >= LOG_LEVELS.indexOf(level);
  return {
    debug: shows("debug") ? guarded.debug : silent,
    info: shows("info") ? guarded.info : silent,
    warn: shows("warn") ? guarded.warn : silent,
    error: shows("error") ? guarded.error : silent,
    showsDebug: shows("debug"),
    showsInfo: shows("info"),
    child: (bindings, prefix) => atLevel(childOf(logger, bindings) ?? prefixed(logger, oneLine(prefix)), level),
  };
}

/** A child of a structured logger; null where the logger makes none. */
function childOf(logger: Logger, bindings: LogBindings): Logger | null {
  if (!("child" in logger) || typeof logger.child !== "function") return null;
  try {
    const child: unknown = logger.child({ ...bindings });
    return isLogger(child) ? child : null;
  } catch {
    return null;
  }
}

function isLogger(value: unknown): value is Logger {
  if (typeof value !== "object" && typeof value !== "function") return false;
  const names = ["debug", "info", "warn", "error"] as const;
  return value !== null && names.every((name) => typeof Reflect.get(value, name) === "function");
}

function prefixed(logger: Logger, prefix: string): Logger {
  if (prefix === "") return logger;
  const literal = logger === literalConsole ? prefix.replaceAll("%", "%%") : prefix;
  const at =
    (level: keyof Logger) =>
    (message: unknown, ...details: unknown[]): unknown =>
      typeof message === "string"
        ? logger[level](`${details.length > 0 ? literal : prefix} ${message}`, ...details)
        : logger[level](literal, message, ...details);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
