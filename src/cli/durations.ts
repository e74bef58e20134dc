import { toDurationMs } from "../core/duration.ts";
import { CliError } from "./failure.ts";

/** The duration of an option, in milliseconds. @throws {CliError} for other text */
export function durationOption(text: string | undefined, name: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  try {
    const ms = toDurationMs(text, name);
    if (ms > 0) return ms;
  } catch {
    // It is told below.
  }
  throw new CliError(
    `--${name} must be a duration longer than zero, such as 90s, 15m, 24h or 7d; got ${JSON.stringify(text)}`,
  );
}
