import { bytesOf } from "../sqlite/driver/parameters.ts";
import type { SqlStatement } from "../sqlite/mod.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";

/** A record that is larger than a row may be. Nothing was sent. */
export class TooLargeRecord extends Error {
  constructor(bytes: number) {
    super(
      `a record of ${bytes} bytes, at most ${RECORD_BYTES_MAX} fit into a row of this database; keep what is large ` +
        "elsewhere, and pass its key",
    );
    this.name = "TooLargeRecord";
  }
}

/** @throws {TooLargeRecord} */
export function refuseTooLarge(statements: readonly SqlStatement[]): void {
  for (const { args } of statements) {
    for (const arg of args) {
      // A UTF-16 unit takes three bytes at most.
      if (typeof arg !== "string" || arg.length * 3 <= RECORD_BYTES_MAX) continue;
      const bytes = bytesOf(arg);
      if (bytes > RECORD_BYTES_MAX) throw new TooLargeRecord(bytes);
    }
  }
}
