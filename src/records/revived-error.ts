import { type ErrorFacts, errorOfCode } from "../core/error-of-code.ts";
import type { SerializedError } from "./serialized-error.ts";

/** An error object with the name, message, stack, code and causes of an error that crossed the border of a thread or a
 *  process. An error of ours has its class again. @param facts what it had beside */
export function revivedError(record: SerializedError, facts: ErrorFacts = {}): Error {
  const cause = record.cause === undefined ? undefined : revivedError(record.cause);
  const ours = record.code === undefined ? null : errorOfCode(record.code, record.message, { ...facts, cause });
  return ours?.name === record.name ? withStack(ours, record) : plainError(record, cause);
}

/** An error object with the name, message, stack and code of a record. It has the class of its name where JavaScript
 *  itself has that class. */
export function plainError(record: SerializedError, cause: Error | undefined): Error {
  const Class = Object.hasOwn(NATIVE, record.name) ? (NATIVE[record.name] ?? Error) : Error;
  const error = new Class(record.message, cause === undefined ? undefined : { cause });
  if (error.name !== record.name) define(error, "name", record.name);
  if (record.code !== undefined) define(error, "code", record.code);
  return withStack(error, record);
}

/** Gives an error the stack of a record. @returns the error */
export function withStack<E extends Error>(error: E, { stack }: SerializedError): E {
  if (stack !== undefined) define(error, "stack", stack);
  return error;
}

const NATIVE: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

function define(error: Error, key: string, value: string): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
}
