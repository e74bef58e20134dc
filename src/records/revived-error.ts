import { errorOfCode } from "../core/error-of-code.ts";
import type { SerializedError } from "./serialized-error.ts";

/** An error object with all that was kept of an error that crossed the border of a thread or a process. An error of
 *  ours has its class again. */
export function revivedError(record: SerializedError): Error {
  const cause = record.cause === undefined ? undefined : revivedError(record.cause);
  const ours = record.code === undefined ? null : errorOfCode(record.code, record.message, { cause });
  return ours?.name === record.name ? withFacts(ours, record) : plainError(record, cause, revivedError);
}

/** An error object with all that was kept of an error. It has the class of its name where JavaScript itself has that
 *  class. @param revive makes the errors of an `AggregateError` */
export function plainError(
  record: SerializedError,
  cause: Error | undefined,
  revive: (record: SerializedError) => Error,
): Error {
  const Class = Object.hasOwn(NATIVE, record.name) ? (NATIVE[record.name] ?? Error) : Error;
  const options = cause === undefined ? undefined : { cause };
  const error =
    record.errors === undefined
      ? new Class(record.message, options)
      : new AggregateError(record.errors.map(revive), record.message, options);
  if (error.name !== record.name) define(error, "name", record.name);
  // Enumerable, as in errors of the runtimes: consoles and loggers show no others.
  if (record.code !== undefined) define(error, "code", record.code, true);
  // What was thrown had no stack (a plain object): that of this line would tell nobody anything.
  const stack = record.stack ?? `${record.name}: ${record.message}`;
  return withFacts(error, { ...record, stack });
}

/** Gives an error the stack and the properties of a record. @returns the error */
export function withFacts<E extends Error>(error: E, { stack, properties = {} }: SerializedError): E {
  if (stack !== undefined) define(error, "stack", stack);
  for (const [key, value] of Object.entries(properties)) define(error, key, value, true);
  return error;
}

const NATIVE: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

function define(error: Error, key: string, value: unknown, enumerable = false): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable });
}
