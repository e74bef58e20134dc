import type { SqlStatement } from "../sqlite/mod.ts";
import { bytesOf } from "../sqlite/parameters.ts";
import { VALUE_BYTES_MAX } from "./limits.ts";

/** A record that is larger than a row may be. It was not sent. */
export class TooLargeValue extends Error {
  constructor(bytes: number) {
    super(
      `a record of ${bytes} bytes, and the store takes ${VALUE_BYTES_MAX} at most; keep what is large elsewhere, ` +
        "and pass its key",
    );
    this.name = "TooLargeValue";
  }
}

/** @throws {TooLargeValue} */
export function refuseTooLarge({ args }: SqlStatement): void {
  for (const arg of args) {
    // A UTF-16 unit takes three bytes at most.
    if (typeof arg !== "string" || arg.length * 3 <= VALUE_BYTES_MAX) continue;
    const bytes = bytesOf(arg);
    if (bytes > VALUE_BYTES_MAX) throw new TooLargeValue(bytes);
  }
}
