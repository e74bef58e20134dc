import { isErrorLike } from "./error-like.ts";
import type { Logger } from "./logger.ts";

/** What {@link fromPino} needs of a logger of pino. */
export interface PinoLike {
  debug(facts: object, message?: string): void;
  info(facts: object, message?: string): void;
  warn(facts: object, message?: string): void;
  error(facts: object, message?: string): void;
  child(bindings: Record<string, unknown>): PinoLike;
}

/**
 * Makes a logger of pino into a {@link Logger}. Pino takes facts before the message: an error becomes `{ err }`, with
 * its stack and its causes, and what else stands behind the message becomes `{ details }`. Lines of handlers carry
 * `taskId`, `jobId`, `scheduleId` and `attempt`. The level is that of the logger of pino.
 *
 * @example
 * const scheduler = new Scheduler({ logger: fromPino(pino()) });
 */
export function fromPino(logger: PinoLike): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, ...details: unknown[]): void =>
      logger[level](factsOf(details, "err"), message);
  const child = (bindings: Record<string, unknown>): Logger => fromPino(logger.child(bindings));
  return Object.assign({ debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, { child });
}

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

/** What stands behind a message, as named facts: the first error, and the rest. */
function factsOf(details: readonly unknown[], errorName: string): Record<string, unknown> {
  const error = details.find(isErrorLike);
  const rest = details.filter((detail) => detail !== error);
  return { ...(error === undefined ? {} : { [errorName]: error }), ...(rest.length === 0 ? {} : { details: rest }) };
}
