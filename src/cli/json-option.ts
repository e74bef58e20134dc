import { CliError } from "./failure.ts";

/** The value of an option that takes JSON. @throws {CliError} for other text */
export function jsonOption(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`--${name} must be JSON, such as '{"to":"ada@example.org"}'; got ${JSON.stringify(text)}`);
  }
}
