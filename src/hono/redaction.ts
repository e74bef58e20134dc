import type { Logger } from "../core/logger.ts";
import type { Scope } from "./auth/auth-options.ts";

/** Where a value stands that an answer is about to show. */
export interface ShownValue {
  readonly taskId: string;
  /** The payload of a schedule, a job or a result, what a handler returned, the value or cursor of a step, or
   *  `{ message, fields }` of a line that a handler logged. */
  readonly field: "payload" | "returnValue" | "step" | "log";
  /** What the caller may do. */
  readonly scope: Scope;
}

/**
 * Returns what answers show in the place of a payload or a returned value. It must not change the value itself, and
 * must not be `async`. When it throws, or returns a promise or what JSON cannot carry, the answer shows
 * `"[redacted]"`, and the log tells why.
 * @example
 * const redact: Redact = (value, { taskId }) => (taskId === "charge" ? { ...Object(value), card: "****" } : value);
 */
export type Redact = (value: unknown, shown: ShownValue) => unknown;

/** What is shown where nothing of a value may be. */
export const REDACTED = "[redacted]";

/** A `redact` that never throws: what it cannot hide, it hides as a whole. */
export function guardedRedact(redact: Redact, logger: Logger): Redact {
  return (value, shown) => {
    try {
      const given = redact(value, shown);
      // Nobody awaits it, and a rejection that nobody handles would end the process.
      if (given instanceof Promise) {
        given.catch(() => {});
        throw new TypeError("it is async");
      }
      // One value that no answer can show must not spoil a list.
      jsonText(given);
      return given;
    } catch (error) {
      logger.error(`escapement: the function redact of the router failed for task "${shown.taskId}"`, error);
      return REDACTED;
    }
  };
}

/** The text of a value in an answer. A payload of another serializer may hold what JSON has no form for. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? String(item) : item));
}
