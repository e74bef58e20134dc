import { FAILURE_LENGTH_MAX } from "./limits.ts";

/**
 * What may be told of a client's failure. Errors of clients can hold the commands that they sent, passwords too, or the
 * whole configuration: only the name, the message and the code are taken over, and the secrets in them are covered.
 */
export function redacted(failure: unknown, secrets: readonly string[]): Error {
  const { name, message, code, errors } = fieldsOf(failure);
  // A host name with several addresses fails with one error for each, and no message.
  const text =
    message === "" && Array.isArray(errors) ? errors.map((each) => fieldsOf(each).message).join("; ") : message;
  const error = new Error(covered(text === "" ? (code ?? "the connection was lost") : text, secrets));
  error.name = name;
  if (code !== undefined) Object.defineProperty(error, "code", { value: covered(code, secrets), enumerable: true });
  // The stack is that of a timer or a socket, and begins with the message of the client.
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

interface FailureFields {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly errors?: unknown;
}

function fieldsOf(failure: unknown): FailureFields {
  if (typeof failure !== "object" || failure === null) {
    return { name: "Error", message: failure === undefined || failure === null ? "" : String(failure) };
  }
  const { name, message, code, errors } = failure as { readonly [K in keyof FailureFields]: unknown };
  return {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message : "",
    ...(typeof code === "string" ? { code } : {}),
    errors,
  };
}

function covered(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret !== "") shown = shown.replaceAll(secret, "…");
  shown = shown.replace(/\/\/[^\s/@]*@/g, "//…@");
  return shown.length <= FAILURE_LENGTH_MAX ? shown : `${shown.slice(0, FAILURE_LENGTH_MAX).toWellFormed()}…`;
}
