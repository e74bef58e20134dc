import { factsOf } from "./from-pino.ts";
import type { Logger } from "./logger.ts";

/** What {@link fromLogTape} needs of a logger of LogTape. */
export interface LogTapeLike {
  debug(message: string, properties?: Record<string, unknown>): void;
  info(message: string, properties?: Record<string, unknown>): void;
  warn(message: string, properties?: Record<string, unknown>): void;
  error(message: string, properties?: Record<string, unknown>): void;
  with(properties: Record<string, unknown>): LogTapeLike;
}

/**
 * Makes a logger of LogTape into a {@link Logger}. An error becomes the property `error`, and what else stands behind
 * the message the property `details`. The message shows the error too. Lines of handlers carry `taskId`, `jobId`,
 * `scheduleId` and `attempt`. The level is that of LogTape's configuration.
 *
 * @example
 * const scheduler = new Scheduler({ logger: fromLogTape(getLogger(["my-app", "jobs"])) });
 */
export function fromLogTape(logger: LogTapeLike): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, ...details: unknown[]): void => {
      const properties = factsOf(details, "error");
      // Braces stand for properties there.
      const text = String(message).replaceAll("{", "{{").replaceAll("}", "}}");
      logger[level]("error" in properties ? `${text}: {error}` : text, properties);
    };
  const child = (bindings: Record<string, unknown>): Logger => fromLogTape(logger.with(bindings));
  return Object.assign({ debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, { child });
}
