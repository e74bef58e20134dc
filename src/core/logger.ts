import { withoutOurFrames } from "./shown-errors.ts";
import { oneLine } from "./text.ts";

/** Where a scheduler tells what it does, and what goes wrong. `console` is a `Logger`. An error is the last argument.
 *  `fromPino` and `fromLogTape` make loggers of theirs into one. A method that throws, or whose promise rejects,
 *  disturbs nobody. If the logger has a method `child`, lines about a job get a child with the
 *  facts about the job as bindings, and so does `context.logger` of handlers.
 *
 *  @example
 *  const scheduler = new Scheduler({ logger: console, logLevel: "warn" });
 */
export interface Logger {
  debug(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}

const ignore = (): void => {};

/** A logger that keeps nothing. */
export const silentLogger: Logger = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore });

/** Wraps a logger, so that a method of it that throws, or returns a promise that rejects, disturbs nobody. The
 *  library's own lines have ids in them, which others may choose: a line break there begins no line of the log. Errors
 *  of its own lines are shown without its frames. */
export function guardedLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (message: string, ...details: unknown[]): void => {
      try {
        const isOurs = typeof message === "string" && message.startsWith("escapement: ");
        // Not as a callback of map, whose second argument is an index.
        const shown = isOurs ? details.map((detail) => withoutOurFrames(detail)) : details;
        const answer: unknown = logger[level](isOurs ? oneLine(message) : message, ...shown);
        if (isThenable(answer)) answer.then(ignore, ignore);
      } catch {
        // There is no other place to report this failure.
      }
    };
  return { debug: guard("debug"), info: guard("info"), warn: guard("warn"), error: guard("error") };
}

/** Whether a value is a promise (of this realm or another), or has a `then` method like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
