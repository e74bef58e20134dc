import { isThenable, type Logger } from "../../core/logger.ts";
import { revivedError } from "../../records/revived-error.ts";
import type { LogMessage } from "./remote-call.ts";

/** Tells the log of a scheduler a line of a worker. A logger that throws disturbs nobody. */
export function tellLog(logger: Logger, { level, message, details }: LogMessage): void {
  try {
    const values = details.map((detail) => ("error" in detail ? revivedError(detail.error) : detail.value));
    const answer: unknown = logger[level](message, ...values);
    if (isThenable(answer)) answer.then(ignore, ignore);
  } catch {
    // There is no other place to report this failure.
  }
}

const ignore = (): void => {};
